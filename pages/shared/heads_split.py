"""Split and merge: the numbers of a small multi-head attention, from X to the output."""

import numpy as np
import streamlit as st

from attention import charts
from attention import head_slices as slices
from attention.examples import SENTENCE
from pages.shared import cells, controls, heads_sizes, quiz, shell
from pages.shared.dimensions import shape
from pages.shared.heads_matrices import ALL, KINDS, head_of, matrices_of

STEPS = {
    "project": "1 Project",
    "split": "2 Split",
    "attend": "3 Attend",
    "join": "4 Join",
    "mix": "5 Mix with W_O",
}
WEIGHT = {"query": "W_Q", "key": "W_K", "value": "W_V"}
MOST = 16  # embed_dim, so that every number can be read


def show():
    tokens, layer, X, head = _ask()
    steps = layer.steps(X)
    _shapes(layer, steps, X)
    index = _sequence(layer, steps, tokens, X)
    tokens = tokens[::-1] if index == (1,) else tokens
    step = controls.choice("Step", STEPS, key="step", names=STEPS, on_change=_follow)
    kind = "query"
    if step in ("project", "split"):
        kind = controls.choice("Of the", KINDS, key="of", names=KINDS, on_change=_follow)
    on = _switches(layer.num_heads) if step == "mix" else np.ones(layer.num_heads, dtype=bool)
    figures = st.container()
    matrices, copies = matrices_of(tokens, layer, X, steps, head, index, kind, on)
    board = cells.Board(matrices, scale=steps.heads.scale, copies=copies, first=_result(step, kind))
    with figures:
        if step == "project":
            _project(board, layer, kind)
        elif step == "split":
            _split(board, layer, tokens, head, kind)
        elif step == "attend":
            _attend(board, layer, tokens, steps.heads.weights[index], head)
        elif step == "join":
            _join(board, layer, head)
        else:
            _mix(board, layer, tokens, steps.output[index], matrices["projected"].array)
    heads_sizes.show(layer)
    _questions(tokens, layer, steps, head, index)


# --- what is asked ----------------------------------------------------------------------------------------


def _ask():
    with st.expander("Change the words and the width", icon=":material/edit:", on_change="rerun", key="change"):
        tokens = controls.words("1 to 8 words", SENTENCE, key="words", most=8)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            embed_dim = controls.number("embed_dim", 1, MOST, 8, key="dim", width=140)
            seed = controls.number("Seed of the numbers", 0, 9999, 0, key="seed", width=160)
            batch = controls.switch("A batch: these words, and the same words backwards", key="batch")
        st.caption("Embeddings and projections are random numbers of one decimal; equal words have equal embeddings.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        divisors = [str(divisor) for divisor in slices.divisors(embed_dim)]
        first = "2" if "2" in divisors else divisors[-1]
        why = "Only numbers that divide embed_dim."
        num_heads = int(
            controls.choice("Heads", divisors, key="heads", widget=st.selectbox, default=first, help=why, width=130)
        )
        num_kv_heads = _key_heads(num_heads)
        head = controls.number("Head shown", 0, num_heads - 1, 0, key="h", width=130) if num_heads > 1 else 0
    X = slices.random_embeddings(tokens, embed_dim, seed)
    layer = slices.random_layer(embed_dim, num_heads, num_kv_heads, seed)
    return tokens, layer, np.stack([X, X[::-1]]) if batch else X, head


def _key_heads(num_heads):
    """As many as heads, which stays so when their number changes, or one of the smaller divisors."""
    fewer = [str(divisor) for divisor in reversed(slices.divisors(num_heads)[:-1])]
    names = {"each": "one each"} | {number: number for number in fewer}
    what = "One each: multi-head attention. Fewer: grouped-query. One: multi-query."
    picked = controls.choice("Key/value heads", names, key="kv", widget=st.selectbox, names=names, help=what, width=170)
    return num_heads if picked == "each" else int(picked)


def _sequence(layer, steps, tokens, X):
    """Which sequence of the batch is shown, as an index; () without a batch axis."""
    if X.ndim == 2:
        return ()
    one = controls.number("Sequence of the batch shown", 0, len(X) - 1, 0, key="seq", width=200)
    gap = np.abs(steps.output[0] - steps.output[1][::-1]).max()
    st.caption(
        "The sequences of a batch never see each other. These two hold the same tokens in opposite order, and each "
        f"token gets the same output in both: the largest difference is {charts.exact(gap)}, which is rounding. "
        "Without positions in X, attention does not know the order."
    )
    return (one,)


def _switches(num_heads):
    """(num_heads,) bool: the heads that stay on."""
    with st.container(horizontal=True):
        return np.array([controls.switch(f"Head {head}", True, key=f"on{head}") for head in range(num_heads)])


def _result(step, kind):
    results = {
        "project": ALL[kind],
        "split": kind,
        "attend": "weights",
        "join": "concatenated",
        "mix": "projected",
    }
    return results[step]


def _follow():
    """Explain a cell of what the step computes."""
    step, kind = map(controls.now, ("step", "of"))
    controls.put(cell=_result(step or "project", kind or "query"))


def _shapes(layer, steps, X):
    """Every array on the way with its shape, read from the arrays themselves."""
    lead = ("batch",) if X.ndim == 3 else ()
    arrays = (
        ("embeddings $X$", ("T_q", "d_model"), X),
        (r"projected $Q^{\text{all}}$", ("T_q", "hd_k"), steps.projected_query),
        ("split $Q$", ("heads", "T_q", "d_k"), steps.split_query),
        ("weights $A$", ("heads", "T_q", "T_k"), steps.heads.weights),
        ("head outputs $O$", ("heads", "T_q", "d_k"), steps.heads.output),
        ("joined $C$", ("T_q", "hd_k"), steps.concatenated),
        ("output $Y$", ("T_q", "d_model"), steps.output),
    )
    st.markdown(" → ".join(f"{name} {shape(lead + dims, array.shape)}" for name, dims, array in arrays))
    if layer.num_kv_heads < layer.num_heads:
        st.markdown(
            f"Split keys and values: {shape((*lead, 'groups', 'T_k', 'd_k'), steps.split_key.shape)}. "
            f"{layer.num_heads // layer.num_kv_heads} query heads share each."
        )


# --- step by step -----------------------------------------------------------------------------------------


def _project(board, layer, kind):
    _, number = head_of(layer, 0, kind)
    st.markdown(
        f"**One product projects for all heads.** The rows of ${WEIGHT[kind]}$ belong to {number} heads, "
        f"{layer.head_dim} each: the strip shows whose. Every head reads **all** of $X$, through its own rows."
    )
    board.side_by_side("X", WEIGHT[kind], ALL[kind])
    st.caption(
        ":material/fact_check: The printed lesson draws “Split input X into heads”. What is split is the *projected* "
        "queries, keys and values. Check it: click a cell, and see the whole row of X that it came from."
    )


def _split(board, layer, tokens, head, kind):
    kind_head, number = head_of(layer, head, kind)
    first, last = kind_head * layer.head_dim, (kind_head + 1) * layer.head_dim - 1
    st.markdown(
        f"**Splitting computes nothing.** Head {kind_head} of the {KINDS[kind]} is columns {first} to {last}, for all "
        "tokens. In code: reshape to (T, heads, head_dim), then **swap** the first two axes."
    )
    board.side_by_side(ALL[kind], kind)
    with st.expander("What if the axes are not swapped?", on_change="rerun", key="more_view") as box:
        if box.open:
            owners = slices.viewed_tokens(len(tokens), number)[kind_head]
            rows = "; ".join(
                f"row {row} holds {shell.token(tokens[owner])} ({owner})" for row, owner in enumerate(owners)
            )
            st.markdown(
                "`x.reshape(heads, T, head_dim)` has the right shape and no error follows, but rows are cut from the "
                f"numbers as they lie in memory. In head {kind_head}: {rows}. "
                f"{np.count_nonzero(owners != np.arange(len(tokens)))} of {len(tokens)} rows hold another token's "
                f"numbers, and the head sees {len(set(owners.tolist()))} of {len(tokens)} tokens."
            )
            board.side_by_side(kind, "viewed")


def _attend(board, layer, tokens, weights, head):
    st.markdown(
        f"**Each head attends by itself**, on {layer.head_dim} numbers per token instead of "
        f"{layer.embedding_dimension}, scaled by {charts.exact(layer.head_dim**-0.5)}. Click a head to see it large."
    )
    names, labels = [f"head {index}" for index in range(len(weights))], charts.indexed(tokens)
    cells.clickable(charts.panels(weights, names, labels, labels, marked=head), "all", _take)
    board.side_by_side("query", "key", "masked_scores", "weights", "value", "output")


def _take(panel):
    controls.put(h=panel)


def _join(board, layer, head):
    first = head * layer.head_dim
    st.markdown(
        f"**Joining puts the outputs side by side.** The output of head {head} becomes columns {first} to "
        f"{first + layer.head_dim - 1}. So far no head knows of another."
    )
    board.side_by_side("output", "concatenated")


def _mix(board, layer, tokens, before, after):
    st.markdown(
        "**$W_O$ lets the heads meet.** Each number of the output reads a whole row of $C$, that is, every head. "
        "Switch heads off above: their columns of $C$ become 0."
    )
    board.side_by_side("concatenated", "W_O", "projected")
    change = slices.relative_change(before, after)
    if change.any():
        st.markdown("How far each token's output moved, as a share of its length:")
        shell.draw(charts.bars(change, charts.indexed(tokens), limit=None), "moved")


# --- predict, then reveal ---------------------------------------------------------------------------------


def _questions(tokens, layer, steps, head, index):
    st.subheader("Predict, then check")
    embed_dim, num_heads = layer.embedding_dimension, layer.num_heads
    others = [number for number in slices.divisors(embed_dim) if number != num_heads]
    if others:
        (other,) = slices.sizes(embed_dim, [(others[-1], others[-1])], 1)
        (now,) = slices.sizes(embed_dim, [(num_heads, num_heads)], 1)
        quiz.number(
            "q_parameters",
            f"$W_Q, W_K, W_V, W_O$ of {num_heads} heads, each with its own keys and values, hold {now.parameters:,} "
            f"numbers together. How many do they hold with {other.num_heads} heads?",
            other.parameters,
            f"Each of the four stays {embed_dim} × {embed_dim}: heads only share out the rows.",
        )
    off = slices.switch_off(steps.concatenated[index], np.arange(num_heads) != head)
    moved = np.abs(layer.output_projection(off) - steps.output[index]) > 1e-12
    quiz.number(
        "q_off",
        f"Head {head} is switched off. How many of the {moved.size} numbers of the output $Y$ change?",
        moved.sum(),
        "$W_O$ mixes every column of $C$ into every column of $Y$; a number stays only where a weight is 0 by chance.",
    )
    if num_heads > 1 and len(tokens) > 1:
        owner = slices.viewed_tokens(len(tokens), num_heads)[-1, 0]
        labels = [shell.token(label) for label in charts.indexed(tokens)]
        quiz.choice(
            "q_view",
            f"Somebody reshapes to (heads, T, head_dim) and forgets to swap the axes. Whose numbers stand in row 0, "
            f"meant for {labels[0]}, of head {num_heads - 1}?",
            labels,
            labels[owner],
            f"Head {num_heads - 1} starts where {num_heads - 1} of {num_heads} equal parts of the memory end: its "
            f"first row belongs to token {owner}.",
        )
