"""A file in a real browser: opened, clicked through, downloaded, opened again; and seen by nobody else."""

import json

import numpy as np
from driver import click_cell, settle

from attention.uploads import read_upload

TOKENS = ["<b>a</b>", ":red[b]", "$c$"]
ROWS = [[0.5, 0.2, 0.3], [0.1, 0.8, 0.1], [0.25, 0.25, 0.5]]


def bring(page, name, data):
    page.locator('input[type="file"]').set_input_files({"name": name, "mimeType": "", "buffer": data})
    page.get_by_text(name).first.wait_for()
    settle(page)


def main(page):
    return page.locator('[data-testid="stMain"]').inner_text()


def test_one_click_opens_a_sample_and_clicks_lead_to_a_cell(visit):
    page = visit("your_own")
    page.get_by_role("button", name="Open the sample").click()
    page.get_by_text("Which head does what?").wait_for()
    settle(page)
    click_cell(page, 0, 4 * 12 + 5)  # layers × heads
    assert page.get_by_role("heading", name="Layer 4, head 5").is_visible()
    assert page.get_by_role("spinbutton", name="Head", exact=True).input_value() == "5"
    click_cell(page, 1, 9 * 11 + 2)  # black looks at cat
    assert page.get_by_role("spinbutton", name="Row", exact=True).input_value() == "9"
    assert page.get_by_role("spinbutton", name="Column", exact=True).input_value() == "2"
    assert "layer=4" in page.url and "col=2" in page.url


def test_a_click_in_a_part_selects_the_cell_of_the_whole(visit):
    page = visit("your_own")
    weights = np.full((100, 100), 0.01)
    bring(page, "long.json", json.dumps({"weights": weights.tolist()}).encode())
    start = page.get_by_role("spinbutton", name="First of the keys drawn, by position")
    start.fill("90")
    start.press("Enter")
    settle(page)
    click_cell(page, 0, 3 * 10 + 4)  # ten keys are left to draw
    assert page.get_by_role("spinbutton", name="Row", exact=True).input_value() == "3"
    assert page.get_by_role("spinbutton", name="Column", exact=True).input_value() == "94"


def test_what_is_downloaded_opens_again(visit, tmp_path):
    page = visit("your_own")
    bring(page, "a.json", json.dumps({"weights": ROWS, "tokens": TOKENS}).encode())
    for suffix in ("npz", "json"):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"All heads as now computed, .{suffix}").click()
        recording = read_upload(f"a.{suffix}", download.value.path().read_bytes())
        np.testing.assert_allclose(recording.weights[0, 0], ROWS, rtol=1e-6)
        assert recording.key_tokens == tuple(TOKENS)


def test_tokens_of_a_file_stay_text(visit):
    page = visit("your_own?plain=true")
    bring(page, "hostile.json", json.dumps({"weights": ROWS, "tokens": TOKENS}).encode())
    for name in (
        "The highest scores, and what chance gives",
        "Statistics of this head",
        "Leave tokens out, draw a part",
    ):
        page.get_by_text(name, exact=True).click()
        settle(page)
    page.get_by_role("combobox", name="Leave out keys").click()
    page.get_by_role("option", name=TOKENS[0]).click()
    settle(page)
    assert page.locator('[data-testid="stMain"] b, [data-testid="stMain"] span[class*="red"]').count() == 0
    assert all(token in main(page) for token in TOKENS[:1])


def test_a_bad_file_is_refused_in_words_and_nobody_else_sees_a_good_one(visit):
    page, other = visit("your_own"), visit("your_own")
    bring(page, "bad.npz", b"PK no archive")
    assert "This file cannot be opened. This is no .npz file" in main(page)
    bring(page, "good.json", json.dumps({"weights": ROWS, "tokens": ["my", "own", "secret"]}).encode())
    assert "cannot be opened" not in main(page)
    assert "Layer 0, head 0" in main(page)
    other.reload()
    settle(other)
    assert "Layer 0, head 0" not in main(other)
    assert other.locator('[data-testid="stException"]').count() == 0


def test_quick_and_double_clicks_on_heads(visit):
    """The last click counts. A double click is two, and never picks a third head."""
    page = visit("your_own?sample=The+cat+sat+on+the+mat")
    heads = page.locator('[data-testid="stVegaLiteChart"]').nth(0).locator("svg .mark-rect path")
    boxes = [heads.nth(index).bounding_box() for index in (5, 17, 30, 44, 70)]
    for box in boxes:
        page.mouse.click(box["x"] + 9, box["y"] + 9)
    page.get_by_role("heading", name="Layer 5, head 10").wait_for(timeout=5_000)
    settle(page)
    page.mouse.dblclick(boxes[2]["x"] + 9, boxes[2]["y"] + 9)
    page.wait_for_timeout(1000)
    settle(page)
    assert any(page.get_by_role("heading", name=name).is_visible() for name in ("Layer 2, head 6", "Layer 5, head 10"))
