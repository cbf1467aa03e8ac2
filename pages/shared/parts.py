"""Sequences too long to be drawn whole, and tokens that a reader leaves out: what of a matrix is shown."""

from dataclasses import replace

import numpy as np
import streamlit as st

from attention import charts, heads
from pages.shared import controls


def size(tokens):
    """How many tokens a side are drawn: all that colours allow, or fewer where the reader wants numbers."""
    if tokens <= charts.NUMBERS_UP_TO:
        return charts.COLOURS_UP_TO
    sizes = (str(charts.COLOURS_UP_TO), "32", str(charts.NUMBERS_UP_TO))
    label = f"Tokens drawn a side: numbers fit into up to {charts.NUMBERS_UP_TO}"
    return int(controls.choice(label, sizes, key="size"))


def choose(side, tokens, version, most, *, without_marks=False):
    """(kept, drawn) of the tokens of one `side` ("queries", "keys").

    kept is boolean (T,), True for the tokens that the reader leaves in, at least one; drawn are the positions,
    at most `most`, of a part of these. What is left out belongs to one `version` of the tokens.
    """
    labels = charts.indexed(tokens)
    leave_out, start_at = st.columns(2)
    with leave_out:
        left_out = st.multiselect(
            f"Leave out {side}", range(len(labels)), format_func=labels.__getitem__, key=f"out_{side}_{version}"
        )
    kept = ~np.isin(np.arange(len(labels)), left_out)
    kept &= heads.words(tokens) | (not without_marks)
    if not kept.any():
        st.warning(f"No {side} would be left, so all stay: leave at least one in.", icon=":material/info:")
        kept = ~kept
    positions = np.flatnonzero(kept)
    if len(positions) > most:
        with start_at:
            label = f"First of the {side} drawn, by position"
            start = controls.number(label, 0, len(labels) - 1, 0, key=f"from_{side}")
        later = positions[positions >= start]
        positions = later[:most] if len(later) else positions[-most:]
    return kept, positions


def shown(matrix, drawn):
    """A `cells.Matrix` of which the positions `drawn`, by dimension, are shown; of others as many as can be."""
    view = (
        drawn.get(dimension, np.arange(min(length, charts.COLOURS_UP_TO)))
        for dimension, length in zip(matrix.dimensions, matrix.array.shape, strict=True)
    )
    return replace(matrix, view=tuple(view))
