"""The matrices of a page, and the one selected cell whose arithmetic it shows.

A click on a cell and the three pickers (the keyboard's way, and the address's) are the same thing: a click
sets the pickers. Cells are counted from 0.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from attention import charts
from attention.explain import Explanation, explain, marks
from attention.gradients import softmax_jacobian
from pages.shared import controls, shell
from pages.shared.dimensions import colour, shape


@dataclass(frozen=True)
class Matrix:
    """A 2-D array and what stands around it: title (Markdown), labels and dimensions of rows and columns.

    `view`, the indices of the rows and of the columns that are drawn, all by default: cells keep their index.
    """

    title: str
    array: np.ndarray
    rows: list[str]
    columns: list[str]
    dimensions: tuple[str, str]
    kind: str = "signed"
    mask: np.ndarray | None = None
    view: tuple[Sequence[int], Sequence[int]] | None = None
    bands: tuple[Sequence[int] | None, Sequence[int] | None] = (None, None)  # heads of the rows, of the columns


AXES = {
    "T_q": "query: who looks",
    "T_k": "key: who is looked at",
    "d_model": "embedding",
    "d_k": "d_k",
    "d_v": "d_v",
    "one": "one query",
    "asked": "key that is asked for",
    "record": "key of a record",
    "moved": "weight that moves",
    "mover": "score that is moved",
    "rules": "what is done to a hidden score",
    "hd_k": "all heads side by side",
    "gd_k": "all key/value heads side by side",
}


def standard(steps, tokens, key_tokens=None, *, inputs: Mapping[str, np.ndarray] | None = None, mask=None, vectors=()):
    """Matrix by name, of one head: `inputs` (X, W_Q, W_K, W_V, if there are projections) and all of `steps`.

    `steps` (AttentionSteps) without leading axes; `mask` (T_q, T_k), True = may attend, crosses cells out;
    `vectors` are labels for the dimensions of embeddings, queries, keys and values, where they have names.
    """
    queries = charts.indexed(tokens)
    keys = charts.indexed(tokens if key_tokens is None else key_tokens)
    labels = {"T_q": queries, "T_k": keys} | dict.fromkeys(("d_model", "d_k", "d_v") if vectors else (), vectors)
    plan = {
        "X": ("Embeddings $X$", ("T_q", "d_model")),
        "W_Q": ("$W_Q$", ("d_k", "d_model")),
        "W_K": ("$W_K$", ("d_k", "d_model")),
        "W_V": ("$W_V$", ("d_v", "d_model")),
        "query": ("Queries $Q$", ("T_q", "d_k")),
        "key": ("Keys $K$", ("T_k", "d_k")),
        "value": ("Values $V$", ("T_k", "d_v")),
        "scores": (r"Scores $S = QK^\top$", ("T_q", "T_k")),
        "scaled_scores": (r"Scaled scores $\hat S$", ("T_q", "T_k")),
        "masked_scores": (r"Masked scores $\tilde S$", ("T_q", "T_k")),
        "weights": ("Weights $A$", ("T_q", "T_k")),
        "output": ("Output $O = AV$", ("T_q", "d_v")),
    }
    arrays = dict(inputs or {}) | {name: getattr(steps, name) for name in plan if hasattr(steps, name)}
    matrices = {}
    for name, array in arrays.items():
        title, dimensions = plan[name]
        rows, columns = (
            labels.get(dimension) or numbered(size) for dimension, size in zip(dimensions, array.shape, strict=True)
        )
        crossed = mask if name in ("masked_scores", "weights") else None
        kind = "weights" if name == "weights" else "signed"
        matrices[name] = Matrix(title, array, rows, columns, dimensions, kind, crossed)
    return matrices


def sensitivity(weights, labels):
    """Matrix by name: one row of weights (T_k,), and how each of them moves with each score."""
    return {
        "jacobian": Matrix("Softmax Jacobian $J$", softmax_jacobian(weights), labels, labels, ("moved", "mover")),
        "weight_row": Matrix("Weights $a$", weights[None], ["a"], labels, ("one", "T_k"), "weights"),
    }


def cell_size(shape):
    """Pixels a side of a cell in a matrix of `shape`: room for its number up to 16, then for colour alone."""
    most = max(shape)
    size = 44 if most <= 6 else 38 if most <= 8 else 34 if most <= charts.NUMBERS_UP_TO else max(10, 640 // most)
    return size * 3 // 2 if st.session_state.get("large") else size


def numbered(size):
    """Labels of the dimensions of a vector."""
    return [f"d{i}" for i in range(size)]


class Board:
    """The matrices of a page by name; draws them with the selected cell and its sources marked.

    Make it where the pickers and the explanation shall stand, before anything is drawn; `first` and `at` are
    the matrix and the cell that are explained until a reader picks others.
    """

    def __init__(self, matrices: Mapping[str, Matrix], *, scale=None, copies=None, first=None, at=(0, 0), key=""):
        self.matrices, self.key, self.times = matrices, key, Counter()
        with st.container(border=True, key=f"{key}explanation"):
            name, row, column = self.selected = self._pick(first or next(iter(matrices)), *at)
            arrays = {name: matrix.array for name, matrix in matrices.items()}
            self.explanation = explain(arrays, name, row, column, scale=scale, copies=copies)
            self._write(matrices[name], row, column, self.explanation)

    def show(self, name, *, step=None):
        """Draw one matrix under its title and shape; a click on a cell selects it."""
        matrix = self.matrices[name]
        if not controls.visible(f"{self.key}{name}", matrix.title):
            st.caption(f"{matrix.title} is hidden here.")
            return
        st.markdown(f"**{matrix.title}**  \n{shape(matrix.dimensions, matrix.array.shape)}")
        rows, columns = view = matrix.view or tuple(map(range, matrix.array.shape))
        marked = marks(name, matrix.array.shape, self.selected, self.explanation)
        mask = None if matrix.mask is None else np.broadcast_to(matrix.mask, matrix.array.shape)
        chart = charts.heatmap(
            matrix.array[np.ix_(*view)],
            [matrix.rows[i] for i in rows],
            [matrix.columns[j] for j in columns],
            matrix.kind,
            titles=tuple(AXES[dimension] for dimension in matrix.dimensions),
            colours=tuple(map(colour, matrix.dimensions)),
            mask=None if mask is None else mask[np.ix_(*view)],
            marks=marked[np.ix_(*view)],
            bands=tuple(
                None if band is None else np.asarray(band)[list(shown)]
                for band, shown in zip(matrix.bands, view, strict=True)
            ),
            step=step or cell_size(tuple(map(len, view))),
        )
        # a description that changes makes a new chart, whose clicks start anew on both sides
        self.times[name] += 1  # a page may show a matrix twice, where it comes out and where it goes in
        widget = f"{self.key}{name}_{self.times[name]}_{hash(repr(chart.spec)) & 0xFFFFFFFF:x}"
        _draw_clickable(chart, widget, partial(self._clicked, name, widget, view))

    def side_by_side(self, *names):
        """Draw several matrices next to each other, where the page is wide enough."""
        with st.container(horizontal=True):
            for name in names:
                with st.container(width="content"):
                    self.show(name)

    def _pick(self, first, row, column):
        names = list(self.matrices)
        titles = {name: _plain(self.matrices[name].title) for name in names}
        choose, down, across = st.columns((2, 1, 1))
        with choose:
            names.insert(0, names.pop(names.index(first)))
            name = controls.choice("Explain a cell of", names, key=f"{self.key}cell", widget=st.selectbox, names=titles)
        matrix = self.matrices[name]
        rows, columns = matrix.array.shape
        with down:
            row = controls.number("Row", 0, rows - 1, min(row, rows - 1), key=f"{self.key}row") if rows > 1 else 0
        with across:
            last = columns - 1
            column = controls.number("Column", 0, last, min(column, last), key=f"{self.key}col") if last else 0
        return name, row, column

    def _write(self, matrix: Matrix, row, column, explanation: Explanation | None):
        where = f"row {shell.token(matrix.rows[row])}, column {shell.token(matrix.columns[column])}"
        st.markdown(f"**{matrix.title}**, {where}: **{charts.exact(matrix.array[row, column])}**")
        if explanation is None:
            st.caption("An input of this page: nothing computed it.")
            return
        first, *more = explanation.formula
        aligned = first.replace(" = ", " &= ", 1) + "".join(rf" \\[4pt] &{line}" for line in more)
        st.latex(rf"\begin{{aligned}} {aligned} \end{{aligned}}")
        if explanation.note:
            st.caption(explanation.note)

    def _clicked(self, name, widget, view):
        """Select the cell that was clicked: selections toggle, so it is the one that came or went."""
        points = {(point["row"], point["col"]) for point in st.session_state[widget].selection.get("cell", [])}
        before = st.session_state.setdefault("clicked", {})
        cell = changed_cell(points, before.get(widget, set()), tuple(map(len, view)))
        before[widget] = points
        if cell:
            row, col = (int(shown[i]) for shown, i in zip(view, cell, strict=True))
            picked = {f"{self.key}{part}": value for part, value in (("cell", name), ("row", row), ("col", col))}
            controls.put(**{key: value for key, value in picked.items() if key in st.session_state})


def clickable(chart, key, then):
    """Draw a chart whose one selection toggles, and call `then(**point)` with each point that was clicked."""
    widget = f"{key}_{hash(repr(chart.spec)) & 0xFFFFFFFF:x}"
    _draw_clickable(chart, widget, partial(_point_clicked, widget, then))


def _draw_clickable(chart, widget, clicked):
    """A chart that was not there in the last run comes with nothing selected: so must what is kept of it."""
    if widget not in st.session_state:
        st.session_state.setdefault("clicked", {}).pop(widget, None)
    shell.draw(chart, widget, on_select=clicked)


def _point_clicked(widget, then):
    selections = st.session_state[widget].selection.values()
    points = [tuple(sorted(point.items())) for selection in selections for point in selection]
    before = st.session_state.setdefault("clicked", {})
    known = before.get(widget, [])
    before[widget] = points
    # clicks in quick succession arrive together: those that went, and those that came, in their order
    for point in [*(p for p in known if p not in points), *(p for p in points if p not in known)]:
        then(**dict(point))


def changed_cell(points, before, shape):
    """The (row, column) by which two sets of selected cells differ, if it lies in a matrix of `shape`."""
    return next((cell for cell in points ^ before if cell[0] < shape[0] and cell[1] < shape[1]), None)


def _plain(title):
    """A title of Markdown with formulas as plain text, for a list."""
    return title.replace("$", "").replace(r"\hat ", "scaled ").replace(r"\tilde ", "masked ").replace(r"^\top", "ᵀ")
