"""Why scores are divided by √d_k: how large the dot products of random vectors are, and what softmax makes of them.

"Assume that the components of q and k are independent random variables with mean 0 and variance 1. Then their dot
product has mean 0 and variance d_k" (Vaswani et al. 2017, section 3.2.1, footnote 4). Here the assumption can be
kept, and broken.
"""

from typing import NamedTuple

import numpy as np

from attention.core import softmax
from attention.gradients import jacobian_norm
from attention.heads import entropy

DIMENSIONS = tuple(2**n for n in range(11))  # 1 to 1024
NUMBERS = 2**19  # normal numbers drawn at a time: about 5 ms
MOST_SAMPLES = 4096

ASSUMPTIONS = {
    "independent": "Independent, as the paper assumes",
    "within": "Correlated within each vector",
    "between": "Query and key alike",
}


class Components(NamedTuple):
    """What the components of queries and keys are like: normal numbers with mean 0.

    `deviation` is their standard deviation; `assumption`, of ASSUMPTIONS, what is correlated by `correlation`, in
    [0, 1]: any two components of one vector ("within"), or each component of a query with that of the key
    ("between").
    """

    deviation: float = 1.0
    assumption: str = "independent"
    correlation: float = 0.0


IDEAL = Components()  # what the paper assumes


class Moments(NamedTuple):
    mean: float
    variance: float


def theory(d_k, components=IDEAL):
    """The Moments of query · key. With deviation σ and correlation ρ:

    independent  mean 0,      variance σ⁴ d_k
    within       mean 0,      variance σ⁴ (d_k + d_k (d_k - 1) ρ²)
    between      mean σ² ρ d_k, variance σ⁴ d_k (1 + ρ²)
    """
    square, r = components.deviation**2, components.correlation
    match components.assumption:
        case "within":
            return Moments(0.0, square**2 * (d_k + d_k * (d_k - 1) * r**2))
        case "between":
            return Moments(square * r * d_k, square**2 * d_k * (1 + r**2))
    return Moments(0.0, square**2 * d_k)


def dot_products(d_k, components=IDEAL, seed=0, num_keys=1):
    """(number, num_keys) dot products of as many queries, each with keys of its own; fewer where d_k is large."""
    number = min(MOST_SAMPLES, NUMBERS // (d_k * (num_keys + 1)))
    vectors = np.random.default_rng(seed).standard_normal((number, num_keys + 1, d_k), dtype=np.float32)
    r = np.float32(components.correlation)
    if components.assumption == "within":  # a part that all components of a vector share
        shared = np.random.default_rng(seed + 1).standard_normal((number, num_keys + 1, 1), dtype=np.float32)
        vectors = np.sqrt(1 - r) * vectors + np.sqrt(r) * shared
    query, key = vectors[:, :1], vectors[:, 1:]
    if components.assumption == "between":
        key = r * query + np.sqrt(1 - r**2) * key
    products = key @ query.mT  # (number, num_keys, d_k) @ (number, d_k, 1) -> (number, num_keys, 1)
    return products[..., 0].astype(float) * components.deviation**2


def moments_by_dimension(components=IDEAL, seed=0):
    """(measured, expected): dicts of d_k in DIMENSIONS -> Moments, the first those of `dot_products`."""
    measured = {}
    for d_k in DIMENSIONS:
        sample = dot_products(d_k, components, seed)
        measured[d_k] = Moments(float(sample.mean()), float(sample.var()))
    return measured, {d_k: theory(d_k, components) for d_k in DIMENSIONS}


class Softened(NamedTuple):
    """The weights (num_keys,) of some scores divided by d_k^exponent, and what they are like."""

    exponent: float
    scores: np.ndarray
    weights: np.ndarray
    entropy: float  # nats
    gradient: float  # norm of the softmax Jacobian, in [0, 1/2]


def soften(scores, d_k, exponent):
    """The Softened of raw `scores` (num_keys,). The exponent is 1/2 in equation 1, 0 where nothing is scaled."""
    divided = np.asarray(scores, dtype=float) / d_k**exponent
    weights = softmax(divided)
    return Softened(exponent, divided, weights, float(entropy(weights)), float(jacobian_norm(weights)))


def gradient_by_dimension(exponent, components=IDEAL, seed=0, num_keys=8):
    """For each of DIMENSIONS the mean norm of the softmax Jacobian of rows of `num_keys` scores / d_k^exponent."""
    return [
        float(jacobian_norm(softmax(dot_products(d_k, components, seed, num_keys) / d_k**exponent)).mean())
        for d_k in DIMENSIONS
    ]
