"""The worked example: the errata's right numbers, and what is true of every example."""

import numpy as np
import pytest

from attention import examples
from attention.worked import asymmetry, misprints, order_gap, permutation_gap, with_weights, work_through

X, W_Q, W_K, W_V = (getattr(examples.CAT_SAT_MAT, name) for name in ("X", "W_Q", "W_K", "W_V"))
# worked out by hand (see also the errata): dot products of the rows of X, halves, exp and sums, mixtures
SCORES = [[1.93, 1.09, 1.08], [1.09, 1.07, 0.55], [1.08, 0.55, 0.98]]
WEIGHTS = [[0.4327, 0.2843, 0.2829], [0.3632, 0.3596, 0.2772], [0.3679, 0.2822, 0.3499]]
OUTPUT = [
    [0.6878, 0.5289, 0.3130, 0.5448],
    [0.6374, 0.5607, 0.3027, 0.5175],
    [0.6625, 0.5079, 0.3467, 0.5122],
]


def test_the_example_has_the_right_numbers():
    steps = work_through(X, W_Q, W_K, W_V)
    np.testing.assert_allclose(steps.scores, SCORES, atol=1e-12)
    np.testing.assert_allclose(steps.scaled_scores, np.array(SCORES) / 2, atol=1e-12)
    np.testing.assert_allclose(steps.weights, WEIGHTS, atol=5e-5)
    np.testing.assert_allclose(steps.output, OUTPUT, atol=5.1e-5)


@pytest.mark.parametrize(("scaling", "scale"), [("sqrt", 0.5), ("none", 1), ("full", 0.25)])
def test_scaling_rules(scaling, scale):
    steps = work_through(X, W_Q, W_K, W_V, scaling=scaling)
    np.testing.assert_allclose(steps.scaled_scores, np.array(SCORES) * scale)


def test_causal_hides_later_tokens():
    steps = work_through(X, W_Q, W_K, W_V, causal=True)
    np.testing.assert_array_equal(steps.weights == 0, np.triu(np.ones((3, 3)), 1) == 1)
    np.testing.assert_allclose(steps.weights[0], [1, 0, 0])


def test_misprints_are_found_the_largest_first():
    steps = work_through(X, W_Q, W_K, W_V)
    assert misprints(examples.PRINTED["scores"], steps.scores) == [(1, 2, "0.65", "0.55"), (2, 1, "0.65", "0.55")]
    assert misprints(examples.PRINTED["weights"], steps.weights)[0][:2] == (1, 2)
    assert misprints(examples.PRINTED["weights"], np.ones((2, 2))) == []


def test_scores_are_symmetric_only_where_queries_and_keys_are_projected_alike():
    assert asymmetry(work_through(X, W_Q, W_K, W_V).scores) == 0
    tied = examples.preset("random", 5, 4, 3, 2, seed=1)
    assert asymmetry(work_through(tied[0], tied[1], tied[1], tied[3]).scores) < 1e-12
    assert asymmetry(np.array([[0, 2.0], [-1, 0]])) == 3


def test_facts():
    steps = work_through(*examples.preset("random", 6, 5, 4, 3, seed=3))
    assert order_gap(steps.query, steps.key, steps.scale) < 1e-12
    assert permutation_gap(steps, np.array([3, 1, 5, 0, 2, 4])) < 1e-12
    right, other_way = with_weights(np.array([[0.5, 0.5], [0, 1.0]]), np.array([[2.0], [4.0]]))
    assert right.tolist() == [[3], [4]] and other_way is None
    _, other_way = with_weights(np.array([[0.5, 0.5], [0, 1.0]]), np.eye(2))
    assert other_way.tolist() == [[0.5, 0.5], [0, 1]]


@pytest.mark.parametrize("name", examples.PRESETS)
@pytest.mark.parametrize("size", [1, 3, 8])
def test_presets_have_every_size(name, size):
    matrices = examples.preset(name, size, 9 - size, size, 2, seed=5)
    assert [matrix.shape for matrix in matrices] == [
        (size, 9 - size),
        (size, 9 - size),
        (size, 9 - size),
        (2, 9 - size),
    ]
    assert np.isfinite(work_through(*matrices).output).all()


def test_presets_are_what_they_are_called():
    assert np.ptp(examples.preset("identical", 4, 4, 4, 4)[0], axis=0).max() == 0
    orthogonal = examples.preset("orthogonal", 4, 4, 4, 4)[0]
    assert (orthogonal @ orthogonal.T).tolist() == np.eye(4).tolist()
    lengths = np.linalg.norm(examples.preset("dominant", 4, 4, 4, 4)[0], axis=1)
    assert lengths[0] > 2 * lengths[1:].max()
    assert examples.preset("text", 3, 4, 4, 4)[0].tolist() == X.tolist()
    with pytest.raises(KeyError):
        examples.preset("none", 3, 4, 4, 4)
