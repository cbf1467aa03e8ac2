"""The first page: what this is, the formula, one live picture, and the way into the lessons."""

import streamlit as st

from attention import attention_steps, examples
from pages.shared import cells, controls, shell
from pages.shared.dimensions import symbol

PAGE = "dashboard.py"
shell.open_page(PAGE)
st.markdown(
    "Attention lets every token of a sequence look at the others and take a weighted mixture of what they hold. It is "
    "what transformers are built of. Here you can see **every number** of it, and ask each one where it came from."
)
st.latex(
    r"\operatorname{Attention}(Q, K, V) = \operatorname{softmax}\left("
    rf"\frac{{QK^\top}}{{\sqrt{{{symbol('d_k')}}}}}\right) V"
)

# --- one live picture -------------------------------------------------------------------------------------

example = examples.CAT_SAT_MAT
scale = controls.slider("What scores are multiplied by (the formula: 0.5)", 0.0, 10.0, 0.5, key="scale", step=0.5)
steps = attention_steps(example.X, example.X, example.X, scale=scale)
picture, words = st.columns((2, 3), vertical_alignment="center")
with words:
    board = cells.Board(cells.standard(steps, example.tokens), scale=steps.scale, first="weights")
with picture:
    board.show("weights")
st.caption("Click a cell. Every row sums to 1: it says how one query shares its attention among the keys.")

# --- the way in -------------------------------------------------------------------------------------------

for section in ("Lessons", "Lab"):
    st.subheader(section)
    with st.container(horizontal=True):
        for page in shell.PAGES:
            if page.section == section:
                with st.container(border=True, width=195):
                    st.page_link(page.path, label=f"**{page.title}**", icon=page.icon)
                    st.caption(page.about)
st.caption(
    "All of it is computed as you look, in NumPy, on this server; nothing is downloaded, nothing is kept. A lesson "
    "takes about ten minutes. The address of a page holds its state, so a link shows others what you see."
)

shell.close_page(PAGE, attention_steps)
