"""A browser, a server, and a page that must have no error of ours at its end."""

import os

import pytest
from driver import FLAGS, chromium, foreign, settle, start_server

# Streamlit asks for these below the page's own path first, and then where they are.
PROBES = ("_stcore/health", "_stcore/host-config")


@pytest.fixture(scope="session")
def browser():
    playwright = None
    path = chromium()
    if path:
        try:
            from playwright.sync_api import sync_playwright as playwright
        except ImportError:
            path = None
    if not path:
        reason = "needs the package playwright and a Chromium on the PATH"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    with playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server():
    """The address of a server that all tests share."""
    process, address = start_server()
    yield address
    process.terminate()
    process.wait(10)


@pytest.fixture
def visit(browser, server):
    """visit("masking?words=a+b", color_scheme="dark") -> the page, painted; at the end it must have had no
    error of ours on its console, and asked for nothing off loopback."""
    contexts, errors = [], []

    def open_address(path="", *, address=server, **options):
        context = browser.new_context(**{"viewport": {"width": 1300, "height": 1400}} | options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("response", lambda reply: errors.append(f"{reply.status} {reply.url}") if reply.status >= 400 else 0)
        page.on("request", lambda request: errors.append(request.url) if foreign(request.url) else None)
        page.goto(f"{address}/{path}")
        settle(page)
        return page

    yield open_address
    for context in contexts:
        context.close()
    ours = [error for error in errors if "404 (Not Found)" not in error and not error.endswith(PROBES)]
    assert ours == []
