"""Numeric walkthrough in a browser: clicks, keys, edits, downloads, the address."""

import json
import subprocess
import sys

import numpy as np
import pytest
from driver import address_holds, click_cell, eventually, settle

PATH = "numeric_walkthrough"
SCORES = f"{PATH}?step=2+Scores"


def formula(page):
    """What stands in the box that explains the selected cell, without the spaces."""
    return "".join(page.locator(".st-key-explanation").inner_text().split())


def picked(page):
    return [page.get_by_role("spinbutton", name=name, exact=True).input_value() for name in ("Row", "Column")]


def test_a_click_explains_the_cell(visit):
    page = visit(SCORES)
    click_cell(page, 2, 5)  # S[1, 2], where the printed lesson says 0.65
    eventually(page, picked, ["1", "2"])
    assert "=0.3⋅0.6+0.9⋅0.2+0.1⋅0.7+0.4⋅0.3" in formula(page) and "=0.55" in formula(page)
    assert "row=1" in page.url and "col=2" in page.url


def test_the_same_cell_can_be_clicked_again_after_the_pickers_moved(visit):
    page = visit(SCORES)
    click_cell(page, 2, 5)
    page.get_by_role("spinbutton", name="Row", exact=True).fill("0")
    page.keyboard.press("Enter")
    settle(page)
    click_cell(page, 2, 5)
    eventually(page, picked, ["1", "2"])


def test_the_keyboard_explains_a_cell(visit):
    page = visit(SCORES)
    page.get_by_role("spinbutton", name="Row", exact=True).focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    eventually(page, picked, ["1", "0"])
    settle(page)
    assert "=0.3⋅1+0.9⋅0.5+0.1⋅0.2+0.4⋅0.8" in formula(page) and "=1.09" in formula(page)


def test_next_goes_on_and_explains_the_result(visit):
    page = visit(PATH)
    for step in "2345":
        page.get_by_role("button", name="Next").first.click()
        page.get_by_role("heading", name=f"{step} · ").wait_for()
        settle(page)
    assert page.get_by_role("heading", name="5 · Softmax").is_visible()
    assert "0.4327" in formula(page)


def test_an_edited_cell_stands_in_the_address_and_the_address_gives_it_back(visit):
    page = visit(SCORES)
    page.get_by_text("Change the tokens").click()
    table = page.locator('[data-testid="stDataFrame"] canvas').first
    table.wait_for(state="visible")
    page.wait_for_timeout(1000)
    settle(page)
    box = table.bounding_box()
    page.mouse.dblclick(box["x"] + box["width"] * 0.3, box["y"] + 52)  # X[0, 0]
    page.locator("#portal input").wait_for()  # the field that opens over the cell
    for key in ("Control+a", "3", "Enter"):  # the table takes no keys that come faster than a hand's
        page.wait_for_timeout(500)
        page.keyboard.press(key)
    address_holds(page, "X1=3")
    again = visit(page.url.split("/")[-1])
    assert "9.93" in formula(again)  # 3² + 0.5² + 0.2² + 0.8²


@pytest.mark.parametrize("label", ["NumPy script", "JSON", "Markdown with LaTeX"])
def test_downloads(visit, tmp_path, label):
    page = visit(PATH)
    with page.expect_download() as waiting:
        page.get_by_role("button", name=label).click()
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    text = path.read_text()
    if label == "JSON":
        assert np.allclose(json.loads(text)["weights"][1], [0.3632, 0.3596, 0.2772], atol=5e-5)
    elif label == "NumPy script":
        printed = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True).stdout
        assert "0.363183 0.35957  0.277247" in printed
    else:
        assert "0.3632 & 0.3596 & 0.2772" in text


def test_a_matrix_can_be_pasted_from_a_spreadsheet(visit):
    page = visit(SCORES)
    page.get_by_text("Change the tokens").click()
    page.get_by_role("button", name="Paste or copy as text").first.click()
    area = page.locator("textarea").first
    area.fill("1\t0\t0\t0\n0\t2,5\t0\t0")
    area.press("Control+Enter")
    settle(page)
    page.keyboard.press("Escape")
    page.get_by_role("spinbutton", name="Row", exact=True).fill("1")
    page.keyboard.press("Enter")
    page.get_by_role("spinbutton", name="Column", exact=True).fill("1")
    page.keyboard.press("Enter")
    settle(page)
    assert "6.25" in formula(page)
