"""Attention as a lookup: hard and soft, and how far it reaches in one step."""

from math import ceil

import numpy as np

from attention.core import attention_steps

# What can be done to a lookup to see what follows: name -> in words.
WHAT_IFS = {
    "equal": "all scores are equal",
    "huge": "the query is a hundred times as long",
    "longer": "the best key is twice as long",
    "empty": "the best key's value is zero",
    "shuffled": "the words stand in another order",
}


def soft_lookup(query, key, value, sharpness=1.0):
    """The AttentionSteps of scores multiplied by sharpness / √d_k: 0 averages, 1 is attention, ∞ is a hard lookup.

    query (T_q, d_k), key (T_k, d_k), value (T_k, d_v). Vaswani et al. 2017, section 3.2.1.
    """
    return attention_steps(query, key, value, scale=sharpness / np.sqrt(query.shape[-1]))


def hard_lookup(query, key):
    """(T_q,): for each query the index of the one key that it fits best; the first of several."""
    return (query @ key.T).argmax(axis=-1)


def scores_for(weights):
    """Scores that the softmax turns into `weights` (positive, each row with a sum of 1): their logarithms."""
    return np.log(weights)


def what_if(name, query, key, value):
    """(query, key, value) of one query (1, d_k) after the change WHAT_IFS[name]. Raises KeyError for others."""
    best = int(hard_lookup(query, key)[0])
    chosen = (np.arange(len(key)) == best)[:, None]
    return {
        "equal": (0 * query, key, value),
        "huge": (100 * query, key, value),
        "longer": (query, np.where(chosen, 2 * key, key), value),
        "empty": (query, key, np.where(chosen, 0, value)),
        "shuffled": (query, key[::-1], value[::-1]),
    }[name]


def path_lengths(distance, width):
    """Steps that information needs between two tokens `distance` ≥ 1 apart, by kind of layer.

    A convolution sees its own position and the `width` - 1 ≥ 1 before it; dilated, each layer's gaps are `width`
    times as wide. Vaswani et al. 2017, table 1 and section 4, gives the orders n, n/k, log_k n and 1.
    """
    dilated, reach = 0, 1
    while reach < distance + 1:
        dilated, reach = dilated + 1, reach * width
    return {
        "recurrent": distance,
        "convolutions": ceil(distance / (width - 1)),
        "dilated convolutions": dilated,
        "attention": 1,
    }
