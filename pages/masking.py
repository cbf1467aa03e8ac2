"""Masking: who may attend to whom, where the mask belongs, and what goes wrong with it."""

import numpy as np
import pandas as pd
import streamlit as st

from attention import Linear, attention_steps, charts, conventions, examples, pairs, pitfalls, softmax
from attention.masks import (
    combine,
    create_causal_mask,
    packed_mask,
    padding_mask,
    prefix_mask,
    sliding_window_mask,
)
from pages.shared import cells, controls, mask_editor, quiz, shell
from pages.shared.dimensions import shape

PAGE, PAD = "pages/masking.py", "<pad>"
MOST_WORDS, MOST_PADDING = 60, 4  # together, what a matrix can be drawn for
shell.open_page(PAGE)
st.markdown(
    "A mask says **who may attend to whom**. A query gives no weight at all to a key that is hidden from it, and "
    "shares all of it among the others."
)

# --- the words, the mask, the attention -------------------------------------------------------------------

with st.expander("Change the words", icon=":material/edit:", on_change="rerun", key="change"):
    tokens = controls.words(f"1 to {MOST_WORDS} words", examples.SENTENCE, key="words", most=MOST_WORDS)
    st.caption("Scores come from features of the words that were made by hand, or guessed: illustrative.")

MASKS = {
    "causal": "Causal",
    "none": "None",
    "padding": "Padding",
    "both": "Causal + padding",
    "sliding": "Sliding window",
    "prefix": "Prefix",
    "packed": "Packed documents",
    "hand": "Hand-made",
}
SAYS = {
    "causal": "Each token sees itself and the past: what a model needs that writes from left to right.",
    "none": "Everyone sees everyone, as in an encoder.",
    "padding": "Sequences of a batch are filled up to one length; nobody may attend to the filling.",
    "both": "Hidden is what either mask hides. With padding at the start, some queries see nothing at all.",
    "sliding": "Only the neighbourhood: the work grows with T, not with T².",
    "prefix": "The first tokens see each other both ways, the others only look back.",
    "packed": "Several documents share one sequence, and none sees another.",
    "hand": "Yours: click a cell of the picture, or write it as text.",
}


def padding(words):
    """The words with padding around them, and who may attend to whom then."""
    number = controls.number("Padding tokens", 0, MOST_PADDING, 2, key="pads")
    where = controls.choice("Padding stands", ("at the end", "at the start"), key="side")
    size = len(words) + number
    kept = np.broadcast_to(padding_mask(len(words), size), (size, size))
    if where == "at the start":
        return [PAD] * number + words, kept[:, ::-1]
    return words + [PAD] * number, kept


kind = controls.choice("Mask", MASKS, key="mask", names=MASKS)
T = len(tokens)
with st.container(horizontal=True, vertical_alignment="bottom"):
    match kind:
        case "none":
            mask = np.ones((T, T), bool)
        case "causal":
            mask = create_causal_mask(T)
        case "padding":
            tokens, mask = padding(tokens)
        case "both":
            tokens, mask = padding(tokens)
            mask = combine(create_causal_mask(len(tokens)), mask)
        case "sliding":
            left = controls.number("Keys to the left", 0, T, min(2, T), key="left")
            mask = sliding_window_mask(T, left, controls.number("Keys to the right", 0, T, 0, key="right"))
        case "prefix":
            mask = prefix_mask(T, controls.number("Tokens in the prefix", 0, T, min(3, T), key="prefix"))
        case "packed":
            documents = np.array_split(tokens, controls.number("Documents", 1, T, min(2, T), key="documents"))
            mask = packed_mask([len(document) for document in documents])
            if controls.switch("Causal inside each", key="inside"):
                mask = combine(create_causal_mask(T), mask)
        case "hand":
            mask = mask_editor.edit(create_causal_mask(T), key="hand")
T = len(tokens)
st.caption(SAYS[kind])

features = examples.features(tokens)
query = Linear.from_arrays(examples.LOOKS_FOR.T).forward(features)
steps = attention_steps(query, features, features, mask)


with st.container(horizontal=True):
    picture, effect = st.container(width="content"), st.container(width="content")
names = charts.indexed(tokens)
matrices = cells.standard(steps, tokens, mask=mask)
matrices["unmasked_weights"] = cells.Matrix(
    "Weights without the mask $A^0$", softmax(steps.scaled_scores), names, names, ("T_q", "T_k"), "weights"
)
board = cells.Board(matrices, scale=steps.scale, first="weights")
with picture:
    st.markdown(f"**The mask: {MASKS[kind].lower()}**  \n{mask.sum()} of {mask.size} pairs are left")
    mask_editor.draw(mask, tokens, key="hand", chooser="mask")
with effect:
    board.show("weights")

shell.close_page(PAGE, attention_steps, softmax, create_causal_mask)
