"""The lab's Learning in a browser: a press trains, the address keeps it, a click reads a question."""

from urllib.parse import parse_qs, urlsplit

from driver import click_cell, eventually, settle


def asked_for(page):
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def test_a_press_trains_and_the_address_keeps_it(visit):
    page = visit("learning")
    page.get_by_role("button", name="Train: 400 steps").click()
    page.get_by_text("After 400 steps it says").wait_for()
    settle(page)
    assert asked_for(page) == {"train": "true"}
    for _ in range(40):
        page.get_by_role("slider", name="Steps of training").press("ArrowLeft")
    page.get_by_text("After 0 steps it says").wait_for()
    page.locator('[data-testid="stSidebar"]').get_by_text("Scaling", exact=True).click()
    page.get_by_role("heading", name="Scaling", exact=True).wait_for()
    settle(page)
    page.go_back()
    page.get_by_text("After 0 steps it says").wait_for()
    settle(page)
    assert asked_for(page) == {"train": "true", "step": "0"}
    assert page.get_by_role("button", name="Train another head").is_visible()


def test_a_click_on_a_row_reads_its_question(visit):
    page = visit("learning?train=true&part=Questions")
    for cell, question in ((5 * 8 + 2, "8"), (5 * 3 + 1, "3")):
        click_cell(page, 1, cell)
        eventually(page, lambda page: asked_for(page)["question"], question)
        assert page.get_by_label("Question it was not trained on").input_value() == question
