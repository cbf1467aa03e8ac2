"""Multi-head: several attentions side by side, in shapes, in numbers, and in a real model."""

import streamlit as st

from attention import MultiHeadAttention, attention_steps, merge_heads, split_heads
from attention.designed import designed_head, random_head
from attention.heads import chance_scores, head_scores
from pages.shared import controls, heads_designed, heads_real, heads_split, shell

PAGE = "pages/multi_head.py"
shell.open_page(PAGE)
st.markdown(
    "One attention mixes the values in **one** way for each token. Multi-head attention projects the tokens several "
    "times, attends in each projection by itself, and joins the results: several lookups at once."
)
PARTS = {  # name in the list and in the address, what shows it, and the code that computed it
    "split": ("Split and merge", heads_split, (split_heads, merge_heads, MultiHeadAttention)),
    "designed": ("Designed heads", heads_designed, (designed_head, random_head, attention_steps)),
    "real": ("Heads of a real model", heads_real, (attention_steps, head_scores, chance_scores)),
}
short = {part: name for part, (name, *_) in PARTS.items()}
_, lesson, code = PARTS[controls.choice("Part of this lesson", PARTS, key="part", names=short)]
lesson.show()

shell.close_page(PAGE, *code)
