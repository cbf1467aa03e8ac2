"""Masking gone wrong: after the softmax, by the wrong value, and the slips that people make.

Each function is a part of the masking lesson, and takes what it needs of it: the tokens, the mask
(True = may attend) and the AttentionSteps.
"""

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from attention import charts, examples, pitfalls, softmax
from pages.shared import cells, controls, shell

SLIPS = {  # name in `pitfalls.SLIPS`: name for readers, its code, what comes of it
    "polarity": (
        "True taken for “hide”",
        "np.where(~mask, scores, -np.inf)",
        "The right matrix, read the other way round. PyTorch's function and its module differ in this.",
    ),
    "ones": (
        "0/1 added like a bias",
        "scores + mask",
        "Adding 1 multiplies a visible key's share by e, and hides nobody.",
    ),
    "zero": (
        "Hidden scores set to 0",
        "np.where(mask, scores, 0)",
        "0 is a score like any other: $e^0 = 1$. Where the visible scores are negative, the hidden keys win: add "
        "−3 to every score.",
    ),
    "sign": (
        "+∞ by a slip of sign",
        "np.where(mask, scores, -float('-inf'))",
        "The hidden keys take everything, as ∞ − ∞: no number, in every row that hides one.",
    ),
    "huge64": (
        "−1e10 added, float64",
        "scores + np.where(mask, 0, -1e10)",
        "Right, as long as a row has a key left. If it has none, −1e10 is in every score, and cancels.",
    ),
    "huge32": (
        "−1e10 added, float32",
        "scores.astype('f4') + np.where(mask, 0, -1e10).astype('f4')",
        "Right, as long as a row has a key left. If it has none, −1e10 swallowed all scores: an average.",
    ),
}


def order(tokens, mask, steps):
    """Masking the scores beside zeroing the weights, and dividing them by their sums."""
    names, T = charts.indexed(tokens), len(tokens)
    raised_by = controls.number("Raise the hidden scores by", 0, 1000, 0, key="raise")
    scores = pitfalls.raised(steps.scaled_scores, mask, raised_by)
    pipelines = {
        "weights": ("Mask, then softmax", pitfalls.masked_first),
        "zeroed": ("Softmax, then zeros", pitfalls.zeroed),
        "renormalised": ("Zeros, then divided by the sum", pitfalls.renormalised),
    }
    results = {name: pipeline(scores, mask) for name, (_, pipeline) in pipelines.items()}
    sums = {name: result.sum(axis=1) for name, result in results.items()}
    figures = st.container(horizontal=True)
    others = {
        "scaled_scores": scores_of(names, mask, "Scores, hidden ones raised", scores),
        "masked_scores": scores_of(names, mask, "Masked scores", steps.masked_scores),
        "unmasked_weights": weights_of(names, mask, "Weights without the mask", softmax(scores)),
    }
    board = cells.Board(
        {
            name: weights_of(
                names,
                mask,
                title,
                results[name],
                [f"Σ {sums[name][i]:.2f} · {token}" for i, token in enumerate(names)],
            )
            for name, (title, _) in pipelines.items()
        }
        | others,
        at=(2, 1),
        key="o_",
    )
    for name in pipelines:
        with figures.container(width="content"):
            board.show(name)
    rows = {
        title: (
            f"{charts.exact(sums[name].min())} … {charts.exact(sums[name].max())}",
            charts.exact(np.abs(results[name] - results["weights"]).max()),
        )
        for name, (title, _) in pipelines.items()
    }
    st.table(pd.DataFrame.from_dict(rows, "index", columns=["rows sum to", "largest difference from masking first"]))
    leaks = [charts.exact(pitfalls.leak(pipeline, scores, mask)) for _, pipeline in pipelines.values()]
    lost, broken = (sums["zeroed"] < 1 - 1e-12).sum(), np.isnan(sums["renormalised"]).sum()
    if mask.all():
        st.markdown("This mask hides nothing, so the three are the same. Choose another one above.")
    else:
        st.markdown(
            f"**Zeroing** afterwards leaves {lost} of {T} rows with a sum below 1. And it leaks: a row's sum "
            "tells how large the hidden scores are. Let those rise by 1, and visible weights move by up to "
            f"{leaks[1]}.  \n**Dividing by the sum** "
            + (
                f"leaves {broken} of {T} rows without numbers: what was left of them is 0/0."
                if broken
                else "repairs both: what remains of the difference is rounding. Where it fails: raise the hidden "
                "scores by 800, and the visible weights are too small to be stored."
            )
            + f"  \n**Masking the scores** moves by {leaks[0]}: it never looks at a hidden one."
        )


def infinity(tokens, mask, steps):
    """The printed lesson's row under each rule for hidden scores, down to a row with nothing left."""
    st.markdown(
        "Code hides a score by −∞, or by a number that its author hopes is large enough. Here is one row of scores, "
        "that of the printed lesson, under each rule. Let **nothing** be left, and they part."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        left_keys = controls.slider("Keys that are left", 0, 4, 3, key="keys", width=300)
        dtype = controls.choice("Precision", ("float64", "float32", "float16"), key="dtype")
    row, allowed = np.array(examples.TEXT_ROW), np.arange(4) < left_keys
    hidden, weights = pitfalls.by_rule(row, allowed, np.dtype(dtype))
    figures, positions = st.container(), [f"pos {i}" for i in range(4)]
    table = {
        "slip_scores": ("What enters the softmax", hidden, "signed"),
        "slip_weights": ("Weights", weights, "weights"),
        "scaled_scores": ("The row, once for each rule", np.tile(row, (len(hidden), 1)), "signed"),
    }
    board = cells.Board(
        {
            name: cells.Matrix(title, array, list(pitfalls.RULES), positions, ("rules", "T_k"), look, allowed)
            for name, (title, array, look) in table.items()
        },
        first="slip_weights",
        key="r_",
    )
    with figures:
        board.side_by_side("slip_scores", "slip_weights")
    if left_keys == 3 and dtype == "float64":
        printed = " ".join(f"{number:.2f}" for number in examples.PRINTED_MASKED_ROW)
        right = " ".join(f"{number:.4f}" for number in weights[0])
        st.caption(
            f":material/fact_check: The printed lesson says {printed} for this row; it is {right}. Click a cell."
        )
    st.markdown(
        "With nothing left, plain −∞ is 0/0. A finite number written in makes all scores equal: the row "
        "becomes an average over exactly what is forbidden. Added, it falls out of the softmax again, and the "
        "row is as if there were no mask, unless the precision is too low to hold both. Zeros say what is "
        "meant: this query takes nothing."
    )


def slips(tokens, mask, steps):
    """One slip beside what is right."""
    names, T = charts.indexed(tokens), len(tokens)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        titles = {name: title for name, (title, *_) in SLIPS.items()}
        slip = controls.choice("Slip", SLIPS, key="slip", widget=st.selectbox, names=titles, width=300)
        add = controls.number("Add to every score", -20, 20, 0, key="add", help="The right weights do not move.")
    _, code, says = SLIPS[slip]
    shell.program(f"weights = softmax({code})")
    scores = steps.scaled_scores + add
    wrong = pitfalls.SLIPS[slip](scores, mask)
    weights = pitfalls.plain_softmax(wrong)
    figures = st.container()
    board = cells.Board(
        {
            "slip_weights": weights_of(names, mask, "Weights by this slip", weights),
            "slip_scores": scores_of(names, mask, "What enters the softmax", wrong),
            "weights": weights_of(names, mask, "Right weights", pitfalls.masked_first(scores, mask)),
            "masked_scores": scores_of(names, mask, "Masked scores", np.where(mask, scores, -np.inf)),
            "scaled_scores": scores_of(names, mask, "Scaled scores", scores),
        },
        at=(2, 1),
        key="s_",
    )
    with figures:
        board.side_by_side("slip_weights", "weights", "slip_scores")
    bad = np.isnan(weights).any(axis=1)
    with st.container(horizontal=True):
        st.metric("Most weight on a hidden key", f"{pitfalls.left_over(weights, mask):.3f}", width="content")
        st.metric("Rows that are no numbers", f"{bad.sum()} of {T}", width="content")
        st.metric("Rows with nothing left", f"{(~mask.any(axis=1)).sum()} of {T}", width="content")
    st.markdown(says)
    if slip.startswith("huge") and mask.any(axis=1).all():
        st.button(
            "Show rows with nothing left",
            icon=":material/visibility:",
            on_click=partial(controls.put, mask="both", side="at the start"),
        )


def weights_of(names, mask, title, array, rows=None):
    return cells.Matrix(title, array, rows or names, names, ("T_q", "T_k"), "weights", mask)


def scores_of(names, mask, title, array):
    return cells.Matrix(title, array, names, names, ("T_q", "T_k"), mask=mask)
