"""What a head looks at, as numbers: patterns, a finder, and what chance would give.

Weights are (…, T_q, T_k), queries down, keys across; the leading axes, usually (layers, heads), stay. A
pattern is a boolean (T_q, T_k) array, True at the keys that a query of that kind would look at. The kinds of
pattern, and entropy as "how broad", follow Clark et al. 2019, "What Does BERT Look At?", section 3.
"""

import numpy as np

SPECIAL_TOKENS = frozenset(
    ("[CLS]", "[SEP]", "[PAD]", "[MASK]", "<s>", "</s>", "<pad>", "<mask>", "<bos>", "<eos>", "<|endoftext|>")
)


def words(tokens):
    """Boolean (T,): True for every token that is not a model's own mark, such as [CLS]."""
    return np.array([token not in SPECIAL_TOKENS for token in tokens])


# --- patterns: (T_q, T_k), bool ---------------------------------------------------------------------------


def offset_pattern(T_q, T_k, offset):
    """Key at the query's position + `offset`: -1 the previous token, 0 the same, 1 the next."""
    return np.eye(T_q, T_k, offset, dtype=bool)


def same_word_pattern(query_tokens, key_tokens):
    """Keys elsewhere that are the same word as the query, case aside ("the … the")."""
    query, key = (np.array([token.casefold() for token in tokens]) for tokens in (query_tokens, key_tokens))
    return (query[:, None] == key) & ~offset_pattern(len(query), len(key), 0)


def first_pattern(T_q, T_k):
    """The first key, for every query: [CLS] or <s>, where a model has one."""
    pattern = np.zeros((T_q, T_k), dtype=bool)
    pattern[:, 0] = True
    return pattern


def pair_pattern(T_q, T_k, query, key):
    """One query index looking at one key index. Raises IndexError where there is no such query or key."""
    if not (0 <= query < T_q and 0 <= key < T_k):
        raise IndexError(f"query {query} and key {key} must lie in 0…{T_q - 1} and 0…{T_k - 1}")
    pattern = np.zeros((T_q, T_k), dtype=bool)
    pattern[query, key] = True
    return pattern


OFFSETS = {"previous": -1, "next": 1, "self": 0}


def named_pattern(name, query_tokens, key_tokens, pair=(0, 0)):
    """The pattern "previous", "next", "self", "word" (the same word elsewhere), "first", or "pair" (query, key)."""
    T_q, T_k = len(query_tokens), len(key_tokens)
    if name == "word":
        return same_word_pattern(query_tokens, key_tokens)
    if name == "first":
        return first_pattern(T_q, T_k)
    return pair_pattern(T_q, T_k, *pair) if name == "pair" else offset_pattern(T_q, T_k, OFFSETS[name])


# --- the finder -------------------------------------------------------------------------------------------


def pattern_scores(weights, pattern):
    """(…), in [0, 1]: the weight that a head puts on the pattern, averaged over the queries with a key in it.

    Raises ValueError if no query has one. To leave special tokens out, `drop_tokens` first.
    """
    rows = _rows(pattern)
    return np.where(pattern[rows], weights[..., rows, :], 0).sum(axis=-1).mean(axis=-1)


def head_scores(weights, name, query_tokens, key_tokens, *, rows=None, pair=(0, 0)):
    """(layers, heads) of weights (layers, heads, T_q, T_k): what each head scores for `name`.

    `name` is one of `named_pattern`, or "evenness" or "reach": the mean of these, of rows made to sum to 1.
    Averaged over the queries where `rows` (T_q,) is True, or all. Raises ValueError if that leaves no query.
    """
    rows = np.ones(len(query_tokens), dtype=bool) if rows is None else rows
    if name in ("evenness", "reach"):
        measure = {"evenness": evenness, "reach": reach}[name]
        if not rows.any():
            raise ValueError("no query is left")
        # layer by layer: of the largest files a copy takes 64 MB
        return np.stack([measure(hide_keys(w, True, True))[:, rows].mean(axis=-1) for w in weights])
    pattern = named_pattern(name, query_tokens, key_tokens, pair) & rows[:, None]
    return np.stack([pattern_scores(layer, pattern) for layer in weights])


def rank_heads(scores):
    """[(layer, head, score), …] of scores (layers, heads), the highest first; ties in order."""
    order = np.argsort(-scores, axis=None, kind="stable")
    layers, heads = np.unravel_index(order, scores.shape)
    return list(zip(layers.tolist(), heads.tolist(), scores[layers, heads].tolist(), strict=True))


def chance_scores(weights, pattern, *, draws=1000, seed=0):
    """(draws,): the best score of all the heads for the same pattern aimed at random keys, each time anew.

    In each draw every query's keys are shuffled, and the head that happens to fit best is taken: what a
    finder reports where there is nothing to find. A head worth a name beats nearly all of them.
    """
    rows = _rows(pattern)
    pattern, weights = pattern[rows], weights[..., rows, :]
    flat = weights.reshape(-1, pattern.size)  # (…, rows, T_k) -> (all heads, rows · T_k)
    rng = np.random.default_rng(seed)
    aims = (rng.permuted(pattern, axis=1).ravel().astype(flat.dtype) for _ in range(draws))
    return np.array([(flat @ aim).max() for aim in aims]) / len(pattern)


def best_for_distant_pairs(weights, distance=3):
    """(pairs,): the largest weight that any head gives, for each query and key at least `distance` apart.

    What "the best of all heads" reaches for a pair of words that nobody chose. Pairs to which no head gives
    any weight, as those that a mask forbids, are not counted.
    """
    T_q, T_k = weights.shape[-2:]
    best = weights.reshape(-1, T_q, T_k).max(axis=0)
    return best[(_apart(T_q, T_k) >= distance) & (best > 0)]


def share_as_high(score, chance):
    """The share of the `chance` values that reach `score`, in [0, 1]."""
    return float(np.mean(np.asarray(chance) >= score))


def _rows(pattern):
    rows = pattern.any(axis=1)
    if not rows.any():
        raise ValueError("no query has a key in this pattern")
    return rows


def _apart(T_q, T_k):
    return np.abs(np.arange(T_q)[:, None] - np.arange(T_k))


# --- what a head is like, and how two differ --------------------------------------------------------------


def entropy(weights):
    """(…, T_q), in nats, 0 (one key) to ln T_k (all alike): -Σ w ln w of every row, taking 0 ln 0 as 0."""
    return -np.sum(weights * np.log(np.where(weights > 0, weights, 1)), axis=-1)


def evenness(weights):
    """(…, T_q), in [0, 1]: the entropy of every row, made to sum to 1, as a share of its most, ln T_k.

    0 where there is one key only, or no weight.
    """
    most = np.log(weights.shape[-1]) or 1
    return np.clip(entropy(hide_keys(weights, True, renormalise=True)) / most, 0, 1)


def reach(weights):
    """(…, T_q): how far away a query looks, Σ w |query position - key position|, in tokens."""
    return np.sum(weights * _apart(*weights.shape[-2:]), axis=-1)


def overlap(one, other):
    """(…, T_q), in [0, 1]: the weight that two heads put on the same keys, Σ min(one, other)."""
    return np.minimum(one, other).sum(axis=-1)


def divergence(one, other):
    """(…, T_q), in nats, 0 (equal) to ln 2 (no key in common): the Jensen–Shannon divergence of two heads.

    The measure of how far apart heads are in Clark et al. 2019, section 6.
    """
    return np.maximum(entropy((one + other) / 2) - (entropy(one) + entropy(other)) / 2, 0)  # not -1e-17


# --- other views of the same weights ----------------------------------------------------------------------


def hide_keys(weights, columns, renormalise=False):
    """(…, T_q, T_k): weights with 0 for every key where `columns` (T_k,) is False.

    Rows then sum to less than 1; `renormalise` divides each by its sum (one with nothing left stays 0), which
    also magnifies what little a head gave.
    """
    kept = np.where(columns, weights, 0)
    if not renormalise:
        return kept
    total = kept.sum(axis=-1, keepdims=True)
    return kept / np.where(total > 0, total, 1)


def drop_tokens(weights, rows, columns, renormalise=False):
    """(…, rows kept, columns kept): weights without some queries and keys.

    `rows` (T_q,) and `columns` (T_k,) are True where they stay; `renormalise` as in `hide_keys`.
    """
    return hide_keys(weights[..., rows, :], columns, renormalise)[..., columns]


def value_norms(value):
    """(…, T_k): the length ‖v‖ of every value of value (…, T_k, d_v)."""
    return np.linalg.norm(value, axis=-1)


def norm_weights(weights, value):
    """(…, T_q, T_k): weight × ‖value‖, how much of its value each key really adds to the output.

    Kobayashi et al. 2020, "Attention is Not Only a Weight", section 3, before the output projection.
    """
    return weights * value_norms(value)[..., None, :]
