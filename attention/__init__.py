"""Attention in NumPy, as a lesson and as a reference: every function says its shapes and its source."""

from attention.core import AttentionSteps, attention_steps, scaled_dot_product_attention, softmax
from attention.masks import create_causal_mask
from attention.multi_head import Linear, MultiHeadAttention, MultiHeadSteps, merge_heads, split_heads

__all__ = [
    "AttentionSteps",
    "Linear",
    "MultiHeadAttention",
    "MultiHeadSteps",
    "attention_steps",
    "create_causal_mask",
    "merge_heads",
    "scaled_dot_product_attention",
    "softmax",
    "split_heads",
]
