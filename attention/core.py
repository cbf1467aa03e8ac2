"""Scaled dot-product attention: softmax(Q Kᵀ / √d_k) V (Vaswani et al. 2017, section 3.2.1, equation 1).

Everywhere in this package rows are queries (who looks), columns are keys (who is looked at), and a boolean
mask is True where a query may attend to a key. Leading axes (batch, heads) are free and broadcast.
"""

from dataclasses import dataclass

import numpy as np

from attention.arguments import prepare, promote


def softmax(scores, axis=-1):
    """exp(x) / Σ exp(x) along `axis`: floating, of the same shape, in [0, 1], with a sum of 1 along `axis`.

    Nothing but -inf gives zeros: there is nothing to attend to. +inf takes all the weight, shared among its
    equals: the limit of ever larger scores. NaN makes its slice NaN. Integers are promoted to float64.
    """
    scores, dtype = promote(scores)
    return _softmax_in_place(np.array(scores), axis).astype(dtype, copy=False)


def _softmax_in_place(x, axis=-1):
    with np.errstate(all="ignore"):
        peak = x.max(axis, keepdims=True)  # subtracted, it cancels out: but exp can no longer overflow
        if np.isinf(peak).any():
            np.copyto(x, np.where(x == np.inf, 0, -np.inf), where=peak == np.inf)
            peak[np.isinf(peak)] = 0
        x -= peak
        np.exp(x, out=x)
        x /= np.maximum(x.sum(axis, keepdims=True), 1)  # exp(peak - peak) = 1: only an empty row sums to less
    return x


@dataclass(frozen=True, eq=False)
class AttentionSteps:
    """Every matrix of one attention, in the order in which it is computed.

    query (…, T_q, d_k), key (…, T_k, d_k), value (…, T_k, d_v); scores, scaled_scores, masked_scores, weights
    (…, T_q, T_k); output (…, T_q, d_v). scaled_scores = scores · scale. Grouped keys and values stand once for
    each query head that uses them. float16 input is float32 here up to the weights.
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


def attention_steps(query, key, value, mask=None, *, scale=None, causal=False, window=None):
    """The AttentionSteps of `scaled_dot_product_attention`, which explains the arguments."""
    query, key, value, allowed, bias, scale, dtype = prepare(query, key, value, mask, scale, causal, window)
    with np.errstate(all="ignore"):
        scores = query @ key.mT  # (…, T_q, d_k) @ (…, d_k, T_k) -> (…, T_q, T_k)
        scaled_scores = scores * scale
        masked_scores = scaled_scores if bias is None else scaled_scores + bias
        if allowed is not None:
            masked_scores = np.where(allowed, masked_scores, -np.inf).astype(scores.dtype, copy=False)
        weights = softmax(masked_scores)
        output = weights @ value  # (…, T_q, T_k) @ (…, T_k, d_v) -> (…, T_q, d_v)
    weights, output = weights.astype(dtype, copy=False), output.astype(dtype, copy=False)
    return AttentionSteps(query, key, value, scale, scores, scaled_scores, masked_scores, weights, output)


def scaled_dot_product_attention(query, key, value, mask=None, *, scale=None, causal=False, window=None):
    """softmax(query keyᵀ · scale) value: the pair (output, weights).

    query (…, T_q, d_k), key (…, T_k, d_k) and value (…, T_k, d_v) give output (…, T_q, d_v) and weights
    (…, T_q, T_k), each row of which lies in [0, 1] and sums to 1, or is all zero, as is its output, where the
    query may attend to nothing.
    """
    steps = attention_steps(query, key, value, mask, scale=scale, causal=causal, window=window)
    return steps.output, steps.weights
