"""Masking: who may attend to whom, where the mask belongs, and what goes wrong with it."""

from functools import partial

import numpy as np
import streamlit as st

from attention import attention_steps, charts, examples, export, pairs, pitfalls, softmax
from attention.masks import (
    combine,
    create_causal_mask,
    packed_mask,
    padding_mask,
    prefix_mask,
    sliding_window_mask,
)
from pages.shared import cells, controls, mask_editor, masking_slips, masking_uses, quiz, shell

PAGE = "pages/masking.py"
shell.open_page(PAGE)
st.markdown(
    "A mask says **who may attend to whom**. A query gives no weight at all to a key that is hidden from it, and "
    "shares all of it among the others. **Click** a cell of the mask to turn it over, or a weight to see where it "
    "came from."
)

# --- the words, the mask, the attention -------------------------------------------------------------------

with st.expander("Change the words", icon=":material/edit:", on_change="rerun", key="change"):
    most = charts.COLOURS_UP_TO
    tokens = controls.words(f"1 to {most} words", examples.SENTENCE, key="words", most=most)
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
    room = min(masking_uses.MOST_PADDING, charts.COLOURS_UP_TO - len(words))
    number = controls.number("Padding tokens", 0, room, min(2, room), key="pads")
    where = controls.choice("Padding stands", ("at the end", "at the start"), key="side")
    size = len(words) + number
    kept = np.broadcast_to(padding_mask(len(words), size), (size, size))
    if where == "at the start":
        return [examples.PAD] * number + words, kept[:, ::-1]
    return words + [examples.PAD] * number, kept


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
steps = attention_steps(examples.queries(tokens), features, features, mask)

with st.container(horizontal=True):
    picture, effect = st.container(width="content"), st.container(width="content")
names = charts.indexed(tokens)
matrices = cells.standard(steps, tokens, mask=mask)
matrices["unmasked_weights"] = cells.Matrix(
    "Weights without the mask $A^0$", softmax(steps.scaled_scores), names, names, ("T_q", "T_k"), "weights"
)
board = cells.Board(matrices, scale=steps.scale, first="weights", at=(2, 1))
cell = row, column = [min(i, T - 1) for i in board.selected[1:]]
with picture:
    may = "may" if mask[row, column] else "may **not**"
    st.markdown(
        f"**The mask: {MASKS[kind].lower()}**, {mask.sum()} of {mask.size} pairs are left  \n"
        f"{shell.token(names[row])} {may} attend to {shell.token(names[column])}"
    )
    mask_editor.draw(
        mask,
        tokens,
        key="hand",
        chooser="mask",
        cell=cell,
        also={"words": " ".join(tokens)},  # padding that was drawn on becomes words like others
    )
with effect:
    board.show("weights")


# --- depth: one part at a time ----------------------------------------------------------------------------


def before_and_after(tokens, mask, steps):
    st.markdown(
        "The mask works on **scores**: a hidden one becomes −∞, and $e^{-\\infty} = 0$. The softmax then "
        "shares the whole weight among the keys that are left."
    )
    board.side_by_side("scaled_scores", "masked_scores")
    board.side_by_side("unmasked_weights", "weights")


PARTS = {  # name in the list and in the address, what it is about, what draws it
    "effect": ("Before and after", "What the mask does to scores and weights", before_and_after),
    "order": ("Order", "Mask first, or softmax first?", masking_slips.order),
    "value": ("Infinity", "How much is −∞?", masking_slips.infinity),
    "shift": ("Shift by one", "What a position sees, and what it predicts", masking_uses.shift),
    "slips": ("Slips", "What goes wrong, and how it looks", masking_slips.slips),
    "code": ("Libraries", "The same mask elsewhere", masking_uses.libraries),
    "two": ("Two sequences", "Who asks, who answers, and where padding belongs", masking_uses.two_sequences),
    "count": ("Pairs", "How many pairs are left?", masking_uses.how_many),
}
short = {part: name for part, (name, *_) in PARTS.items()}
_, about, draw = PARTS[controls.choice("Look closer", PARTS, key="part", names=short)]
st.subheader(about)
draw(tokens, mask, steps)

# --- predict, then reveal ---------------------------------------------------------------------------------

st.subheader("Predict, then check")
quiz.number(
    "q_pairs",
    f"Under a causal mask, how many of the {4 * T * T} pairs of {2 * T} tokens are left?",
    pairs.formula("causal", 2 * T),
    f"Query 0 has one key, query 1 two, and so on: {2 * T} · {2 * T + 1} / 2. A little over half, however long.",
)
after = pitfalls.zeroed(steps.scaled_scores, mask).sum(axis=1)
least = int(after.argmin())
quiz.number(
    "q_zeroed",
    "The mask is used **after** the softmax, by setting hidden weights to 0. What do the weights of row "
    f"{least}, {shell.token(names[least])}, then sum to?",
    after[least],
    "The hidden keys had taken the rest of the weight, and nobody gets it back.",
)
quiz.number(
    "q_nothing",
    "Padding at the start, and a causal mask: query 0 may attend to nothing. What do its weights sum to here?",
    pitfalls.masked_first(steps.scaled_scores[0], np.zeros(T, bool)).sum(),
    "There is nothing to share. Any other answer would let it attend to what is hidden.",
)
if T > 2:
    moved = pitfalls.leak(pitfalls.masked_first, steps.scaled_scores, mask)
    quiz.choice(
        "q_hidden",
        "Raise the score of every hidden key by 1, and mask as it should be. The weights of the visible keys …",
        ("grow", "shrink", "stay the same"),
        "stay the same" if moved == 0 else "shrink",
        f"They change by {charts.exact(moved)}: −∞ takes the place of a hidden score, whatever it was.",
    )
    quiz.choice(
        "q_answer",
        "A language model predicts the next token at each position. Which position must position 1 not attend to?",
        ("position 0", "position 1", "position 2"),
        f"position {create_causal_mask(T)[1].argmin()}",
        f"It holds {shell.token(tokens[1])} and predicts {shell.token(tokens[2])}, which stands in position 2.",
    )

st.subheader("Take the numbers with you")
with st.container(horizontal=True):
    files = {
        "Mask and matrices, JSON": (
            partial(export.as_json, tokens, {"mask": mask}, steps, causal=kind == "causal"),
            "masking.json",
        ),
        "Weights, CSV": (partial(export.as_csv, steps.weights, names, names), "weights.csv"),
    }
    for label, (content, name) in files.items():
        st.download_button(label, content, name, icon=":material/download:", on_click="ignore", key=f"as_{name}")

shell.close_page(PAGE, attention_steps, softmax, create_causal_mask, pitfalls.masked_first)
