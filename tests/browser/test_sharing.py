"""A teacher's link: what is hidden stays hidden, and everything else is as the teacher saw it."""

from driver import settle


def hide_in_link(page, *labels):
    """The address that "Share this page" gives with these hidden."""
    page.get_by_text("Share this page").click()
    field = page.get_by_role("combobox", name="Hide from whoever opens the link")
    for label in labels:
        field.click()
        field.fill(label)
        page.get_by_role("option", name=label, exact=True).click()
        settle(page)
    page.keyboard.press("Escape")
    return page.locator('[data-testid="stCode"]').last.inner_text().strip()


def test_a_class_sees_what_the_question_needs(visit):
    page = visit("masking?mask=Prefix&row=4")
    address = hide_in_link(page, "Mask", "Row")
    assert "hide=mask%2Crow" in address and "mask=Prefix" in address and "row=4" in address
    of_class = visit(address.split("/")[-1])
    assert of_class.get_by_role("spinbutton", name="Row", exact=True).count() == 0
    assert of_class.get_by_role("spinbutton", name="Column", exact=True).count() == 1
    assert "The mask: prefix" in of_class.locator('[data-testid="stMain"]').inner_text()
    of_class.get_by_text("Share this page").click()
    of_class.get_by_role("button", name="Show what is hidden here").click()
    settle(of_class)
    assert of_class.get_by_role("spinbutton", name="Row", exact=True).input_value() == "4"
