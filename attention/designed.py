"""Heads set by hand (illustrative): each does one thing because we made it so, and random ones beside them.

No model was trained here. A word is a few features that we gave it, followed by its position; a head is three
matrices that pick from these. They show *how* projections can make a head look somewhere; the heads that
training finds are seldom so clean.
"""

import numpy as np

from attention.core import scaled_dot_product_attention
from attention.examples import LONG_SENTENCE, SENTENCE
from attention.heads import offset_pattern

SENTENCES = {"cat_mat": SENTENCE, "cat_black": LONG_SENTENCE}

FEATURES = ("noun", "verb", "function word", "animal", "place", "quality")
KINDS = {  # what a word may be: its features
    "unknown": (0, 0, 0, 0, 0, 0),
    "animal": (1, 0, 0, 1, 0, 0),
    "place": (1, 0, 0, 0, 1, 0),
    "noun": (1, 0, 0, 0, 0, 0),
    "verb": (0, 1, 0, 0, 0, 0),
    "function word": (0, 0, 1, 0, 0, 0),
    "function word of place": (0, 0, 1, 0, 1, 0),
    "quality": (0, 0, 0, 0, 0, 1),
}
KIND_OF = {
    "the": "function word",
    "that": "function word",
    "on": "function word of place",
    "across": "function word of place",
    "cat": "animal",
    "mat": "place",
    "street": "place",
    "sat": "verb",
    "ran": "verb",
    "was": "verb",
    "black": "quality",
}
NOUN, VERB, ANIMAL = (FEATURES.index(name) for name in ("noun", "verb", "animal"))

HEADS = {"previous": "Previous token", "subject": "Subject and verb", "similar": "Similar words"}
GAINS = {"previous": 16, "subject": 8, "similar": 4}  # how strongly a query asks, at sharpness 1
RANDOM_DIM = 6  # d_k of a random head


def features(tokens, kinds=None):
    """(T, 6) of zeros and ones: those of each word's kind, by `kinds` (word in lower case -> name in KINDS).

    KIND_OF stands in for words that `kinds` leaves out; a word in neither is "unknown".
    """
    known = KIND_OF | dict(kinds or {})
    return np.array([KINDS[known.get(token.casefold(), "unknown")] for token in tokens], dtype=float)


def embed(tokens, kinds=None, *, positions=True):
    """X (T, 6 + T): the features of each word, then its position as a single one; zeros without `positions`."""
    return np.concatenate([features(tokens, kinds), np.eye(len(tokens)) * positions], axis=1)


def designed_head(name, T, sharpness=1.0):
    """(W_Q, W_K, W_V), each (out, in), of a head of HEADS for X (T, 6 + T) of `embed`.

    "previous": a query is the position before its own, a key its own position; the first token has none before
    it and asks for nothing. "subject": a verb asks for a noun that is an animal, other words for nothing.
    "similar": query and key are the features themselves. The values are the features. `sharpness` multiplies
    the queries; at 0 no head asks for anything, and every row is even.
    """
    F = len(FEATURES)
    if name == "previous":
        W_Q, W_K = np.zeros((T, F + T)), np.eye(T, F + T, F)
        W_Q[np.arange(T - 1), F + np.arange(1, T)] = 1
    elif name == "subject":
        W_Q, W_K = np.zeros((2, F + T)), np.zeros((2, F + T))
        W_Q[:, VERB], W_K[0, NOUN], W_K[1, ANIMAL] = 1, 1, 1
    else:
        W_Q, W_K = np.eye(F, F + T), np.eye(F, F + T)
    return W_Q * GAINS[name] * sharpness, W_K, np.eye(F, F + T)


def components(name, T):
    """What the components of queries and keys of a head of HEADS stand for, in words."""
    if name == "previous":
        return [f"position {i}" for i in range(T)]
    return [FEATURES[NOUN], FEATURES[ANIMAL]] if name == "subject" else list(FEATURES)


def random_head(seed, T, sharpness=1.0):
    """(W_Q, W_K, W_V) as of `designed_head`, the first two drawn from a normal distribution, one decimal."""
    rng, width = np.random.default_rng(seed), len(FEATURES) + T
    W_Q, W_K = rng.normal(size=(2, RANDOM_DIM, width)).round(1) + 0.0
    return W_Q * sharpness + 0.0, W_K, np.eye(len(FEATURES), width)  # + 0.0: no -0.0


def random_weights(X, number, seed=0, sharpness=1.0):
    """(number, T, T): the weights of random heads for X, their seeds counted from `seed`."""
    heads = [random_head(seed + i, len(X), sharpness)[:2] for i in range(number)]
    W_Q, W_K = (np.stack(projections) for projections in zip(*heads, strict=True))  # (number, d_k, 6 + T)
    query, key = X @ W_Q.mT, X @ W_K.mT
    return scaled_dot_product_attention(query, key, key)[1]


# --- what a head was made for, and the order of words -----------------------------------------------------


def patterns(tokens, kinds=None):
    """What each of HEADS was made for: name -> boolean (T, T), True at the keys meant; rows may have none.

    "similar" means words that share a feature, the word itself among them.
    """
    given, T = features(tokens, kinds), len(tokens)
    subject = (given[:, NOUN] * given[:, ANIMAL]).astype(bool)
    return {
        "previous": offset_pattern(T, T, -1),
        "subject": given[:, VERB].astype(bool)[:, None] & subject,
        "similar": given @ given.T > 0,
    }


def followed(weights, order):
    """(…, T, T): weights of words written in another order, put back into the first one.

    `order` (T,) holds the first position of each word of the new order. Where a head only looks at words, what
    comes out is what it gives to the words in their first order.
    """
    back = np.argsort(order)
    return weights[..., back[:, None], back]


def order_changes(before, after, order):
    """(…): the largest change of a weight between the same two words, after they were written in `order`."""
    return np.abs(followed(after, order) - before).max(axis=(-2, -1))


def two_odds(weights):
    """(row, best, next) of weights (T, T): a row, its largest key, and the largest of those with less weight.

    The row is the one where these two are nearest. None if all rows are even.
    """
    top = weights.max(axis=1, keepdims=True)
    less = np.where(weights < top * (1 - 1e-9), weights, 0)
    odds = less.max(axis=1) / top[:, 0]
    row = int(odds.argmax())
    return (row, int(weights[row].argmax()), int(less[row].argmax())) if odds[row] else None
