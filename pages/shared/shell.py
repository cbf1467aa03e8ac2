"""What stands around every page: its place in the list, the sidebar, the way on, the code, the link to share."""

import inspect
from typing import NamedTuple

import streamlit as st

from attention import charts
from pages.shared import controls


class Page(NamedTuple):
    path: str
    title: str
    icon: str
    section: str
    about: str  # one line, for the first page


PAGES = (
    Page("dashboard.py", "Attention, live", ":material/home:", "", "What this is"),
    Page("pages/intuition.py", "Intuition", ":material/lightbulb:", "Lessons", "Attention as a soft lookup"),
    Page(
        "pages/numeric_walkthrough.py",
        "Numeric walkthrough",
        ":material/calculate:",
        "Lessons",
        "Every matrix of one small example, step by step",
    ),
    Page("pages/masking.py", "Masking", ":material/grid_off:", "Lessons", "Who may look at whom"),
    Page("pages/multi_head.py", "Multi-head", ":material/account_tree:", "Lessons", "Several lookups at once"),
    Page("pages/scaling.py", "Scaling", ":material/straighten:", "Lab", "Why scores are divided by √d_k"),
    Page("pages/learning.py", "Learning", ":material/trending_up:", "Lab", "A head learns the lookup"),
    Page(
        "pages/your_own.py",
        "Your own attention",
        ":material/upload_file:",
        "Lab",
        "Open what your model computed",
    ),
)


def open_page(path):
    """First call of every page: its title and the sidebar. Returns nothing; raises ValueError if not listed."""
    page = PAGES[_position(path)]
    st.set_page_config(page_title=f"{page.title} · Attention, live", layout="wide")
    controls.begin(path)
    with st.sidebar:
        section = ""
        for entry in PAGES:
            if entry.section != section:
                section = entry.section
                st.caption(section)
            st.page_link(entry.path, label=entry.title, icon=entry.icon)
        st.divider()
        controls.switch("Large figures", key="large", help="For a projector. Enlarge the text with the browser's zoom.")
    st.title(page.title)


def close_page(path, *sources):
    """Last call of every page: the source of what computed it, the link to share, and the way on."""
    st.divider()
    if sources:
        with st.expander(
            "The code that computed this page", icon=":material/code:", on_change="rerun", key="code"
        ) as box:
            if box.open:
                for source in sources:
                    program(inspect.getsource(source))
    with st.expander("Share this page", icon=":material/share:", on_change="rerun", key="share") as box:
        if box.open:
            controls.share()
    position = _position(path)
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        for step, label in ((-1, "Back: {}"), (1, "Next: {}")):
            if 0 <= position + step < len(PAGES):
                page = PAGES[position + step]
                st.page_link(page.path, label=label.format(page.title), icon=page.icon)
    controls.end()


def draw(chart, key, *, on_select="ignore"):
    """Show a `charts.Chart` (data, spec, alt) at its own size, or as wide as its place where it has none."""
    if st.context.theme.type == "dark":
        chart = charts.on_dark(chart)
    width = "content" if "width" in chart.spec else "stretch"
    return st.vega_lite_chart(chart.data, chart.spec, key=key, alt=chart.alt, width=width, on_select=on_select)


def program(text, **options):
    """Show code, to be copied. In one colour: several of the highlighter's are too faint to read."""
    st.code(text, language=None, **options)


def token(text):
    """A visitor's token inside Markdown: as inline code nothing in it is interpreted."""
    longest = max(map(len, "".join(c if c == "`" else " " for c in text).split()), default=0)
    fence = "`" * (longest + 1)
    padding = " " if "`" in text else ""
    return f"{fence}{padding}{text}{padding}{fence}"


def _position(path):
    return [page.path for page in PAGES].index(path)
