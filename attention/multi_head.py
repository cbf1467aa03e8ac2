"""Multi-head attention: several attentions side by side, each over its own slice of the projections.

Vaswani et al. 2017, section 3.2.2. With fewer key/value heads than query heads: multi-query (Shazeer 2019)
and grouped-query attention (Ainslie et al. 2023).
"""

from dataclasses import dataclass

import numpy as np

from attention.core import AttentionSteps, attention_steps


class Linear:
    """x @ W.T + b: `weight` W (out_features, in_features), as PyTorch stores it, `bias` (out_features) or None.

    Starts at random: uniform in ±√(6 / (in + out)) (Glorot and Bengio 2010, equation 16), the bias at 0. `rng` is a
    NumPy Generator or a seed.
    """

    def __init__(self, in_features, out_features, bias=True, rng=None):
        limit = np.sqrt(6 / (in_features + out_features))
        self.weight = np.random.default_rng(rng).uniform(-limit, limit, (out_features, in_features))
        self.bias = np.zeros(out_features) if bias else None

    @classmethod
    def from_arrays(cls, weight, bias=None):
        """A layer that holds these arrays. Raises ValueError where their shapes do not fit."""
        layer = cls.__new__(cls)
        layer.weight, layer.bias = np.asarray(weight), None if bias is None else np.asarray(bias)
        if layer.weight.ndim != 2 or (bias is not None and layer.bias.shape != layer.weight.shape[:1]):
            bias_shape = None if bias is None else layer.bias.shape
            raise ValueError(f"weight {layer.weight.shape} must be (out, in), and bias {bias_shape} (out,).")
        return layer

    @property
    def in_features(self):
        return self.weight.shape[1]

    @property
    def out_features(self):
        return self.weight.shape[0]

    @property
    def num_parameters(self):
        return self.weight.size + (0 if self.bias is None else self.bias.size)

    def forward(self, x):
        """(…, in_features) -> (…, out_features). Raises ValueError for another last axis."""
        x = np.asarray(x)
        if x.ndim == 0 or x.shape[-1] != self.in_features:
            raise ValueError(f"x has shape {x.shape}: its last axis must be {self.in_features} (in_features).")
        y = x @ self.weight.T
        return y if self.bias is None else y + self.bias

    __call__ = forward

    def __repr__(self):
        return f"Linear({self.in_features}, {self.out_features}, bias={self.bias is not None})"


def split_heads(x, num_heads):
    """(…, T, num_heads · head_dim) -> (…, num_heads, T, head_dim): head h is the h-th slice of the features."""
    if x.shape[-1] % num_heads:
        raise ValueError(f"x has shape {x.shape}: its last axis does not split into {num_heads} heads.")
    return x.reshape(*x.shape[:-1], num_heads, -1).swapaxes(-3, -2)


def merge_heads(x):
    """(…, num_heads, T, head_dim) -> (…, T, num_heads · head_dim): the heads' features side by side again."""
    x = x.swapaxes(-3, -2)
    return x.reshape(*x.shape[:-2], -1)


@dataclass(frozen=True, eq=False)
class MultiHeadSteps:
    """Every array of one multi-head attention, in the order in which it is computed.

    projected_… (…, T, heads · head_dim), split_… (…, heads, T, head_dim), `heads` the AttentionSteps of all heads
    (weights (…, num_heads, T_q, T_k), output (…, num_heads, T_q, head_dim)), concatenated (…, T_q, num_heads ·
    head_dim), output (…, T_q, embedding_dimension).
    """

    projected_query: np.ndarray
    projected_key: np.ndarray
    projected_value: np.ndarray
    split_query: np.ndarray
    split_key: np.ndarray
    split_value: np.ndarray
    heads: AttentionSteps
    concatenated: np.ndarray
    output: np.ndarray


class MultiHeadAttention:
    """Project, split into heads, attend per head, concatenate, project: see `steps` for each array."""

    def __init__(self, embedding_dimension, num_heads, num_kv_heads=None, bias=True, rng=None):
        num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        _check_heads(num_heads, num_kv_heads)
        if embedding_dimension % num_heads:
            raise ValueError(f"embedding_dimension {embedding_dimension} does not divide into num_heads {num_heads}.")
        rng = np.random.default_rng(rng)
        kv_dimension = embedding_dimension // num_heads * num_kv_heads
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.query_projection = Linear(embedding_dimension, embedding_dimension, bias, rng)
        self.key_projection = Linear(embedding_dimension, kv_dimension, bias, rng)
        self.value_projection = Linear(embedding_dimension, kv_dimension, bias, rng)
        self.output_projection = Linear(embedding_dimension, embedding_dimension, bias, rng)

    @classmethod
    def from_arrays(cls, num_heads, W_Q, W_K, W_V, W_O, b_Q=None, b_K=None, b_V=None, b_O=None, num_kv_heads=None):
        """A layer with given weights, stored (out, in) as by PyTorch, and biases, if any.

        W_Q (num_heads · head_dim, …), W_K (num_kv_heads · head_dim, …), W_V (num_kv_heads · d_v, …) and
        W_O (…, num_heads · d_v). Raises ValueError where these do not fit, naming the array.
        """
        layer = cls.__new__(cls)
        layer.num_heads, layer.num_kv_heads = num_heads, num_heads if num_kv_heads is None else num_kv_heads
        _check_heads(layer.num_heads, layer.num_kv_heads)
        layer.query_projection = Linear.from_arrays(W_Q, b_Q)
        layer.key_projection = Linear.from_arrays(W_K, b_K)
        layer.value_projection = Linear.from_arrays(W_V, b_V)
        layer.output_projection = Linear.from_arrays(W_O, b_O)
        q, k, v, o = (part.weight.shape for part in layer._layers)
        if q[0] % layer.num_heads:
            raise ValueError(f"W_Q {q}: its first axis does not divide into num_heads {layer.num_heads}.")
        if k[0] != layer.head_dim * layer.num_kv_heads:
            raise ValueError(
                f"W_K {k}: its first axis must be {layer.head_dim * layer.num_kv_heads}, head_dim {layer.head_dim} · "
                f"num_kv_heads {layer.num_kv_heads}."
            )
        if v[0] % layer.num_kv_heads or o[1] != v[0] // layer.num_kv_heads * layer.num_heads:
            raise ValueError(
                f"W_V {v} and W_O {o} do not fit: num_kv_heads {layer.num_kv_heads} value heads, used by num_heads "
                f"{layer.num_heads}, must make up the last axis of W_O."
            )
        return layer

    @property
    def embedding_dimension(self):
        return self.output_projection.out_features

    @property
    def head_dim(self):
        return self.query_projection.out_features // self.num_heads

    head_dimension = head_dim

    @property
    def num_parameters(self):
        return sum(layer.num_parameters for layer in self._layers)

    def cache_size(self, seq_len):
        """How many numbers a decoder keeps of seq_len tokens: their keys and values (Shazeer 2019, section 3)."""
        return (self.key_projection.out_features + self.value_projection.out_features) * seq_len

    @property
    def _layers(self):
        return self.query_projection, self.key_projection, self.value_projection, self.output_projection

    def forward(self, query, key=None, value=None, mask=None, *, scale=None, causal=False, window=None):
        """The pair (output (…, T_q, embedding_dimension), weights (…, num_heads, T_q, T_k))."""
        steps = self.steps(query, key, value, mask, scale=scale, causal=causal, window=window)
        return steps.output, steps.heads.weights

    __call__ = forward

    def steps(self, query, key=None, value=None, mask=None, *, scale=None, causal=False, window=None):
        """The MultiHeadSteps of `forward`."""
        key = query if key is None else key
        value = key if value is None else value
        Q, K, V = self.query_projection(query), self.key_projection(key), self.value_projection(value)
        q, k, v = (
            split_heads(Q, self.num_heads),
            split_heads(K, self.num_kv_heads),
            split_heads(V, self.num_kv_heads),
        )
        mask = _per_head(mask, max(Q.ndim, K.ndim, V.ndim))
        heads = attention_steps(q, k, v, mask, scale=scale, causal=causal, window=window)
        concatenated = merge_heads(heads.output)
        return MultiHeadSteps(Q, K, V, q, k, v, heads, concatenated, self.output_projection(concatenated))


def _check_heads(num_heads, num_kv_heads):
    for name, number in (("num_heads", num_heads), ("num_kv_heads", num_kv_heads)):
        if not isinstance(number, int | np.integer) or number < 1:
            raise ValueError(f"{name} must be a whole number of at least 1, not {number!r}.")
    if num_heads % num_kv_heads:
        raise ValueError(f"num_heads {num_heads} must be a multiple of num_kv_heads {num_kv_heads}.")


def _per_head(mask, ndim):
    """A mask without a head axis, (…, T_q, T_k), is every head's."""
    mask = None if mask is None else np.asarray(mask)
    return mask if mask is None or mask.ndim != ndim or ndim < 3 else mask[..., None, :, :]
