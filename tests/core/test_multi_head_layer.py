"""Multi-head attention against PyTorch's module, by hand, and against what it must refuse."""

import numpy as np
import pytest

from attention import (
    Linear,
    MultiHeadAttention,
    create_causal_mask,
    merge_heads,
    scaled_dot_product_attention,
    split_heads,
)

PARTS = ("W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K", "b_V", "b_O")


def random(*shapes):
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape) for shape in shapes]


# --- Linear -----------------------------------------------------------------------------------------------


def test_linear_by_hand():
    layer = Linear.from_arrays(np.array([[1.0, 2], [3, 4], [5, 6]]), np.array([0.5, 0, -1]))
    np.testing.assert_array_equal(layer([1, 10]), [21.5, 43, 64])
    assert (layer.in_features, layer.out_features, layer.num_parameters) == (2, 3, 9)
    assert repr(layer) == "Linear(2, 3, bias=True)"
    np.testing.assert_array_equal(layer(np.zeros((4, 5, 2))).shape, (4, 5, 3))


def test_linear_starts_as_glorot_and_bengio_say():
    layer = Linear(300, 200, rng=0)
    limit = np.sqrt(6 / 500)
    assert limit * 0.999 < np.abs(layer.weight).max() <= limit
    assert layer.weight.var() == pytest.approx(limit**2 / 3, rel=0.02)
    assert not layer.bias.any()
    assert Linear(2, 3, bias=False).bias is None
    np.testing.assert_array_equal(Linear(300, 200, rng=0).weight, layer.weight)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Linear(2, 3)(np.ones(3)), r"x has shape \(3,\).*must be 2"),
        (lambda: Linear(2, 3)(1.0), r"x has shape \(\)"),
        (lambda: Linear.from_arrays(np.ones(3)), r"weight \(3,\)"),
        (lambda: Linear.from_arrays(np.ones((2, 3)), np.ones(3)), r"bias \(3,\)"),
    ],
)
def test_linear_refuses(make, said):
    with pytest.raises(ValueError, match=said):
        make()


# --- splitting --------------------------------------------------------------------------------------------


def test_split_takes_slices_of_the_features():
    x = np.arange(12).reshape(2, 6)
    np.testing.assert_array_equal(split_heads(x, 3), [[[0, 1], [6, 7]], [[2, 3], [8, 9]], [[4, 5], [10, 11]]])
    np.testing.assert_array_equal(merge_heads(split_heads(x, 3)), x)
    with pytest.raises(ValueError, match=r"\(2, 6\).*4 heads"):
        split_heads(x, 4)


# --- the layer --------------------------------------------------------------------------------------------


@pytest.fixture
def both(torch):
    """both(embed_dim, num_heads, bias) -> PyTorch's module and ours, with the same weights."""

    def made(embed_dim, num_heads, bias=True):
        torch.manual_seed(0)
        theirs = torch.nn.MultiheadAttention(embed_dim, num_heads, bias=bias, batch_first=True, dtype=torch.float64)
        if bias:
            torch.nn.init.normal_(theirs.in_proj_bias)
            torch.nn.init.normal_(theirs.out_proj.bias)
        weights = [*theirs.in_proj_weight.chunk(3), theirs.out_proj.weight]
        biases = [*theirs.in_proj_bias.chunk(3), theirs.out_proj.bias] if bias else []
        arrays = [tensor.detach().numpy() for tensor in weights + biases]
        return theirs, MultiHeadAttention.from_arrays(num_heads, *arrays)

    return made


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("embed_dim", "num_heads"), [(128, 4), (12, 1), (12, 12), (6, 3)])
@pytest.mark.parametrize("case", ["self", "cross", "causal", "padding", "per head"])
def test_it_is_pytorchs(torch, both, embed_dim, num_heads, bias, case):
    theirs, ours = both(embed_dim, num_heads, bias)
    x, memory = random((2, 5, embed_dim), (2, 7, embed_dim))
    key = memory if case == "cross" else x
    options, mask = {}, None
    if case == "causal":
        mask = create_causal_mask(5)
        options = {"attn_mask": torch.tensor(~mask)}
    elif case == "padding":
        mask = (np.arange(5) < np.array([[3], [5]]))[:, None]  # (batch, 1, T_k)
        options = {"key_padding_mask": torch.tensor(~mask[:, 0])}
    elif case == "per head":
        mask = np.random.default_rng(1).random((2, num_heads, 5, 5)) < 0.7
        mask[..., 0] = True
        options = {"attn_mask": torch.tensor(~mask).flatten(0, 1)}
    q, k = torch.tensor(x), torch.tensor(key)
    expected, weights = theirs(q, k, k, average_attn_weights=False, **options)
    output, our_weights = ours(x, key, mask=mask)
    np.testing.assert_allclose(output, expected.detach(), atol=1e-12)
    np.testing.assert_allclose(our_weights, weights.detach(), atol=1e-12)


def test_without_a_batch_axis(both):
    _, layer = both(8, 2)
    (x,) = random((5, 8))
    output, weights = layer(x, causal=True)
    assert (output.shape, weights.shape) == ((5, 8), (2, 5, 5))
    np.testing.assert_allclose(output, layer(x[None], causal=True)[0][0])


@pytest.mark.parametrize("num_kv_heads", [1, 2, 4])
def test_fewer_key_value_heads_are_repeated_ones(num_kv_heads):
    layer = MultiHeadAttention(8, 4, num_kv_heads, rng=0)
    (x,) = random((3, 5, 8))
    output, weights = layer(x)
    assert layer.head_dim == layer.head_dimension == 2
    heads = []
    for head in range(4):
        group = head // (4 // num_kv_heads)
        rows, shared = slice(2 * head, 2 * head + 2), slice(2 * group, 2 * group + 2)
        q = x @ layer.query_projection.weight[rows].T
        k, v = (x @ p.weight[shared].T for p in (layer.key_projection, layer.value_projection))
        one, weight = scaled_dot_product_attention(q, k, v)
        np.testing.assert_allclose(weights[:, head], weight)
        heads.append(one)
    np.testing.assert_allclose(output, np.concatenate(heads, -1) @ layer.output_projection.weight.T)
    assert layer.cache_size(10) == 2 * 10 * num_kv_heads * 2
    assert layer.num_parameters == 2 * (64 + 8) + 2 * (8 * 2 * num_kv_heads + 2 * num_kv_heads)


def test_steps_are_what_forward_gives():
    layer = MultiHeadAttention(8, 2, rng=1)
    (x,) = random((3, 5, 8))
    steps = layer.steps(x, causal=True)
    output, weights = layer(x, causal=True)
    np.testing.assert_array_equal(steps.output, output)
    np.testing.assert_array_equal(steps.heads.weights, weights)
    assert steps.projected_query.shape == (3, 5, 8)
    assert steps.split_query.shape == (3, 2, 5, 4)
    assert steps.heads.output.shape == (3, 2, 5, 4)
    assert steps.concatenated.shape == (3, 5, 8)
    np.testing.assert_array_equal(steps.concatenated[..., 4:], steps.heads.output[:, 1])
    np.testing.assert_allclose(output, steps.concatenated @ layer.output_projection.weight.T)


def test_the_same_seed_makes_the_same_layer():
    one, other = (MultiHeadAttention(8, 2, rng=3).steps(np.ones((2, 8))).output for _ in range(2))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: MultiHeadAttention(10, 4), "embedding_dimension 10 .* num_heads 4"),
        (lambda: MultiHeadAttention(8, 0), "num_heads .* at least 1"),
        (lambda: MultiHeadAttention(8, 2.0), "num_heads"),
        (lambda: MultiHeadAttention(8, 4, 3), "num_heads 4 .* num_kv_heads 3"),
        (lambda: MultiHeadAttention(8, 4, 0), "num_kv_heads"),
        (lambda: MultiHeadAttention(8, 2)(np.ones((3, 7))), r"x has shape \(3, 7\).*8"),
        (lambda: MultiHeadAttention(8, 2)(np.ones((3, 8)), np.ones((4, 8)), np.ones((5, 8))), "same number of tokens"),
        (lambda: MultiHeadAttention(8, 2)(np.ones((3, 8)), mask=np.ones((4, 4), bool)), r"mask \(4, 4\)"),
    ],
)
def test_it_refuses(make, said):
    with pytest.raises(ValueError, match=said):
        make()


@pytest.mark.parametrize(
    "shapes",
    [
        ((8, 8), (6, 8), (8, 8), (8, 8)),  # keys of other width than queries
        ((9, 8), (9, 8), (9, 8), (8, 9)),  # 9 does not split into 2 heads
        ((8, 8), (8, 8), (8, 8), (8, 7)),  # the output projection reads 7 of 8
    ],
)
def test_arrays_that_do_not_fit_are_refused_when_they_are_put_in(shapes):
    with pytest.raises(ValueError, match="W_"):
        MultiHeadAttention.from_arrays(2, *(np.ones(shape) for shape in shapes))
