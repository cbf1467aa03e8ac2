"""Who may attend to whom: boolean arrays, queries down, keys across, True where a query may attend to a key.

Every function here returns this convention, or converts it from or to that of another library: they do not
agree on whether True keeps or drops. An array's leading axes are free, and survive a conversion.
"""

import operator

import numpy as np


def create_causal_mask(seq_len, seq_len_k=None, diagonal=0):
    """(seq_len, seq_len_k): query i may attend to keys j ≤ i + diagonal: the past and itself, not the future.

    Counted from the top left. Queries that are the last of a longer sequence (the rest cached) count from the
    bottom right: diagonal = seq_len_k - seq_len. Vaswani et al. 2017, section 3.2.3.
    """
    T_q, T_k = _lengths(seq_len, seq_len_k)
    return np.tri(T_q, T_k, operator.index(diagonal), dtype=bool)


def padding_mask(lengths, seq_len):
    """(…, 1, seq_len) of lengths (…): every query may attend to the first `length` keys, not to the padding.

    One sequence, of a plain int, gives (1, seq_len). Raises ValueError for a length outside 0…seq_len.
    """
    T_k, _ = _lengths(seq_len)
    lengths = np.asarray(lengths)
    if lengths.dtype.kind not in "iu" or ((lengths < 0) | (lengths > T_k)).any():
        raise ValueError(f"lengths must be whole numbers in 0…{T_k} (seq_len), not {lengths.tolist()}.")
    return np.arange(T_k) < lengths[..., None, None]


def sliding_window_mask(seq_len, left, right=0, seq_len_k=None):
    """(seq_len, seq_len_k): query i may attend to keys i - left … i + right; None or -1 leaves a side open.

    right=0 is a causal window. Beltagy et al. 2020 (Longformer), section 3.1. Raises ValueError below -1.
    """
    T_q, T_k = _lengths(seq_len, seq_len_k)
    left, right = (_reach(name, reach) for name, reach in (("left", left), ("right", right)))
    distance = np.arange(T_k) - np.arange(T_q)[:, None]  # of key j from query i: j - i
    return (distance >= -(T_q if left is None else left)) & (distance <= (T_k if right is None else right))


def prefix_mask(seq_len, prefix):
    """(seq_len, seq_len): all may attend to the first `prefix` tokens, and causally to the others.

    The input of a language model that reads it in both directions: Raffel et al. 2020 (T5), section 3.2.1.
    Raises ValueError for a prefix outside 0…seq_len.
    """
    return create_causal_mask(seq_len) | padding_mask(prefix, seq_len)


def packed_mask(document_lengths):
    """(T, T), T their sum: documents packed into one sequence; each token may attend within its own.

    `combine` it with a causal mask for a language model. Krell et al. 2021, section 3.2. Raises ValueError
    for no documents, or a length below 1.
    """
    lengths = [_length("document_lengths", length) for length in document_lengths]
    if not lengths:
        raise ValueError("document_lengths is empty: a sequence holds at least one document.")
    document = np.repeat(np.arange(len(lengths)), lengths)
    return document[:, None] == document


def combine(*masks):
    """A query may attend where every mask lets it; the masks broadcast with each other.

    Raises ValueError for a mask that is not boolean, for shapes that do not broadcast, and for no mask.
    """
    masks = [_boolean(mask) for mask in masks]
    if not masks:
        raise ValueError("combine needs at least one mask.")
    try:
        np.broadcast_shapes(*(mask.shape for mask in masks))
    except ValueError:
        shapes = ", ".join(str(mask.shape) for mask in masks)
        raise ValueError(f"masks of shapes {shapes} do not broadcast with each other.") from None
    return np.logical_and.reduce(np.broadcast_arrays(*masks))


# --- other libraries' conventions: same shapes, other values ----------------------------------------------


def to_pytorch_functional(mask):
    """attn_mask of torch.nn.functional.scaled_dot_product_attention: True = may attend, as here."""
    return _boolean(mask).copy()


def from_pytorch_functional(mask):
    """The inverse of `to_pytorch_functional`."""
    return _boolean(mask).copy()


def to_pytorch_module(mask):
    """attn_mask or key_padding_mask of torch.nn.MultiheadAttention: True = may NOT attend, the reverse."""
    return ~_boolean(mask)


def from_pytorch_module(mask):
    """The inverse of `to_pytorch_module`."""
    return ~_boolean(mask)


def to_keras(mask):
    """attention_mask of keras.layers.MultiHeadAttention, (batch, T_q, T_k): True = may attend, as here."""
    return _boolean(mask).copy()


def from_keras(mask):
    """The inverse of `to_keras`."""
    return _boolean(mask).copy()


def to_huggingface(mask):
    """attention_mask of a Hugging Face model: 1 = may attend, 0 = may not, int64."""
    return _boolean(mask).astype(np.int64)


def from_huggingface(mask):
    """The inverse of `to_huggingface`. Raises ValueError where the mask holds anything but 0 and 1."""
    mask = np.asarray(mask)
    if mask.dtype.kind not in "biuf" or not np.isin(mask, (0, 1)).all():
        raise ValueError("mask must hold 0 (may not attend) and 1 (may attend) only.")
    return mask == 1


def to_additive(mask, dtype=np.float32, hidden=-np.inf):
    """A bias on the scaled scores: 0 = may attend, `hidden` = may not.

    -inf alone is exact. A large finite `hidden`, as libraries pass, turns a row with nothing to attend to
    into an average over what it must not see.
    """
    return np.where(_boolean(mask), 0, hidden).astype(dtype)


def from_additive(bias, hidden=-1e4):
    """True where the bias lies above `hidden`: libraries hide with -inf, -1e9, a dtype's lowest, or -1e4.

    What a bias adds to the scores that it leaves visible is lost. Raises ValueError for a bias that is not
    floating, or holds NaN.
    """
    bias = np.asarray(bias)
    if bias.dtype.kind != "f" or np.isnan(bias).any():
        raise ValueError(f"bias must be floating, without NaN; this one is {bias.dtype}.")
    return bias > hidden


# --- checks -----------------------------------------------------------------------------------------------


def _boolean(mask):
    mask = np.asarray(mask)
    if mask.dtype != bool:
        raise ValueError(f"mask must be boolean, not {mask.dtype}: a from_… function converts it.")
    return mask


def _length(name, length):
    if not isinstance(length, int | np.integer) or length < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, not {length!r}.")
    return int(length)


def _lengths(seq_len, seq_len_k=None):
    T_q = _length("seq_len", seq_len)
    return T_q, T_q if seq_len_k is None else _length("seq_len_k", seq_len_k)


def _reach(name, reach):
    if reach is None or reach == -1:
        return None
    if not isinstance(reach, int | np.integer) or reach < 0:
        raise ValueError(f"{name} must be a whole number of keys, or -1 or None for no limit, not {reach!r}.")
    return int(reach)
