"""Where the numbers of each head come from and go to: splitting, joining, switching off, counting.

Vaswani et al. 2017, section 3.2.2. The layers here are small and random, to be looked at; they were not trained.
"""

from dataclasses import fields
from typing import NamedTuple

import numpy as np

from attention.core import AttentionSteps
from attention.multi_head import MultiHeadAttention, split_heads


def divisors(number):
    """All whole numbers ≥ 1 that divide `number` (≥ 1), the smallest first."""
    return [d for d in range(1, number + 1) if number % d == 0]


def random_layer(embed_dim, num_heads, num_kv_heads=None, seed=0):
    """A MultiHeadAttention without biases, its weights of one decimal drawn from `seed` (illustrative)."""
    num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
    rng = np.random.default_rng(seed)
    kv_dim = embed_dim // num_heads * num_kv_heads
    W_Q, W_K, W_V, W_O = (
        rng.normal(size=(rows, embed_dim)).round(1) + 0.0 for rows in (embed_dim, kv_dim, kv_dim, embed_dim)
    )
    return MultiHeadAttention.from_arrays(num_heads, W_Q, W_K, W_V, W_O, num_kv_heads=num_kv_heads)


def random_embeddings(tokens, embed_dim, seed=0):
    """X (T, embed_dim) of one decimal (illustrative): equal tokens, case aside, get equal rows."""
    words = sorted({token.casefold() for token in tokens})
    rows = np.random.default_rng(seed).uniform(-1, 1, (len(words), embed_dim)).round(1) + 0.0
    return rows[[words.index(token.casefold()) for token in tokens]]


# --- which number went where ------------------------------------------------------------------------------


def split_source(head, head_dim):
    """cell -> cell: where (row, column) of `head` stands in the projected matrix (`split_heads`)."""
    return lambda row, column: (row, head * head_dim + column)


def merge_source(head_dim):
    """cell -> (head, row, column): where a cell of the joined matrix comes from (`merge_heads`)."""
    return lambda row, column: (column // head_dim, row, column % head_dim)


def viewed_heads(x, num_heads):
    """(…, T, num_heads · head_dim) -> (…, num_heads, T, head_dim) *without* swapping axes: a common mistake.

    The shape is right, so no library complains, but a head now gets all the slices of a few tokens instead of
    one slice of all tokens: see `viewed_tokens`.
    """
    *lead, T, width = x.shape
    return x.reshape(*lead, num_heads, T, width // num_heads)


def viewed_source(head, T, num_heads, head_dim):
    """cell -> cell: where (row, column) of `head` of `viewed_heads` stands in the projected matrix."""
    return lambda row, column: divmod((head * T + row) * head_dim + column, num_heads * head_dim)


def viewed_tokens(T, num_heads):
    """(num_heads, T): the index of the token whose numbers stand in each row of `viewed_heads`."""
    return np.arange(num_heads * T).reshape(num_heads, T) // num_heads


def one_head(steps, *index):
    """The AttentionSteps of one head: `index` is (head,), or (sequence, head) where there is a batch axis."""
    lead, arrays = steps.weights.shape[:-2], {field.name: getattr(steps, field.name) for field in fields(steps)}
    for name, a in arrays.items():
        if isinstance(a, np.ndarray) and a.ndim > 1:  # one key/value head that all share is there once only
            arrays[name] = np.broadcast_to(a, lead + a.shape[-2:])[index]
    return AttentionSteps(**arrays)


# --- what each head adds ----------------------------------------------------------------------------------


def switch_off(concatenated, on):
    """`concatenated` (…, T, num_heads · head_dim) with zeros for every head where `on` (num_heads,) is False."""
    return np.where(np.repeat(np.asarray(on, dtype=bool), concatenated.shape[-1] // len(on)), concatenated, 0.0)


def contributions(layer, concatenated):
    """(…, num_heads, T, embed_dim): what each head's columns become by W_O; they add up to the output.

    A bias of the output projection belongs to no head and is left out.
    """
    W_O = layer.output_projection.weight  # (embed_dim, num_heads · head_dim)
    parts = split_heads(W_O, layer.num_heads)  # (num_heads, embed_dim, head_dim)
    return split_heads(concatenated, layer.num_heads) @ parts.mT


def relative_change(before, after):
    """(…, T): ‖after - before‖ / ‖before‖ of every row, 0 where `before` is 0."""
    change, size = (np.linalg.norm(x, axis=-1) for x in (after - before, before))
    return change / np.where(size > 0, size, 1)


# --- how large a layer is ---------------------------------------------------------------------------------


class Size(NamedTuple):
    """What a layer with these heads holds: parameters, and numbers kept for a decoder's past tokens."""

    kind: str
    num_heads: int
    num_kv_heads: int
    head_dim: int
    parameters: int
    cache: int


def sizes(embed_dim, head_counts, seq_len):
    """A Size for each (num_heads, num_kv_heads) of `head_counts`, counted on a layer made for it, no biases."""
    return [_size(embed_dim, *counts, seq_len) for counts in head_counts]


def _size(embed_dim, num_heads, num_kv_heads, seq_len):
    layer = MultiHeadAttention(embed_dim, num_heads, num_kv_heads, bias=False)
    kind = "one head" if num_heads == 1 else "multi-head" if num_kv_heads == num_heads else "grouped-query"
    kind = "multi-query" if 1 == num_kv_heads < num_heads else kind
    return Size(kind, num_heads, num_kv_heads, layer.head_dim, layer.num_parameters, layer.cache_size(seq_len))
