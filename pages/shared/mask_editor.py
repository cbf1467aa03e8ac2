"""A mask made by hand: a click on its picture turns a cell over, and its text stands in the address.

The text has a row of 1 (may attend) and 0 (may not) for each query; a click writes long rows in hexadecimal,
to keep the address short. Where the text is smaller than the mask, the mask that it lies over shows through.
"""

import re
from functools import partial

import numpy as np
import streamlit as st

from attention import charts
from pages.shared import cells, controls, shell
from pages.shared.dimensions import colour

MOST = 64  # tokens
IN_BITS = 16  # up to so many tokens a click writes 1 and 0, for the reader to go on with
ALLOWED = (
    "Write a row for each query, with a 1 (may attend) or a 0 (may not) for each key, as many rows as columns: "
    "`10 11`, or a matrix as NumPy or PyTorch prints it."
)


def edit(below, *, key):
    """The mask (T, T) that the reader wrote over `below`; what cannot be read leaves that, and is said."""
    written = controls.text(
        "Your mask as text: a row for each query, 1 = may attend, 0 = may not",
        "",
        key=key,
        widget=st.text_area,
        height="content",
        placeholder=write(below),
        help=ALLOWED,
    )
    mask, problem = read(written, below)
    if problem:
        st.error(f"{problem} {ALLOWED} Until then it is left out.")
    return mask


def draw(mask, tokens, *, key, chooser=None, cell=None, also=None, marks=None, rows=None):
    """The picture of `mask`. A click makes it the reader's own, with that cell turned over.

    It then stands under `key`, and the control `chooser`, if there is one and it is not hidden, says "hand";
    `also` are controls to set with it. A button does the same for `cell` (row, column), without a mouse.
    """
    labels = charts.indexed(tokens)
    chart = charts.mask_picture(
        mask,
        rows or labels,
        labels,
        titles=(cells.AXES["T_q"], cells.AXES["T_k"]),
        colours=(colour("T_q"), colour("T_k")),
        marks=marks,
        step=cells.cell_size(mask.shape),
    )
    if chooser is None or controls.hidden(chooser) or controls.hidden(key):
        shell.draw(chart, f"{key}_picture")
    else:
        turn = partial(_turn, mask, key, {chooser: "hand"} | (also or {}))
        cells.clickable(chart, f"{key}_picture", turn)
        st.button(
            f"Turn over row {cell[0]}, column {cell[1]}",
            icon=":material/touch_app:",
            type="tertiary",
            key=f"{key}_turn",
            help="As a click on that cell does: the mask becomes yours. Pick the cell below.",
            on_click=partial(turn, *cell),
        )


def _turn(mask, key, others, row, col):
    """Turn a cell over. After a quick click before this one, the text is newer than the `mask` on the page."""
    if "hand" in map(controls.now, others):
        mask, _ = read(controls.now(key) or "", mask)
    if row < mask.shape[0] and col < mask.shape[1]:
        controls.put(**others | {key: write(turned(mask, int(row), int(col)))})


def turned(mask, row, column):
    """A copy of the mask with one cell turned over."""
    mask = mask.copy()
    mask[row, column] ^= True
    return mask


def write(mask):
    """The text of a square mask: a row of bits for each query, in hexadecimal above IN_BITS tokens."""
    bits = ["".join("01"[int(may)] for may in row) for row in mask]
    if len(mask) > IN_BITS:
        bits = [f"{int(row, 2):0{-(-len(row) // 4)}x}" for row in bits]
    return (" " if len(mask) > IN_BITS else "\n").join(bits)


def read(written, below):
    """(mask, problem): the text laid over the mask `below`; or `below`, and what is wrong in words."""
    rows = _rows(written)
    size, T = len(rows), len(below)
    if size > MOST:
        return below, f"These are {size} rows, and {MOST} is the most."
    cells_of = next((bits for is_row, bits in NOTATIONS if all(is_row(row, size) for row in rows)), None)
    if cells_of is None:
        odd = next(i for i, row in enumerate(rows) if not _is_bits(row, size))
        return below, f"Row {odd} is not one of {size} cells, as there are {size} rows."
    mask = below.copy()
    if rows:
        mask[:size, :size] = np.array([cells_of(row, size) for row in rows])[:T, :T]
    return mask, ""


def _rows(written):
    """The rows of a text: its lines, or what stands in brackets; on a single line, what stands between spaces."""
    written = written.replace("True", "1").replace("False", "0")
    parts = re.split(r"[\n;\]]", written) if re.search(r"\S\s*[\n;\]]", written) else re.split(r"[\s,]", written)
    rows = (re.sub(r"tensor|array|dtype=[\w.]+|[\s,.()\[\]]", "", part) for part in parts)
    return [row for row in rows if row]


def _is_bits(row, size):
    return len(row) == size and set(row) <= {"0", "1"}


def _is_hexadecimal(row, size):
    return len(row) == -(-size // 4) and re.fullmatch("[0-9a-fA-F]+", row) and int(row, 16) < 2**size


NOTATIONS = (
    (_is_bits, lambda row, size: [cell == "1" for cell in row]),
    (_is_hexadecimal, lambda row, size: [cell == "1" for cell in f"{int(row, 16):0{size}b}"]),
)
