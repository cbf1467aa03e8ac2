"""Every case that ONNX and PyTorch computed, through the public functions."""

import json
from pathlib import Path

import numpy as np
import pytest

from attention import MultiHeadAttention, attention_steps, merge_heads, scaled_dot_product_attention, split_heads

ORACLES = Path(__file__).parent / "oracles"
CASES = {case["name"]: case for case in json.loads((ORACLES / "index.json").read_text())}
TOLERANCES = {"float16": 2e-3, "float32": 2e-6, "float64": 1e-12}  # a few times what the cases' own rounding costs
MODULE = ("W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K", "b_V", "b_O")


def test_no_case_is_left_out():
    assert {path.stem for path in ORACLES.glob("*.npz")} == set(CASES)
    assert len(CASES) >= 39


@pytest.mark.parametrize("attend", [scaled_dot_product_attention, attention_steps])
@pytest.mark.parametrize("name", CASES)
def test_the_case(name, attend):
    case = CASES[name]
    with np.load(ORACLES / f"{name}.npz", allow_pickle=False) as file:
        arrays = dict(file)
    before = {name: array.copy() for name, array in arrays.items()}
    query, key, value, mask = (arrays.get(name) for name in ("query", "key", "value", "mask"))
    options = {"causal": case["causal"], "scale": case["scale"], "window": case["window"]}
    heads = case["num_heads"], case["num_kv_heads"]
    if "W_Q" in arrays:
        layer = MultiHeadAttention.from_arrays(heads[0], *(arrays[part] for part in MODULE), num_kv_heads=heads[1])
        output, weights = layer(query, key, value, mask, **options)
        if "weights" in arrays and arrays["weights"].ndim == weights.ndim - 1:  # PyTorch's mean over the heads
            weights = weights.mean(axis=1)
    else:
        flat = heads[0] is not None  # (batch, T, heads · head_dim)
        if flat:
            query, key, value = (
                split_heads(x, n) for x, n in zip((query, key, value), (*heads, heads[1]), strict=True)
            )
        result = attend(query, key, value, mask, **options)
        output, weights = result if isinstance(result, tuple) else (result.output, result.weights)
        output = merge_heads(output) if flat else output
    expected = arrays["output"]
    assert output.dtype == expected.dtype
    tolerance = TOLERANCES[str(expected.dtype)]
    np.testing.assert_allclose(output, expected, rtol=tolerance, atol=tolerance)
    if "weights" in arrays:
        np.testing.assert_allclose(weights, arrays["weights"], rtol=tolerance, atol=tolerance)
    for part, array in arrays.items():
        np.testing.assert_array_equal(array, before[part])
