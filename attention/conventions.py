"""One mask as code for several libraries: they do not agree on whether True keeps or drops.

Each text is whole but for the names in its first line, and can be copied. The tests run those for NumPy and
PyTorch, and compare what comes out.
"""

import numpy as np

from attention import masks

# name in an address -> name for readers
LIBRARIES = {
    "numpy": "This package",
    "torch": "PyTorch, functional",
    "module": "PyTorch, module",
    "keras": "Keras",
    "jax": "JAX",
    "hf": "Hugging Face, 0/1",
    "additive": "Hugging Face, additive",
}


def code(library, mask):
    """The text that applies the boolean `mask` (T_q, T_k) in one of LIBRARIES. Raises KeyError for another."""
    mask = np.asarray(mask, dtype=bool)
    if library == "hf":
        return _zero_one(mask)
    head, imports, inputs, call = CALLS[library]
    return head.format(imports=imports, inputs=inputs, rows=rows_of(mask)) + call


def values():
    """{library: (may attend, may not)}: how each of LIBRARIES writes the two."""
    both = np.array([True, False])
    said = {
        "numpy": both,
        "torch": masks.to_pytorch_functional(both),
        "module": masks.to_pytorch_module(both),
        "keras": masks.to_keras(both),
        "jax": both,
        "hf": masks.to_huggingface(both),
        "additive": masks.to_additive(both, hidden=np.finfo(np.float32).min),
    }
    return {library: tuple(pair.tolist()) for library, pair in said.items()}


def rows_of(mask):
    """The mask as lines of 1 (may attend) and 0 (may not)."""
    return "\n".join("".join("01"[int(may)] for may in row) for row in mask)


def as_padding(mask):
    """(row, causal) where `mask` says no more than which keys are padding, under a causal mask or not.

    row (T_k,) is True for the keys that are not padding. None where one number a key cannot say it.
    """
    row = mask.any(axis=0)
    for causal in (False, True):
        whole = masks.create_causal_mask(*mask.shape) if causal else np.ones(mask.shape, bool)
        if np.array_equal(whole & row, mask):
            return row, causal
    return None


ARRAY = '''\
# yours: {inputs}
{imports}

rows = """
{rows}
"""
mask = np.array([list(row) for row in rows.split()]) == "1"  # True = may attend
'''
TENSOR = '''\
# yours: {inputs}
{imports}

rows = """
{rows}
"""
mask = torch.tensor([[may == "1" for may in row] for row in rows.split()])  # True = may attend
'''
CALLS = {
    "numpy": (
        ARRAY,
        "import numpy as np\n\nfrom attention import scaled_dot_product_attention",
        "query, key, value, arrays (…, T, d)",
        """\
output, weights = scaled_dot_product_attention(query, key, value, mask)
""",
    ),
    "torch": (
        TENSOR,
        "import torch",
        "query, key, value, tensors (…, T, d)",
        "output = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)\n",
    ),
    "module": (
        TENSOR,
        "import torch",
        "query, key, value, tensors (T, d); module, a torch.nn.MultiheadAttention",
        """\
# the module wants the reverse, True = may NOT attend; a row with nothing left becomes NaN
output, weights = module(query, key, value, attn_mask=~mask)
""",
    ),
    "keras": (
        ARRAY,
        "import numpy as np",
        "query, key, value, arrays (batch, T, d); layer, a keras.layers.MultiHeadAttention",
        """\
# value before key; the mask is (batch, T_q, T_k)
output = layer(query, value, key, attention_mask=mask[None])
""",
    ),
    "jax": (
        ARRAY,
        "import jax\nimport numpy as np",
        "query, key, value, arrays (batch, T, heads, d): the heads stand after T",
        """\
# the mask is (batch, heads, T_q, T_k)
output = jax.nn.dot_product_attention(query, key, value, mask=mask[None, None])
""",
    ),
    "additive": (
        TENSOR,
        "import torch",
        "scores, the scaled scores, a tensor (…, T_q, T_k); value, a tensor (…, T_k, d)",
        """\
# 0 = may attend, the lowest number of the dtype = may not
bias = torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, torch.finfo(scores.dtype).min)
# many models take it as attention_mask=bias[None, None], (batch, 1, T_q, T_k); what they do with it is
output = torch.softmax(scores + bias, dim=-1) @ value
""",
    ),
}


def _zero_one(mask):
    said = as_padding(mask)
    if said is None:
        return """\
# An attention_mask of 0 and 1 holds one number for each key: it says which keys are padding, and no more.
# This mask treats its queries differently, so it cannot be said that way. Use the additive form.
"""
    row, causal = said
    numbers = ", ".join("01"[int(may)] for may in row)
    model = "a decoder: it hides the future by itself" if causal else "an encoder: it hides nothing by itself"
    return f"""\
# yours: input_ids, a tensor (1, T); model, {model}
import torch

attention_mask = torch.tensor([[{numbers}]])  # 1 = a token, 0 = padding
output = model(input_ids=input_ids, attention_mask=attention_mask)
"""
