"""The very first request that a fresh server gets: a deep link, as a class opens it on a sleeping deployment."""

import pytest
from driver import eventually, settle, start_server

LESSONS = ("intuition", "numeric_walkthrough", "masking", "multi_head")


@pytest.fixture
def fresh_server():
    process, address = start_server()
    yield address
    process.terminate()
    process.wait(10)


def row(page):
    return page.get_by_role("spinbutton", name="Row", exact=True).input_value()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_first_request_is_a_deep_link(fresh_server, visit, scheme):
    page = visit("numeric_walkthrough?step=5+Softmax&row=1&causal=true", address=fresh_server, color_scheme=scheme)
    assert page.get_by_role("dialog").count() == 0
    assert page.get_by_role("heading", name="Numeric walkthrough").is_visible()
    assert page.get_by_role("heading", name="5 · Softmax").is_visible()
    eventually(page, row, "1")
    sidebar = page.locator('[data-testid="stSidebar"]')
    for text in ("Lessons", "Lab", "Intuition", "Masking", "Multi-head", "Scaling", "Your own attention"):
        assert sidebar.get_by_text(text, exact=True).is_visible()
    assert page.locator('[data-testid="stVegaLiteChart"] svg .mark-rect path').count() == 18
    background = page.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
    assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 28)"}[scheme]


def test_every_page_is_reached_from_the_sidebar_and_paints(visit):
    page = visit()
    links = page.locator('[data-testid="stSidebar"] a')
    eventually(page, lambda _: links.count(), 8)
    for i in range(8):
        title = links.nth(i).inner_text().split("\n")[-1].strip()
        links.nth(i).click()
        page.get_by_role("heading", name=title, exact=True).first.wait_for()
        settle(page)
        assert page.locator('[data-testid="stException"]').count() == 0


def test_back_gives_the_page_as_it_was(visit):
    page = visit("numeric_walkthrough?step=5+Softmax&row=1")
    page.locator('[data-testid="stSidebar"]').get_by_text("Masking", exact=True).click()
    page.get_by_role("heading", name="Masking", exact=True).wait_for()
    settle(page)
    page.go_back()
    page.get_by_role("heading", name="5 · Softmax").wait_for()
    settle(page)
    eventually(page, row, "1")
