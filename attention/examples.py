"""Every sentence, vector and preset that the lessons use.

What is marked *illustrative* was chosen by hand so that a picture is easy to read; no model made it.
"""

from dataclasses import dataclass

import numpy as np

SENTENCE = "The cat sat on the mat"
PAD = "<pad>"
LONG_SENTENCE = "The cat that ran across the street was black"

# The weights that the lesson's text gives to "sat" over SENTENCE (illustrative; they sum to 1).
TEXT_WEIGHTS = (0.05, 0.60, 0.20, 0.10, 0.03, 0.02)

# The values of the same table, as far as it prints them.
TEXT_VALUES = ((0.1, 0.2), (0.5, 0.8), (0.3, 0.4), (0.2, 0.1), (0.1, 0.2), (0.4, 0.3))

# The one masked row of the text: position 2 of 4, before the mask.
TEXT_ROW = (0.5, 0.8, 0.3, 0.9)


@dataclass(frozen=True, eq=False)
class Example:
    """Tokens with an embedding X (seq_len, d_model) and projections (out, in): Q = X @ W_Qᵀ, and so on."""

    tokens: tuple[str, ...]
    X: np.ndarray
    W_Q: np.ndarray
    W_K: np.ndarray
    W_V: np.ndarray


CAT_SAT_MAT = Example(
    ("cat", "sat", "mat"),
    np.array([[1.0, 0.5, 0.2, 0.8], [0.3, 0.9, 0.1, 0.4], [0.6, 0.2, 0.7, 0.3]]),
    np.eye(4),
    np.eye(4),
    np.eye(4),
)

# What the text prints for CAT_SAT_MAT, kept to be checked against what is computed.
PRINTED = {
    "scores": ((1.93, 1.09, 1.08), (1.09, 1.07, 0.65), (1.08, 0.65, 0.98)),
    "scaled_scores": ((0.965, 0.545, 0.540), (0.545, 0.535, 0.325), (0.540, 0.325, 0.490)),
    "weights": ((0.433, 0.284, 0.283), (0.384, 0.377, 0.239), (0.389, 0.269, 0.342)),
    "output": ((0.688, 0.530, 0.313, 0.546), (0.644, 0.529, 0.279, 0.538), (0.666, 0.477, 0.330, 0.543)),
}
# What the text prints of two softmaxes: scores -> weights.
PRINTED_SOFTMAX = {(100, 1, 1, 1): (1.0, 0.0, 0.0, 0.0), (2, 0.5, 0.5, 0.5): (0.5, 0.17, 0.17, 0.17)}
PRINTED_MASKED_ROW = (0.28, 0.41, 0.31, 0.00)

# --- presets of the numeric walkthrough: seq_len and d_model are the reader's ------------------------------

PRESETS = {
    "text": "The text's example",
    "identical": "Identical tokens",
    "orthogonal": "Orthogonal tokens",
    "dominant": "One dominant token",
    "random": "Random, with a seed",
}


def preset(name, seq_len, d_model, d_k, d_v, seed=0):
    """(X, W_Q, W_K, W_V) of PRESETS[name], cut or continued to the sizes asked for.

    X (seq_len, d_model), W_Q and W_K (d_k, d_model), W_V (d_v, d_model). What the text does not give is
    illustrative: one decimal, from a fixed seed. "random" draws all four matrices from `seed`. Raises
    KeyError for an unknown name.
    """
    if name == "random":
        rng = np.random.default_rng(seed)
        shapes = ((seq_len, d_model), (d_k, d_model), (d_k, d_model), (d_v, d_model))
        return tuple(rng.normal(size=shape).round(1) + 0.0 for shape in shapes)  # + 0.0: no -0.0
    text = np.random.default_rng(0).uniform(0, 1, (max(seq_len, 3), max(d_model, 4))).round(1)
    text[:3, :4] = CAT_SAT_MAT.X
    text = text[:seq_len, :d_model]
    X = {
        "text": text,
        "identical": np.repeat(text[:1], seq_len, axis=0),
        "orthogonal": np.eye(seq_len, d_model),
        "dominant": text * np.where(np.arange(seq_len) == 0, 4, 1)[:, None],
    }[name]
    return X, np.eye(d_k, d_model), np.eye(d_k, d_model), np.eye(d_v, d_model)


# --- the intuition page: hand-made features (illustrative) -------------------------------------------------

FEATURES = ("noun", "verb", "function word", "animal", "place")
WORD_FEATURES = {
    "the": (0.0, 0.0, 1.0, 0.0, 0.0),
    "cat": (1.0, 0.0, 0.0, 1.0, 0.0),
    "sat": (0.0, 1.0, 0.0, 0.2, 0.3),
    "on": (0.0, 0.0, 0.8, 0.0, 0.5),
    "mat": (1.0, 0.0, 0.0, 0.0, 0.9),
}
# What each kind of word looks for: row = feature of the asking word, column = feature of the word it seeks.
LOOKS_FOR = np.array(
    [
        [0.5, 1.0, 0.2, 0.5, 0.5],  # a noun: its verb, and nouns like it
        [1.5, 0.5, 0.0, 3.0, 0.5],  # a verb: who performed the action
        [1.5, 0.5, 0.5, 0.0, 0.0],  # a function word: the noun that it goes with
        [0.5, 0.5, 0.0, 1.0, 0.0],
        [0.0, 0.5, 0.5, 0.0, 1.0],
    ]
)


def features(tokens):
    """(seq_len, 5), illustrative: WORD_FEATURES where there are some; for other words a guess by spelling.

    The guess is a fixed function of the letters, so that a reader's own words differ from each other and stay
    the same from one visit to the next. It says nothing about what the words mean.
    """
    return np.array([WORD_FEATURES.get(token.casefold()) or _guess(token.casefold()) for token in tokens])


def queries(tokens):
    """(seq_len, 5), illustrative: the features that each token looks for, by its own features and LOOKS_FOR."""
    return features(tokens) @ LOOKS_FOR


def _guess(token):
    letters = np.frombuffer(token.encode("utf-8", "replace"), np.uint8)
    return tuple(np.random.default_rng(letters).uniform(0, 1, len(FEATURES)).round(1).tolist())
