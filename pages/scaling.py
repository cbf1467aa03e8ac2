"""Scaling: how large scores are, why they are divided by √d_k, and when that is not right."""

from functools import partial

import numpy as np
import streamlit as st

from attention import charts, examples, export, scaling, softmax
from attention.gradients import jacobian_norm, softmax_jacobian
from pages.shared import cells, controls, quiz, shell
from pages.shared.dimensions import symbol

PAGE = "pages/scaling.py"
shell.open_page(PAGE)
st.markdown(
    "A score is a dot product: a sum of as many terms as queries and keys have components. **The more components, the "
    "larger the scores**, by nothing but chance."
)

# --- the samples ------------------------------------------------------------------------------------------

dimensions = {str(d_k): d_k for d_k in scaling.DIMENSIONS}
d_k = dimensions[controls.choice("Components of a query and of a key, d_k", dimensions, key="d_k", default="64")]
with st.expander("What are the components like?", icon=":material/tune:", on_change="rerun", key="change"):
    rule = controls.choice("Components are", scaling.ASSUMPTIONS, key="assume", names=scaling.ASSUMPTIONS)
    correlation = 0.0
    if rule != "independent":
        correlation = controls.slider("Correlation", 0.0, 1.0, 0.5, key="corr", step=0.05)
    deviation = controls.slider("Standard deviation of a component", 0.25, 4.0, 1.0, key="sigma", step=0.25)
    seed = controls.number("Seed", 0, 9999, 0, key="seed", width=160)
components = scaling.Components(deviation, rule, correlation)
drawn = st.cache_data(scaling.dot_products, max_entries=32, show_spinner=False)
moments_by_dimension = st.cache_data(scaling.moments_by_dimension, max_entries=16, show_spinner=False)
gradient_by_dimension = st.cache_data(scaling.gradient_by_dimension, max_entries=32, show_spinner=False)

sample = drawn(d_k, components, seed)
mean, variance = scaling.theory(d_k, components)
divided = sample / np.sqrt(d_k)
widest = max(scaling.DIMENSIONS)
reach = 4 * np.sqrt(scaling.theory(widest, components).variance) + scaling.theory(widest, components).mean
before, after = st.columns(2)
with before:
    shell.draw(charts.histogram(sample, reach, title="q · k"), "raw")
with after:
    shell.draw(charts.histogram(divided, reach / np.sqrt(widest), title="q · k / √d_k"), "divided")
held = rule == "independent" and deviation == 1
st.markdown(
    f"{len(sample):,} pairs of random vectors: the variance of their dot products is **{charts.exact(sample.var())}**, "
    f"and theory says **{charts.exact(variance)}**. Divided by $\\sqrt{{{d_k}}}$, it is "
    f"**{charts.exact(divided.var())}**. Both axes stay as they are when {symbol('d_k').join('$$')} changes."
)
if held:
    st.caption(
        "Independent components with mean 0 and variance 1 give a variance of d_k, hence the root: Vaswani et al. "
        "2017, section 3.2.1, footnote 4. Real queries and keys need not be like that. Change what they are like."
    )
else:
    st.warning(
        "The paper's assumption does not hold here: after dividing by √d_k the mean is "
        f"{charts.exact(mean / np.sqrt(d_k))} and the variance {charts.exact(variance / d_k)} in theory, not 0 and 1.",
        icon=":material/rule:",
    )

# --- look closer ------------------------------------------------------------------------------------------


def by_dimension():
    measured, expected = moments_by_dimension(components, seed)
    x = list(expected)
    series = {
        "q · k, measured": [moments.variance for moments in measured.values()],
        "q · k, theory": [moments.variance for moments in expected.values()],
        "divided by √d_k, theory": [moments.variance / d for d, moments in expected.items()],
    }
    shell.draw(charts.lines(x, series, titles=("d_k", "variance"), log_x=True, log_y=True), "variances")
    first, last = (expected[d].variance / d for d in (x[0], x[-1]))
    st.markdown(
        "Both axes count in factors: a straight line is a power. Divided by the root, the variance goes from "
        f"{charts.exact(first)} at d_k = {x[0]} to {charts.exact(last)} at d_k = {x[-1]}: "
        + ("the root is the right power." if np.isclose(first, last) else "**here the root is not enough.**")
    )
    if rule == "within":
        st.markdown("Components that move together add up like one number: the deviation grows with d_k itself.")
    if rule == "between":
        mean_last = expected[x[-1]].mean / np.sqrt(x[-1])
        st.markdown(
            "A key that resembles its query has a *mean* score that grows with d_k, so that even divided by the root "
            f"it is {charts.exact(mean_last)} at d_k = {x[-1]}. Such a key is meant to be found."
        )


def weights():
    with st.container(horizontal=True, vertical_alignment="bottom"):
        num_keys = controls.number("Keys", 2, 16, 8, key="keys", width=140)
        exponent = controls.slider(
            "Another exponent: divide by d_k to the power of", 0.0, 1.0, 1.0, key="power", step=0.05
        )
    scores = drawn(d_k, components, seed, num_keys)[0]
    rows = [scaling.soften(scores, d_k, power) for power in (0.0, 0.5, exponent)]
    names = ("not divided", "divided by √d_k", f"divided by d_k^{exponent:g}")
    with st.container(horizontal=True):
        for name, row in zip(names, rows, strict=True):
            with st.container(width="content"):
                st.markdown(f"**{name}**  \nlargest {row.weights.max():.3f}, entropy {row.entropy:.3f}")
                shell.draw(
                    charts.bars(row.weights, [f"key {i}" for i in range(num_keys)], title="weight", height=120), name
                )
    st.markdown(
        f"One query and {num_keys} keys, at random, with d_k = {d_k}. The entropy of a row lies between 0 (all on one "
        f"key) and {np.log(num_keys):.3f} (all keys alike). Large scores leave a hard choice, made by chance before "
        "anything was learnt; too small ones leave an average."
    )


def gradient():
    num_keys = 8
    exponent = controls.slider("Another exponent: divide by d_k to the power of", 0.0, 1.0, 1.0, key="power", step=0.05)
    curves = {
        "not divided": gradient_by_dimension(0.0, components, seed, num_keys),
        "divided by √d_k": gradient_by_dimension(0.5, components, seed, num_keys),
        f"divided by d_k^{exponent:g}": gradient_by_dimension(exponent, components, seed, num_keys),
    }
    shell.draw(
        charts.lines(scaling.DIMENSIONS, curves, titles=("d_k", "mean norm of the softmax Jacobian"), log_x=True),
        "gradients",
    )
    raw, rooted = list(curves.values())[:2]
    where = scaling.DIMENSIONS.index(d_k)
    st.markdown(
        r"How much do weights move when scores do? $\partial a_i / \partial \hat S_j = a_i(\delta_{ij} - a_j)$, the "
        "softmax Jacobian. Its norm lies between 0 and ½. For rows of "
        f"{num_keys} scores at d_k = {d_k} its mean is **{raw[where]:.4f}** not divided, **{rooted[where]:.4f}** "
        "divided by the root. Training passes its corrections through this matrix: where it is near 0, little is "
        "learnt."
    )
    scores = drawn(d_k, components, seed, num_keys)[0]
    row = softmax(scores / np.sqrt(d_k))
    labels = [f"key {i}" for i in range(num_keys)]
    figures = st.container()
    board = cells.Board(cells.sensitivity(row, labels), first="jacobian", key="jac_")
    with figures:
        st.markdown("One of these rows, divided by the root: **click** an entry of its Jacobian.")
        board.side_by_side("weight_row", "jacobian")
        st.caption("Its rows and columns sum to 0: what one weight wins, the others lose.")


def printed():
    st.markdown("The lesson's text shows two softmaxes, one of large and one of small scores.")
    for scores, weights_printed in examples.PRINTED_SOFTMAX.items():
        right = softmax(np.array(scores, dtype=float))
        largest = int(right.argmax())
        st.latex(rf"\operatorname{{softmax}}({', '.join(map(str, scores))}) = ({', '.join(f'{a:.3f}' for a in right)})")
        wrong = np.abs(right - weights_printed).max() > 0.005
        st.markdown(
            f"Norm of its Jacobian: **{jacobian_norm(right):.3g}**. The largest weight is {right[largest]:.6f}, and "
            f"moves by {softmax_jacobian(right)[largest, largest]:.3g} for each unit of its score."
        )
        if wrong:
            st.caption(
                f":material/fact_check: The text prints ({', '.join(map(str, weights_printed))}), which sums to "
                f"{sum(weights_printed):.2f} and is not this softmax. Check it: e^{scores[0]} / (e^{scores[0]} + "
                f"{len(scores) - 1} e^{scores[1]})."
            )


PARTS = {
    "variance": ("Variance", "The variance grows with d_k", by_dimension),
    "weights": ("Weights", "What softmax makes of large scores", weights),
    "gradient": ("Gradient", "How much a weight can still move", gradient),
    "printed": ("The text's two rows", "Two rows of the lesson's text", printed),
}
short = {part: name for part, (name, *_) in PARTS.items()}
_, about, draw = PARTS[controls.choice("Look closer", PARTS, key="part", names=short)]
st.subheader(about)
draw()

# --- predict, then reveal ---------------------------------------------------------------------------------

st.subheader("Predict, then check")
quarter = 4 * d_k
quiz.number(
    "q_variance",
    f"Independent components of variance 1. What is the variance of q · k for d_k = {quarter}?",
    scaling.theory(quarter).variance,
    "Variances of independent terms add up: one for each component.",
)
growth = np.sqrt(scaling.theory(quarter, components).variance / variance)
quiz.number(
    "q_growth",
    f"Components as chosen above. From d_k = {d_k} to {quarter}, by what factor does the **standard deviation** of "
    "q · k grow?",
    growth,
    f"The variances are {charts.exact(variance)} and {charts.exact(scaling.theory(quarter, components).variance)}; "
    "the deviation is their root.",
)
scores = drawn(d_k, components, seed, 8)[0]
rooted, whole = (scaling.soften(scores, d_k, exponent) for exponent in (0.5, 1.0))
change = "more even" if whole.entropy > rooted.entropy + 1e-9 else "the same"
quiz.choice(
    "q_whole",
    f"Divide eight scores by d_k = {d_k} itself instead of its root. Their weights become …",
    ("more even", "more peaked", "the same"),
    change,
    f"Their entropy goes from {rooted.entropy:.3f} to {whole.entropy:.3f}, of {np.log(8):.3f} at most.",
)
halves = softmax(np.zeros(2))
quiz.number(
    "q_most",
    "Two keys have the same score. By how much does the first weight move for a small change of its score, per unit?",
    softmax_jacobian(halves)[0, 0],
    f"a (1 − a) with a = {halves[0]:.1f}: no weight can move faster than this.",
)

st.subheader("Take the numbers with you")
measured, expected = moments_by_dimension(components, seed)
table = np.array([(*measured[d], *expected[d]) for d in scaling.DIMENSIONS])
columns = ("mean, measured", "variance, measured", "mean, theory", "variance, theory")
st.download_button(
    "Mean and variance by d_k, CSV",
    partial(export.as_csv, table, list(dimensions), columns),
    "scaling.csv",
    icon=":material/download:",
    on_click="ignore",
    key="as_csv",
)

shell.close_page(PAGE, scaling.dot_products, scaling.theory, softmax_jacobian, jacobian_norm)
