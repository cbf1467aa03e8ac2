"""The core against values worked out by hand, against PyTorch, and against input that it must refuse."""

from dataclasses import FrozenInstanceError
from itertools import product

import numpy as np
import pytest

from attention import attention_steps, create_causal_mask, scaled_dot_product_attention, softmax

X = np.array([[1.0, 0.5, 0.2, 0.8], [0.3, 0.9, 0.1, 0.4], [0.6, 0.2, 0.7, 0.3]])  # cat, sat, mat
BOTH = pytest.mark.parametrize(
    "attend",
    [scaled_dot_product_attention, lambda *a, **k: (lambda s: (s.output, s.weights))(attention_steps(*a, **k))],
)


def random(*shapes, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


# --- softmax ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "weights"),
    [
        ([2, 0.5, 0.5, 0.5], [0.5990, 0.1337, 0.1337, 0.1337]),
        ([0.5, 0.8, 0.3, -np.inf], [0.3156, 0.4260, 0.2584, 0]),
        ([0.8, 0.3, 0.2], [0.4640, 0.2814, 0.2546]),
        ([100, 1, 1, 1], [1, 0, 0, 0]),
        ([0, np.log(3)], [0.25, 0.75]),
        ([7], [1]),
        ([1e308, -1e308], [1, 0]),
        ([-1e30, -1e30], [0.5, 0.5]),
        ([np.inf, 0, np.inf], [0.5, 0, 0.5]),  # the limit of ever larger scores
        ([-np.inf, -np.inf], [0, 0]),
        ([], []),
    ],
)
def test_softmax(scores, weights, recwarn):
    np.testing.assert_allclose(softmax(scores), weights, atol=5e-5)
    assert not recwarn


def test_softmax_along_another_axis():
    scores = np.array([[0, 1.0], [np.log(3), 1.0]])
    np.testing.assert_allclose(softmax(scores, axis=0), [[0.25, 0.5], [0.75, 0.5]])


def test_softmax_keeps_the_dtype_and_float16_is_summed_in_float32():
    for dtype in (np.float16, np.float32, np.float64):
        assert softmax(np.zeros(3, dtype)).dtype == dtype
    assert softmax([1, 2]).dtype == softmax([True, False]).dtype == np.float64
    assert softmax(np.zeros(70_000, np.float16)).max() == np.float16(1 / 70_000)  # the sum overflows float16


def test_nan_makes_its_row_nan():
    np.testing.assert_array_equal(softmax([[np.nan, 1], [0, 0]]), [[np.nan, np.nan], [0.5, 0.5]])


@pytest.mark.parametrize("scores", [["a"], [1j], [None]])
def test_softmax_of_no_numbers_is_refused(scores):
    with pytest.raises(ValueError, match="scores must hold real numbers"):
        softmax(scores)


# --- the lesson's example ---------------------------------------------------------------------------------


def test_the_lesson_in_its_right_numbers():
    steps = attention_steps(X, X, X)
    np.testing.assert_allclose(steps.scores, [[1.93, 1.09, 1.08], [1.09, 1.07, 0.55], [1.08, 0.55, 0.98]])
    assert steps.scale == 0.5
    assert steps.scaled_scores[1, 2] == pytest.approx(0.275)
    weights = [[0.4327, 0.2843, 0.2829], [0.3632, 0.3596, 0.2772], [0.3679, 0.2822, 0.3499]]
    np.testing.assert_allclose(steps.weights, weights, atol=6e-5)
    output = [[0.6878, 0.5289, 0.3130, 0.5448], [0.6374, 0.5607, 0.3027, 0.5175], [0.6625, 0.5079, 0.3467, 0.5122]]
    np.testing.assert_allclose(steps.output, output, atol=6e-5)
    np.testing.assert_array_equal(steps.masked_scores, steps.scaled_scores)


def test_the_call_at_the_end_of_the_text_works():
    np.random.seed(42)
    Q, K, V = (np.random.randn(1, 4, 8) for _ in range(3))
    output, weights = scaled_dot_product_attention(Q, K, V, create_causal_mask(4))
    assert (output.shape, weights.shape) == ((1, 4, 8), (1, 4, 4))
    assert (np.triu(weights[0], 1) == 0).all()
    np.testing.assert_allclose(weights.sum(-1), 1)


def test_steps_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        attention_steps(X, X, X).scale = 1


def test_a_row_with_nothing_left_is_zero(recwarn):
    mask = np.array([[False, False, False], [True, False, True], [True, True, True]])
    output, weights = scaled_dot_product_attention(X, X, X, mask)
    np.testing.assert_array_equal(weights[0], 0)
    np.testing.assert_array_equal(output[0], 0)
    np.testing.assert_allclose(weights.sum(-1), [0, 1, 1])
    assert not recwarn


# --- against PyTorch --------------------------------------------------------------------------------------

SHAPES = [  # query, key, value
    ((3, 4), (3, 4), (3, 4)),
    ((1, 4), (1, 4), (1, 4)),
    ((2, 5, 8), (2, 7, 8), (2, 7, 3)),
    ((2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 8)),
    ((2, 6, 5, 8), (2, 2, 7, 8), (2, 2, 7, 8)),  # grouped
    ((2, 4, 5, 8), (2, 1, 5, 8), (2, 1, 5, 8)),  # multi-query
    ((2, 3, 300, 8), (2, 3, 900, 8), (2, 3, 900, 8)),  # computed in blocks
    ((700, 2), (700, 2), (700, 2)),
]
OPTIONS = [
    {},
    {"causal": True},
    {"scale": 0.3},
    {"scale": -2.0},
    {"mask": "bool"},
    {"mask": "bias"},
    {"mask": "bool", "causal": True},
    {"window": (1, 2)},
    {"window": (2, None), "causal": True},
]


@BOTH
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 3e-6), (np.float16, 3e-3)])
@pytest.mark.parametrize(("shapes", "options"), list(product(SHAPES, OPTIONS)))
def test_against_pytorch(torch, attend, shapes, options, dtype, tolerance):
    query, key, value = random(*shapes, dtype=dtype)
    T_q, T_k = query.shape[-2], key.shape[-2]
    options, rng = dict(options), np.random.default_rng(1)
    allowed, bias = np.ones((T_q, T_k), bool), np.zeros((T_q, T_k))
    if options.get("mask") == "bool":
        options["mask"] = allowed = rng.random((T_q, T_k)) < 0.6
    elif options.get("mask") == "bias":
        options["mask"] = bias = rng.standard_normal((T_q, T_k)).astype(dtype)
    i, j = np.indices((T_q, T_k))
    if options.get("causal"):
        allowed = allowed & (j <= i)
    if "window" in options:
        left, right = options["window"]
        allowed = allowed & (j >= i - left) & (j <= (T_k if right is None else i + right))
    additive = torch.tensor(np.where(allowed, bias, -np.inf), dtype=torch.float64)
    q, k, v = (torch.tensor(array, dtype=torch.float64) for array in (query, key, value))
    heads = query.ndim > 2 and query.shape[-3] != key.shape[-3]
    if heads:
        k, v = (x.repeat_interleave(query.shape[-3] // key.shape[-3], dim=-3) for x in (k, v))
    scale = options.get("scale") or query.shape[-1] ** -0.5
    weights = torch.softmax(q @ k.mT * scale + additive, dim=-1).nan_to_num(0)  # PyTorch's plain form has NaN there
    output, ours = attend(query, key, value, **options)
    assert output.dtype == ours.dtype == dtype
    np.testing.assert_allclose(ours, weights, rtol=0, atol=tolerance)
    np.testing.assert_allclose(output, weights @ v, rtol=0, atol=tolerance * 3)


def test_against_pytorchs_own_function(torch):
    query, key, value = random((2, 6, 5, 8), (2, 3, 5, 8), (2, 3, 5, 8))
    tensors = map(torch.tensor, (query, key, value))
    expected = torch.nn.functional.scaled_dot_product_attention(*tensors, is_causal=True, enable_gqa=True)
    np.testing.assert_allclose(scaled_dot_product_attention(query, key, value, causal=True)[0], expected, atol=1e-12)


# --- dtypes, shapes, and what is not modified -----------------------------------------------------------


@BOTH
def test_dtypes(attend):
    for dtype in (np.float16, np.float32, np.float64):
        assert {array.dtype for array in attend(*random((2, 3), (4, 3), (4, 2), dtype=dtype))} == {np.dtype(dtype)}
    assert attend(np.eye(2, dtype=int), np.eye(2, dtype=int), np.eye(2, dtype=bool))[0].dtype == np.float64
    query, key, value = random((2, 3), (4, 3), (4, 2))
    assert attend(query.astype(np.float32), key, value)[0].dtype == np.float64
    assert attend([[1, 2]], [[3, 4]], [[5, 6]])[0].tolist() == [[5, 6]]


@BOTH
def test_float16_is_computed_in_float32(attend):
    """A dot product of 300 · 300 overflows float16; so does the sum of 70,000 equal weights before dividing."""
    large = np.full((2, 1), 300, np.float16)
    np.testing.assert_array_equal(attend(large, large, np.array([[1], [3]], np.float16))[0], [[2], [2]])


@BOTH
@pytest.mark.parametrize("factor", [1, 100, 1e15])
def test_extreme_scores_give_no_nan_and_no_warning(attend, factor, recwarn):
    """Scores of the order 1, 1e4 and 1e30, also below the diagonal alone."""
    query, key, value = random((5, 8), (6, 8), (6, 3))
    for options in ({}, {"causal": True}, {"mask": np.where(np.eye(5, 6), np.inf, 0.0)}):
        output, weights = attend(query * factor, key * factor, value, **options)
        assert np.isfinite(output).all()
        np.testing.assert_allclose(weights.sum(-1), 1)
    assert not recwarn


@BOTH
def test_infinity_in_a_bias(attend, recwarn):
    bias = np.array([[0, -np.inf, 0], [np.inf, 0, np.inf], [-np.inf] * 3])
    _, weights = attend(np.zeros((3, 2)), np.zeros((3, 2)), X, bias)
    np.testing.assert_array_equal(weights, [[0.5, 0, 0.5], [0.5, 0, 0.5], [0, 0, 0]])
    assert not recwarn


@BOTH
def test_nan_goes_where_it_is_seen(attend):
    query, key, value = X.copy(), X.copy(), X.copy()
    query[0, 0], value[2, 1] = np.nan, np.nan
    output, weights = attend(query, key, value)
    assert np.isnan(weights[0]).all()
    assert np.isfinite(weights[1:]).all()
    assert np.isnan(output[:, 1]).all()
    assert np.isfinite(output[1:, [0, 2, 3]]).all()


@BOTH
def test_a_hidden_key_may_hold_anything(attend):
    key = X.copy()
    key[2] = np.nan
    _, weights = attend(X, key, X, create_causal_mask(3))
    assert np.isfinite(weights[:2]).all()
    assert np.isnan(weights[2]).all()


@BOTH
def test_inputs_are_not_modified(attend):
    arrays = [*random((2, 300, 8), (2, 900, 8), (2, 900, 8)), np.zeros((300, 900))]
    copies = [array.copy() for array in arrays]
    attend(*arrays, causal=True, window=(5, 5))
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


@BOTH
def test_leading_axes_broadcast(attend):
    query, key, value = random((2, 1, 3, 4), (5, 6, 4), (2, 5, 6, 2))
    output, weights = attend(query, key, value)
    assert (output.shape, weights.shape) == ((2, 5, 3, 2), (2, 5, 3, 6))
    np.testing.assert_allclose(output[1, 4], attend(query[1, 0], key[4], value[1, 4])[0])


@BOTH
@pytest.mark.parametrize("lead", [(0,), (2, 0)])
def test_an_empty_batch_is_fine(attend, lead):
    assert attend(*(np.ones((*lead, 3, 4)),) * 3)[0].shape == (*lead, 3, 4)


@BOTH
def test_query_heads_share_in_order(attend):
    query, key, value = random((4, 3, 2), (2, 5, 2), (2, 5, 2))
    output, _ = attend(query, key, value)
    for head in range(4):
        np.testing.assert_allclose(output[head], attend(query[head], key[head // 2], value[head // 2])[0])


# --- what is refused --------------------------------------------------------------------------------------

a, b = np.ones((2, 3, 4)), np.ones((2, 5, 4))
REFUSED = [
    ((a, np.ones((2, 5, 6)), b), {}, [r"query \(2, 3, 4\)", r"key \(2, 5, 6\)", "d_k"]),
    ((a, b, np.ones((2, 6, 4))), {}, [r"key \(2, 5, 4\)", r"value \(2, 6, 4\)", "T_k"]),
    ((a, b, b), {"mask": np.ones((4, 5), bool)}, [r"mask \(4, 5\)", r"\(2, 3, 5\)"]),
    ((a, b, b), {"mask": np.ones((1, 2, 3, 5), bool)}, [r"mask \(1, 2, 3, 5\)"]),
    ((a, b, b), {"mask": np.ones((3, 5), int)}, ["mask", "int64", "boolean", "floating"]),
    ((a, b, b), {"mask": np.full((3, 5), "x")}, ["mask", "<U1"]),
    ((a[:, :0], b, b), {}, ["query", r"\(2, 0, 4\)"]),
    ((a, b[:, :0], b[:, :0]), {}, ["key", r"\(2, 0, 4\)"]),
    ((a[..., :0], b[..., :0], b), {}, ["query", r"\(2, 3, 0\)"]),
    ((np.ones(4), b, b), {}, ["query", r"\(4,\)"]),
    ((np.ones((3, 3, 4)), np.ones((2, 3, 4)), np.ones((2, 3, 4))), {}, ["2 key heads", "3 query heads"]),
    ((np.ones((2, 1, 3, 4)), np.ones((3, 1, 3, 4)), np.ones((3, 1, 3, 4))), {}, ["leading axes", r"\(2, 1, 3, 4\)"]),
    ((a, b, b), {"window": 3}, ["window", "pair"]),
    ((a, b, b), {"window": (-2, 0)}, ["left"]),
    ((a.astype(complex), b, b), {}, ["query", "complex"]),
    ((a, b.astype(str), b), {}, ["key"]),
]


@BOTH
@pytest.mark.parametrize(("arrays", "options", "said"), REFUSED)
def test_what_does_not_fit_is_refused_in_a_sentence(attend, arrays, options, said):
    for part in said:
        with pytest.raises(ValueError, match=part):
            attend(*arrays, **options)
