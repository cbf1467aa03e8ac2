"""The masking lesson in a browser: clicks turn cells of a mask over, and the address keeps them."""

from urllib.parse import parse_qs, urlsplit

from driver import address_holds, click_cell, eventually, settle

MASK, WEIGHTS = 0, 1  # charts of the page, in order


def hand(page):
    """The mask by hand as the address says it, row by row."""
    return parse_qs(urlsplit(page.url).query).get("hand", [""])[0].split()


def crossed(page, chart=MASK):
    """How many cells of a chart are crossed out."""
    picture = page.locator('[data-testid="stVegaLiteChart"]').nth(chart)
    picture.locator("svg .mark-rect path").first.wait_for()
    return picture.locator("svg .mark-symbol path").count()


def test_a_click_turns_a_cell_over_and_the_address_gives_it_back(visit):
    page = visit("masking")
    eventually(page, crossed, 15)
    assert crossed(page, WEIGHTS) == 15
    click_cell(page, MASK, 5)  # the last key of the first query
    eventually(page, hand, ["100001", "110000", "111000", "111100", "111110", "111111"])
    settle(page)
    assert crossed(page) == 14
    eventually(page, lambda page: crossed(page, WEIGHTS), 14)
    again = visit(page.url.split("/")[-1])
    eventually(again, crossed, 14)
    click_cell(again, MASK, 5)
    eventually(again, crossed, 15)
    assert hand(again)[0] == "100000"


def test_no_click_is_lost(visit):
    """A double click is two; quick ones on several cells all count; a visit elsewhere forgets none."""
    page = visit("masking?mask=Hand-made")
    cells = page.locator('[data-testid="stVegaLiteChart"]').nth(MASK).locator("svg .mark-rect path")
    crossed(page)
    boxes = [cells.nth(i).bounding_box() for i in range(6)]
    page.mouse.dblclick(boxes[1]["x"] + 9, boxes[1]["y"] + 9)
    page.wait_for_timeout(1500)  # nothing is to be seen of two clicks on one cell
    settle(page)
    assert crossed(page) == 15
    boxes = [cells.nth(i).bounding_box() for i in range(6)]
    for i in (3, 4, 5):
        page.mouse.click(boxes[i]["x"] + 9, boxes[i]["y"] + 9)
    address_holds(page, "hand=100111")
    for title in ("Scaling", "Masking"):
        page.locator('[data-testid="stSidebar"]').get_by_text(title, exact=True).click()
        settle(page)
    eventually(page, crossed, 12)
    assert hand(page)[0] == "100111"
    click_cell(page, MASK, 11)
    eventually(page, lambda page: hand(page)[:2], ["100111", "110001"])


def test_a_cell_is_turned_over_without_a_mouse(visit):
    page = visit("masking?row=0&col=5")
    page.get_by_role("button", name="Turn over row 0, column 5").focus()
    page.keyboard.press("Enter")
    eventually(page, crossed, 14)
    assert hand(page)[0] == "100001"


def test_a_mask_is_written_as_text(visit):
    page = visit("masking?mask=Hand-made&words=a+b")
    area = page.locator("textarea").first
    area.fill("[[False  True]\n [ True False]]")
    area.press("Control+Enter")
    eventually(page, crossed, 2)
    settle(page)
    assert crossed(page, WEIGHTS) == 2


def test_a_leak_keeps_its_colour_under_the_cross(visit):
    page = visit("masking?part=Slips&slip=Hidden+scores+set+to+0")
    fills = page.locator('[data-testid="stVegaLiteChart"]').nth(2).locator("svg .mark-rect path")
    assert fills.nth(5).get_attribute("fill") != "#d3d3d3" and crossed(page, 2) == 15


def test_nothing_is_wider_than_a_narrow_page(visit):
    page = visit("masking", viewport={"width": 800, "height": 1400})
    main = page.locator('[data-testid="stMain"]')
    assert main.evaluate("element => element.scrollWidth - element.clientWidth") <= 0
