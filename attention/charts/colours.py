"""The colours of the pictures, and what can be read on them."""

from functools import cache

import numpy as np

# One colour language. Weights: white to dark blue on [0, 1]. Scores and vectors: purple below 0, green above.
WEIGHT_COLOURS = ("#f7fbff", "#9ecae1", "#2171b5", "#08306b")
SIGNED_COLOURS = ("#40004b", "#9970ab", "#f7f7f7", "#5aae61", "#00441b")
INK, INK_ON_DARK = "#31333f", "#fafafa"  # of text beside a mark, where nothing but the page is behind it
MASKED, CROSS = "#d3d3d3", "#555555"
SELECTED, SOURCE = "#d55e00", "#e69f00"  # vermillion and orange of Okabe & Ito's colour-blind-safe set
CATEGORIES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8c6bb1", "#7f7f7f")
# Ends of a signed scale: few, so that few charts are described.
LIMITS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def colour_limit(matrix):
    """The end of the signed colour scale for `matrix`: a round number ≥ every finite |entry|."""
    largest = np.abs(matrix[np.isfinite(matrix)]).max(initial=0)
    return next((limit for limit in LIMITS if largest <= limit), None) or 10.0 ** np.ceil(np.log10(largest))


@cache
def white_text(kind):
    """(low, high): white numbers are easier to read than black on fills below `low` and above `high`."""
    fills = np.linspace(-1, 1, 401) if kind == "signed" else np.linspace(0, 1, 201)
    dark = [
        contrast("#ffffff", cell_colour(fill, kind)) > contrast("#000000", cell_colour(fill, kind)) for fill in fills
    ]
    middle = fills[~np.array(dark)]
    return round(float(middle.min()) - 0.005, 4), round(float(middle.max()) + 0.005, 4)


def cell_colour(fill, kind):
    """(r, g, b) in [0, 255] of a cell whose number is `fill` of the scale's end."""
    colours = SIGNED_COLOURS if kind == "signed" else WEIGHT_COLOURS
    stops = np.linspace(-1 if kind == "signed" else 0, 1, len(colours))
    return tuple(np.interp(fill, stops, channel) for channel in zip(*map(_rgb, colours), strict=True))


def ink_on(colour):
    """Black or white, whichever can be read better on it."""
    return max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, colour))


def contrast(one, other):
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.2, "relative luminance")."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _rgb(colour):
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5)) if isinstance(colour, str) else colour


def _luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in np.divide(_rgb(colour), 255)]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))
