"""Bars, a histogram and lines."""

from functools import lru_cache

import altair as alt
import numpy as np
import pandas as pd

from attention.charts.colours import CATEGORIES, INK, SELECTED
from attention.charts.parts import DATA, Chart, axis_look, compiled, gist, label_axis, short, with_gist, with_values

BINS = 41  # of a histogram: odd, so that 0 stands in the middle of a bar


def bars(values, labels, *, title="", limit=1.0, height=160, marked=None):
    """One bar for each of `labels`, on a scale from 0 (or -limit, where one is negative) to `limit`.

    Where that is None, the scale ends by the bars: a limit that moves would describe a new chart each time. The
    bar at position `marked` is framed.
    """
    values = np.asarray(values, dtype=float)
    data = pd.DataFrame({"position": range(len(values)), "value": values, "text": [short(v) for v in values]})
    data["mark"] = data["position"] == marked
    spec = _bars_spec(len(values) <= 6, title, limit and (-limit if (values < 0).any() else 0, limit), height)
    words = "; ".join(f"{label}: {short(value)}" for label, value in zip(labels[:12], values, strict=False))
    return Chart(with_gist(data, f"{words}."), with_values(spec, labels=list(labels)), f"Bars of {title or 'values'}.")


def histogram(samples, limit, *, title="", height=240):
    """How often numbers fall into each of BINS equal parts of [-limit, limit]: a bar for each, of all 100 %.

    What lies outside is counted in the last bar of its side.
    """
    samples = np.asarray(samples, dtype=float)
    counts, edges = np.histogram(np.clip(samples, -limit, limit), bins=BINS, range=(-limit, limit))
    data = pd.DataFrame({"left": edges[:-1], "right": edges[1:], "share": counts / len(samples)})
    words = f"{len(samples)} numbers: mean {short(samples.mean())}, standard deviation {short(samples.std())}"
    words += f", from {short(samples.min())} to {short(samples.max())}."
    return Chart(with_gist(data, words), _histogram_spec(title, height), f"Histogram of {title or 'numbers'}.")


def lines(x, series, *, titles=("", ""), log_x=False, log_y=False, height=340):
    """One line for each entry of `series`, name -> numbers over `x`, told apart by colour, dash and legend.

    `titles` are those of the x and the y axis. Numbers that are not finite are left out.
    """
    names, x = list(series), np.asarray(x, dtype=float)
    y = np.concatenate([np.asarray(series[name], dtype=float) for name in names])
    data = pd.DataFrame({"x": np.tile(x, len(names)), "y": y, "series": np.repeat(names, len(x))})
    ends = "; ".join(f"{name}: from {short(series[name][0])} to {short(series[name][-1])}" for name in names)
    spec = _lines_spec(tuple(names), titles, log_x, log_y, height)
    return Chart(with_gist(data[np.isfinite(y)], f"{ends}."), spec, f"Lines of {titles[1]} against {titles[0]}.")


@lru_cache(maxsize=128)
def _bars_spec(few, title, ends, height):
    step = 44 if few else 26  # 16 bars fit beside the sidebar on a narrow screen
    base = alt.Chart(DATA).encode(
        x=alt.X("position:O", title=None, axis=label_axis("labels", labelAngle=-35, **axis_look(step))),
        y=alt.Y("value:Q", title=title or None, scale=alt.Scale(domain=ends, clamp=True) if ends else alt.Undefined),
    )
    bar = base.mark_bar(color=CATEGORIES[0], stroke=SELECTED).encode(
        tooltip=[alt.Tooltip("name:N", title="token"), alt.Tooltip("value:Q", format=".4f")],
        description=alt.Description("said:N"),
        strokeWidth=alt.when("datum.mark").then(alt.value(4)).otherwise(alt.value(0)),
    )
    text = base.mark_text(dy=-8, aria=False, color=alt.ExprRef("ink")).encode(text="text:N")
    named = alt.layer(bar, text, gist()).transform_calculate(
        name="labels[datum.position]", said="labels[datum.position] + ': ' + datum.text"
    )
    sized = named.properties(width=alt.Step(step), height=height, autosize="pad")
    return compiled(sized.add_params(alt.param(name="labels", value=[]), alt.param(name="ink", value=INK)))


@lru_cache(maxsize=32)
def _histogram_spec(title, height):
    percent = alt.Axis(format="%")
    chart = (
        alt.Chart(DATA)
        .mark_bar(color=CATEGORIES[0], binSpacing=0)
        .encode(
            x=alt.X("left:Q", title=title or None, scale=alt.Scale(nice=False, zero=False)),
            x2="right:Q",
            y=alt.Y("share:Q", title="share", axis=percent),
            y2=alt.Y2(datum=0),
            tooltip=[alt.Tooltip(f"{name}:Q", format=".3~g") for name in ("left", "right")]
            + [alt.Tooltip("share:Q", format=".1%")],
        )
    )
    return compiled(alt.layer(chart, gist()).properties(height=height))


@lru_cache(maxsize=128)
def _lines_spec(names, titles, log_x, log_y, height):
    scales = [alt.Scale(type="log", nice=False) if log else alt.Scale(zero=False) for log in (log_x, log_y)]
    chart = (
        alt.Chart(DATA)
        .mark_line(point=alt.OverlayMarkDef(size=18), strokeWidth=2)
        .encode(
            x=alt.X("x:Q", title=titles[0], scale=scales[0]),
            y=alt.Y("y:Q", title=titles[1], scale=scales[1]),
            color=alt.Color(
                "series:N",
                title=None,
                sort=list(names),
                legend=alt.Legend(orient="top", columns=2, labelLimit=300),
                scale=alt.Scale(domain=list(names), range=list(CATEGORIES)),
            ),
            strokeDash=alt.StrokeDash(
                "series:N", title=None, sort=list(names), legend=alt.Legend(orient="top", columns=2, labelLimit=300)
            ),
            tooltip=["series:N", alt.Tooltip("x:Q", title=titles[0]), alt.Tooltip("y:Q", title=titles[1])],
        )
    )
    return compiled(alt.layer(chart, gist()).properties(height=height))
