"""Multi-head: several attentions side by side, in shapes, in numbers, and in a real model."""

import streamlit as st

from attention import MultiHeadAttention, merge_heads, split_heads
from pages.shared import controls, heads_designed, heads_real, heads_split, shell

PAGE = "pages/multi_head.py"
shell.open_page(PAGE)
st.markdown(
    "One attention mixes the values in **one** way for each token. Multi-head attention projects the tokens several "
    "times, attends in each projection by itself, and joins the results: several lookups at once."
)
PARTS = {
    "split": "Split and merge",
    "designed": "Designed heads",
    "real": "Heads of a real model",
}
part = controls.choice("Part of this lesson", PARTS, key="part", names=PARTS)
{"split": heads_split, "designed": heads_designed, "real": heads_real}[part].show()

shell.close_page(PAGE, split_heads, merge_heads, MultiHeadAttention)
