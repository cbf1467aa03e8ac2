"""Heads set by hand: their weights worked out on paper, their independence of the order, and chance beside them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention import designed
from attention.worked import work_through

CAT_MAT, CAT_BLACK = (sentence.split() for sentence in designed.SENTENCES.values())


def weights(name, tokens, sharpness=1.0, **options):
    X = designed.embed(tokens, **options)
    return work_through(X, *designed.designed_head(name, len(tokens), sharpness)).weights


def shares(*scores):
    powers = [math.exp(score) for score in scores]
    return [power / sum(powers) for power in powers]


def test_a_word_is_its_features_and_its_position():
    # noun, verb, function word, animal, place, quality, then the positions 0 1 2
    X = designed.embed(["Cat", "sat", "blorp"])
    assert X.tolist() == [[1, 0, 0, 1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0, 0, 0, 1]]
    assert not designed.embed(CAT_MAT, positions=False)[:, 6:].any()


def test_the_kinds_of_the_reader_come_first():
    given_kinds = designed.features(["Blorp", "cat"], {"blorp": "verb", "cat": "place"})
    assert given_kinds.tolist() == [[0, 1, 0, 0, 0, 0], [1, 0, 0, 0, 1, 0]]


def test_every_word_of_the_texts_sentences_is_known():
    assert all(designed.features(tokens).any(axis=1).all() for tokens in (CAT_MAT, CAT_BLACK))


@pytest.mark.parametrize("tokens", [CAT_MAT, CAT_BLACK])
def test_previous_token_by_hand(tokens):
    T, actual = len(tokens), weights("previous", tokens)
    # d_k = T: one score of 16 · 1 / √T, the others 0; the first token asks for nothing
    high, *_ = shares(16 / math.sqrt(T), *[0] * (T - 1))
    expected = np.full((T, T), (1 - high) / (T - 1))
    expected[0] = 1 / T
    for i in range(1, T):
        expected[i, i - 1] = high
    np.testing.assert_allclose(actual, expected, rtol=1e-12)


def test_subject_and_verb_by_hand():
    actual = weights("subject", CAT_MAT)
    # The cat sat on the mat, d_k = 2: "sat" asks 8 for a noun and 8 for an animal; cat is both, mat a noun
    expected = np.full((6, 6), 1 / 6)
    expected[2] = shares(0, 16 / math.sqrt(2), 0, 0, 0, 8 / math.sqrt(2))
    np.testing.assert_allclose(actual, expected, rtol=1e-12)
    long = weights("subject", CAT_BLACK)
    verbs = [CAT_BLACK.index("ran"), CAT_BLACK.index("was")]
    assert long.argmax(axis=1)[verbs].tolist() == [1, 1]
    np.testing.assert_allclose(np.delete(long, verbs, axis=0), 1 / 9, rtol=1e-12)


def test_similar_words_by_hand():
    actual, unit = weights("similar", CAT_MAT), 4 / math.sqrt(6)
    # features shared with "cat" (noun, animal): the 0, cat 2, sat 0, on 0, the 0, mat 1 (noun)
    np.testing.assert_allclose(actual[1], shares(0, 2 * unit, 0, 0, 0, unit), rtol=1e-12)
    # with "on" (function word, place): The 1, cat 0, sat 0, on 2, the 1, mat 1 (place)
    np.testing.assert_allclose(actual[3], shares(unit, 0, 0, 2 * unit, unit, unit), rtol=1e-12)


@pytest.mark.parametrize("name", designed.HEADS)
def test_sharpness_goes_from_even_to_one_key(name):
    np.testing.assert_allclose(weights(name, CAT_MAT, 0.0), 1 / 6, rtol=1e-12)
    one, two = weights(name, CAT_MAT, 1.0), weights(name, CAT_MAT, 2.0)
    # twice the sharpness squares the odds between any two keys
    np.testing.assert_allclose(two[2, 1] / two[2, 0], (one[2, 1] / one[2, 0]) ** 2, rtol=1e-9)


@pytest.mark.parametrize("name", designed.HEADS)
@pytest.mark.parametrize("T", [1, 2, 9])
def test_components_have_names(name, T):
    W_Q, W_K, _ = designed.designed_head(name, T)
    assert len(designed.components(name, T)) == len(W_Q) == len(W_K)
    assert W_Q.shape[1] == W_K.shape[1] == designed.embed(["w"] * T).shape[1]


@pytest.mark.parametrize("tokens", [CAT_MAT, CAT_BLACK])
def test_patterns_by_hand(tokens):
    patterns = designed.patterns(tokens)
    T = len(tokens)
    assert np.array_equal(patterns["previous"], np.eye(T, k=-1, dtype=bool))
    pairs = {(tokens[i], tokens[j]) for i, j in np.argwhere(patterns["subject"])}
    assert pairs == ({("sat", "cat")} if T == 6 else {("ran", "cat"), ("was", "cat")})
    similar = {tokens[j] for j in np.flatnonzero(patterns["similar"][tokens.index("cat")])}
    assert similar == ({"cat", "mat"} if T == 6 else {"cat", "street"})


# --- order ------------------------------------------------------------------------------------------------


def test_followed_by_hand():
    before = np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.5, 0.4, 0.1]])
    order = [2, 0, 1]  # a b c written as c a b
    after = np.array([[before[i, j] for j in order] for i in order])
    assert np.array_equal(designed.followed(after, order), before)
    assert np.array_equal(designed.followed(np.stack([after, after]), order), np.stack([before, before]))


@given(order=st.permutations(range(9)))
def test_heads_that_look_at_words_follow_them_and_the_others_stay(order):
    moved = [CAT_BLACK[i] for i in order]
    for name, stays in (("previous", True), ("subject", False), ("similar", False)):
        back = designed.followed(weights(name, moved), order)
        if not stays:
            np.testing.assert_allclose(back, weights(name, CAT_BLACK), atol=1e-12)
        else:
            np.testing.assert_allclose(weights(name, moved), weights(name, CAT_BLACK), atol=1e-12)


def test_without_positions_no_head_knows_the_order():
    order = list(range(9))[::-1]
    X = designed.embed(CAT_BLACK, positions=False)
    back = designed.followed(designed.random_weights(X[order], 5), order)
    np.testing.assert_allclose(back, designed.random_weights(X, 5), atol=1e-12)
    np.testing.assert_allclose(weights("previous", CAT_BLACK, positions=False), 1 / 9, rtol=1e-12)


# --- chance -----------------------------------------------------------------------------------------------


def test_random_weights_are_those_of_torch(torch):
    X = designed.embed(CAT_MAT)
    actual = designed.random_weights(X, 3, seed=7, sharpness=0.5)
    x = torch.from_numpy(X)
    for i in range(3):
        W_Q, W_K, W_V = map(torch.from_numpy, designed.random_head(7 + i, 6))
        identity = torch.eye(6, dtype=torch.float64)
        expected = torch.nn.functional.scaled_dot_product_attention(0.5 * x @ W_Q.T, x @ W_K.T, identity)
        np.testing.assert_allclose(actual[i], expected.numpy(), atol=1e-12)
        assert np.array_equal(W_V.numpy(), np.eye(6, 12))


def test_random_heads_come_from_their_seed_alone():
    ours, same, other = (designed.random_head(seed, 6)[0] for seed in (1, 1, 2))
    assert np.array_equal(ours, same) and not np.array_equal(ours, other)
    assert not np.signbit(designed.random_head(1, 6, 0.0)[0]).any()  # "-0" would be shown


def test_order_changes_by_hand():
    before = np.array([[[0.5, 0.5], [0.0, 1.0]], [[0.5, 0.5], [0.5, 0.5]]])
    # two heads, both words swapped; the first head looks at the same places as before, the second is even
    assert designed.order_changes(before, before, [1, 0]).tolist() == [0.5, 0]


def test_two_odds_by_hand():
    # row 0: 0.6 against 0.3; row 1: 0.5 (twice) against 0, nothing; row 2: 0.5 against 0.4, the nearest
    weights = np.array([[0.6, 0.3, 0.1], [0.5, 0.5, 0.0], [0.1, 0.4, 0.5]])
    assert designed.two_odds(weights) == (2, 2, 1)
    assert designed.two_odds(np.full((3, 3), 1 / 3)) is None
    assert designed.two_odds(np.ones((1, 1))) is None
