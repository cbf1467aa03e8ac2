"""Scaled dot-product attention: softmax(Q Kᵀ / √d_k) V (Vaswani et al. 2017, section 3.2.1, equation 1).

Everywhere in this package rows are queries (who looks), columns are keys (who is looked at), and a boolean
mask is True where a query may attend to a key. Leading axes (batch, heads) are free, and broadcast.

`attention_steps` is the lesson; `scaled_dot_product_attention` gives the same with less memory and time.
"""

from dataclasses import dataclass
from math import prod

import numpy as np

from attention.arguments import prepare, promote

BLOCK = 2**18  # so many weights, 1 MB of float32, stay in a core's cache from the first step to the last
LEAST, MOST = np.float32([[1e-30], [1e30]])


@np.errstate(all="ignore")  # infinity and NaN have their meaning here, below: no warning is due
def softmax(scores, axis=-1):
    """exp(x) / Σ exp(x) along `axis`: an array of the same shape, in [0, 1], that sums to 1 along it.

    Nothing but -inf along the axis (nothing to attend to) gives zeros. +inf takes all, shared with its equals:
    the limit of ever larger scores. A NaN makes all along the axis NaN. float16 is computed in float32, integers
    and booleans become float64. Raises ValueError for scores that are not real numbers.
    """
    x, dtype = promote("scores", scores)
    peak = x.max(axis, keepdims=True, initial=-np.inf)
    weights = np.exp(np.where(x == peak, 0, x - peak))  # the shift by the peak cancels out, and exp stays small
    weights /= weights.sum(axis, keepdims=True)
    return np.where(peak == -np.inf, 0, weights).astype(dtype, copy=False)


@dataclass(frozen=True, eq=False)
class AttentionSteps:
    """Every matrix of one attention, in the order in which they are computed.

    query (…, T_q, d_k), key (…, T_k, d_k), value (…, T_k, d_v); scores, scaled_scores = scores · scale,
    masked_scores (-inf where hidden) and weights (…, T_q, T_k); output (…, T_q, d_v). A key/value head that
    several query heads share stands here once for each. float16 input is float32 up to masked_scores.
    """

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    scale: float
    scores: np.ndarray
    scaled_scores: np.ndarray
    masked_scores: np.ndarray
    weights: np.ndarray
    output: np.ndarray


@np.errstate(all="ignore")
def attention_steps(query, key, value, mask=None, *, scale=None, causal=False, window=None):
    """The AttentionSteps of `scaled_dot_product_attention`, which describes the arguments and the errors."""
    query, key, value, masks, scale, _, dtype = prepare(query, key, value, mask, scale, causal, window)
    scores = query @ key.mT  # (…, T_q, d_k) @ (…, d_k, T_k) -> (…, T_q, T_k)
    scaled_scores = scores * scale
    masked_scores = _masked(scaled_scores, *masks)
    weights = softmax(masked_scores)
    output = weights @ value  # (…, T_q, T_k) @ (…, T_k, d_v) -> (…, T_q, d_v)
    weights, output = weights.astype(dtype, copy=False), output.astype(dtype, copy=False)
    return AttentionSteps(query, key, value, scale, scores, scaled_scores, masked_scores, weights, output)


@np.errstate(all="ignore")
def scaled_dot_product_attention(query, key, value, mask=None, *, scale=None, causal=False, window=None):
    """softmax(query keyᵀ · scale) value: the pair (output (…, T_q, d_v), weights (…, T_q, T_k)).

    query (…, T_q, d_k), key (…, T_k, d_k) and value (…, T_k, d_v) hold real numbers, and are not modified.
    Leading axes broadcast. Keys and values may have fewer heads, on axis -3, if their number divides that of
    the queries: query head h uses h // (query heads / key heads) (Shazeer 2019; Ainslie et al. 2023).

    mask    broadcasts to (…, T_q, T_k): boolean, True = may attend; or floating, added to the scaled scores
    scale   of the scores, 1/√d_k unless given
    causal  query i may attend to keys j ≤ i, counted from the top left (Vaswani et al. 2017, section 3.2.3)
    window  (left, right): query i may attend to keys i - left … i + right; -1 or None leaves a side open
            (Beltagy et al. 2020, section 3.1)

    Weights lie in [0, 1]; each row sums to 1 or, for a query that may attend to nothing, is zero, as is its
    output. +inf in a floating mask takes all the weight of its row. NaN propagates: in a query to its row, in a
    key to the rows that may attend to it, in a value to its column of the output, even where its weight is 0.
    float16 is computed in float32 and comes back as float16; integers and booleans become float64.

    Raises ValueError, naming the argument and the shapes, for shapes that do not fit together, an empty
    sequence, a mask that does not broadcast or is neither boolean nor floating, and a window that is no pair.
    """
    query, key, value, masks, scale, shape, dtype = prepare(query, key, value, mask, scale, causal, window)
    if prod(shape) <= BLOCK:
        output, weights = _attend(query, key, value, masks, scale)
        return output.astype(dtype, copy=False), weights.astype(dtype, copy=False)
    lead = shape[:-2]
    query, key, value = (np.broadcast_to(array, lead + array.shape[-2:]) for array in (query, key, value))
    masks = [None if mask is None else np.broadcast_to(mask, shape) for mask in masks]
    output, weights = np.empty((*shape[:-1], value.shape[-1]), dtype), np.empty(shape, dtype)
    for block in _blocks(shape):
        heads, here = block[: len(lead)], [None if mask is None else mask[block] for mask in masks]
        output[block], weights[block] = _attend(query[block], key[heads], value[heads], here, scale)
    return output, weights


def _blocks(shape):
    """Indices that cut an array of this shape into blocks of at most BLOCK numbers, or of single rows."""
    axis = next(i for i in range(len(shape) - 1) if i == len(shape) - 2 or prod(shape[i + 1 :]) <= BLOCK)
    step = max(1, BLOCK // prod(shape[axis + 1 :]))
    for index in np.ndindex(shape[:axis]):
        for start in range(0, shape[axis], step):
            yield (*index, slice(start, start + step))


def _attend(query, key, value, masks, scale):
    """(output, weights) by the bare formula, in place; by the careful one if the sum of a row shows the need."""
    allowed, bias = masks
    weights = (query * scale) @ key.mT
    if bias is not None:
        weights += bias
    np.exp(weights, out=weights)  # not shifted by the peak, as in softmax: it may overflow, or vanish
    if allowed is not None:
        weights *= allowed
    total = weights.sum(-1, keepdims=True)
    fine = (total > LEAST) & (total < MOST)
    if np.count_nonzero(fine) == fine.size:
        weights /= total
    else:
        weights = softmax(_masked(query @ key.mT * scale, *masks))
    return weights @ value, weights


def _masked(scores, allowed, bias):
    scores = scores if bias is None else scores + bias
    return scores if allowed is None else np.where(allowed, scores, -np.inf)
