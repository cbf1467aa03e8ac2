"""Split and merge: the numbers of a small multi-head attention, from X to the output."""

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from attention import charts
from attention import head_slices as slices
from attention.examples import SENTENCE
from attention.explain import SYMBOLS
from pages.shared import cells, controls, quiz, shell
from pages.shared.dimensions import shape

STEPS = {
    "project": "1 Project",
    "split": "2 Split",
    "attend": "3 Attend",
    "join": "4 Join",
    "mix": "5 Mix with W_O",
}
KINDS = {"query": "queries", "key": "keys", "value": "values"}
WEIGHT = {"query": "W_Q", "key": "W_K", "value": "W_V"}
ALL = {"query": "all_queries", "key": "all_keys", "value": "all_values"}
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
    matrices, copies = _matrices(tokens, layer, X, steps, head, index, kind, on)
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
    _sizes(layer, len(tokens))
    _questions(tokens, layer, steps, head, index)


# --- what is asked ----------------------------------------------------------------------------------------


def _ask():
    words, dim, heads, groups = st.columns((4, 1, 1, 1))
    with words:
        tokens = controls.words("Tokens, 1 to 8 words", SENTENCE, key="words", most=8)
    with dim:
        embed_dim = controls.number("embed_dim", 1, MOST, 8, key="dim")
    with heads:
        num_heads = _divisor("Heads", embed_dim, 2, "heads", "Only numbers that divide embed_dim.")
    with groups:
        fewer = "As many as heads: multi-head. Fewer: grouped-query. One: multi-query attention."
        num_kv_heads = _divisor("Key/value heads", num_heads, num_heads, "kv", fewer)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        head = controls.number("Head shown", 0, num_heads - 1, 0, key="h", width=130) if num_heads > 1 else 0
        seed = controls.number("Seed of the numbers", 0, 9999, 0, key="seed", width=160)
        batch = controls.switch("A batch: these words, and the same words backwards", key="batch")
    X = slices.random_embeddings(tokens, embed_dim, seed)
    layer = slices.random_layer(embed_dim, num_heads, num_kv_heads, seed)
    return tokens, layer, np.stack([X, X[::-1]]) if batch else X, head


def _divisor(label, number, default, key, help):
    """One of the divisors of `number`; `default` where it is one, else the largest."""
    options = [str(divisor) for divisor in slices.divisors(number)]
    first = str(default) if str(default) in options else options[-1]
    options.insert(0, options.pop(options.index(first)))
    return int(controls.choice(label, options, key=key, widget=st.selectbox, help=help))


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
    step, kind = (st.session_state.get(key) for key in ("step", "of"))
    st.session_state["cell"] = _result(step or "project", kind or "query")


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


def _matrices(tokens, layer, X, steps, head, index, kind, on):
    """Every matrix of one head of one sequence; and, of those that hold copies, where each cell came from."""
    num_heads, head_dim, groups = layer.num_heads, layer.head_dim, layer.num_kv_heads
    kind_head, kind_heads = _head_of(layer, head, kind)
    labels, wide = charts.indexed(tokens), cells.numbered(num_heads * head_dim)
    narrow, one = cells.numbered(groups * head_dim), cells.numbered(head_dim)
    owner, group_owner = (np.repeat(np.arange(number), head_dim) for number in (num_heads, groups))
    joined = slices.switch_off(steps.concatenated[index], on)
    projected = {name: getattr(steps, f"projected_{name}")[index] for name in KINDS}
    viewed = slices.viewed_heads(projected[kind], kind_heads)[kind_head]

    def wide_matrix(title, array, rows, dimensions, bands):
        columns = narrow if dimensions[1] == "gd_k" else wide
        return cells.Matrix(title, array, rows, columns, dimensions, bands=bands)

    matrices = {"X": cells.Matrix("Embeddings $X$", X[index], labels, wide, ("T_q", "d_model"))}
    for name, letter in zip(KINDS, "QKV", strict=True):
        d, rows, band = ("hd_k", wide, owner) if name == "query" else ("gd_k", narrow, group_owner)
        T, W = "T_q" if name == "query" else "T_k", getattr(layer, f"{name}_projection").weight
        matrices[f"W_{letter}"] = wide_matrix(f"$W_{letter}$", W, rows, (d, "d_model"), (band, None))
        title = rf"All heads' {KINDS[name]} ${letter}^{{\text{{all}}}}$"
        matrices[ALL[name]] = wide_matrix(title, projected[name], labels, (T, d), (None, band))
    matrices |= {
        name: replace(matrix, title=f"{matrix.title}, head {head}")
        for name, matrix in cells.standard(slices.one_head(steps.heads, *index, head), tokens).items()
    }
    title = f"Not split but only reshaped: $Z$, head {kind_head}"
    matrices["viewed"] = cells.Matrix(title, viewed, labels, one, ("T_q", "d_k"))
    matrices["concatenated"] = wide_matrix("Joined heads $C$", joined, labels, ("T_q", "hd_k"), (None, owner))
    W_O = layer.output_projection.weight
    matrices["W_O"] = wide_matrix("$W_O$", W_O, wide, ("d_model", "hd_k"), (None, owner))
    output = layer.output_projection(joined)
    matrices["projected"] = cells.Matrix("Output $Y = C W_O^\\top$", output, labels, wide, ("T_q", "d_model"))
    return matrices, _copies(layer, tokens, head, kind, on)


def _copies(layer, tokens, head, kind, on):
    """For the matrices that only hold numbers of others: where a cell came from, as `explain` takes it."""
    head_dim = layer.head_dim
    kind_head, kind_heads = _head_of(layer, head, kind)

    def of_all(name, source):
        return lambda row, column: (ALL[name], SYMBOLS[ALL[name]], *source(row, column))

    def of_head(row, column):
        other, row, column = slices.merge_source(head_dim)(row, column)
        symbol = ("" if on[other] else r"0 \cdot ") + f"O^{{({other})}}"
        return "output" if other == head else "", symbol, row, column

    sources = {name: slices.split_source(_head_of(layer, head, name)[0], head_dim) for name in KINDS}
    viewed = slices.viewed_source(kind_head, len(tokens), kind_heads, head_dim)
    copies = {name: of_all(name, source) for name, source in sources.items()}
    return copies | {"viewed": of_all(kind, viewed), "concatenated": of_head}


def _head_of(layer, head, kind):
    """(index, number) of the heads of queries, keys or values: `head`, or the one that its group shares."""
    if kind == "query":
        return head, layer.num_heads
    return head * layer.num_kv_heads // layer.num_heads, layer.num_kv_heads


# --- step by step -----------------------------------------------------------------------------------------


def _project(board, layer, kind):
    _, number = _head_of(layer, 0, kind)
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
    kind_head, number = _head_of(layer, head, kind)
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
    board.side_by_side("query", "key", "weights", "value", "output")


def _take(panel):
    st.session_state["h"] = panel


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
        shell.draw(charts.bars(change, charts.indexed(tokens), limit=max(1, change.max())), "moved")


# --- how large --------------------------------------------------------------------------------------------

LAYERS = {"here": "the layer above", "text": "the lesson's text", "vaswani": "Vaswani et al. 2017"}
WIDTHS = {"text": (128, 4), "vaswani": (512, 8)}


def _sizes(layer, seq_len):
    label = "Parameters and cache: does more heads mean more of them?"
    with st.expander(label, icon=":material/straighten:", on_change="rerun", key="more_sizes") as box:
        if not box.open:
            return
        which = controls.choice("Sizes of", LAYERS, key="sizes", names=LAYERS)
        seq_len = controls.number("Tokens in the cache", 1, 1_000_000, 1024, key="cached", width=200)
        embed_dim, num_heads = WIDTHS.get(which, (layer.embedding_dimension, layer.num_heads))
        st.dataframe(_size_table(embed_dim, num_heads, seq_len), hide_index=True, width="content")
        st.markdown(
            f"Counted on layers of embed_dim {embed_dim}, built for this table, without biases. With as many "
            "key/value heads as heads, the parameters stay **the same** whatever the number of heads: more heads are "
            "narrower. Fewer key/value heads make $W_K$ and $W_V$ smaller, and the keys and values that a decoder "
            "keeps of past tokens."
        )


@st.cache_data(max_entries=32, show_spinner=False)
def _size_table(embed_dim, num_heads, seq_len):
    counts = [(number, number) for number in slices.divisors(embed_dim)]
    counts += [(num_heads, groups) for groups in reversed(slices.divisors(num_heads)[:-1])]
    table = pd.DataFrame(slices.sizes(embed_dim, counts, seq_len))
    table.columns = ["", "heads", "key/value heads", "head_dim", "parameters", "numbers in the cache"]
    return table


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
