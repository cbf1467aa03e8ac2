"""What a reader takes away holds the page's numbers: the script is run, the JSON read, the Markdown searched."""

import json
import subprocess
import sys

import numpy as np
import pytest

from attention import examples, export
from attention.worked import work_through

HOSTILE = ('"""', "\\", "$x$", "<b>", "a`b", "مرحبا", "{X}")


def example(causal, scaling="sqrt"):
    X, W_Q, W_K, W_V = examples.preset("random", len(HOSTILE), 5, 4, 3, seed=7)
    inputs = {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V}
    return inputs, work_through(**inputs, causal=causal, scaling=scaling)


@pytest.mark.parametrize("causal", [False, True])
def test_the_script_prints_the_same_numbers(tmp_path, causal):
    inputs, steps = example(causal, "none")
    path = tmp_path / "attention.py"
    path.write_text(export.as_script(HOSTILE, inputs, steps, causal=causal), encoding="utf-8")
    printed = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True).stdout
    for block in printed.strip().split("\n\n"):
        name, _, matrix = block.partition(" ")
        rows = matrix.split("\n", 1)[1].replace("[", "").replace("]", "").splitlines()
        np.testing.assert_allclose([[float(x) for x in row.split()] for row in rows], getattr(steps, name), atol=6e-7)
    assert printed.count("\n\n") == len(export.STEPS)


def test_json_holds_every_matrix_in_full():
    inputs, steps = example(True)
    content = json.loads(export.as_json(HOSTILE, inputs, steps, causal=True))
    assert content["tokens"] == list(HOSTILE) and content["causal"] is True
    assert content["output"] == steps.output.tolist()
    assert content["masked_scores"][0][1] is None


def test_markdown_shows_every_matrix_and_quotes_the_tokens():
    inputs, steps = example(True)
    text = export.as_markdown(HOSTILE, inputs, steps, causal=True)
    assert "    $x$\n    <b>\n" in text
    assert text.count(r"\begin{bmatrix}") == 12
    assert r"-\infty" in text
