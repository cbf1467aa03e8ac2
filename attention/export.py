"""The worked example to take away: as a NumPy script, as JSON, as Markdown with LaTeX.

Each holds or recomputes the numbers of one `AttentionSteps` whose query, key and value are projections of X.
"""

import csv
import io
import json

import numpy as np

from attention.explain import SYMBOLS, latex, shown

STEPS = ("query", "key", "value", "scores", "scaled_scores", "masked_scores", "weights", "output")

_SCRIPT = '''\
"""A worked example of scaled dot-product attention, step by step."""

import numpy as np

tokens = {tokens}
X = np.array({X})  # (seq_len, d_model)
W_Q = np.array({W_Q})  # (d_k, d_model)
W_K = np.array({W_K})  # (d_k, d_model)
W_V = np.array({W_V})  # (d_v, d_model)

query = X @ W_Q.T
key = X @ W_K.T
value = X @ W_V.T
scores = query @ key.T
scale = {scale!r}  # {scale_rule}
scaled_scores = scores * scale
masked_scores = {masked}
powers = np.exp(masked_scores - masked_scores.max(axis=-1, keepdims=True))
weights = powers / powers.sum(axis=-1, keepdims=True)
output = weights @ value

for name in ({names}):
    print(name, globals()[name].shape)
    print(np.array2string(globals()[name], precision=6, suppress_small=True, max_line_width=200), end="\\n\\n")
'''


def as_script(tokens, inputs, steps, *, causal=False, scale_rule="1 / √d_k"):
    """Python source that needs nothing but NumPy, and prints every matrix with six decimals.

    `inputs` maps X, W_Q, W_K, W_V to arrays. The mask is the causal one or none. Tokens are quoted as ASCII.
    """
    return _SCRIPT.format(
        tokens=json.dumps(list(tokens)),
        **{name: inputs[name].tolist() for name in ("X", "W_Q", "W_K", "W_V")},
        scale=float(steps.scale),
        scale_rule=scale_rule,
        masked="np.where(np.tri(len(tokens), dtype=bool), scaled_scores, -np.inf)" if causal else "scaled_scores",
        names=", ".join(json.dumps(name) for name in STEPS),
    )


def as_json(tokens, inputs, steps, *, causal=False):
    """JSON text: tokens, scale, causal and every matrix, numbers in full; -inf is null."""
    matrices = {name: inputs[name] for name in inputs} | {name: getattr(steps, name) for name in STEPS}
    numbers = {
        name: [[x if np.isfinite(x) else None for x in row] for row in matrix.tolist()]
        for name, matrix in matrices.items()
    }
    return json.dumps({"tokens": list(tokens), "scale": float(steps.scale), "causal": causal} | numbers, indent=1)


def as_markdown(tokens, inputs, steps, *, causal=False):
    """Markdown with one displayed formula for each step, numbers with four decimals at most."""
    rules = {
        "query": r"X W_Q^\top",
        "key": r"X W_K^\top",
        "value": r"X W_V^\top",
        "scores": r"Q K^\top",
        "scaled_scores": rf"S \cdot {latex(shown(steps.scale))}",
        "masked_scores": r"\hat S + \text{causal mask}" if causal else r"\hat S",
        "weights": r"\operatorname{softmax}(\tilde S)",
        "output": "A V",
    }
    lines = ["# Scaled dot-product attention", "", "Tokens, in order:", ""]
    lines += [f"    {token}" for token in tokens]
    for name in inputs:
        lines += ["", f"$${SYMBOLS[name]} = {_matrix(inputs[name])}$$"]
    for name, rule in rules.items():
        lines += ["", f"$${SYMBOLS[name]} = {rule} = {_matrix(getattr(steps, name))}$$"]
    return "\n".join(lines) + "\n"


def as_csv(matrix, rows, columns):
    """CSV text of a matrix with its labels: the columns' in the first line, each row's in front of it.

    A label that a spreadsheet would run as a formula gets an apostrophe in front (OWASP, "CSV injection").
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["", *map(_inert, columns)])
    writer.writerows([_inert(label), *row] for label, row in zip(rows, matrix.tolist(), strict=True))
    return text.getvalue()


def _inert(label):
    return f"'{label}" if label.lstrip().startswith(("=", "+", "-", "@")) or label[:1] in "\t\r\n" else label


def _matrix(array):
    rows = r" \\ ".join(" & ".join(latex(shown(x)) for x in row) for row in array)
    return rf"\begin{{bmatrix}} {rows} \end{{bmatrix}}"
