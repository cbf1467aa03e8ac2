"""Two servers behind nginx, as the README deploys them: visitors stay with one, and outlive its end."""

import io
import os
import re
import shutil
import subprocess
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
from driver import free_port, settle, start_server

CONFIGURATION = Path(__file__).with_name("nginx.conf")
# Around the file that is tested: all that nginx writes of its own stands in one folder.
AROUND = """
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{}}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/site.conf;
}}
"""


@pytest.fixture
def deployment(tmp_path, browser):
    """(address of nginx, {port: process of a server}, what ends a process in the end)."""
    nginx = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if not nginx:
        reason = "needs nginx on the PATH"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    with ExitStack() as ended:

        def ending(process):
            ended.callback(process.wait, 10)
            ended.callback(process.terminate)
            return process

        servers = {}
        for _ in range(2):
            process, address = start_server()
            servers[int(address.rsplit(":", 1)[1])] = ending(process)
        port = free_port()
        ports = dict(zip(("8080", "8501", "8502"), map(str, (port, *servers)), strict=True))
        site = re.sub("|".join(ports), lambda match: ports[match[0]], CONFIGURATION.read_text())
        site = site.replace(f"listen {port}", f"listen 127.0.0.1:{port}")
        (tmp_path / "site.conf").write_text(site)
        (tmp_path / "nginx.conf").write_text(AROUND.format(folder=tmp_path))
        ending(subprocess.Popen([nginx, "-e", f"{tmp_path}/error.log", "-c", f"{tmp_path}/nginx.conf"]))
        wait_until(lambda: answers(f"http://127.0.0.1:{port}"))
        yield f"http://127.0.0.1:{port}", servers, ending


def wait_until(so, seconds=30):
    end = time.monotonic() + seconds
    while not so():
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.1)


def answers(address):
    try:
        return urllib.request.urlopen(f"{address}/_stcore/health", timeout=1).close() is None
    except OSError:
        return False


def open_as_stranger(browser, address, path):
    page = browser.new_context(viewport={"width": 1300, "height": 1400}).new_page()
    page.goto(f"{address}/{path}")
    settle(page)
    return page


def websockets(port):
    """How many connections are open to a server; nginx keeps none but the visitors' websockets."""
    connections = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(here == f"0100007F:{port:04X}" and state == "01" for _, here, _, state, *_ in connections)


def visitors_of_both(browser, address, ports, path):
    """{port: pages of the visitors who are with that server}, at least one with each."""
    visitors = {port: [] for port in ports}
    for _ in range(20):
        before = {port: websockets(port) for port in ports}
        page = open_as_stranger(browser, address, path)
        (joined,) = [port for port in ports if websockets(port) > before[port]]
        visitors[joined].append(page)
        if all(visitors.values()):
            return visitors
    raise AssertionError("20 visitors in a row went to one server")


def test_visitors_stay_with_their_server_and_outlive_it(deployment, browser):
    address, servers, ending = deployment
    visitors = visitors_of_both(browser, address, servers, "numeric_walkthrough?step=5+Softmax&row=1")
    for port, pages in visitors.items():
        for page in pages:
            page.get_by_text("Causal mask: no token sees a later one").click()
            settle(page)
            before = websockets(port)
            page.reload()
            settle(page)
            assert websockets(port) == before  # with the same server again
    ended, going_on = servers
    servers[ended].kill()
    servers[ended].wait(10)
    everybody = [*visitors[ended], *visitors[going_on]]
    wait_until(lambda: websockets(going_on) == len(everybody))
    for page in everybody:
        settle(page)
        row = page.get_by_role("spinbutton", name="Row", exact=True)
        row.fill("2")
        row.press("Enter")
        page.wait_for_url("**row=2**")
        for _ in range(2):  # as it goes on, and again from the address alone
            settle(page)
            assert page.get_by_role("heading", name="5 · Softmax").is_visible()
            assert page.get_by_role("switch", name="Causal mask: no token sees a later one").is_checked()
            assert page.get_by_text("row mat, column cat: 0.367859").is_visible()
            page.reload()

    ending(start_server(ended)[0])
    time.sleep(5)  # fail_timeout: how long nginx leaves a server alone
    visitors_of_both(browser, address, servers, "masking")


def test_a_large_file_passes_and_stays_with_its_reader(deployment, browser):
    address, servers, _ = deployment
    noise = np.random.default_rng(0).random((12, 12, 64, 64), dtype=np.float32)  # hardly compresses: 2 MB
    file = io.BytesIO()
    np.savez_compressed(file, weights=noise)
    for pages in visitors_of_both(browser, address, servers, "your_own").values():
        pages[0].locator('input[type="file"]').set_input_files(
            {"name": "noise.npz", "mimeType": "", "buffer": file.getvalue()}
        )
        pages[0].get_by_text("Heads in each: 12").wait_for(timeout=30_000)
        settle(pages[0])
        with pages[0].expect_download() as download:
            pages[0].get_by_role("button", name="All heads as now computed, .npz").click()
        with np.load(download.value.path()) as saved:
            np.testing.assert_array_equal(saved["weights"], noise)
