"""Numeric walkthrough: every matrix of one small example, step by step."""

from functools import partial

import numpy as np
import streamlit as st

from attention import attention_steps, charts, examples, export, heads, softmax
from attention.gradients import jacobian_norm
from attention.worked import asymmetry, misprints, order_gap, with_weights, work_through
from pages.shared import cells, controls, matrices, quiz, shell
from pages.shared.dimensions import symbol

PAGE = "pages/numeric_walkthrough.py"
shell.open_page(PAGE)
st.markdown(
    "A few tokens, a few numbers each, and every matrix on the way to their output. "
    "**Click any cell**: the box under the matrices writes out where its number came from."
)

# --- whose numbers ----------------------------------------------------------------------------------------

with st.expander(
    "Change the tokens, the numbers and the sizes", icon=":material/edit:", on_change="rerun", key="numbers"
) as numbers:
    tokens = controls.words("Tokens, 1 to 8 words", "cat sat mat", key="words", most=8)
    left, *sizes = st.columns((3, 1, 1, 1))
    with left:
        names = examples.PRESETS
        preset = controls.choice("Start from", names, key="preset", widget=st.selectbox, names=names)
        seed = controls.number("Seed", 0, 9999, 0, key="seed") if preset == "random" else 0
    widths = {}
    for column, (key, name) in zip(sizes, {"d": "d_model", "d_k": "d_k", "d_v": "d_v"}.items(), strict=True):
        with column:
            widths[name] = controls.number(f"${symbol(name)}$", 1, 8, 4, key=key)
    rows = {"X": charts.indexed(tokens)} | {
        W: cells.numbered(widths[d]) for W, d in (("W_Q", "d_k"), ("W_K", "d_k"), ("W_V", "d_v"))
    }
    presets = examples.preset(preset, len(tokens), widths["d_model"], widths["d_k"], widths["d_v"], seed)
    inputs = {}
    for tab, name, matrix in zip(st.tabs([f"${name}$" for name in rows]), rows, presets, strict=True):
        with tab:
            columns = cells.numbered(widths["d_model"])
            inputs[name] = matrices.edit(name, matrix, rows[name], columns, key=f"{name}1", seen=numbers.open)

scale_column, mask_column = st.columns(2, vertical_alignment="bottom")
with scale_column:
    scalings = {"sqrt": "÷ √d_k", "none": "not at all", "full": "÷ d_k"}
    scaling = controls.choice("Scale the scores", scalings, key="scale", names=scalings)
with mask_column:
    causal = controls.switch("Causal mask: no token sees a later one", key="causal")

# --- one call computes it all -----------------------------------------------------------------------------

steps = work_through(**inputs, scaling=scaling, causal=causal)
mask = np.isfinite(steps.masked_scores)
is_text = preset == "text" and all(np.array_equal(inputs[W], getattr(examples.CAT_SAT_MAT, W)) for W in inputs)


def check_print(name):
    """What the printed lesson says otherwise, if these are its numbers."""
    wrong = misprints(examples.PRINTED[name], getattr(steps, name)) if is_text and not causal else []
    if wrong and scaling == "sqrt":
        row, column, printed, right = wrong[0]
        others = f" {len(wrong) - 1} more of its numbers in this matrix are wrong too." if len(wrong) > 1 else ""
        st.caption(
            f":material/fact_check: The printed lesson says {printed} in row {row}, column {column}; it is "
            f"{right}.{others} Check it: click the cell."
        )


# --- step by step -----------------------------------------------------------------------------------------

STEPS = {
    "project": "1 Projection",
    "scores": "2 Scores",
    "scale": "3 Scale",
    "mask": "4 Mask",
    "softmax": "5 Softmax",
    "output": "6 Output",
    "all": "All steps",
}
RESULTS = ("query", "scores", "scaled_scores", "masked_scores", "weights", "output", "weights")
RESULT = dict(zip(STEPS, RESULTS, strict=True))  # what a step explains first


def go(by):
    """Back or Next: to the neighbouring step, with a cell of its result explained."""
    now = list(STEPS).index(controls.now("step") or "project")
    controls.put(step=list(STEPS)[min(max(now + by, 0), len(STEPS) - 1)])
    follow()


def follow():
    controls.put(cell=RESULT[controls.now("step") or "project"])


with st.container(horizontal=True, vertical_alignment="bottom"):
    step = controls.choice("Step", STEPS, key="step", names=STEPS, on_change=follow)
    if not controls.hidden("step"):
        st.button("Back", icon=":material/arrow_back:", on_click=partial(go, -1), disabled=step == "project")
        st.button("Next", icon=":material/arrow_forward:", on_click=partial(go, 1), disabled=step == "all")

above, figures, below = st.container(), st.container(), st.container()
with above if step == "all" else below:  # near the matrices, and not below a whole page of them
    matrix_by_name = cells.standard(steps, tokens, inputs=inputs, mask=mask if causal else None)
    board = cells.Board(matrix_by_name, scale=steps.scale, first=RESULT[step])


PROJECTED = {"W_Q": "query", "W_K": "key", "W_V": "value"}
PROJECTIONS = {"W_Q": "to queries", "W_K": "to keys", "W_V": "to values"}
identity = all(np.array_equal(projected, inputs["X"]) for projected in (steps.query, steps.key, steps.value))


def at(name):
    return step in (name, "all")


with figures:
    if at("project"):
        st.subheader("1 · Project the embeddings")
        st.latex(r"Q = X W_Q^\top \qquad K = X W_K^\top \qquad V = X W_V^\top")
        st.markdown(
            "Each row of $X$ is a token. Its query says what it looks for, its key what it can be found by, "
            "its value what it hands over."
            + (" Here the projections are the identity, so $Q = K = V = X$." if identity else "")
        )
        projection = controls.choice("Projection", PROJECTIONS, key="of", names=PROJECTIONS)
        board.side_by_side("X", projection, PROJECTED[projection])
    if at("scores"):
        st.subheader("2 · Compare every query with every key")
        st.latex(rf"S = Q K^\top, \qquad S_{{i,j}} = \sum_{{t=1}}^{{{symbol('d_k')}}} Q_{{i,t}} K_{{j,t}}")
        gap = asymmetry(steps.scores)
        st.markdown(
            "A score is the dot product of a query and a key: large where they point the same way, and larger "
            "the longer they are. "
            + (
                "Here $S$ is **symmetric**: each token scores another as it is scored by it."
                if gap < 1e-12
                else f"Here $S$ is **not symmetric**: $S_{{i,j}}$ and $S_{{j,i}}$ differ by up to "
                f"{charts.exact(gap)}, because $W_Q \\ne W_K$. Asking and being asked are two things."
            )
        )
        board.side_by_side("query", "key", "scores")
        check_print("scores")
    if at("scale"):
        st.subheader("3 · Scale")
        st.latex(rf"\hat S = S / \sqrt{{{symbol('d_k')}}}")
        spread = heads.entropy(softmax(steps.scores)), heads.entropy(softmax(steps.scaled_scores))
        st.markdown(
            f"Present choice: {scalings[scaling]}, so each score is multiplied by {charts.exact(steps.scale)}. "
            f"The mean entropy of the rows of weights goes from {spread[0].mean():.3f} (unscaled) to "
            f"{spread[1].mean():.3f}; the most even row possible has {np.log(len(tokens)):.3f}. "
            f"Scaling the queries before the product gives the same scores: the largest difference is "
            f"{charts.exact(order_gap(steps.query, steps.key, steps.scale))}, which is rounding."
        )
        st.page_link("pages/scaling.py", label="Why the square root? See the lab", icon=":material/straighten:")
        board.side_by_side("scores", "scaled_scores")
        check_print("scaled_scores")
    if at("mask"):
        st.subheader("4 · Mask")
        st.latex(r"\tilde S_{i,j} = \hat S_{i,j} \text{ where } i \text{ may attend to } j, \text{ else } -\infty")
        st.markdown(
            "The mask works on **scores**, before the softmax: $e^{-\\infty} = 0$, so a masked key gets no "
            "weight and the others share all of it."
            + ("" if causal else " No mask is on: the matrix stays as it is. Switch the causal mask on above.")
        )
        board.side_by_side("scaled_scores", "masked_scores")
    if at("softmax"):
        st.subheader("5 · Softmax, row by row")
        st.latex(r"A_{i,j} = \frac{e^{\tilde S_{i,j}}}{\sum_t e^{\tilde S_{i,t}}}")
        st.markdown(
            "Each row becomes positive and sums to 1: it says how one query shares its attention among the keys."
        )
        board.side_by_side("masked_scores", "weights")
        check_print("weights")
        axis = controls.choice(
            "Sums to 1 along",
            ("rows", "columns"),
            key="axis",
            help="Softmax over the wrong axis is a common slip.",
        )
        over = softmax(steps.masked_scores, axis=1 if axis == "rows" else 0)
        sums = {"rows": over.sum(axis=1), "columns": over.sum(axis=0)}
        for name, values in sums.items():
            st.markdown(f"Sums of the {name}: " + ", ".join(f"{value:.3f}" for value in values))
        if axis == "columns":
            st.caption("So each key would share itself out among the queries, and a query may get nothing at all.")
        with st.expander("How much does a weight move when a score does?", on_change="rerun", key="slopes") as box:
            if box.open:
                names = charts.indexed(tokens)
                asking = min(board.selected[1], len(tokens) - 1)
                row = steps.weights[asking]
                picture = st.container()
                slopes = cells.Board(cells.sensitivity(row, names), first="jacobian", key="jac_")
                with picture:
                    st.markdown(
                        f"The row of {shell.token(names[asking])}, the selected one. Each column says what one more "
                        "unit of that score would do to every weight, at this point: one wins what the others lose. "
                        f"The norm of the matrix is **{jacobian_norm(row):.4f}**, of ½ at most; near 0, nothing moves, "
                        "and training has nothing to go by."
                    )
                    slopes.side_by_side("weight_row", "jacobian")
    if at("output"):
        st.subheader("6 · Mix the values")
        st.latex(rf"O = A V, \qquad O_{{i,c}} = \sum_{{t=1}}^{{{symbol('T_k')}}} A_{{i,t}} V_{{t,c}}")
        st.markdown(
            "Each output row is a weighted mean of the rows of $V$: it lies between the smallest and the largest "
            "value of each column."
        )
        board.side_by_side("weights", "value", "output")
        check_print("output")
        _, other_way = with_weights(steps.weights, steps.value)
        T, d_v = steps.value.shape
        st.markdown(
            f"The order matters: $A V$ has sizes $({T} \\times {T})({T} \\times {d_v})$. "
            + (
                f"$V A$ would have $({T} \\times {d_v})({T} \\times {T})$: {d_v} is not {T}: impossible."
                if other_way is None
                else "Here $V A$ can be computed too, since the sizes are equal by luck, and differs by up to "
                f"{charts.exact(np.abs(other_way - steps.output).max())}: no error would warn you."
            )
        )

# --- predict, then reveal ---------------------------------------------------------------------------------

st.subheader("Predict, then check")
first = shell.token(tokens[0])
doubled = inputs | {"X": np.concatenate([2 * inputs["X"][:1], inputs["X"][1:]])}
quiz.number(
    "q_double",
    f"Double every number of {first} in $X$. What does its score with itself, $S_{{0,0}}$, become?",
    work_through(**doubled, scaling=scaling, causal=causal).scores[0, 0],
    f"Query and key both double, so the present {charts.exact(steps.scores[0, 0])} is multiplied by 4.",
)
quiz.number(
    "q_shift",
    f"Add 1 to every score in the row of {first}. What is its weight on itself, $A_{{0,0}}$, then?",
    softmax(steps.masked_scores[0] + 1)[0],
    "Every power grows by the same factor $e$, which cancels: only differences between scores count.",
)
if len(tokens) > 1:
    other = "none" if scaling != "none" else "sqrt"
    here, there = (
        heads.entropy(work_through(**inputs, scaling=rule, causal=causal).weights).mean() for rule in (scaling, other)
    )
    change = "stay as even" if np.isclose(here, there) else "become more peaked" if there < here else "become more even"
    quiz.choice(
        "q_scale",
        f"Scale by “{scalings[other]}” instead of “{scalings[scaling]}”. On average, the rows of weights …",
        ("become more peaked", "become more even", "stay as even"),
        change,
        f"Their mean entropy goes from {here:.3f} to {there:.3f}.",
    )
    quiz.number(
        "q_first",
        f"Under a causal mask, how much weight does {first}, at position 0, put on itself?",
        work_through(**inputs, scaling=scaling, causal=True).weights[0, 0],
        "It sees no other token: position 0 has no choice.",
    )

# --- to take away -----------------------------------------------------------------------------------------

st.subheader("Take the example with you")
with st.container(horizontal=True):
    rule = {"sqrt": "1 / √d_k", "none": "not scaled", "full": "1 / d_k"}[scaling]
    files = {
        "NumPy script": (partial(export.as_script, tokens, inputs, steps, causal=causal, scale_rule=rule), "py"),
        "JSON": (partial(export.as_json, tokens, inputs, steps, causal=causal), "json"),
        "Markdown with LaTeX": (partial(export.as_markdown, tokens, inputs, steps, causal=causal), "md"),
    }
    for label, (content, suffix) in files.items():
        st.download_button(
            label,
            content,
            f"attention.{suffix}",
            icon=":material/download:",
            on_click="ignore",
            key=f"as_{suffix}",
        )

shell.close_page(PAGE, attention_steps, softmax, work_through)
