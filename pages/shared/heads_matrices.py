"""The matrices of a small multi-head attention, and where each cell of one that only holds copies came from."""

from dataclasses import replace

import numpy as np

from attention import charts
from attention import head_slices as slices
from attention.explain import SYMBOLS
from pages.shared import cells

KINDS = {"query": "queries", "key": "keys", "value": "values"}
ALL = {"query": "all_queries", "key": "all_keys", "value": "all_values"}


def matrices_of(tokens, layer, X, steps, head, index, kind, on):
    """Every matrix of one head of one sequence; and, of those that hold copies, where each cell came from."""
    num_heads, head_dim, groups = layer.num_heads, layer.head_dim, layer.num_kv_heads
    kind_head, kind_heads = head_of(layer, head, kind)
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
    title = rf"Scaled scores $\tilde S = \hat S$, none masked, head {head}"
    matrices["masked_scores"] = replace(matrices["masked_scores"], title=title)
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
    kind_head, kind_heads = head_of(layer, head, kind)

    def of_all(name, source):
        return lambda row, column: (ALL[name], SYMBOLS[ALL[name]], *source(row, column))

    def of_head(row, column):
        other, row, column = slices.merge_source(head_dim)(row, column)
        symbol = ("" if on[other] else r"0 \cdot ") + f"O^{{({other})}}"
        return "output" if other == head else "", symbol, row, column

    sources = {name: slices.split_source(head_of(layer, head, name)[0], head_dim) for name in KINDS}
    viewed = slices.viewed_source(kind_head, len(tokens), kind_heads, head_dim)
    copies = {name: of_all(name, source) for name, source in sources.items()}
    return copies | {"viewed": of_all(kind, viewed), "concatenated": of_head}


def head_of(layer, head, kind):
    """(index, number) of the heads of queries, keys or values: `head`, or the one that its group shares."""
    if kind == "query":
        return head, layer.num_heads
    return head * layer.num_kv_heads // layer.num_heads, layer.num_kv_heads
