"""Pictures of matrices, as Altair describes them; nothing here knows who shows them.

Building a chart's description costs fifty times more than sending its numbers, so it is made once for each kind
(`lru_cache`, bounded), whatever the size, and the numbers are fed each time. Token labels travel as
values of Vega parameters, never as code: a token may hold anything.

A renderer can show new numbers in the chart that stands there, but builds a new one for a new description, which
takes longer and loses what is clicked meanwhile. So whatever moves with the numbers is data: the colours, the
marks, and the gist for readers who cannot see it.
"""

from attention.charts.colours import WEIGHT_COLOURS, cell_colour, colour_limit, contrast, white_text
from attention.charts.matrices import heatmap, mask_picture, panels
from attention.charts.parts import COLOURS_UP_TO, NUMBERS_UP_TO, Chart, exact, indexed, on_dark, short
from attention.charts.plots import BINS, bars, histogram, lines

__all__ = [
    "BINS",
    "COLOURS_UP_TO",
    "NUMBERS_UP_TO",
    "WEIGHT_COLOURS",
    "Chart",
    "bars",
    "cell_colour",
    "colour_limit",
    "contrast",
    "exact",
    "heatmap",
    "histogram",
    "indexed",
    "lines",
    "mask_picture",
    "on_dark",
    "panels",
    "short",
    "white_text",
]
