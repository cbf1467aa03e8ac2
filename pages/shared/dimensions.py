"""One symbol and one colour for each dimension, in formulas, shapes and axes of all pages."""

import streamlit as st

# (symbol, on a light page, on a dark page); each colour has a contrast of at least 4.5 with its page
DIMENSIONS = {
    "T_q": ("T_q", "#0061a8", "#6cb6ff"),
    "T_k": ("T_k", "#1a7f37", "#56d364"),
    "d_model": (r"d_{\text{model}}", "#57606a", "#a9b4c0"),
    "d_k": ("d_k", "#9a5700", "#f0a04b"),
    "d_v": ("d_v", "#8250df", "#d2a8ff"),
    "heads": ("h", "#b3245f", "#ff8fab"),
    "groups": ("g", "#00707a", "#4dd0da"),
    "hd_k": (r"h\,d_k", "#b3245f", "#ff8fab"),
    "gd_k": (r"g\,d_k", "#00707a", "#4dd0da"),
    "asked": ("n", "#0061a8", "#6cb6ff"),
    "record": ("n", "#1a7f37", "#56d364"),
    "one": ("1", "#57606a", "#a9b4c0"),
    "moved": ("T_k", "#1a7f37", "#56d364"),
    "mover": ("T_k", "#1a7f37", "#56d364"),
    "rules": ("r", "#57606a", "#a9b4c0"),
    "batch": ("B", "#57606a", "#a9b4c0"),
}


def colour(dimension):
    """The hexadecimal colour of `dimension` in the reader's theme."""
    _, light, dark = DIMENSIONS[dimension]
    return dark if st.context.theme.type == "dark" else light


def symbol(dimension):
    """LaTeX of `dimension`, coloured."""
    return rf"\textcolor{{{colour(dimension)}}}{{{DIMENSIONS[dimension][0]}}}"


def shape(dimensions, sizes):
    """Markdown of a shape, in symbols and in numbers: (T_q × d_k) = (3 × 4)."""
    symbols = r" \times ".join(map(symbol, dimensions))
    numbers = r" \times ".join(
        rf"\textcolor{{{colour(dimension)}}}{{{size}}}" for dimension, size in zip(dimensions, sizes, strict=True)
    )
    return f"${symbols} = {numbers}$"
