"""What holds on every page."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from pages.shared.shell import PAGES

ROOT = Path(__file__).parents[2]
PATHS = [page.path for page in PAGES]
HOSTILE = [
    "",
    " ",
    "\" ' ` \\",
    "$x$ $$y$$ \\frac",
    ":red[x] :material/home: :smile:",
    "<b>bold</b> <script>alert(1)</script>",
    "🙂 👩‍👩‍👧 مرحبا שלום",
    "the the the the",
    "x" * 500,
    "word " * 10_000,
    "\u0000\u200b\u202e",
    "{{7*7}} %s {0}",
]
NONSENSE = [
    "99999999999",
    "-1",
    "1e308",
    "nan",
    "inf",
    "abc",
    "",
    "true",
    "None",
    "[1,2]",
    "1;2\t3",
    "🙂",
    "hide",
    *HOSTILE,
]


def healthy(app):
    """No traceback, no message about one, and the page is there down to its last part."""
    assert not app.exception, app.exception[0].message
    assert app.expander[-1].label == "Share this page"


@pytest.mark.parametrize("path", PATHS)
def test_the_page_opens(open_page, path):
    app = open_page(path)
    healthy(app)
    assert app.title[0].value == next(page.title for page in PAGES if page.path == path)


@pytest.mark.parametrize("path", PATHS)
def test_any_address_opens_the_page(open_page, path):
    """Every control's own name with nonsense in it, several at a time; seeded, so that a failure comes back."""
    keys = sorted(open_page(path).session_state["controls"])
    draw = random.Random(path)
    for _ in range(64):  # 512 addresses over all pages
        query = {key: draw.choice(NONSENSE) for key in draw.sample(keys, min(len(keys), 6))}
        if draw.random() < 0.3:
            query["hide"] = ",".join(draw.sample(keys, min(len(keys), 3)))
        healthy(open_page(path, **query))


@pytest.mark.parametrize("path", PATHS)
def test_hostile_words_are_shown_as_text(open_page, path):
    app = open_page(path)
    for key in [field.key for field in app.text_input if field.key in app.session_state["controls"]]:
        for words in HOSTILE:
            app.text_input(key=key).set_value(words).run()
            healthy(app)
            assert not any("<script>" in element.value.replace("`<script>", "") for element in app.markdown), key


@pytest.mark.parametrize("path", PATHS)
def test_everything_can_be_hidden(open_page, path):
    keys = sorted(open_page(path).session_state["controls"])
    app = open_page(path, hide=",".join(keys))
    healthy(app)
    shown = {
        element.key
        for kind in ("slider", "toggle", "text_input", "number_input", "selectbox")
        for element in app.get(kind)
    }
    assert not shown & set(keys)


@pytest.mark.parametrize("path", PATHS)
def test_the_shared_link_says_what_was_changed(open_page, path):
    app = open_page(path, large="true")
    app.session_state["share"] = True
    app.run()
    healthy(app)
    assert any("large=true" in code.value for code in app.code)


def test_the_first_page_loads_nothing_of_the_others():
    """Its visitors wait for every import. In a fresh process, as after the start of a server."""
    script = (
        "import sys; from streamlit.testing.v1 import AppTest; "
        f"AppTest.from_file({str(ROOT / 'dashboard.py')!r}, default_timeout=60).run(); "
        "print(*(name for name in sys.modules if name.split('.')[0] in ('attention', 'pages')))"
    )
    ran = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.split())
    assert {"attention.core", "attention.charts", "pages.shared.cells"} <= loaded
    shared = {name.removeprefix("pages.shared.") for name in loaded if name.startswith("pages.shared.")}
    assert shared == {"cells", "controls", "dimensions", "shell"}
    lessons = ("data", "designed", "export", "heads", "learning", "lookup", "pitfalls", "recordings", "uploads")
    assert not loaded & {f"attention.{name}" for name in lessons}
