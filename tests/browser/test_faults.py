"""What goes wrong in a class: a server that restarts, a network that drops, two tabs, impatient clicks."""

import pytest
from driver import click_cell, free_port, settle, start_server

APP, CONNECTED = '[data-testid="stApp"]', '[data-test-connection-state="CONNECTED"]'
STATE = "numeric_walkthrough?step=5+Softmax&row=1"


def is_as_it_was(page):
    return (
        page.get_by_role("heading", name="5 · Softmax").is_visible()
        and page.get_by_role("spinbutton", name="Row", exact=True).input_value() == "1"
    )


@pytest.fixture
def own_server():
    """A server that a test may end and start again: it is a list of one process, and the port."""
    port = free_port()
    processes = [start_server(port)[0]]
    yield processes, port
    processes[0].kill()
    processes[0].wait(10)


def test_a_restarted_server_gives_the_page_back(own_server, browser):
    processes, port = own_server
    page = browser.new_page()
    page.goto(f"http://127.0.0.1:{port}/{STATE}")
    settle(page)
    processes[0].kill()
    processes[0].wait(10)
    page.wait_for_selector(f"{APP}:not({CONNECTED})", timeout=20_000)
    processes[0] = start_server(port)[0]
    page.wait_for_selector(f"{APP}{CONNECTED}", timeout=30_000)
    settle(page)
    assert is_as_it_was(page)
    page.get_by_role("spinbutton", name="Row", exact=True).fill("2")  # the new server hears of it, and of the rest
    page.keyboard.press("Enter")
    page.get_by_text("0.367859").wait_for()
    assert page.get_by_role("heading", name="5 · Softmax").is_visible()
    page.close()


def test_a_dropped_connection_comes_back(visit):
    page = visit(STATE)
    page.context.set_offline(True)
    page.wait_for_timeout(1500)
    page.context.set_offline(False)
    page.wait_for_timeout(2500)
    settle(page)
    assert is_as_it_was(page)
    click_cell(page, 1, 0)
    assert page.get_by_role("spinbutton", name="Row", exact=True).input_value() == "0"


def test_two_tabs_do_not_know_each_other(visit):
    one, other = visit(STATE), visit("numeric_walkthrough?step=2+Scores&words=a+b")
    one.get_by_role("button", name="Next").first.click()
    settle(one)
    assert other.get_by_role("heading", name="2 · Compare").is_visible()
    assert one.get_by_role("heading", name="6 · Mix the values").is_visible()
    assert one.get_by_text("cat", exact=True).count() > 0 == other.get_by_text("cat", exact=True).count()


def test_double_clicks_leave_a_page_in_order(visit):
    page = visit(STATE)
    for _ in range(3):
        click_cell(page, 0, 4, times=2)
    page.get_by_role("button", name="Next").first.dblclick()
    page.get_by_role("heading", name="6 · Mix the values").wait_for()  # a step or two on
    assert page.locator('[data-testid="stException"]').count() == 0


def test_pages_switched_before_they_are_done(visit):
    page = visit()
    sidebar = page.locator('[data-testid="stSidebar"]')
    for name in ("Masking", "Intuition", "Multi-head", "Numeric walkthrough") * 2:
        sidebar.get_by_role("link", name=name, exact=True).evaluate("link => link.click()")
    page.get_by_role("heading", name="Numeric walkthrough").wait_for()
    settle(page)
    assert page.locator('[data-testid="stException"]').count() == 0
