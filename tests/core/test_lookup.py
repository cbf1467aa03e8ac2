"""The lookup of the first lesson against what can be worked out by hand."""

import numpy as np
import pytest

from attention import examples, lookup, softmax

KEY = np.array([[1.0, 0], [0, 2], [1, 1]])
VALUE = np.array([[1.0], [10], [100]])
QUERY = np.array([[1.0, 0.5]])  # scores 1, 1, 1.5


def test_sharpness_goes_from_the_average_to_the_hard_lookup():
    np.testing.assert_allclose(lookup.soft_lookup(QUERY, KEY, VALUE, 0).output, [[37]])
    assert lookup.hard_lookup(QUERY, KEY).tolist() == [2]
    np.testing.assert_allclose(lookup.soft_lookup(QUERY, KEY, VALUE, 500).output, [[100]], atol=1e-9)


def test_sharpness_1_is_the_formula():
    scores = np.array([1, 1, 1.5]) / 2**0.5
    weights = np.exp(scores) / np.exp(scores).sum()
    np.testing.assert_allclose(lookup.soft_lookup(QUERY, KEY, VALUE).weights, [weights])


def test_scores_can_be_found_for_given_weights():
    assert sum(examples.TEXT_WEIGHTS) == pytest.approx(1)
    np.testing.assert_allclose(softmax(lookup.scores_for(np.array(examples.TEXT_WEIGHTS))), examples.TEXT_WEIGHTS)
    blended = np.array(examples.TEXT_WEIGHTS) @ np.array(examples.TEXT_VALUES)
    np.testing.assert_allclose(blended, [0.396, 0.592])  # .005 + .3 + .06 + .02 + .003 + .008, and so on


@pytest.mark.parametrize(
    ("distance", "width", "steps"),
    [
        (1, 2, (1, 1, 1, 1)),
        (7, 3, (7, 4, 2, 1)),
        (8, 3, (8, 4, 2, 1)),
        (9, 3, (9, 5, 3, 1)),
        (512, 16, (512, 35, 3, 1)),
    ],
)
def test_path_lengths(distance, width, steps):
    """3 dilated layers of width 3 reach 27 tokens, 2 reach 9: the 8 before. 16³ = 4096 tokens."""
    assert tuple(lookup.path_lengths(distance, width).values()) == steps


def test_what_follows():
    looked_up = {name: lookup.soft_lookup(*lookup.what_if(name, QUERY, KEY, VALUE)) for name in lookup.WHAT_IFS}
    np.testing.assert_allclose(looked_up["equal"].weights, [[1 / 3] * 3])
    assert looked_up["huge"].weights[0, 2] > 1 - 1e-12
    assert looked_up["longer"].scores.tolist() == [[1, 1, 3]]
    usual = lookup.soft_lookup(QUERY, KEY, VALUE)
    assert looked_up["empty"].weights.tolist() == usual.weights.tolist()
    np.testing.assert_allclose(looked_up["empty"].output, usual.output - 100 * usual.weights[:, 2:])
    np.testing.assert_allclose(looked_up["shuffled"].output, usual.output)
    np.testing.assert_allclose(looked_up["shuffled"].weights, usual.weights[:, ::-1])


def test_sat_looks_mostly_at_who_acts():
    tokens = examples.SENTENCE.split()
    X = examples.features(tokens)
    weights = lookup.soft_lookup(X @ examples.LOOKS_FOR, X, X).weights
    assert tokens[weights[tokens.index("sat")].argmax()] == "cat"


def test_unknown_words_have_features_of_their_own_that_stay():
    first, again = examples.features(["zebra", "yak"]), examples.features(["ZEBRA", "yak"])
    assert first.tolist() == again.tolist() and first[0].tolist() != first[1].tolist()
    assert examples.features(["🙂", "مرحبا"]).shape == (2, len(examples.FEATURES))
