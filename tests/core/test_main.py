"""python -m attention, as somebody runs it."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
RUN = [sys.executable, "-m", "attention"]


def run(*arguments, **options):
    return subprocess.run([*RUN, *arguments], cwd=ROOT, capture_output=True, text=True, encoding="utf-8", **options)


def matrices(printed):
    """[(title, matrix), …] of what was printed."""
    blocks = [block.split("\n", 1) for block in printed.strip().split("\n\n") if not block.startswith("#")]
    rows = [(title, body.replace("[", "").replace("]", "").split("\n")) for title, body in blocks]
    return [(title.split("  (")[0], np.array([row.split() for row in body], dtype=float)) for title, body in rows]


def test_it_prints_the_right_numbers_of_the_lesson():
    done = run()
    assert (done.returncode, done.stderr) == (0, "")
    found = matrices(done.stdout)
    assert [title for title, _ in found[:8]] == [
        "X",
        "Q = X W_Qᵀ",
        "K = X W_Kᵀ",
        "V = X W_Vᵀ",
        "S = Q Kᵀ",
        "S / √d_k",
        "A = softmax, row by row",
        "O = A V",
    ]
    scores, scaled, weights, output = (matrix for _, matrix in found[4:8])
    np.testing.assert_allclose(scores, [[1.93, 1.09, 1.08], [1.09, 1.07, 0.55], [1.08, 0.55, 0.98]])
    np.testing.assert_allclose(scaled, scores / 2)
    np.testing.assert_allclose(weights, [[0.4327, 0.2843, 0.2829], [0.3632, 0.3596, 0.2772], [0.3679, 0.2822, 0.3499]])
    np.testing.assert_allclose(output[1], [0.6374, 0.5607, 0.3027, 0.5175])
    masked, causal, first = (matrix for _, matrix in found[8:11])
    assert np.isneginf(masked[np.triu_indices(3, 1)]).all()
    np.testing.assert_allclose(causal[0], [1, 0, 0])
    np.testing.assert_allclose(first[0], [1.0, 0.5, 0.2, 0.8])  # its own value, and no other


def test_the_listing_with_seed_42_is_that_of_the_text():
    np.random.seed(42)
    Q, K = (np.random.randn(1, 4, 8) for _ in range(2))
    scores = Q[0] @ K[0].T / np.sqrt(8)
    (_, plain), (_, causal) = matrices(run().stdout)[-2:]
    powers = np.exp(scores)
    np.testing.assert_allclose(plain, powers / powers.sum(axis=1, keepdims=True), atol=6e-5)
    powers = np.tril(powers)
    np.testing.assert_allclose(causal, powers / powers.sum(axis=1, keepdims=True), atol=6e-5)


def test_options():
    assert run("--help").stdout.startswith("usage: python -m attention")
    assert run("--seed", "1").stdout != run("--seed", "2").stdout
    assert "0.43" in run("--decimals", "2").stdout
    for wrong in (("--decimals", "0"), ("--seed", "-1"), ("--seed", "x")):
        done = run(*wrong)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
        assert wrong[0] in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell with pipes")
def test_a_reader_who_stops_reading_sees_no_traceback():
    done = subprocess.run(
        f"{sys.executable} -m attention | head -1", shell=True, cwd=ROOT, capture_output=True, text=True
    )
    assert done.stdout.startswith("# cat, sat, mat")
    assert done.stderr == ""
    closed = subprocess.run(
        f"{sys.executable} -m attention | true", shell=True, cwd=ROOT, capture_output=True, text=True
    )
    assert closed.stderr == ""


def test_a_plain_terminal_is_enough():
    assert run(env={"PYTHONIOENCODING": "ascii", "PATH": ""}).returncode == 0
