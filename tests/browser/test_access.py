"""For every reader: axe finds nothing serious, the keyboard reaches everything, nothing is cut at any width."""

import pytest

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs the package axe-playwright-python")
GISTS = ("Matrix of", "Mask of", "Bars of", "Lines of", "Panels of", "Histogram of")
PAGES = ("", "intuition", "numeric_walkthrough", "masking", "multi_head", "scaling", "learning", "your_own")
# A formula that is wider than its place: Streamlit's element, which Chromium itself makes reachable by keyboard.
STREAMLITS_OWN = {"scrollable-region-focusable"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_the_page_is_for_everybody(visit, path, scheme):
    page = visit(path, color_scheme=scheme)
    found = axe.Axe().run(page).response["violations"]
    serious = {v["id"]: v["nodes"][0]["html"][:200] for v in found if v["impact"] in ("serious", "critical")}
    assert serious.keys() <= STREAMLITS_OWN, serious
    for chart in page.locator('[data-testid="stVegaLiteChart"]').all():
        assert chart.get_attribute("aria-label").startswith(GISTS)  # its own words
    for width in (800, 650, 400):  # 650: a window of 1300 at a zoom of 200 %
        page.set_viewport_size({"width": width, "height": 1000})
        page.wait_for_timeout(300)
        excess = "(main => main.scrollWidth - main.clientWidth)(document.querySelector('[data-testid=stMain]'))"
        assert page.evaluate(excess) <= 0, width


def test_the_keyboard_gets_from_the_sidebar_to_the_cell(visit):
    page = visit("numeric_walkthrough")
    seen = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.getAttribute('aria-label') || document.activeElement.innerText"))
    text = " | ".join(str(name) for name in seen)
    for part in ("Intuition", "Causal mask", "Next", "Row", "Column"):
        assert part in text


def test_large_figures(visit):
    small, large = (visit(f"numeric_walkthrough?large={large}") for large in ("false", "true"))
    sizes = [
        page.locator('[data-testid="stVegaLiteChart"] svg .mark-rect path').first.bounding_box()["width"]
        for page in (small, large)
    ]
    assert sizes[1] > 1.3 * sizes[0]


def test_a_screen_reader_hears_names_and_numbers(visit):
    page = visit("masking?words=a+b")
    cells = page.locator('[data-testid="stVegaLiteChart"] svg .mark-rect path')
    cells.nth(23).wait_for()  # of six matrices of four
    said = cells.evaluate_all("cells => cells.map(cell => cell.getAttribute('aria-label'))")
    assert said[:4] == ["a, a: may attend", "a, b: may not attend", "b, a: may attend", "b, b: may attend"]
    assert said[4:6] == ["a, a: 1", "a, b: 0"]
    gist = page.locator('[data-testid="stVegaLiteChart"] svg .mark-rule line').first.get_attribute("aria-label")
    assert gist == "a may attend to a; b may attend to a, b."
