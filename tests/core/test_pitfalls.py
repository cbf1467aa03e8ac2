"""Masks gone wrong, against numbers worked out by hand; pairs, against masks that are counted whole."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention import masks, pairs, pitfalls

ROW = np.array([2.0, 1.0, 3.0])
FIRST_TWO = np.array([True, True, False])
NOTHING = np.zeros(3, bool)
E = np.e


def test_plain_softmax():
    np.testing.assert_allclose(pitfalls.plain_softmax(np.log([1.0, 2, 5])), [1 / 8, 2 / 8, 5 / 8])
    np.testing.assert_allclose(pitfalls.plain_softmax(np.array([1000.0, 1000])), [0.5, 0.5])
    assert np.isnan(pitfalls.plain_softmax(np.full(3, -np.inf))).all()
    assert np.isnan(pitfalls.plain_softmax(np.array([np.inf, 0]))).all()
    assert pitfalls.plain_softmax(np.zeros((2, 3), np.float16)).dtype == np.float16


# --- after the softmax ------------------------------------------------------------------------------------


def test_zeros_after_the_softmax_leave_a_sum_below_one():
    """softmax([2, 1, 3]) = [e, 1, e²] / (e + 1 + e²): without its last entry 0.335 are left."""
    weights = pitfalls.zeroed(ROW, FIRST_TWO)
    np.testing.assert_allclose(weights, np.array([E, 1, 0]) / (E + 1 + E**2))
    assert weights.sum() == pytest.approx(0.335, abs=5e-4)


def test_renormalising_repairs_the_sum():
    expected = np.array([E, 1, 0]) / (E + 1)
    np.testing.assert_allclose(pitfalls.renormalised(ROW, FIRST_TWO), expected)
    np.testing.assert_allclose(pitfalls.masked_first(ROW, FIRST_TWO), expected)


def test_renormalising_does_not_repair_what_fell_to_zero():
    """e⁻⁸⁰⁰ is no float64: the visible weights are gone before the hidden one is taken away."""
    hidden_is_huge = pitfalls.raised(ROW, FIRST_TWO, 800)
    assert hidden_is_huge.tolist() == [2, 1, 803]
    assert np.isnan(pitfalls.renormalised(hidden_is_huge, FIRST_TWO)).all()
    np.testing.assert_allclose(pitfalls.masked_first(hidden_is_huge, FIRST_TWO), np.array([E, 1, 0]) / (E + 1))


def test_a_row_with_nothing_left():
    assert pitfalls.masked_first(ROW, NOTHING).tolist() == [0, 0, 0]
    assert pitfalls.zeroed(ROW, NOTHING).tolist() == [0, 0, 0]
    assert np.isnan(pitfalls.renormalised(ROW, NOTHING)).all()


def test_what_leaks():
    """A hidden score that rises by 1 moves the visible ones of a row that is only zeroed."""
    before, after = E / (E + 1 + E**2), E / (E + 1 + E**3)
    assert pitfalls.leak(pitfalls.zeroed, ROW, FIRST_TWO) == pytest.approx(before - after)
    assert pitfalls.leak(pitfalls.masked_first, ROW, FIRST_TWO) == 0
    assert pitfalls.leak(pitfalls.renormalised, ROW, FIRST_TWO) < 1e-15


@given(st.lists(st.floats(-20, 20), min_size=2, max_size=8), st.data())
def test_masking_first_never_looks_at_a_hidden_score(scores, data):
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores))))
    assert pitfalls.leak(pitfalls.masked_first, np.array(scores), mask) == 0
    weights = pitfalls.masked_first(np.array(scores), mask)
    assert weights.sum() == pytest.approx(1 if mask.any() else 0)
    assert pitfalls.left_over(weights, mask) == 0


def test_left_over():
    assert pitfalls.left_over(np.array([[0.5, 0.2, 0.3]]), FIRST_TWO) == 0.3
    assert pitfalls.left_over(np.full((1, 3), np.nan), FIRST_TWO) == 0
    assert pitfalls.left_over(np.ones((2, 2)), np.ones((2, 2), bool)) == 0


# --- the wrong value --------------------------------------------------------------------------------------


def slipped(name, scores, mask):
    return pitfalls.plain_softmax(pitfalls.SLIPS[name](scores, mask))


def test_slip_zero_makes_a_hidden_key_the_largest_of_negative_scores():
    """[-2, -1, hidden] -> [-2, -1, 0]: e⁰ of 1 + e⁻¹ + e⁻²."""
    weights = slipped("zero", np.array([-2.0, -1.0, -5.0]), FIRST_TWO)
    assert weights[2] == pytest.approx(1 / (1 + 1 / E + 1 / E**2)) == pytest.approx(0.665, abs=5e-4)
    assert weights.argmax() == 2


def test_slip_ones_hides_nobody():
    np.testing.assert_allclose(slipped("ones", ROW, FIRST_TWO), np.array([E**3, E**2, E**3]) / (2 * E**3 + E**2))


def test_slip_polarity_keeps_what_should_go():
    assert slipped("polarity", ROW, FIRST_TWO).tolist() == [0, 0, 1]


def test_slip_sign_is_no_number():
    assert np.isnan(slipped("sign", ROW, FIRST_TWO)).all()
    assert not np.isnan(slipped("sign", ROW, np.ones(3, bool))).any()


def test_slip_huge_is_right_until_nothing_is_left():
    """Added to every score alike it cancels, if the precision holds both; if not, all scores are equal."""
    right = np.array([E, 1, 0]) / (E + 1)
    for name in ("huge64", "huge32"):
        np.testing.assert_allclose(slipped(name, ROW, FIRST_TWO), right, atol=1e-7)
    scores = np.array([2.0, 1.0, 0.0])
    np.testing.assert_allclose(slipped("huge64", scores, NOTHING), [0.665, 0.245, 0.090], atol=5e-4)
    np.testing.assert_allclose(slipped("huge32", scores, NOTHING), [1 / 3] * 3, atol=1e-7)


def test_no_slip_changes_what_a_mask_without_effect_leaves():
    everything = np.ones(3, bool)
    expected = np.array([E, 1, E**2]) / (E + 1 + E**2)
    for name in ("ones", "zero", "sign", "huge64", "huge32"):
        np.testing.assert_allclose(slipped(name, ROW, everything), expected, atol=1e-6)


def by_rule(mask, dtype, scores=(2.0, 1.0, 0.0)):
    hidden, weights = pitfalls.by_rule(np.array(scores), np.array(mask), np.dtype(dtype))
    assert hidden.dtype == weights.dtype == np.dtype(dtype)
    return dict(zip(pitfalls.RULES, weights, strict=True))


SOFT = np.array([E**2, E, 1]) / (E**2 + E + 1)


@pytest.mark.parametrize(
    ("dtype", "rule", "expected"),
    [
        ("float64", "−∞, else zeros", [0, 0, 0]),
        ("float64", "−∞, plain softmax", [np.nan] * 3),
        ("float64", "−1e9 written", [1 / 3] * 3),
        ("float64", "−1e9 added", SOFT),
        ("float64", "−1e10 added", SOFT),
        ("float64", "−1e4 added", SOFT),
        ("float64", "−10 added", SOFT),
        ("float32", "−∞, else zeros", [0, 0, 0]),
        ("float32", "−1e9 written", [1 / 3] * 3),
        ("float32", "−1e9 added", [1 / 3] * 3),  # float32 has steps of 64 there
        ("float32", "−1e4 added", SOFT),
        ("float16", "−∞, else zeros", [0, 0, 0]),
        ("float16", "−1e9 written", [np.nan] * 3),  # float16 ends at 65504: this is −∞
        ("float16", "−1e9 added", [np.nan] * 3),
        ("float16", "−1e4 added", [1 / 3] * 3),  # float16 has steps of 8 there
        ("float16", "−10 added", SOFT),
    ],
)
def test_rules_where_nothing_is_left(dtype, rule, expected):
    tolerance = {"float64": 1e-5, "float32": 1e-3, "float16": 1e-2}[dtype]
    np.testing.assert_allclose(by_rule(NOTHING, dtype)[rule], expected, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_all_rules_but_the_small_one_agree_while_a_key_is_left(dtype):
    weights = by_rule(FIRST_TWO, dtype)
    small = weights.pop("−10 added")
    for row in weights.values():
        np.testing.assert_allclose(row, np.array([E, 1, 0]) / (E + 1), atol=2e-3)
    assert small[2] > 0


def test_the_masked_row_of_the_lesson():
    weights = by_rule([True, True, True, False], "float64", (0.5, 0.8, 0.3, 0.9))
    for rule in ("−∞, else zeros", "−∞, plain softmax", "−1e9 written", "−1e9 added"):
        np.testing.assert_allclose(weights[rule], [0.3156, 0.4260, 0.2584, 0], atol=5e-5)


# --- the wrong diagonal -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("diagonal", "said"),
    [
        (0, ["fair", "fair", "fair"]),
        (-1, ["nothing", "fair", "fair"]),
        (1, ["answer", "answer", "fair"]),
    ],
)
def test_shift(diagonal, said):
    assert pitfalls.shift(masks.create_causal_mask(3, diagonal=diagonal)) == said


def test_shift_of_one_token():
    assert pitfalls.shift(np.ones((1, 1), bool)) == ["fair"]
    assert pitfalls.shift(np.zeros((1, 1), bool)) == ["nothing"]


# --- pairs ------------------------------------------------------------------------------------------------

BY_HAND = [  # (name, T, parameter, pairs)
    ("none", 5, None, 25),
    ("causal", 5, None, 15),
    ("sliding", 5, 0, 5),
    ("sliding", 5, 2, 1 + 2 + 3 + 3 + 3),
    ("sliding", 5, 99, 15),
    ("prefix", 5, 0, 15),
    ("prefix", 5, 3, 3 + 3 + 3 + 4 + 5),
    ("packed", 5, 1, 25),
    ("packed", 5, 2, 9 + 4),
    ("packed", 5, 8, 5),
    ("causal", 4096, None, 8_390_656),
    ("none", 4096, None, 16_777_216),
    ("sliding", 4096, 4096, 8_390_656),
    ("packed", 4096, 4, 4 * 1024**2),
]


@pytest.mark.parametrize(("name", "T", "parameter", "expected"), BY_HAND)
def test_pairs_by_formula_and_by_count(name, T, parameter, expected):
    assert pairs.formula(name, T, parameter) == expected
    assert pairs.count(name, T, parameter) == expected


@given(st.integers(1, 40), st.integers(0, 45), st.integers(1, 45))
def test_pairs_are_those_of_the_masks(T, left, documents):
    whole = {
        ("none", None): np.ones((T, T), bool),
        ("causal", None): masks.create_causal_mask(T),
        ("sliding", left): masks.sliding_window_mask(T, left),
        ("prefix", min(left, T)): masks.prefix_mask(T, min(left, T)),
        ("packed", documents): masks.packed_mask(
            [len(part) for part in np.array_split(np.arange(T), documents) if len(part)]
        ),
    }
    for (name, parameter), mask in whole.items():
        assert pairs.formula(name, T, parameter) == pairs.count(name, T, parameter) == mask.sum()


@pytest.mark.parametrize("T", [255, 256, 257, 512, 513])
def test_counting_in_blocks_misses_none(T):
    assert pairs.count("causal", T) == T * (T + 1) // 2
