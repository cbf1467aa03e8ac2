"""The theory against counting, the samples against the theory, softmax against values worked out by hand."""

from math import e, log, sqrt

import numpy as np
import pytest

from attention.scaling import (
    DIMENSIONS,
    MOST_SAMPLES,
    Components,
    dot_products,
    gradient_by_dimension,
    moments_by_dimension,
    soften,
    theory,
)

CASES = (
    Components(),
    Components(2.0),
    Components(0.5),
    Components(1.0, "within", 0.5),
    Components(1.5, "within", 1.0),
    Components(1.0, "between", 0.6),
    Components(0.7, "between", 1.0),
)


def test_the_papers_footnote():
    assert theory(64) == (0, 64)
    assert theory(512) == (0, 512)


def test_theory_by_adding_up_covariances():
    """Var(Σ q_i k_i) = Σ_ij E(q_i q_j) E(k_i k_j) for q and k that do not know of each other."""
    d, r, sigma = 5, 0.4, 1.5
    covariance = sigma**2 * (np.eye(d) * (1 - r) + r)
    assert theory(d, Components(sigma, "within", r)).variance == pytest.approx((covariance * covariance).sum())


def test_theory_of_alike_vectors_by_counting():
    """Signs ±1 have mean 0, variance 1; q = k in 4 of 5 cases and q = -k in 1 of 5: correlation 0.6.

    Signs have E(q²k²) = 1, normal numbers 1 + 2ρ²: the variance of one product is 1 - ρ², and 1 + ρ².
    """
    mean = sum(0.8 * q * q + 0.2 * q * -q for q in (1, -1)) / 2
    assert theory(1, Components(1.0, "between", 0.6)).mean == pytest.approx(mean)
    assert theory(1, Components(1.0, "between", 0.6)).variance == pytest.approx(1 + 2 * mean**2 - mean**2)


@pytest.mark.parametrize("components", CASES)
@pytest.mark.parametrize("d_k", DIMENSIONS)
def test_samples_follow_the_theory(components, d_k):
    sample = dot_products(d_k, components)
    mean, variance = theory(d_k, components)
    assert 256 <= len(sample) <= MOST_SAMPLES
    assert abs(sample.mean() - mean) < 5 * sqrt(variance / len(sample))
    # products of normal numbers have heavy tails where d_k is small, or one shared part rules: kurtosis up to 15
    assert sample.var() == pytest.approx(variance, rel=5 * sqrt(14 / len(sample)))


def test_samples_are_the_same_for_the_same_seed():
    np.testing.assert_array_equal(dot_products(8, seed=3), dot_products(8, seed=3))
    assert not np.array_equal(dot_products(8, seed=3), dot_products(8, seed=4))
    assert dot_products(1024, num_keys=8).shape == (2**19 // (9 * 1024), 8)


def test_moments_for_every_dimension():
    measured, expected = moments_by_dimension(Components(), seed=1)
    assert [int(m.variance) for m in expected.values()] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
    assert measured[64].variance == pytest.approx(dot_products(64, seed=1).var())


def test_softened_by_hand():
    """Scores 8 and 0, d_k = 64: unscaled e⁸ : 1, over √64 it is e : 1, over 64 it is e^(1/8) : 1."""
    for exponent, ratio in ((0, e**8), (0.5, e), (1, e**0.125)):
        p = ratio / (ratio + 1)
        softened = soften([8, 0], 64, exponent)
        np.testing.assert_allclose(softened.weights, [p, 1 - p])
        assert softened.entropy == pytest.approx(-p * log(p) - (1 - p) * log(1 - p))
        assert softened.gradient == pytest.approx(2 * p * (1 - p))


def test_unscaled_gradients_vanish_and_scaled_ones_do_not():
    unscaled, scaled, too_much = (gradient_by_dimension(exponent) for exponent in (0, 0.5, 1))
    assert unscaled[0] == scaled[0] == too_much[0]  # d_k = 1: nothing to divide by
    assert unscaled[-1] < 0.05
    assert all(0.25 < norm < 0.4 for norm in scaled)
    assert too_much[-1] == pytest.approx(sqrt(7) / 8, abs=0.001)  # eight equal weights
