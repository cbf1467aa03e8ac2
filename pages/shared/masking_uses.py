"""Masks at work: predicting the next token, other libraries, two sequences, and what is left to compute.

Each function is a part of the masking lesson, and takes what it needs of it: the tokens, the mask
(True = may attend) and the AttentionSteps.
"""

import numpy as np
import pandas as pd
import streamlit as st

from attention import attention_steps, charts, conventions, create_causal_mask, examples, pairs, pitfalls
from attention.masks import padding_mask
from pages.shared import cells, controls, mask_editor, shell
from pages.shared.dimensions import shape

MOST_PADDING = 4


def shift(tokens, mask, steps):
    """What each position sees under a causal mask, and under one that is a step off, and what it predicts."""
    names, T = charts.indexed(tokens), len(tokens)
    st.markdown(
        "A language model learns to predict the **next** token at every position at once. Position t holds "
        "token t, may attend to 0 … t, and predicts token t + 1: its answer, framed below, is one to the "
        "right of the diagonal."
    )
    diagonal = controls.choice("Diagonal k of the mask: key ≤ query + k", ("0", "-1", "+1"), key="k")
    shifted = create_causal_mask(T, diagonal=int(diagonal))
    answers = [*names[1:], "?"]
    verdicts = pitfalls.shift(shifted)
    said = {"fair": "fair", "answer": "sees its answer", "nothing": "sees nothing"}
    on_answer = np.diagonal(attention_steps(steps.query, steps.key, steps.value, shifted).weights, 1)
    arrows = [f"{name} → {answer}" for name, answer in zip(names, answers, strict=True)]
    mask_editor.draw(shifted, tokens, key="shift", rows=arrows, marks=np.eye(T, k=1))
    st.markdown(
        f"{verdicts.count('answer')} of {T} positions see their answer, {verdicts.count('nothing')} see nothing at all."
    )
    st.dataframe(
        pd.DataFrame(
            {
                "position": range(T),
                "holds": names,
                "predicts": answers,
                "which is": [said[verdict] for verdict in verdicts],
                "weight on its answer": [*map(charts.exact, on_answer), "–"],
                "may attend to": [", ".join(np.array(names)[row]) for row in shifted],
            }
        ),
        hide_index=True,
    )
    st.caption(
        ":material/fact_check: The printed lesson calls it cheating if position 2 sees “sat”. It holds “sat”, "
        "and sees it; what it must not see is position 3. Nor is “The” predicted from nothing: without a "
        "start token, the first prediction is the second token."
    )


def libraries(tokens, mask, steps):
    """The present mask as code for each library."""
    both = pd.DataFrame.from_dict(conventions.values(), "index", columns=["may attend", "may not"])
    both.index = [conventions.LIBRARIES[library] for library in both.index]
    st.table(both.map(lambda value: str(value) if isinstance(value, bool) else charts.exact(value)))
    library = controls.choice("The present mask for", conventions.LIBRARIES, key="lib", names=conventions.LIBRARIES)
    height = 500 if len(mask) > charts.NUMBERS_UP_TO else "content"
    shell.program(conventions.code(library, mask), height=height)


def two_sequences(tokens, mask, steps):
    """Cross-attention from words of a target to these tokens, with padding on both sides."""
    st.markdown(
        "In **cross-attention** the target asks and the source answers: queries come from one sequence, keys "
        "and values from another, and the matrix need not be square. Padding hides **keys**, the columns of "
        "the source's filling. The rows of the target's filling are computed like any other, and the loss "
        "leaves them out."
    )
    room = min(MOST_PADDING, charts.COLOURS_UP_TO - len(tokens))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        target = controls.words("Target words", "le chat", key="target", most=12, width=300)
        source_pads = controls.number("Padding in the source", 0, room, min(1, room), key="pad_k")
        target_pads = controls.number("Padding in the target", 0, MOST_PADDING, 1, key="pad_q")
        hides = controls.choice("The mask hides", ("padded keys", "padded queries, by mistake"), key="axis")
        st.toggle("Causal", disabled=True, help="Off: two sequences have no common order, so no future to hide.")
    target_tokens, source_tokens = target + [examples.PAD] * target_pads, tokens + [examples.PAD] * source_pads
    key_mask = padding_mask(len(tokens), len(source_tokens))
    query_mask = padding_mask(len(target), len(target_tokens))
    cross_mask = np.broadcast_to(
        key_mask if hides == "padded keys" else query_mask.T, (len(target_tokens), len(source_tokens))
    )
    source = examples.features(source_tokens)
    asked = examples.queries(target_tokens)
    cross = attention_steps(asked, source, source, cross_mask)
    figures = st.container()
    board = cells.Board(
        cells.standard(cross, target_tokens, source_tokens, mask=cross_mask),
        scale=cross.scale,
        first="weights",
        at=(0, 1),
        key="x_",
    )
    with figures:
        board.side_by_side("weights", "output")
    on_padding = cross.weights[: len(target), len(tokens) :].sum(axis=1).max(initial=0)
    st.markdown(
        f"The output has a row for each **query**: {shape(('T_q', 'd_v'), cross.output.shape)}. "
        f"Of a real target word's weight, up to **{charts.exact(on_padding)}** goes to the source's padding."
    )
    if target_pads and hides == "padded keys":
        st.markdown(
            f"Padding has an output too, the last row: {', '.join(map(charts.exact, cross.output[-1]))}. It is "
            "computed like any other, and means nothing."
        )
    try:
        attention_steps(asked, source, source, query_mask)
        st.caption(
            "The target's padding mask happens to fit the source's length: given by mistake, no error would warn you."
        )
    except ValueError as error:
        st.markdown("Given the target's padding mask instead of the source's, the core refuses:")
        shell.program(str(error), wrap_lines=True)


def how_many(tokens, mask, steps):
    """Pairs left of T², by formula and by count."""
    with st.container(horizontal=True):
        length = controls.number("Tokens T", 1, 4096, 512, key="T")
        window = controls.number("Window: keys to the left", 0, 4096, 64, key="w")
        documents = controls.number("Documents", 1, 64, 8, key="n")
    kinds = {
        "none": ("None", lambda T: None),
        "causal": ("Causal", lambda T: None),
        "sliding": (f"Window of {window}", lambda T: window),
        "prefix": ("Prefix of T/4", lambda T: T // 4),
        "packed": (f"{documents} documents", lambda T: documents),
    }
    lengths = 2 ** np.arange(13)
    series = {title: [pairs.formula(name, T, of(T)) for T in lengths.tolist()] for name, (title, of) in kinds.items()}
    shell.draw(charts.lines(lengths, series, titles=("tokens T", "pairs left"), log_x=True, log_y=True), "pairs")
    formulas = {
        title: [pairs.formula(name, length, of(length)), pairs.count(name, length, of(length))]
        for name, (title, of) in kinds.items()
    }
    counted = pd.DataFrame.from_dict(formulas, "index", columns=["by formula", "counted"])
    counted["share of T²"] = [f"{100 * share:.3g} %" for share in counted["counted"] / length**2]
    st.table(counted)
