"""Masking gone wrong, as arithmetic to look at: each function does what people do by mistake, or by habit.

scores are scaled scores (…, T_q, T_k); mask is boolean and broadcasts to them, True = may attend. What turns
scores into weights here is `plain_softmax`, as libraries have it: it knows no rule for a row without a number.
"""

import numpy as np

from attention.core import softmax


@np.errstate(all="ignore")
def plain_softmax(scores):
    """exp(x - max) / Σ exp(x - max) over the last axis, in the dtype of `scores`, and nothing else.

    A row of nothing but -inf ends in -inf + inf, one with a +inf in inf - inf: both are NaN.
    """
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


# --- too late: after the softmax --------------------------------------------------------------------------


def zeroed(scores, mask):
    """Weights of all keys, then 0 where the mask is False: the rows no longer sum to 1."""
    return np.where(mask, plain_softmax(scores), 0)


@np.errstate(all="ignore")
def renormalised(scores, mask):
    """`zeroed`, each row divided by its sum: NaN where nothing is left, or where what is left fell to 0."""
    kept = zeroed(scores, mask)
    return kept / kept.sum(axis=-1, keepdims=True)


def masked_first(scores, mask):
    """The right order: -inf where the mask is False, then softmax; zeros where nothing is left."""
    return softmax(np.where(mask, scores, -np.inf))


def raised(scores, mask, by):
    """The scores of the keys that the mask hides, raised; those of the others as they are."""
    return np.where(mask, scores, scores + by)


def leak(pipeline, scores, mask):
    """The most that a weight changes when all hidden scores rise by 1: what weights tell of hidden keys."""
    before, after = pipeline(scores, mask), pipeline(raised(scores, mask, 1), mask)
    return float(np.nan_to_num(np.abs(after - before)).max())


def left_over(weights, mask):
    """The largest weight on a key that the mask hides; NaN counts as none."""
    return float(np.nan_to_num(np.where(mask, 0, weights)).max(initial=0))


# --- the wrong value --------------------------------------------------------------------------------------


@np.errstate(all="ignore")
def written(scores, mask, value, dtype=np.float64):
    """Scores in `dtype`, `value` in place of those that the mask hides; float16 holds nothing below -65504."""
    return np.where(mask, scores, value).astype(dtype)


@np.errstate(all="ignore")
def added(scores, mask, value, dtype=np.float64):
    """Scores in `dtype`, plus 0 where the mask is True and `value` elsewhere: huge values swallow the score."""
    return np.asarray(scores, dtype) + np.where(mask, 0, value).astype(dtype)


# What enters the softmax instead of the masked scores: name -> function of (scores, mask).
SLIPS = {
    "polarity": lambda scores, mask: written(scores, ~mask, -np.inf),
    "ones": lambda scores, mask: scores + mask,  # a 0/1 mask where a bias belongs
    "zero": lambda scores, mask: written(scores, mask, 0),
    "sign": lambda scores, mask: written(scores, mask, np.inf),
    "huge64": lambda scores, mask: added(scores, mask, -1e10),
    "huge32": lambda scores, mask: added(scores, mask, -1e10, np.float32),
}

# What different codes do to a hidden score: name -> function of (scores, mask, dtype).
RULES = {
    "−∞, else zeros": lambda *row: written(*row[:2], -np.inf, row[2]),
    "−∞, plain softmax": lambda *row: written(*row[:2], -np.inf, row[2]),
    "−1e9 written": lambda *row: written(*row[:2], -1e9, row[2]),
    "−1e9 added": lambda *row: added(*row[:2], -1e9, row[2]),
    "−1e10 added": lambda *row: added(*row[:2], -1e10, row[2]),
    "−1e4 added": lambda *row: added(*row[:2], -1e4, row[2]),
    "−10 added": lambda *row: added(*row[:2], -10, row[2]),
}


def by_rule(scores, mask, dtype):
    """(scores, weights), one row for each of RULES, of one row of scores (T_k,) and its mask (T_k,).

    The first rule is this package's: its weights come from `softmax`, those of the others from `plain_softmax`.
    """
    hidden = np.stack([rule(scores, mask, dtype) for rule in RULES.values()])
    return hidden, np.concatenate([softmax(hidden[:1]), plain_softmax(hidden[1:])])


# --- the wrong diagonal -----------------------------------------------------------------------------------


def shift(mask):
    """What each query of a language model, which predicts the next token, gets to see: a word for each row.

    mask (T, T). "answer": it may attend to the token that it should predict; "nothing": to no token at all;
    "fair": neither. The last row predicts what is not in the sequence, and cannot see it.
    """
    answer = np.append(np.diagonal(mask, 1), False)
    return ["answer" if a else "fair" if any_key else "nothing" for a, any_key in zip(answer, mask.any(1), strict=True)]
