"""Nothing that a visitor brings is interpreted, and the app asks for nothing outside."""

from urllib.parse import quote

import pytest
from driver import middle_of_cell

from pages.shared.shell import PAGES

HOSTILE = (
    "<b>bold</b> <img/src=x/onerror=alert(1)> <script>alert(2)</script> $x^2$ :red[x] :material/home: :smile: "
    "**b** [l](javascript:alert(3)) `c` '+alert(4)+' datum.x ${alert(5)} \\frac12 ![i](http://example.org/x.png)"
)
PATHS = ["" if page.path == "dashboard.py" else page.path[6:-3] for page in PAGES]


@pytest.mark.parametrize("path", ["intuition", "numeric_walkthrough", "masking", "multi_head"])
def test_hostile_words_stay_words(visit, path):
    dialogs = []
    for part in (HOSTILE.split()[:7], HOSTILE.split()[7:]):
        page = visit(f"{path}?words={quote(' '.join(part))}")
        page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        main = page.locator('[data-testid="stMain"]')
        assert main.locator("b, script, a[href^=javascript], img[src*=example], img[src=x]").count() == 0
        for i in range(3):
            page.mouse.move(*middle_of_cell(page, 0, i))  # the tooltip shows tokens too
            page.wait_for_timeout(150)
        assert page.locator("#vg-tooltip-element b, #vg-tooltip-element script, #vg-tooltip-element img").count() == 0
    assert dialogs == []


def test_the_app_is_whole_without_a_network(visit):
    page = visit()
    refused = []

    def loopback_only(route):
        if route.request.url.startswith("http://127.0.0.1"):
            route.continue_()
        else:
            refused.append(route.request.url)
            route.abort()

    page.context.route("**/*", loopback_only)
    for path in PATHS:
        page.goto(f"{page.url.split('/', 3)[0]}//{page.url.split('/')[2]}/{path}")
        page.get_by_text("Share this page").wait_for()
        assert page.evaluate("document.fonts.ready.then(() => document.fonts.status)") == "loaded"
    assert refused == []
