"""Slices of heads against PyTorch's own reshape and transpose, and against numbers worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention import head_slices as slices
from attention import split_heads
from attention.core import attention_steps

SIZES = [(1, 1, 1), (5, 1, 4), (1, 4, 3), (6, 2, 4), (3, 4, 2), (8, 8, 2)]  # T, num_heads, head_dim


def numbered(T, width):
    """Every number another one: where it stands says where it came from."""
    return np.arange(T * width, dtype=float).reshape(T, width)


@pytest.mark.parametrize(
    ("number", "expected"), [(1, [1]), (7, [1, 7]), (12, [1, 2, 3, 4, 6, 12]), (16, [1, 2, 4, 8, 16])]
)
def test_divisors(number, expected):
    assert slices.divisors(number) == expected


@pytest.mark.parametrize(("T", "num_heads", "head_dim"), SIZES)
def test_split_source_says_where_a_number_stood_before_torch_split_it(torch, T, num_heads, head_dim):
    x = numbered(T, num_heads * head_dim)
    split = torch.from_numpy(x).reshape(T, num_heads, head_dim).transpose(0, 1)
    for head in range(num_heads):
        source = slices.split_source(head, head_dim)
        for row, column in np.ndindex(T, head_dim):
            assert x[source(row, column)] == split[head, row, column]


@pytest.mark.parametrize(("T", "num_heads", "head_dim"), SIZES)
def test_merge_source_says_where_a_number_stood_before_torch_joined_it(torch, T, num_heads, head_dim):
    heads = np.arange(num_heads * T * head_dim, dtype=float).reshape(num_heads, T, head_dim)
    joined = torch.from_numpy(heads).transpose(0, 1).reshape(T, num_heads * head_dim)
    source = slices.merge_source(head_dim)
    for row, column in np.ndindex(T, num_heads * head_dim):
        assert heads[source(row, column)] == joined[row, column]


@pytest.mark.parametrize(("T", "num_heads", "head_dim"), SIZES)
def test_without_the_swap_it_is_what_torch_views(torch, T, num_heads, head_dim):
    x = numbered(T, num_heads * head_dim)
    viewed = slices.viewed_heads(x, num_heads)
    assert np.array_equal(viewed, torch.from_numpy(x).view(num_heads, T, head_dim).numpy())
    for head in range(num_heads):
        source = slices.viewed_source(head, T, num_heads, head_dim)
        for row, column in np.ndindex(T, head_dim):
            assert x[source(row, column)] == viewed[head, row, column]
    # every number of a token's row is its index: what a row of a head is full of, is whose numbers it holds
    owners = np.repeat(np.arange(T, dtype=float)[:, None], num_heads * head_dim, axis=1)
    seen = slices.viewed_heads(owners, num_heads)
    assert np.array_equal(seen, np.repeat(slices.viewed_tokens(T, num_heads)[..., None], head_dim, axis=-1))


def test_the_tokens_of_a_view_by_hand():
    # 3 tokens a b c with 2 heads lie as a0 a1 b0 b1 c0 c1; a view takes the first three, then the last three
    assert slices.viewed_tokens(3, 2).tolist() == [[0, 0, 1], [1, 2, 2]]
    assert slices.viewed_tokens(4, 1).tolist() == [[0, 1, 2, 3]]  # with one head there is nothing to swap


def test_a_view_keeps_the_batch_apart(torch):
    x = np.random.default_rng(0).normal(size=(2, 5, 6))
    assert np.array_equal(slices.viewed_heads(x, 3), torch.from_numpy(x).view(2, 3, 5, 2).numpy())


def test_one_head_is_that_head():
    rng = np.random.default_rng(0)
    query, key, value = rng.normal(size=(3, 2, 4, 5, 3))  # batch, heads, T, d
    steps = attention_steps(query, key, value)
    one = slices.one_head(steps, 1, 2)
    alone = attention_steps(query[1, 2], key[1, 2], value[1, 2])
    for name in ("query", "scores", "scaled_scores", "masked_scores", "weights", "output"):
        np.testing.assert_allclose(getattr(one, name), getattr(alone, name), rtol=1e-13)
    assert one.scale == steps.scale


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_one_head_has_the_keys_of_its_group(groups):
    rng = np.random.default_rng(0)
    query, (key, value) = rng.normal(size=(4, 5, 3)), rng.normal(size=(2, groups, 5, 3))
    steps = attention_steps(query, key, value)
    for head in range(4):
        one, group = slices.one_head(steps, head), head * groups // 4
        assert np.array_equal(one.query, query[head])
        assert np.array_equal(one.key, key[group]) and np.array_equal(one.value, value[group])
        np.testing.assert_allclose(one.output, attention_steps(query[head], key[group], value[group]).output)


# --- switching off and adding up --------------------------------------------------------------------------


def test_switch_off_by_hand():
    joined = np.array([[1.0, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]])
    assert slices.switch_off(joined, [True, False, True]).tolist() == [[1, 2, 0, 0, 5, 6], [7, 8, 0, 0, 11, 12]]
    assert not slices.switch_off(joined, [False] * 3).any()
    assert np.array_equal(slices.switch_off(joined, [True]), joined)
    assert not np.signbit(slices.switch_off(-joined, [False] * 3)).any()  # "-0" would be shown


@pytest.mark.parametrize("lead", [(), (2,)])
@pytest.mark.parametrize(("embed_dim", "num_heads"), [(4, 1), (4, 2), (12, 3), (8, 8)])
def test_contributions_are_what_is_lost_without_the_head(torch, lead, embed_dim, num_heads):
    layer = slices.random_layer(embed_dim, num_heads, seed=3)
    joined = np.random.default_rng(1).normal(size=(*lead, 5, embed_dim))
    parts = slices.contributions(layer, joined)
    assert parts.shape == (*lead, num_heads, 5, embed_dim)
    C, W_O = torch.from_numpy(joined), torch.from_numpy(layer.output_projection.weight)
    size = embed_dim // num_heads
    for head in range(num_heads):
        own = slice(head * size, (head + 1) * size)
        expected = torch.nn.functional.linear(C[..., own], W_O[:, own])
        np.testing.assert_allclose(parts[..., head, :, :], expected.numpy(), atol=1e-13)
    np.testing.assert_allclose(parts.sum(axis=-3), torch.nn.functional.linear(C, W_O).numpy(), atol=1e-12)


def test_relative_change_by_hand():
    before = np.array([[3.0, 4.0], [0, 0], [1, 0], [2, 2]])
    after = np.array([[0.0, 0.0], [0, 5], [1, 3], [2, 2]])
    assert slices.relative_change(before, after).tolist() == [1, 5, 3, 0]
    assert slices.relative_change(np.zeros((2, 3)), np.zeros((2, 3))).tolist() == [0, 0]


# --- the layers of the page -------------------------------------------------------------------------------


@given(
    embed_dim=st.integers(1, 16),
    pick=st.tuples(st.integers(0, 15), st.integers(0, 15)),
    T=st.integers(1, 8),
    seed=st.integers(0, 9999),
)
def test_the_layer_of_any_size_has_the_shapes_that_it_says(embed_dim, pick, T, seed):
    heads = [d for d in range(1, embed_dim + 1) if embed_dim % d == 0]
    num_heads = heads[pick[0] % len(heads)]
    groups = [d for d in range(1, num_heads + 1) if num_heads % d == 0]
    num_kv_heads = groups[pick[1] % len(groups)]
    layer = slices.random_layer(embed_dim, num_heads, num_kv_heads, seed)
    steps = layer.steps(slices.random_embeddings([f"w{i}" for i in range(T)], embed_dim, seed))
    d = embed_dim // num_heads
    assert steps.split_query.shape == (num_heads, T, d)
    assert steps.split_key.shape == steps.split_value.shape == (num_kv_heads, T, d)
    assert steps.heads.weights.shape == (num_heads, T, T)
    assert steps.output.shape == (T, embed_dim)
    weights = (layer.query_projection, layer.key_projection, layer.value_projection, layer.output_projection)
    assert all(np.array_equal(part.weight, part.weight.round(1)) for part in weights)  # as the page shows them
    again = slices.random_layer(embed_dim, num_heads, num_kv_heads, seed)
    assert np.array_equal(again.query_projection.weight, layer.query_projection.weight)


@pytest.mark.parametrize(("num_heads", "num_kv_heads"), [(4, 4), (4, 2), (4, 1)])
def test_heads_that_share_keys_are_those_of_torch_with_repeated_ones(torch, num_heads, num_kv_heads):
    layer = slices.random_layer(8, num_heads, num_kv_heads, seed=1)
    X = slices.random_embeddings(["a", "b", "c", "d", "e"], 8, seed=1)
    x, d = torch.from_numpy(X), 8 // num_heads

    def heads(projection, number):
        y = torch.nn.functional.linear(x, torch.from_numpy(projection.weight))
        return y.view(5, number, d).transpose(0, 1).repeat_interleave(num_heads // number, dim=0)

    output = torch.nn.functional.scaled_dot_product_attention(
        heads(layer.query_projection, num_heads),
        heads(layer.key_projection, num_kv_heads),
        heads(layer.value_projection, num_kv_heads),
    )
    joined = output.transpose(0, 1).reshape(5, 8)
    expected = torch.nn.functional.linear(joined, torch.from_numpy(layer.output_projection.weight))
    np.testing.assert_allclose(layer.steps(X).output, expected.numpy(), atol=1e-12)


def test_equal_tokens_get_equal_rows_and_others_do_not():
    X = slices.random_embeddings(["The", "cat", "the", "THE"], 8, seed=0)
    assert np.array_equal(X[0], X[2]) and np.array_equal(X[0], X[3]) and not np.array_equal(X[0], X[1])
    assert np.abs(X).max() <= 1 and np.array_equal(X, X.round(1))


# --- how large --------------------------------------------------------------------------------------------


def test_sizes_of_the_texts_layer_by_hand():
    # 128 wide, 4 heads of 32: four matrices of 128 · 128, and 128 numbers of K and 128 of V for each token.
    # With g key/value heads W_K and W_V have 32 g rows.
    many, grouped, single, one = slices.sizes(128, [(4, 4), (4, 2), (4, 1), (1, 1)], 10)
    assert many == ("multi-head", 4, 4, 32, 65_536, 2_560)
    assert grouped == ("grouped-query", 4, 2, 32, 16_384 + 2 * 8_192 + 16_384, 1_280)
    assert single == ("multi-query", 4, 1, 32, 16_384 + 2 * 4_096 + 16_384, 640)
    assert one == ("one head", 1, 1, 128, 65_536, 2_560)


def test_sizes_are_those_of_a_layer_of_pytorch(torch):
    layer = torch.nn.MultiheadAttention(24, 6, bias=False)
    (size,) = slices.sizes(24, [(6, 6)], 1)
    assert size.parameters == sum(parameter.numel() for parameter in layer.parameters())


def test_splitting_is_the_inverse_of_what_the_sources_say():
    x = numbered(4, 6)
    heads = split_heads(x, 3)
    joined = np.empty_like(x)
    for head, row, column in np.ndindex(heads.shape):
        joined[slices.split_source(head, 2)(row, column)] = heads[head, row, column]
    assert np.array_equal(joined, x)
