"""Attention, live: the first page."""

import streamlit as st

from attention import attention_steps, examples
from pages.shared import cells, shell

shell.open_page("dashboard.py")

st.markdown(
    "Attention lets each token of a sequence look at the others and take a weighted mix of what they hold."
)
st.latex(r"\operatorname{Attention}(Q, K, V) = \operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right) V")

example = examples.CAT_SAT_MAT
steps = attention_steps(example.X, example.X, example.X)
figure = st.container()
board = cells.Board(cells.standard(steps, example.tokens), scale=steps.scale, first="weights")
with figure:
    board.show("weights")

shell.close_page("dashboard.py", attention_steps)
