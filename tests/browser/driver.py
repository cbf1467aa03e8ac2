"""How the tests drive the app in a real browser: a server on loopback, Debian's (or any) Chromium, a few gestures."""

import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[2]
FLAGS = [f"--{flag}" for flag in ("no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-sync")]
# Nothing of the document has changed for 200 ms; a page that never rests is waited for no longer than 5 s.
QUIET = """() => new Promise(done => {
    let timer
    const again = () => { clearTimeout(timer); timer = setTimeout(end, 200) }
    const watch = new MutationObserver(again)
    const end = () => { watch.disconnect(); done() }
    watch.observe(document, {subtree: true, childList: true, attributes: true, characterData: true})
    again()
    setTimeout(end, 5000)
})"""


def chromium():
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next(filter(None, map(shutil.which, names)), None)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_server(port=None):
    """(process, address) of a fresh server, once it answers."""
    port = port or free_port()
    command = [sys.executable, "-m", "streamlit", "run", "dashboard.py", "--server.headless", "true"]
    command += ["--server.port", str(port), "--server.address", "127.0.0.1"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    for _ in range(150):
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=1).close()
            return process, address
        except OSError:
            time.sleep(0.2)
    process.kill()
    raise RuntimeError("the server did not answer within 30 s")


def settle(page):
    """Wait until the page stands there whole and runs no more."""
    page.get_by_text("Share this page").wait_for(timeout=20_000)  # the last thing of every page
    for _ in range(2):  # a run may begin while the page is being drawn
        page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=20_000)
        page.evaluate(QUIET)


def address_holds(page, text):
    """Wait until the page's address holds `text`."""
    page.wait_for_function("text => decodeURIComponent(location.search).includes(text)", arg=text, timeout=20_000)
    settle(page)


def eventually(page, found, wanted):
    """Ask found(page) until it gives `wanted`: a page answers an action in its own time."""
    end = time.monotonic() + 20
    while (value := found(page)) != wanted and time.monotonic() < end:
        page.wait_for_timeout(100)
    assert value == wanted


def click_cell(page, chart, index, times=1):
    """Click the cell number `index`, row by row, of the chart number `chart` of the page."""
    x, y = middle_of_cell(page, chart, index)
    page.mouse.click(x, y, click_count=times)
    page.wait_for_timeout(300)
    settle(page)


def middle_of_cell(page, chart, index):
    cells = page.locator('[data-testid="stVegaLiteChart"]').nth(chart).locator("svg .mark-rect path")
    cells.nth(index).scroll_into_view_if_needed()
    box = cells.nth(index).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def foreign(url):
    return not url.startswith(("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:"))
