"""A matrix that the reader edits in place, or pastes from a spreadsheet; its text stands in the address.

An edited matrix lies over its preset: where it is smaller, the preset shows through, so that changing the
number of tokens or dimensions loses nothing.
"""

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import controls

MOST = 16  # rows or columns
LARGEST = 1000.0  # of a number, either side of 0
ALLOWED = f"Allowed are numbers from −{LARGEST:g} to {LARGEST:g}, in up to {MOST} rows of up to {MOST} columns."


def edit(label, preset, rows, columns, *, key, seen=True):
    """The matrix that the reader made of `preset`, in its shape; `key` names it in the address.

    `label` is LaTeX; `rows` and `columns` are labels. The table itself is left out where it is not `seen`, as
    in a closed expander: it costs more than the rest. What cannot be read leaves the preset standing, and is
    said in a sentence at the widget.
    """
    editor, more = st.container(), st.container(horizontal=True, vertical_alignment="bottom")
    with more:
        box = st.popover("Paste or copy as text", icon=":material/content_paste:", type="tertiary")
    with box:
        written = controls.text(
            f"${label}$: rows on lines, numbers apart by tabs, spaces or commas",
            "",
            key=key,
            widget=st.text_area,
            placeholder=write(preset).replace(";", "\n"),
            help=f"A block of cells copied from a spreadsheet can be pasted as it is. {ALLOWED}",
        )
    matrix, problem = read(written, preset)
    if seen and not controls.hidden(key):
        with editor:
            _table(label, matrix, rows, columns, key, preset)
    if written and not controls.hidden(key):
        reset = partial(controls.put, **{key: ""})
        more.button("Reset to the preset", icon=":material/undo:", key=f"{key}_reset", type="tertiary", on_click=reset)
    if problem:
        st.error(f"${label}$: {problem} The preset stands in until then.")
    return matrix


def read(written, preset):
    """(matrix, problem): `written` laid over `preset`, in its shape; or the preset, and what is wrong in words.

    Rows end with a line or a semicolon. Between tabs, as a spreadsheet copies them, a decimal comma is read
    as one; elsewhere commas part numbers.
    """
    lines = [line for line in written.replace(";", "\n").splitlines() if line.strip()]
    cells = [_cells(line) for line in lines]
    if len(cells) > MOST or any(len(row) > MOST for row in cells):
        return preset, f"this is {len(cells)} × {max(map(len, cells))}, which is too large. {ALLOWED}"
    if len({len(row) for row in cells}) > 1:
        return preset, "the rows are of different lengths: each needs equally many numbers."
    matrix = preset.copy()
    for i, row in enumerate(cells):
        for j, cell in enumerate(row):
            number = _number(cell)
            if number is None:
                return (
                    preset,
                    f"row {i}, column {j} is {'empty' if not cell else 'no number'} or too large. {ALLOWED}",
                )
            if i < matrix.shape[0] and j < matrix.shape[1]:
                matrix[i, j] = number
    return matrix, ""


def write(matrix):
    """The text of a matrix, as short as it is exact: rows end with semicolons, commas part numbers."""
    return ";".join(",".join(repr(float(x)).removesuffix(".0") for x in row) for row in matrix)


def _cells(line):
    if "\t" in line:
        return [cell.strip().replace(",", ".") for cell in line.split("\t")]
    return line.replace(",", " ").split()


def _number(text):
    try:
        number = float(text.replace("−", "-"))
    except ValueError:
        return None
    return number if abs(number) <= LARGEST else None  # NaN is not


def _table(label, matrix, rows, columns, key, preset):
    """The editor. It starts anew whenever the matrix changed otherwise: by text, reset, preset or size."""
    state = st.session_state.setdefault(f"{key}_table", {"version": 0, "now": None})
    if state["now"] is None or not np.array_equal(state["now"], matrix):
        state |= {"version": state["version"] + 1, "base": matrix, "now": matrix}
    number = partial(
        st.column_config.NumberColumn, min_value=-LARGEST, max_value=LARGEST, format="plain", required=True
    )
    widget = f"{key}_table_{state['version']}"
    st.data_editor(
        pd.DataFrame(state["base"], index=rows, columns=columns),
        key=widget,
        column_config={name: number(name) for name in columns},
        on_change=partial(_edited, key, widget, columns, preset),
        width="content",
        alt=f"Editable matrix {label}",
    )


def _edited(key, widget, columns, preset):
    """Write the edits of the table into the text, which is what counts."""
    state = st.session_state[f"{key}_table"]
    now = apply_edits(state["base"], st.session_state[widget]["edited_rows"], columns)
    state["now"] = now
    controls.put(**{key: "" if np.array_equal(now, preset) else write(now)})


def apply_edits(matrix, edited_rows, columns):
    """A copy of `matrix` with the editor's changes {row: {column label: number}} in it.

    The editor itself refuses text, empty cells and numbers out of range; one that came all the same, as from
    a forged message, leaves its cell as it was.
    """
    edited = matrix.copy()
    for row, cells in edited_rows.items():
        for name, value in cells.items():
            number = _number(str(value))
            if name in columns and row < len(edited) and number is not None:
                edited[row, columns.index(name)] = number
    return edited
