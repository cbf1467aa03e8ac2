"""Heads set by hand (illustrative): each does one thing because we made it so, and random ones beside them.

No model was trained here. A word is a few features that we gave it, followed by its position; a head is three
matrices that pick from these. They show *how* projections can make a head look somewhere; the heads that
training finds are seldom so clean.
"""

import numpy as np

from attention.examples import LONG_SENTENCE, SENTENCE
from attention.heads import offset_pattern

SENTENCES = {"cat_mat": SENTENCE, "cat_black": LONG_SENTENCE}

FEATURES = ("noun", "verb", "function word", "animal", "place", "quality")
FEATURES_OF = {
    "the": (0, 0, 1, 0, 0, 0),
    "that": (0, 0, 1, 0, 0, 0),
    "on": (0, 0, 1, 0, 1, 0),
    "across": (0, 0, 1, 0, 1, 0),
    "cat": (1, 0, 0, 1, 0, 0),
    "mat": (1, 0, 0, 0, 1, 0),
    "street": (1, 0, 0, 0, 1, 0),
    "sat": (0, 1, 0, 0, 0, 0),
    "ran": (0, 1, 0, 0, 0, 0),
    "was": (0, 1, 0, 0, 0, 0),
    "black": (0, 0, 0, 0, 0, 1),
}
NOUN, VERB, ANIMAL = (FEATURES.index(name) for name in ("noun", "verb", "animal"))

HEADS = {"previous": "Previous token", "subject": "Subject and verb", "similar": "Similar words"}
GAINS = {"previous": 16, "subject": 8, "similar": 4}  # how strongly a query asks, at sharpness 1
RANDOM_DIM = 6  # d_k of a random head


def features(tokens):
    """(T, 6) of zeros and ones. Raises KeyError for a word that is not in SENTENCES."""
    return np.array([FEATURES_OF[token.casefold()] for token in tokens], dtype=float)


def embed(tokens):
    """X (T, 6 + T): the features of each word, then its position as a single one."""
    return np.concatenate([features(tokens), np.eye(len(tokens))], axis=1)


def designed_head(name, tokens, sharpness=1.0):
    """(W_Q, W_K, W_V), each (out, in), of a head of HEADS for X = embed(tokens).

    "previous": a query is the position before its own, a key its own position; the first token has none before
    it and asks for nothing. "subject": a verb asks for a noun that is an animal, other words for nothing.
    "similar": query and key are the features themselves. The values are the features. `sharpness` multiplies
    the queries; at 0 no head asks for anything, and every row is even.
    """
    T, F = len(tokens), len(FEATURES)
    if name == "previous":
        W_Q, W_K = np.zeros((T, F + T)), np.eye(T, F + T, F)
        W_Q[np.arange(T - 1), F + np.arange(1, T)] = 1
    elif name == "subject":
        W_Q, W_K = np.zeros((2, F + T)), np.zeros((2, F + T))
        W_Q[:, VERB], W_K[0, NOUN], W_K[1, ANIMAL] = 1, 1, 1
    else:
        W_Q, W_K = np.eye(F, F + T), np.eye(F, F + T)
    return W_Q * GAINS[name] * sharpness, W_K, np.eye(F, F + T)


def random_head(seed, tokens, sharpness=1.0):
    """(W_Q, W_K, W_V) as of `designed_head`, the first two drawn from a normal distribution, one decimal."""
    rng, width = np.random.default_rng(seed), len(FEATURES) + len(tokens)
    W_Q, W_K = rng.normal(size=(2, RANDOM_DIM, width)).round(1) + 0.0
    return W_Q * sharpness, W_K, np.eye(len(FEATURES), width)


def patterns(tokens):
    """What each of HEADS was made for: name -> boolean (T, T), True at the keys meant; rows may have none.

    "similar" means other words that share a feature.
    """
    given, T = features(tokens), len(tokens)
    subject = (given[:, NOUN] * given[:, ANIMAL]).astype(bool)
    return {
        "previous": offset_pattern(T, T, -1),
        "subject": given[:, VERB].astype(bool)[:, None] & subject,
        "similar": (given @ given.T > 0) & ~np.eye(T, dtype=bool),
    }
