"""A mask as text: read, written, turned over."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.shared import mask_editor

BELOW = np.tri(3, dtype=bool)


def bits(mask):
    return ["".join("01"[int(may)] for may in row) for row in mask]


@pytest.mark.parametrize(
    ("written", "rows"),
    [
        ("", ["100", "110", "111"]),
        (" \n ", ["100", "110", "111"]),
        ("011 101 110", ["011", "101", "110"]),
        ("011\n101\n110", ["011", "101", "110"]),
        ("0 1 1\n1 0 1\n1 1 0\n", ["011", "101", "110"]),
        ("0,1,1;1,0,1;1,1,0", ["011", "101", "110"]),
        ("[[0 1 1]\n [1 0 1]\n [1 1 0]]", ["011", "101", "110"]),
        ("[[False, True, True], [True, False, True], [True, True, False]]", ["011", "101", "110"]),
        ("tensor([[False,  True],\n        [ True,  True]])", ["010", "110", "111"]),  # the rest shows through
        ("array([[0, 1],\n       [1, 1]], dtype=int8)", ["010", "110", "111"]),
        ("3 5 6", ["011", "101", "110"]),  # hexadecimal
        ("0", ["000", "110", "111"]),
        ("0000 0000 0000 0000", ["000", "000", "000"]),  # larger: cut
        ("00 0f 1f 10 11", ["000", "011", "111"]),  # five rows in hexadecimal
    ],
)
def test_read(written, rows):
    mask, problem = mask_editor.read(written, BELOW)
    assert problem == "" and bits(mask) == rows
    assert bits(BELOW) == ["100", "110", "111"]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("10 1", "Row 1 is not one of 2 cells"),
        ("102 000 000", "Row 0"),
        ("hello", "Row 0"),
        ("9 9", "Row 0"),  # 9 needs four cells
        ("1 " * 65, "65 rows, and 64 is the most"),
        ("<b> $x$ :red[x]", "Row 0"),
        ("🙂", "Row 0"),
        ("-1 -1", "Row 0"),
        ("١٠ ١١", "Row 0"),  # digits, but not these
        ("1e308", "Row 0"),
    ],
)
def test_what_cannot_be_read_is_said(written, said):
    mask, problem = mask_editor.read(written, BELOW)
    assert np.array_equal(mask, BELOW) and said in problem


@given(st.integers(1, 64), st.randoms(use_true_random=False))
def test_a_mask_survives_its_text(size, random):
    mask = np.array([[random.random() < 0.5 for _ in range(size)] for _ in range(size)])
    text = mask_editor.write(mask)
    read, problem = mask_editor.read(text, np.zeros((size, size), bool))
    assert problem == "" and np.array_equal(read, mask)
    assert len(text) <= 1100


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(written):
    mask, problem = mask_editor.read(written, BELOW)
    assert mask.shape == (3, 3) and mask.dtype == bool
    assert not problem or np.array_equal(mask, BELOW)


def test_turned_over():
    turned = mask_editor.turned(BELOW, 0, 2)
    assert bits(turned) == ["101", "110", "111"] and bits(BELOW) == ["100", "110", "111"]
    assert np.array_equal(mask_editor.turned(turned, 0, 2), BELOW)
