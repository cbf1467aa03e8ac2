"""Derivatives against values worked out by hand, finite differences, and PyTorch's autograd."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention import create_causal_mask, scaled_dot_product_attention, softmax
from attention.gradients import attention_backward, jacobian_norm, softmax_jacobian

rows = st.lists(st.floats(-8, 8), min_size=1, max_size=6).map(np.array)


def test_two_weights_by_hand():
    """Weights ¼ and ¾: ¼·¾ = 3/16 on the diagonal, its opposite beside it."""
    np.testing.assert_allclose(softmax_jacobian([0.25, 0.75]), [[3 / 16, -3 / 16], [-3 / 16, 3 / 16]])
    assert jacobian_norm([0.25, 0.75]) == pytest.approx(2 * 3 / 16)


@pytest.mark.parametrize("weights, norm", [([1, 0, 0], 0), ([0.5, 0.5], 0.5), ([0.25] * 4, 3**0.5 / 4)])
def test_norms_by_hand(weights, norm):
    assert jacobian_norm(weights) == pytest.approx(norm)


@given(rows)
def test_jacobian_is_the_slope_of_softmax(scores):
    step = 1e-6 * np.eye(len(scores))
    slopes = (softmax(scores + step) - softmax(scores - step)) / 2e-6  # row j: score j was moved
    jacobian = softmax_jacobian(softmax(scores))
    np.testing.assert_allclose(jacobian, slopes.T, atol=1e-8)
    np.testing.assert_allclose(jacobian.sum(0), 0, atol=1e-15)


@given(rows)
def test_norm_is_that_of_the_jacobian(scores):
    weights = softmax(scores)
    norm = jacobian_norm(weights)
    # the closed form subtracts numbers near each other where one weight is near 1
    assert norm == pytest.approx(np.linalg.norm(softmax_jacobian(weights)), rel=1e-6, abs=1e-7)
    assert 0 <= norm <= 0.5 + 1e-15


def test_leading_axes():
    weights = softmax(np.arange(24.0).reshape(2, 3, 4))
    assert softmax_jacobian(weights).shape == (2, 3, 4, 4)
    assert jacobian_norm(weights).shape == (2, 3)
    np.testing.assert_array_equal(softmax_jacobian(weights)[1, 2], softmax_jacobian(weights[1, 2]))


# --- backward -----------------------------------------------------------------------------------------------


def random(*shapes, dtype=np.float64):
    rng = np.random.default_rng(3)
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


def test_one_key_by_hand():
    """With one key its weight is 1 whatever the score: only the value has a gradient, that of the output."""
    query, key, value, grad = random((1, 2), (1, 2), (1, 3), (1, 3))
    grad_query, grad_key, grad_value = attention_backward(query, key, value, grad)
    np.testing.assert_array_equal(grad_query, np.zeros((1, 2)))
    np.testing.assert_array_equal(grad_key, np.zeros((1, 2)))
    np.testing.assert_array_equal(grad_value, grad)


def test_finite_differences():
    query, key, value, grad = random((3, 4), (5, 4), (5, 2), (3, 2))
    arrays = [query, key, value]
    for which, gradient in enumerate(attention_backward(*arrays, grad, causal=True)):
        for index in np.ndindex(gradient.shape):
            losses = []
            for step in (1e-6, -1e-6):
                moved = [array.copy() for array in arrays]
                moved[which][index] += step
                losses.append((scaled_dot_product_attention(*moved, causal=True)[0] * grad).sum())
            assert gradient[index] == pytest.approx((losses[0] - losses[1]) / 2e-6, abs=1e-7)


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-12), (np.float32, 2e-5)])
@pytest.mark.parametrize(
    "shapes, options",
    [
        (((3, 4), (3, 4), (3, 4)), {}),
        (((2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 6)), {"scale": 0.3}),
        (((5, 4), (5, 4), (5, 4)), {"mask": create_causal_mask(5)}),
        (((2, 5, 4), (2, 5, 4), (2, 5, 4)), {"mask": np.linspace(-2, 2, 25).reshape(5, 5)}),
        (((2, 3, 5, 4), (5, 4), (3, 5, 4)), {}),  # leading axes that broadcast
        (((2, 1, 5, 4), (2, 3, 5, 4), (1, 3, 5, 4)), {}),
    ],
)
def test_against_autograd(torch, shapes, options, dtype, tolerance):
    query, key, value = random(*shapes, dtype=dtype)
    output, _ = scaled_dot_product_attention(query, key, value, **options)
    (grad,) = random(output.shape, dtype=dtype)
    tensors = [torch.tensor(array, requires_grad=True) for array in (query, key, value)]
    mask = options.get("mask")
    bias = 0 if mask is None else np.where(mask, 0, -np.inf) if mask.dtype == bool else mask
    scale = options.get("scale", query.shape[-1] ** -0.5)
    q, k, v = tensors
    weights = torch.softmax(q @ k.mT * scale + torch.tensor(bias, dtype=q.dtype), dim=-1)
    (weights @ v * torch.tensor(grad)).sum().backward()
    for gradient, tensor in zip(attention_backward(query, key, value, grad, **options), tensors, strict=True):
        assert gradient.dtype == dtype
        np.testing.assert_allclose(gradient, tensor.grad.numpy(), rtol=tolerance, atol=tolerance)


def test_shared_heads_gather_from_all_who_share_them(torch):
    arrays = random((2, 6, 5, 4), (2, 2, 5, 4), (2, 2, 5, 4))
    (grad,) = random((2, 6, 5, 4))
    tensors = [torch.tensor(array, requires_grad=True) for array in arrays]
    output = torch.nn.functional.scaled_dot_product_attention(*tensors, enable_gqa=True)
    (output * torch.tensor(grad)).sum().backward()
    for gradient, tensor in zip(attention_backward(*arrays, grad), tensors, strict=True):
        np.testing.assert_allclose(gradient, tensor.grad.numpy(), atol=1e-12)


def test_a_query_that_may_attend_to_nothing_moves_nothing():
    query, key, value, grad = random((2, 4), (3, 4), (3, 2), (2, 2))
    mask = np.array([[False, False, False], [True, True, False]])
    grad_query, grad_key, grad_value = attention_backward(query, key, value, grad, mask)
    alone = attention_backward(query[1:], key[:2], value[:2], grad[1:])
    np.testing.assert_array_equal(grad_query[0], np.zeros(4))
    np.testing.assert_allclose(grad_query[1:], alone[0])
    np.testing.assert_allclose(grad_key, [*alone[1], np.zeros(4)])
    np.testing.assert_allclose(grad_value, [*alone[2], np.zeros(2)])


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"query \(3, 4\) and key \(3, 5\)"):
        attention_backward(np.ones((3, 4)), np.ones((3, 5)), np.ones((3, 4)), np.ones((3, 4)))
