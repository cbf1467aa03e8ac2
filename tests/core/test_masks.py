"""Masks against matrices written by hand, and conversions against the libraries' own reading of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import array_shapes, arrays

from attention import attention_steps, masks

any_mask = arrays(bool, array_shapes(min_dims=2, max_dims=4, max_side=4))


def rows(text):
    """A mask from rows like "110 011"."""
    return np.array([[cell == "1" for cell in row] for row in text.split()])


@pytest.mark.parametrize(
    ("mask", "written"),
    [
        (masks.create_causal_mask(4), "1000 1100 1110 1111"),
        (masks.create_causal_mask(1), "1"),
        (masks.create_causal_mask(2, 4), "1000 1100"),
        (masks.create_causal_mask(4, 2), "10 11 11 11"),
        (masks.create_causal_mask(2, 4, diagonal=2), "1110 1111"),  # the last two of four tokens, the rest cached
        (masks.create_causal_mask(3, diagonal=-1), "000 100 110"),
        (masks.create_causal_mask(3, diagonal=1), "110 111 111"),
        (masks.padding_mask(2, 4), "1100"),
        (masks.padding_mask(0, 2), "00"),
        (masks.sliding_window_mask(4, 1), "1000 1100 0110 0011"),
        (masks.sliding_window_mask(4, 0, 0), "1000 0100 0010 0001"),
        (masks.sliding_window_mask(4, 1, 1), "1100 1110 0111 0011"),
        (masks.sliding_window_mask(3, None, 0), "100 110 111"),
        (masks.sliding_window_mask(3, -1, -1), "111 111 111"),
        (masks.sliding_window_mask(3, 0, None), "111 011 001"),
        (masks.sliding_window_mask(2, 0, 1, seq_len_k=4), "1100 0110"),
        (masks.prefix_mask(4, 2), "1100 1100 1110 1111"),
        (masks.prefix_mask(3, 0), "100 110 111"),
        (masks.prefix_mask(3, 3), "111 111 111"),
        (masks.packed_mask([2, 1]), "110 110 001"),
        (masks.packed_mask([1]), "1"),
        (masks.combine(masks.create_causal_mask(3), masks.padding_mask(2, 3)), "100 110 110"),
        (masks.combine(rows("10 11")), "10 11"),
    ],
)
def test_masks_written_by_hand(mask, written):
    assert mask.dtype == bool
    np.testing.assert_array_equal(mask, rows(written))


def test_padding_of_a_batch():
    mask = masks.padding_mask([[1, 3]], 3)
    assert mask.shape == (1, 2, 1, 3)
    np.testing.assert_array_equal(mask[0, :, 0], rows("100 111"))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: masks.create_causal_mask(0), "seq_len"),
        (lambda: masks.create_causal_mask(2.5), "seq_len"),
        (lambda: masks.create_causal_mask(2, 0), "seq_len_k"),
        (lambda: masks.padding_mask(4, 3), r"0…3 \(seq_len\)"),
        (lambda: masks.padding_mask([1, -1], 3), "-1"),
        (lambda: masks.padding_mask([1.5], 3), "1.5"),
        (lambda: masks.sliding_window_mask(3, -2), "left"),
        (lambda: masks.sliding_window_mask(3, 1, 0.5), "right"),
        (lambda: masks.prefix_mask(3, 4), "4"),
        (lambda: masks.packed_mask([]), "document_lengths is empty"),
        (lambda: masks.packed_mask([2, 0]), "document_lengths"),
        (lambda: masks.combine(), "at least one"),
        (lambda: masks.combine(np.ones(2, int)), "boolean"),
        (lambda: masks.combine(np.ones((2, 2), bool), np.ones((3, 3), bool)), r"\(2, 2\), \(3, 3\)"),
        (lambda: masks.to_pytorch_module(np.ones((2, 2))), "must be boolean, not float64"),
        (lambda: masks.from_huggingface(np.array([0, 2])), "0 .* and 1"),
        (lambda: masks.from_additive(np.array([0, 1])), "floating"),
        (lambda: masks.from_additive(np.array([np.nan])), "NaN"),
    ],
)
def test_what_makes_no_mask_is_refused(make, said):
    with pytest.raises(ValueError, match=said):
        make()


@given(any_mask)
def test_there_and_back(mask):
    for name in ("pytorch_functional", "pytorch_module", "keras", "huggingface", "additive"):
        there, back = (getattr(masks, f"{way}_{name}") for way in ("to", "from"))
        converted = there(mask)
        np.testing.assert_array_equal(back(converted), mask)
        assert converted.shape == mask.shape
        assert not np.shares_memory(converted, mask)


def test_polarity_by_hand():
    mask = rows("10")
    assert masks.to_pytorch_functional(mask).tolist() == [[True, False]]
    assert masks.to_pytorch_module(mask).tolist() == [[False, True]]
    assert masks.to_keras(mask).tolist() == [[True, False]]
    assert masks.to_huggingface(mask).tolist() == [[1, 0]]
    assert masks.to_additive(mask).tolist() == [[0, -np.inf]]
    assert masks.to_additive(mask, np.float16, -1e4).dtype == np.float16


@pytest.mark.parametrize("hidden", [-np.inf, -1e9, np.finfo(np.float32).min, np.finfo(np.float16).min])
def test_whatever_a_library_hides_with_is_read(hidden):
    np.testing.assert_array_equal(masks.from_additive(np.array([0, hidden, 1.5])), [True, False, True])


def test_pytorch_reads_them_so(torch):
    rng = np.random.default_rng(0)
    mask = rng.random((5, 5)) < 0.6
    mask[:, 0] = True
    x = rng.standard_normal((5, 4))
    ours = attention_steps(x, x, x, mask).output
    t = torch.tensor(x)
    attend = torch.nn.functional.scaled_dot_product_attention
    for converted in (masks.to_pytorch_functional(mask), masks.to_additive(mask, np.float64)):
        np.testing.assert_allclose(attend(t, t, t, attn_mask=torch.tensor(converted)), ours, atol=1e-12)
    module = torch.nn.MultiheadAttention(4, 1, bias=False, dtype=torch.float64)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.eye(4, dtype=torch.float64).repeat(3, 1))
        module.out_proj.weight.copy_(torch.eye(4, dtype=torch.float64))
        output, _ = module(t, t, t, attn_mask=torch.tensor(masks.to_pytorch_module(mask)))
    np.testing.assert_allclose(output, ours, atol=1e-12)
