"""One worked example: embeddings are projected, then attend; and facts about it that a reader can check."""

import numpy as np

from attention.core import attention_steps, scaled_dot_product_attention
from attention.explain import shown
from attention.multi_head import Linear

SCALES = {"sqrt": lambda d_k: d_k**-0.5, "none": lambda d_k: 1.0, "full": lambda d_k: 1 / d_k}


def work_through(X, W_Q, W_K, W_V, *, scaling="sqrt", causal=False):
    """The AttentionSteps of X (seq_len, d_model) projected by W_Q, W_K (d_k, d_model) and W_V (d_v, d_model).

    `scaling` names what the scores are divided by: "sqrt" √d_k (Vaswani et al. 2017, equation 1), "none" 1,
    "full" d_k. Raises KeyError for another name, and ValueError where the widths do not fit.
    """
    query, key, value = (Linear.from_arrays(W).forward(X) for W in (W_Q, W_K, W_V))
    return attention_steps(query, key, value, scale=SCALES[scaling](len(W_Q)), causal=causal)


def asymmetry(matrix):
    """The largest |M_ij - M_ji| of a square matrix: 0 where i looks at j as j looks at i."""
    return float(np.abs(matrix - matrix.T).max())


def order_gap(query, key, scale):
    """The largest difference between scaling the queries first and scaling the scores: rounding, no more."""
    return float(np.abs((query * scale) @ key.T - (query @ key.T) * scale).max())


def with_weights(weights, value):
    """(weights value, value weights): the second, the wrong way round, is None where the sizes forbid it."""
    other_way = value @ weights if value.shape[1] == weights.shape[0] else None
    return weights @ value, other_way


def permutation_gap(steps, order):
    """How much the outputs of reordered tokens differ, at most, from reordered outputs: rounding, no more."""
    moved, _ = scaled_dot_product_attention(steps.query[order], steps.key[order], steps.value[order], scale=steps.scale)
    still, _ = scaled_dot_product_attention(steps.query, steps.key, steps.value, scale=steps.scale)
    return float(np.abs(moved - still[order]).max())


def misprints(printed, matrix, tolerance=0.0006):
    """[(row, column, printed number, right number), …] where they differ by more than rounding to 3 decimals.

    The largest difference comes first, numbers are texts as `explain.shown` writes them, and a matrix of
    another shape has none.
    """
    printed = np.asarray(printed)
    if printed.shape != matrix.shape:
        return []
    gaps = np.abs(printed - matrix)
    cells = sorted(np.argwhere(gaps > tolerance), key=lambda cell: -gaps[tuple(cell)].round(9))
    return [(int(i), int(j), shown(printed[i, j]), shown(matrix[i, j])) for i, j in cells]
