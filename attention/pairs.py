"""How many of the T² pairs of query and key a mask leaves: by formula, and counted one by one."""

from functools import lru_cache

import numpy as np

BLOCK = 256  # rows counted at a time: T² booleans at once would be 16 MB for T = 4096


def causal(T):
    """Query i has i + 1 keys: T (T + 1) / 2."""
    return T * (T + 1) // 2


def sliding_window(T, left):
    """A causal window: query i has its `left` last keys and itself, the first queries fewer."""
    left = min(left, T - 1)
    return T * (left + 1) - left * (left + 1) // 2


def prefix(T, length):
    """Causal, and the first `length` queries see the rest of the prefix too."""
    return causal(T) + length * (length - 1) // 2


def packed(T, documents):
    """`documents` of equal length (the first ones a token longer, if T does not divide): Σ length²."""
    length, longer = divmod(T, documents)
    return longer * (length + 1) ** 2 + (documents - longer) * length**2


# name -> (formula, rule on query index i and key index j), both with the mask's own parameter last.
MASKS = {
    "none": (lambda T, _: T * T, lambda i, j, T, _: i == i),
    "causal": (lambda T, _: causal(T), lambda i, j, T, _: j <= i),
    "sliding": (sliding_window, lambda i, j, T, left: (j <= i) & (i - j <= left)),
    "prefix": (prefix, lambda i, j, T, length: (j <= i) | (j < length)),
    "packed": (packed, lambda i, j, T, documents: _document(i, T, documents) == _document(j, T, documents)),
}


def formula(name, T, parameter=None):
    """The pairs that MASKS[name] leaves of T²."""
    return MASKS[name][0](T, parameter)


@lru_cache(maxsize=256)
def count(name, T, parameter=None):
    """The same, counted: the rule of MASKS[name] is asked for every pair."""
    rule, j = MASKS[name][1], np.arange(T, dtype=np.int32)
    blocks = (np.arange(start, min(start + BLOCK, T), dtype=np.int32)[:, None] for start in range(0, T, BLOCK))
    return sum(int(np.broadcast_to(rule(i, j, T, parameter), (len(i), T)).sum()) for i in blocks)


def _document(position, T, documents):
    length, longer = divmod(T, documents)
    first = longer * (length + 1)  # the tokens of the longer documents
    return np.where(position < first, position // (length + 1), longer + (position - first) // max(length, 1))
