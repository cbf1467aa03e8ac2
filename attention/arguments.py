"""What attention takes, checked once: a plain sentence with the argument's name and the shapes, or arrays."""

import numpy as np

from attention.masks import sliding_window_mask


def promote(array, name="scores"):
    """The pair (array, dtype): floating, float16 as float32 to be computed with; dtype is the result's.

    Integers and booleans become float64. Raises ValueError for anything else but floating numbers.
    """
    array = np.asarray(array)
    if array.dtype.kind in "biu":
        return array.astype(np.float64), np.dtype(np.float64)
    if array.dtype.kind != "f":
        raise ValueError(f"{name} must hold real numbers, not {array.dtype}.")
    return (array.astype(np.float32) if array.dtype == np.float16 else array), array.dtype


def prepare(query, key, value, mask, scale, causal, window):
    """query, key, value as arrays of one floating dtype to compute in, with grouped heads repeated; allowed
    (boolean) and bias (floating), each None or broadcasting to the scores; scale; the dtype of the result."""
    query, key, value = map(np.asarray, (query, key, value))
    dtype = _check_numbers(query, key, value)
    _check_shapes(query, key, value)
    key, value = _per_query_head(query, key, "key"), _per_query_head(query, value, "value")
    shape = _scores_shape(query, key, value)
    allowed, bias = _split(mask, shape)
    if causal or window is not None:
        left, right = _window(window, causal)
        band = sliding_window_mask(*shape[-2:-1], left, right, shape[-1])
        allowed = band if allowed is None else allowed & band
    compute = np.promote_types(dtype, np.float32)
    query, key, value = (array.astype(compute, copy=False) for array in (query, key, value))
    if bias is not None:
        with np.errstate(over="ignore"):  # what lies below the dtype's lowest is -inf
            bias = bias.astype(compute, copy=False)
    return query, key, value, allowed, bias, query.shape[-1] ** -0.5 if scale is None else float(scale), dtype


def _check_numbers(query, key, value):
    for name, array in (("query", query), ("key", key), ("value", value)):
        if array.dtype.kind not in "fiub":
            raise ValueError(f"{name} must hold real numbers, not {array.dtype}.")
    dtype = np.result_type(query.dtype, key.dtype, value.dtype)
    return dtype if dtype.kind == "f" else np.dtype(np.float64)


def _check_shapes(query, key, value):
    for name, array, axes in (
        ("query", query, "T_q, d_k"),
        ("key", key, "T_k, d_k"),
        ("value", value, "T_k, d_v"),
    ):
        if array.ndim < 2:
            raise ValueError(f"{name} has shape {array.shape}: it needs at least two axes, (…, {axes}).")
        if 0 in array.shape[-2:]:
            raise ValueError(
                f"{name} has shape {array.shape}: (…, {axes}) must hold at least one token and number."
            )
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query {query.shape} and key {key.shape} must agree in their last axis, d_k.")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(
            f"key {key.shape} and value {value.shape} must agree in the axis before the last, T_k."
        )


def _per_query_head(query, array, name):
    """Query head h uses head h // (query heads / key heads) (Shazeer 2019; Ainslie et al. 2023)."""
    if query.ndim < 3 or array.ndim < 3:
        return array
    heads, groups = query.shape[-3], array.shape[-3]
    if groups in (1, heads) or heads == 1:
        return array
    if groups == 0 or heads % groups:
        raise ValueError(
            f"query {query.shape} and {name} {array.shape}: axis -3 ({heads} heads) is no multiple of {groups}."
        )
    return np.repeat(array, heads // groups, axis=-3)


def _scores_shape(query, key, value):
    if query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        return (*query.shape[:-1], key.shape[-2])
    try:
        lead = np.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    except ValueError:
        raise ValueError(
            f"query {query.shape}, key {key.shape} and value {value.shape} do not broadcast in their leading axes."
        ) from None
    return (*lead, query.shape[-2], key.shape[-2])


def _split(mask, shape):
    if mask is None:
        return None, None
    mask = np.asarray(mask)
    if mask.dtype.kind not in "bf":
        raise ValueError(
            f"mask has dtype {mask.dtype}: it must be boolean (True = may attend) or a floating bias on the scaled scores."
        )
    try:
        np.broadcast_to(mask, shape)
    except ValueError:
        raise ValueError(f"mask {mask.shape} does not broadcast to (…, T_q, T_k) = {shape}.") from None
    return (mask, None) if mask.dtype == bool else (None, mask)


def _window(window, causal):
    try:
        left, right = (None, None) if window is None else window
    except (TypeError, ValueError):
        raise ValueError(f"window must be a pair (left, right), not {window!r}.") from None
    return left, 0 if causal and right in (None, -1) else min(right, 0) if causal else right
