"""What attention takes, checked once: it comes out ready to compute with, or is refused in a plain sentence."""

from functools import reduce

import numpy as np

from attention.masks import create_causal_mask, sliding_window_mask


def promote(name, array):
    """The pair of `array` to compute with, float16 as float32 and integers as float64, and the result's dtype.

    Raises ValueError, with the argument's name, for what is not made of real numbers.
    """
    array = np.asarray(array)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold real numbers, not {array.dtype}.")
    dtype = array.dtype if array.dtype.kind == "f" else np.dtype(np.float64)
    return array.astype(np.promote_types(dtype, np.float32), copy=False), dtype


def prepare(query, key, value, mask, scale, causal, window):
    """What `scaled_dot_product_attention` takes, as (query, key, value, (allowed, bias), scale, shape, dtype).

    query, key and value are of one floating dtype to compute in, a key or value head repeated for each query
    head that shares it. allowed is boolean and bias floating, each None or broadcasting to the scores' shape,
    (…, T_q, T_k). dtype is the result's.
    """
    query, key, value, dtype = _promote_alike(np.asarray(query), np.asarray(key), np.asarray(value))
    q, k, v = query.shape, key.shape, value.shape
    _check_shapes(q, k, v)
    lead = q[:-2]
    if not lead == k[:-2] == v[:-2]:
        key, value = _per_query_head(query, "key", key), _per_query_head(query, "value", value)
        lead = _leading_axes(q, key.shape, value.shape)
    shape = (*lead, q[-2], k[-2])
    masks = _masks(mask, shape, query.dtype, causal, window)
    return query, key, value, masks, q[-1] ** -0.5 if scale is None else float(scale), shape, dtype


def _promote_alike(query, key, value):
    if query.dtype == key.dtype == value.dtype and query.dtype.char in "fd":  # nothing to do, and quickly
        return query, key, value, query.dtype
    (query, dtype_q), (key, dtype_k), (value, dtype_v) = (
        promote(*argument) for argument in (("query", query), ("key", key), ("value", value))
    )
    alike = np.result_type(query, key, value)
    arrays = (array.astype(alike, copy=False) for array in (query, key, value))
    return *arrays, np.result_type(dtype_q, dtype_k, dtype_v)


def _leading_axes(query, key, value):
    try:
        return np.broadcast_shapes(query[:-2], key[:-2], value[:-2])
    except ValueError:
        raise ValueError(
            f"query {query}, key {key} and value {value} do not broadcast in their leading axes."
        ) from None


def _check_shapes(query, key, value):
    for name, shape in (("query", query), ("key", key), ("value", value)):
        if len(shape) < 2 or 0 in shape[-2:]:
            raise ValueError(f"{name} has shape {shape}: it must be (…, tokens, features), with one of each at least.")
    if query[-1] != key[-1]:
        raise ValueError(f"query {query} and key {key} must be equally long in their last axis, d_k.")
    if key[-2] != value[-2]:
        raise ValueError(f"key {key} and value {value} must have the same number of tokens, T_k, in axis -2.")


def _per_query_head(query, name, array):
    """The array with each head as often as query heads share it: it then has the query's heads, or broadcasts."""
    if query.ndim < 3 or array.ndim < 3 or 1 in (query.shape[-3], array.shape[-3]):
        return array
    heads, shared = query.shape[-3], array.shape[-3]
    if shared == 0 or heads % shared:
        raise ValueError(
            f"query {query.shape} and {name} {array.shape} do not fit in axis -3: "
            f"{shared} {name} heads do not divide {heads} query heads."
        )
    return array if heads == shared else np.repeat(array, heads // shared, axis=-3)


def _masks(mask, shape, dtype, causal, window):
    allowed, bias = [], None
    if mask is not None:
        mask = _check_mask(np.asarray(mask), shape)
        if mask.dtype == bool:
            allowed.append(mask)
        else:
            bias = mask.astype(dtype, copy=False)
    if causal:
        allowed.append(create_causal_mask(*shape[-2:]))
    if window is not None:
        allowed.append(sliding_window_mask(shape[-2], *_pair(window), seq_len_k=shape[-1]))
    return (reduce(np.logical_and, allowed) if allowed else None), bias


def _check_mask(mask, shape):
    if mask.dtype.kind not in "bf":
        raise ValueError(
            f"mask {mask.shape} has dtype {mask.dtype}: it must be boolean, True = may attend, or floating, to be "
            "added to the scaled scores."
        )
    if mask.ndim > len(shape) or any(
        size not in (1, whole) for size, whole in zip(reversed(mask.shape), reversed(shape), strict=False)
    ):
        raise ValueError(f"mask {mask.shape} does not broadcast to the scores, (…, T_q, T_k) = {shape}.")
    return mask


def _pair(window):
    try:
        left, right = window
    except (TypeError, ValueError):
        raise ValueError(f"window must be a pair (left, right), not {window!r}.") from None
    return left, right
