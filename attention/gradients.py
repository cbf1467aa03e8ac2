"""How weights and outputs move when scores, queries, keys and values do: the derivatives of attention.

Vaswani et al. 2017, section 3.2.1, scale the scores because a large one leaves the softmax "extremely small
gradients": `jacobian_norm` is that as a number. `attention_backward` is what training needs.
"""

import numpy as np

from attention.core import attention_steps


def softmax_jacobian(weights):
    """∂ weights_i / ∂ scores_j = weights_i (δ_ij - weights_j): (…, T) -> (…, T, T), entries in [-1/4, 1/4].

    Rows and columns sum to 0: what one weight gains the others lose..
    """
    weights = np.asarray(weights)
    diagonal = weights[..., None] * np.eye(weights.shape[-1], dtype=weights.dtype)  # (…, T) -> (…, T, T)
    return diagonal - weights[..., :, None] * weights[..., None, :]


def jacobian_norm(weights):
    """The Frobenius norm of `softmax_jacobian(weights)`: (…, T) -> (…), in [0, 1/2].

    0 where one weight is 1: then no score moves anything. 1/2 where two weights are 1/2; √(T - 1) / T where T
    are equal. The T² entries are not needed: the sum of their squares is Σ a² - 2 Σ a³ + (Σ a²)².
    """
    weights = np.asarray(weights)
    squares, cubes = (weights**2).sum(-1), (weights**3).sum(-1)
    return np.sqrt(np.maximum(squares - 2 * cubes + squares**2, 0))  # rounding may leave it just below 0


def attention_backward(query, key, value, grad_output, mask=None, *, scale=None, causal=False, window=None):
    """The gradients (of query, of key, of value) of a loss whose gradient at the output is `grad_output`.

    Arguments and errors as in `scaled_dot_product_attention`; grad_output broadcasts to the output, (…, T_q, d_v).
    Each gradient has the shape of its array: where leading axes broadcast, or query heads share a key/value head,
    contributions are summed. A query that may attend to nothing has, and gives, no gradient. By the chain rule
    through equation 1 of Vaswani et al. 2017.
    """
    steps = attention_steps(query, key, value, mask, scale=scale, causal=causal, window=window)
    grad_output = np.broadcast_to(grad_output, steps.output.shape)
    grad_weights = grad_output @ steps.value.mT  # (…, T_q, d_v) @ (…, d_v, T_k) -> (…, T_q, T_k)
    mean = (steps.weights * grad_weights).sum(-1, keepdims=True)
    grad_scores = steps.weights * (grad_weights - mean) * steps.scale  # grad_weights through softmax_jacobian
    gradients = (grad_scores @ steps.key, grad_scores.mT @ steps.query, steps.weights.mT @ grad_output)
    return tuple(
        _summed_to(np.shape(array), gradient).astype(steps.output.dtype, copy=False)
        for array, gradient in zip((query, key, value), gradients, strict=True)
    )


def _summed_to(shape, gradient):
    """`gradient`, summed over the axes along which an array of `shape` was broadcast, or its heads repeated."""
    gradient = gradient.sum(axis=tuple(range(gradient.ndim - len(shape))))
    for axis, size in enumerate(shape[:-2]):
        if gradient.shape[axis] != size:  # (…, size · shared, …) -> (…, size, shared, …) -> (…, size, …)
            split = (*gradient.shape[:axis], size, -1, *gradient.shape[axis + 1 :])
            gradient = gradient.reshape(split).sum(axis + 1)
    return gradient
