"""What holds for all inputs."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attention import MultiHeadAttention, attention_steps, scaled_dot_product_attention, softmax

numbers = st.floats(-30, 30)
sizes = st.integers(1, 5)


@st.composite
def cases(draw):
    """query, key, value and a mask, None or boolean (T_q, T_k)."""
    T_q, T_k, d_k, d_v = (draw(sizes) for _ in range(4))
    query, key, value = (draw(arrays(float, shape, elements=numbers)) for shape in ((T_q, d_k), (T_k, d_k), (T_k, d_v)))
    return query, key, value, draw(st.none() | arrays(bool, (T_q, T_k)))


@given(cases())
def test_rows_sum_to_one_or_are_zero(case):
    _, weights = scaled_dot_product_attention(*case)
    mask = np.ones(weights.shape, bool) if case[3] is None else case[3]
    np.testing.assert_allclose(weights.sum(-1), mask.any(-1), atol=1e-12)
    assert (weights >= 0).all()
    assert not weights[~mask].any()


@given(cases())
def test_both_functions_agree(case):
    output, weights = scaled_dot_product_attention(*case)
    steps = attention_steps(*case)
    np.testing.assert_allclose(weights, steps.weights, atol=1e-12)
    np.testing.assert_allclose(output, steps.output, atol=1e-10)


@given(cases(), st.randoms())
def test_the_order_of_keys_does_not_matter(case, random):
    query, key, value, mask = case
    order = random.sample(range(len(key)), len(key))
    output, weights = scaled_dot_product_attention(*case)
    mask = None if mask is None else mask[:, order]
    moved, moved_weights = scaled_dot_product_attention(query, key[order], value[order], mask)
    np.testing.assert_allclose(moved, output, atol=1e-10)
    np.testing.assert_allclose(moved_weights, weights[:, order], atol=1e-12)


@given(cases(), st.randoms())
def test_reordered_tokens_give_reordered_outputs(case, random):
    tokens = case[1]
    order = random.sample(range(len(tokens)), len(tokens))
    output, _ = scaled_dot_product_attention(tokens, tokens, case[2])
    moved, _ = scaled_dot_product_attention(tokens[order], tokens[order], case[2][order])
    np.testing.assert_allclose(moved, output[order], atol=1e-10)


@given(arrays(float, (2, 4), elements=numbers), arrays(float, (2, 1), elements=numbers))
def test_a_constant_added_to_a_row_of_scores_changes_nothing(scores, constant):
    np.testing.assert_allclose(softmax(scores + constant), softmax(scores), atol=1e-12)


@given(cases(), st.data())
def test_masking_a_key_is_deleting_it(case, data):
    query, key, value, _ = case
    kept = data.draw(arrays(bool, len(key)).filter(np.any))
    output, weights = scaled_dot_product_attention(query, key, value, kept)
    shorter, fewer = scaled_dot_product_attention(query, key[kept], value[kept])
    np.testing.assert_allclose(output, shorter, atol=1e-10)
    np.testing.assert_allclose(weights[:, kept], fewer, atol=1e-12)


@given(cases())
def test_a_bias_of_minus_infinity_is_a_mask(case):
    *inputs, mask = case
    if mask is not None:
        _, weights = scaled_dot_product_attention(*inputs, np.where(mask, 0, -np.inf))
        np.testing.assert_allclose(weights, scaled_dot_product_attention(*case)[1], atol=1e-12)


@given(arrays(float, (4, 3), elements=numbers))
def test_one_head_with_identities_is_the_plain_function(x):
    layer = MultiHeadAttention.from_arrays(1, *[np.eye(3)] * 4)
    for ours, plain in zip(layer(x), scaled_dot_product_attention(x, x, x), strict=True):
        np.testing.assert_allclose(ours.reshape(plain.shape), plain, atol=1e-12)


@given(cases())
def test_outputs_lie_between_the_values(case):
    query, key, value, _ = case
    output, _ = scaled_dot_product_attention(query, key, value)
    assert (output <= value.max(0) + 1e-9).all()
    assert (output >= value.min(0) - 1e-9).all()


everything = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(arrays(np.float32, (3, 4), elements=everything), arrays(np.float32, (3, 3), elements=everything))
def test_no_finite_bias_or_vector_gives_a_warning(x, bias):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for dtype in (np.float32, np.float64):
            _, weights = scaled_dot_product_attention(x.astype(dtype) / 1e20, x.astype(dtype) / 1e20, x, bias)
            assert np.isfinite(weights).all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@given(cases())
def test_dtype_in_is_dtype_out_and_near(dtype, case):
    *inputs, mask = case
    inputs = [array.astype(dtype) for array in inputs]
    output, weights = scaled_dot_product_attention(*inputs, mask)
    assert output.dtype == weights.dtype == dtype
    exact, _ = scaled_dot_product_attention(*(array.astype(float) for array in inputs), mask)
    largest = max(1, np.abs(inputs[2]).max())
    # scores of up to 30 · 30 · 5 lose some digits before the power is taken
    tolerance = {"float16": 2e-3, "float32": 1e-3, "float64": 1e-10}[np.dtype(dtype).name]
    np.testing.assert_allclose(output.astype(float), exact, atol=tolerance * float(largest))
