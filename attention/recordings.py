"""Recorded attention: what a real model's heads computed, kept as arrays, read and written in one format.

A file (.npz or .json) holds either `weights`, or `query`, `key` and `value`, and the tokens of both sides.
The recordings in `attention/data` (see its README) have the same format as a visitor's own file
(`uploads.py`).
"""

import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from attention.core import scaled_dot_product_attention

DATA = Path(__file__).parent / "data"

# What was recorded: name -> sentence. With the last word (tired/wide, big/small) changes what "it" can mean.
SENTENCES = {
    "cat_black": "The cat that ran across the street was black",
    "cat_mat": "The cat sat on the mat",
    "animal_tired": "The animal didn't cross the street because it was too tired",
    "animal_wide": "The animal didn't cross the street because it was too wide",
    "trophy_big": "The trophy didn't fit in the suitcase because it was too big",
    "trophy_small": "The trophy didn't fit in the suitcase because it was too small",
    "bank": "The bank by the river raised its interest rates",
    "keys": "The keys to the old cabinet were on the table",
    "anna": "Anna thanked Tom because he helped her",
}

# Two words of each, the one that asks first, that a reader may want to see connected.
PAIRS = {
    "cat_black": ("black", "cat"),
    "cat_mat": ("sat", "cat"),
    "animal_tired": ("it", "animal"),
    "animal_wide": ("it", "street"),
    "trophy_big": ("it", "trophy"),
    "trophy_small": ("it", "suitcase"),
    "bank": ("its", "bank"),
    "keys": ("were", "keys"),
    "anna": ("he", "tom"),
}

# One word turns the sense of "it" from the first noun to the second: (sentences, the word, its two nouns).
CONTRASTS = {
    "tired / wide": (("animal_tired", "animal_wide"), "it", ("animal", "street")),
    "big / small": (("trophy_big", "trophy_small"), "it", ("trophy", "suitcase")),
}


@dataclass(frozen=True, eq=False)
class Recording:
    """Attention of every head over one pair of token sequences, float32; no array is empty.

    Either `weights` (layers, heads, T_q, T_k) were recorded, and query, key, value are None; or query
    (layers, heads, T_q, d_k), key (layers, heads, T_k, d_k) and value (layers, heads, T_k, d_v) were, and
    weights is None. Rows are named by `query_tokens` (T_q), columns by `key_tokens` (T_k). `warnings` are
    sentences for whoever brought the file.
    """

    query_tokens: tuple[str, ...]
    key_tokens: tuple[str, ...]
    weights: np.ndarray | None = None
    query: np.ndarray | None = None
    key: np.ndarray | None = None
    value: np.ndarray | None = None
    warnings: tuple[str, ...] = ()

    @property
    def shape(self):
        """(layers, heads, T_q, T_k)"""
        heads = self.weights if self.query is None else self.query
        return (*heads.shape[:2], len(self.query_tokens), len(self.key_tokens))

    def attend(self, mask=None, **options):
        """The pair (output, weights), recomputed by the core from query, key and value; `mask` (True = may
        attend) and `options` (scale, causal, window) are those of `scaled_dot_product_attention`.

        output is (layers, heads, T_q, d_v), weights (layers, heads, T_q, T_k). Recorded weights come back
        as they are, with None for the output; asked for a mask or an option there, it raises ValueError: a
        mask belongs before the softmax, and the scores were not recorded.
        """
        if self.weights is None:
            return scaled_dot_product_attention(self.query, self.key, self.value, mask, **options)
        if mask is not None or any(option not in (None, False) for option in options.values()):
            raise ValueError("Only weights were recorded: a mask or a scale needs the queries and keys.")
        return None, self.weights

    def arrays(self):
        """What was recorded, by name: the content of a file, tokens aside."""
        names = ("query", "key", "value") if self.weights is None else ("weights",)
        return {name: getattr(self, name) for name in names}


def load_recording(name):
    """The Recording of SENTENCES[name] by all 6 × 12 heads of all-MiniLM-L6-v2.

    Under 0.5 MB, read from disk each time. Raises KeyError for a name that is not in SENTENCES.
    """
    if name not in SENTENCES:
        raise KeyError(name)
    with np.load(DATA / f"{name}.npz", allow_pickle=False) as file:
        tokens = tuple(file["tokens"].tolist())
        arrays = {name: file[name].astype(np.float32) for name in ("query", "key", "value")}
    return Recording(tokens, tokens, **arrays)


def to_npz(recording, dtype=np.float32):
    """The bytes of a compressed .npz file holding `recording`, the same each time."""
    arrays = {name: array.astype(dtype) for name, array in recording.arrays().items()}
    return pack_npz(arrays | {name: np.array(tokens) for name, tokens in _tokens(recording).items()})


def to_json(recording):
    """The bytes of a UTF-8 .json file holding `recording`; each float32 in its shortest exact digits."""
    arrays = {name: array.astype(str).astype(float).tolist() for name, array in recording.arrays().items()}
    return json.dumps(_tokens(recording) | arrays, ensure_ascii=False, separators=(",", ":")).encode()


def pack_npz(arrays):
    """The bytes of a compressed .npz of `arrays` (by name) with a fixed date: np.savez writes today's."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)
            info = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            archive.writestr(info, member.getvalue(), zipfile.ZIP_DEFLATED, compresslevel=9)
    return buffer.getvalue()


def _tokens(recording):
    if recording.query_tokens == recording.key_tokens:
        return {"tokens": recording.query_tokens}
    return {"query_tokens": recording.query_tokens, "key_tokens": recording.key_tokens}
