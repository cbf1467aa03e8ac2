"""What the pictures have in common: the chart as it is handed over, its numbers as text, its axes."""

from functools import cache
from typing import NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from attention.charts.colours import INK_ON_DARK

DATA = alt.NamedData("data")  # of every chart; the renderer gets the numbers beside the description
NUMBERS_UP_TO = 16  # tokens a side: beyond this a cell is too small for its number
COLOURS_UP_TO = 64  # beyond this a matrix is not drawn


class Chart(NamedTuple):
    """What to hand to a Vega-Lite renderer: a DataFrame, its description, and what kind of picture it is.

    The first row of `data` has the gist of the picture in words, as its `gist`.
    """

    data: pd.DataFrame
    spec: dict
    alt: str


def on_dark(chart):
    """The chart with its text as light as a dark page needs it."""
    return chart._replace(spec=with_values(chart.spec, ink=INK_ON_DARK))


def short(number):
    """A number as a cell shows it: two decimals, three digits, or a power of ten where it needs one."""
    if not np.isfinite(number):
        return {np.inf: "∞", -np.inf: "−∞"}.get(number, "NaN")
    size = abs(number)
    text = f"{number:.2f}" if size < 99.995 else f"{number:.0f}" if size < 9999.5 else f"{number:.0e}"
    return text.replace("-", "−") if float(text) or "e" in text else text.lstrip("-")


def exact(number):
    """A number as a tooltip shows it: six significant digits."""
    return short(number) if not np.isfinite(number) else f"{number:.6g}".replace("-", "−")


def indexed(tokens):
    """Labels that tell repeated tokens apart by their position: the, cat, the (4)."""
    return [f"{token} ({i})" if tokens.index(token) < i else token for i, token in enumerate(tokens)]


def with_values(spec, **values):
    """The description with the values of its parameters replaced; the cached one stays as it is."""
    params = [{**p, "value": values[p["name"]]} if p["name"] in values else p for p in spec.get("params", ())]
    return {**spec, "params": params}


def with_gist(data, gist):
    return data.assign(gist=[gist, *[None] * len(data)][: len(data)])


@cache
def gist():
    """A mark without a picture, whose words a screen reader reads."""
    mark = alt.Chart(DATA).transform_filter("isString(datum.gist)").mark_rule(opacity=0)
    return mark.encode(x=alt.value(0), y=alt.value(0), description="gist:N")


def label_axis(parameter, **options):
    """An axis whose labels are the values of a parameter."""
    text = {"labelExpr": f"{parameter}[datum.value]", "labelLimit": 110, "labelOverlap": False}
    return alt.Axis(ticks=False, domain=False, **text, **options)


def axis_look(step, colour=""):
    """What of an axis depends on the pixels of a step along it, and the colour of its title."""
    sizes = {"labelFontSize": 18, "titleFontSize": 18} if step > 50 else {}
    sizes |= {"labelFontSize": min(10, step - 1)} if step <= 16 else {}
    return sizes | ({"titleColor": colour} if colour else {})


def compiled(chart):
    """The description as plain data, without the data set: the renderer gets that beside it."""
    spec = chart.to_dict(validate=False)  # which takes a fifth of the time; the tests validate
    spec.pop("data", None)
    spec.pop("$schema", None)
    return spec
