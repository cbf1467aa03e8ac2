"""The parts that pages share, apart from any page."""

import numpy as np
import pytest

from attention.charts import contrast
from pages.shared import controls, matrices, shell
from pages.shared.cells import changed_cell
from pages.shared.dimensions import DIMENSIONS


@pytest.mark.parametrize(
    ("written", "tokens", "said"),
    [
        ("a b", ["a", "b"], []),
        ("", ["cat", "sat"], ["no word"]),
        ("\u200b \u0000", ["cat", "sat"], ["no word"]),
        ("a " * 10_000, ["a"] * 3, ["10,000 words: the first 3"]),
        ("x" * 61, ["x" * 60], ["more than 60"]),
        ("x" * 60, ["x" * 60], []),
        ("$x$ <b> :red[x]", ["$x$", "<b>", ":red[x]"], []),
        ("👩‍👩‍👧 مرحبا", ["👩👩👧", "مرحبا"], []),
    ],
)
def test_words_become_tokens(written, tokens, said):
    found, notes = controls.tokenise(written, "cat sat", 3)
    assert found == tokens
    assert len(notes) == len(said) and all(part in note for part, note in zip(said, notes, strict=True))


@pytest.mark.parametrize(
    ("text", "markdown"),
    [("cat", "`cat`"), ("$x$", "`$x$`"), ("a`b", "`` a`b ``"), ("``", "``` `` ```")],
)
def test_a_token_in_markdown_is_code(text, markdown):
    assert shell.token(text) == markdown


PRESET = np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    ("written", "matrix"),
    [
        ("", PRESET.tolist()),
        ("9", [[9, 1, 2], [3, 4, 5]]),
        ("9,8;7,6", [[9, 8, 2], [7, 6, 5]]),
        ("9\t8,5\n7\t−6", [[9, 8.5, 2], [7, -6, 5]]),
        (" 9 8\n\n7 6 \n", [[9, 8, 2], [7, 6, 5]]),
        ("1,2,3,4;1,2,3,4;1,2,3,4", [[1, 2, 3], [1, 2, 3]]),
        ("1e3;-1000", [[1000, 1, 2], [-1000, 4, 5]]),
    ],
)
def test_a_written_matrix_lies_over_its_preset(written, matrix):
    read, problem = matrices.read(written, PRESET)
    assert problem == "" and read.tolist() == matrix


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("1,x", "row 0, column 1 is no number"),
        ("1\t\t3", "row 0, column 1 is empty"),
        ("1e308", "too large"),
        ("nan", "no number"),
        ("inf", "too large"),
        ("1,2;3", "different lengths"),
        ("1," * 17, "1 × 17"),
        ("1;" * 17, "17 × 1"),
        ("1_000_000", "too large"),
        ("=SUM(A1)", "no number"),
    ],
)
def test_what_cannot_be_read_leaves_the_preset_and_is_said(written, said):
    read, problem = matrices.read(written, PRESET)
    assert read.tolist() == PRESET.tolist()
    assert (said in problem and "Allowed are numbers" in problem) or "equally many" in problem


def test_a_matrix_survives_its_text():
    matrix = np.random.default_rng(0).normal(size=(8, 8))
    read, problem = matrices.read(matrices.write(matrix), np.zeros((8, 8)))
    assert problem == "" and np.array_equal(read, matrix)
    assert len(matrices.write(matrix)) <= controls.MAX_TEXT


def test_edits_of_the_table():
    edited = matrices.apply_edits(
        PRESET, {0: {"d1": 7}, 1: {"d0": None, "d2": 1e308, "d9": 1}, 5: {"d0": 1}}, ["d0", "d1", "d2"]
    )
    assert edited.tolist() == [[0, 7, 2], [3, 4, 5]]
    assert PRESET[0, 1] == 1


def test_a_click_is_what_differs_between_two_selections():
    assert changed_cell({(0, 1)}, set(), (2, 2)) == (0, 1)
    assert changed_cell({(0, 1), (1, 1)}, {(0, 1)}, (2, 2)) == (1, 1)
    assert changed_cell(set(), {(0, 1)}, (2, 2)) == (0, 1)
    assert changed_cell({(5, 5)}, set(), (2, 2)) is None
    assert changed_cell(set(), set(), (2, 2)) is None


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_dimensions_can_be_read_in_both_themes(dimension):
    _, light, dark = DIMENSIONS[dimension]
    assert contrast(light, "#ffffff") >= 4.5
    assert contrast(dark, "#12161c") >= 4.5
