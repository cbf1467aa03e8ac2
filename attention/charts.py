"""Pictures of matrices, as Altair describes them; nothing here knows who shows them.

Building and validating a chart's description costs ten times more than sending its numbers, so it is made
once for each size and kind (`lru_cache`, bounded) and the numbers are fed each time. Token labels travel as
values of Vega parameters, never as code: a token may hold anything.

A renderer can show new numbers in the chart that stands there, but builds a new one for a new description, which
takes longer and loses what is clicked meanwhile. So whatever moves with the numbers is data: the colours, the
marks, and the gist for readers who cannot see it.
"""

from functools import lru_cache
from typing import NamedTuple

import altair as alt
import numpy as np
import pandas as pd

# One colour language. Weights: white to dark blue on [0, 1]. Scores and vectors: purple below 0, green above.
WEIGHT_COLOURS = ("#f7fbff", "#9ecae1", "#2171b5", "#08306b")
SIGNED_COLOURS = ("#40004b", "#9970ab", "#f7f7f7", "#5aae61", "#00441b")
INK, INK_ON_DARK = "#31333f", "#fafafa"  # of text beside a mark, where nothing but the page is behind it
MASKED, CROSS = "#d3d3d3", "#555555"
SELECTED, SOURCE = "#d55e00", "#e69f00"  # vermillion and orange of Okabe & Ito's colour-blind-safe set
CATEGORIES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8c6bb1", "#7f7f7f")

DATA = alt.NamedData("data")  # of every chart; the renderer gets the numbers beside the description
NUMBERS_UP_TO = 16  # tokens a side: beyond this a cell is too small for its number
COLOURS_UP_TO = 64  # beyond this a matrix is not drawn
BINS = 41  # of a histogram: odd, so that 0 stands in the middle of a bar
LIMITS = (
    1,
    2,
    5,
    10,
    20,
    50,
    100,
    200,
    500,
    1000,
)  # ends of a signed scale: few, so that few charts are described


class Chart(NamedTuple):
    """What to hand to a Vega-Lite renderer: a DataFrame, its description, and what kind of picture it is.

    The first row of `data` has the gist of the picture in words, as its `gist`.
    """

    data: pd.DataFrame
    spec: dict
    alt: str


def heatmap(
    matrix,
    rows,
    columns,
    kind="signed",
    *,
    titles=("", ""),
    colours=("", ""),
    mask=None,
    marks=None,
    bands=(None, None),
    step=44,
):
    """A matrix (rows, columns) as coloured cells with their numbers, rows down.

    kind "weights" has one scale fixed to [0, 1]; "signed" a symmetric one around 0 that ends at the smallest
    of LIMITS (or power of ten) holding every number; "amounts", never negative, the same from 0; "stretched",
    for weights too small to be seen on [0, 1], goes from 0 to the largest. `titles` and their `colours` are
    those of the row axis and the column axis. `mask` (True = may attend) crosses out the cells where it is
    False; `marks` are 1 for a cell that the selected one came from, 2 for the selected one. Cells can be
    clicked: the point selection "cell" has the fields row and col, and toggles. Raises ValueError for labels
    that do not match the matrix.
    """
    matrix = np.asarray(matrix, dtype=float)
    if matrix.shape != (len(rows), len(columns)):
        raise ValueError(f"{len(rows)} row and {len(columns)} column labels for a matrix of {matrix.shape}")
    limit = {"weights": 1, "stretched": matrix.max(initial=0) or 1}.get(kind) or colour_limit(matrix)
    allowed = np.ones(matrix.shape, bool) if mask is None else np.broadcast_to(mask, matrix.shape)
    row, col = np.indices(matrix.shape)
    numbers = max(matrix.shape) <= NUMBERS_UP_TO
    data = pd.DataFrame(
        {
            "row": row.ravel(),
            "col": col.ravel(),
            "fill": np.where(np.isfinite(matrix), matrix / limit, np.sign(np.nan_to_num(matrix))).clip(-1, 1).ravel(),
            "text": [short(number) for number in matrix.ravel()] if numbers else "",
            "exact": [exact(number) for number in matrix.ravel()],
            "mark": 0 if marks is None else np.asarray(marks).ravel(),
            "masked": ~allowed.ravel(),
        }
    )
    for name, band, index in zip(("row", "col"), bands, (row, col), strict=True):
        if band is not None:
            data[f"{name}_band"] = np.asarray(band)[index.ravel()]
    spec = _heatmap_spec(*matrix.shape, kind, step, titles, colours, tuple(band is not None for band in bands))
    spec = _with(spec, row_labels=list(rows), col_labels=list(columns))
    what = f"Matrix of {len(rows)} × {len(columns)} numbers."
    return Chart(_with_gist(data, _largest(matrix, rows, columns)), spec, what)


def mask_picture(mask, rows, columns, **look):
    """Who may attend to whom: ✓ where the query of a row may attend to the key of a column, a cross where not.

    `look`: titles, colours, marks and step as in `heatmap`. A click toggles the point of its cell, and a
    double click is two of them.
    """
    mask = np.asarray(mask, dtype=bool)
    chart = heatmap(np.where(mask, 0.3, 0), rows, columns, "weights", mask=mask, **look)
    data = chart.data.assign(exact=np.where(mask.ravel(), "may attend", "may not attend"))
    if max(mask.shape) <= NUMBERS_UP_TO:
        data["text"] = np.where(mask.ravel(), "✓", "")
    seen = [", ".join(column for column, may in zip(columns, row, strict=True) if may) for row in mask[:8]]
    words = "; ".join(f"{name} may attend to {keys or 'nothing'}" for name, keys in zip(rows, seen, strict=False))
    return Chart(_with_gist(data, f"{words}."), chart.spec, f"Mask of {len(rows)} queries.")


def panels(matrices, names, rows, columns, *, marked=None, per_line=4, cell=16):
    """Weights (n, rows, columns) as n small pictures under their `names`; the one of index `marked` is framed.

    A picture can be clicked: the point selection "panel" has the field panel, its index, and toggles.
    """
    matrices = np.asarray(matrices, dtype=float)
    panel, row, col = np.indices(matrices.shape)
    data = pd.DataFrame(
        {
            "panel": panel.ravel(),
            "row": row.ravel(),
            "col": col.ravel(),
            "fill": matrices.ravel(),
            "mark": (panel == marked).ravel(),
        }
    )
    spec = _panels_spec(*matrices.shape, min(per_line, len(matrices)), cell)
    spec = _with(spec, names=list(names), row_labels=list(rows), col_labels=list(columns))
    return Chart(data, spec, f"Panels of {len(matrices)} matrices of weights: {', '.join(names[:12])}.")


def bars(values, labels, *, title="", limit=1.0, height=160, marked=None):
    """One bar for each of `labels`, on a scale from 0 (or -limit, where one is negative) to `limit`.

    The bar at position `marked` is framed.
    """
    values = np.asarray(values, dtype=float)
    data = pd.DataFrame({"position": range(len(values)), "value": values, "text": [short(v) for v in values]})
    data["mark"] = data["position"] == marked
    spec = _bars_spec(len(values), title, -limit if (values < 0).any() else 0, limit, height)
    words = "; ".join(f"{label}: {short(value)}" for label, value in zip(labels[:12], values, strict=False))
    return Chart(_with_gist(data, f"{words}."), _with(spec, labels=list(labels)), f"Bars of {title or 'values'}.")


def histogram(samples, limit, *, title="", height=240):
    """How often numbers fall into each of BINS equal parts of [-limit, limit]: a bar for each, of all 100 %.

    What lies outside is counted in the last bar of its side.
    """
    samples = np.asarray(samples, dtype=float)
    counts, edges = np.histogram(np.clip(samples, -limit, limit), bins=BINS, range=(-limit, limit))
    data = pd.DataFrame({"left": edges[:-1], "right": edges[1:], "share": counts / len(samples)})
    words = f"{len(samples)} numbers: mean {short(samples.mean())}, standard deviation {short(samples.std())}"
    words += f", from {short(samples.min())} to {short(samples.max())}."
    return Chart(_with_gist(data, words), _histogram_spec(title, height), f"Histogram of {title or 'numbers'}.")


def lines(x, series, *, titles=("", ""), log_x=False, log_y=False, height=340):
    """One line for each entry of `series`, name -> numbers over `x`, told apart by colour, dash and legend.

    `titles` are those of the x and the y axis. Numbers that are not finite are left out.
    """
    names, x = list(series), np.asarray(x, dtype=float)
    y = np.concatenate([np.asarray(series[name], dtype=float) for name in names])
    data = pd.DataFrame({"x": np.tile(x, len(names)), "y": y, "series": np.repeat(names, len(x))})
    ends = "; ".join(f"{name}: from {short(series[name][0])} to {short(series[name][-1])}" for name in names)
    spec = _lines_spec(tuple(names), titles, log_x, log_y, height)
    return Chart(_with_gist(data[np.isfinite(y)], f"{ends}."), spec, f"Lines of {titles[1]} against {titles[0]}.")


def on_dark(chart):
    """The chart with its text as light as a dark page needs it."""
    return chart._replace(spec=_with(chart.spec, ink=INK_ON_DARK))


def colour_limit(matrix):
    """The end of the signed colour scale for `matrix`: a round number ≥ every finite |entry|."""
    largest = np.abs(matrix[np.isfinite(matrix)]).max(initial=0)
    return next((limit for limit in LIMITS if largest <= limit), None) or 10.0 ** np.ceil(np.log10(largest))


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


def _largest(matrix, rows, columns):
    """The gist of a matrix: each row's largest entry."""
    shown = [
        f"{name}: largest {short(values.max())} at {columns[int(values.argmax())]}"
        for name, values in zip(rows[:8], matrix, strict=False)
    ]
    more = f"; and {len(rows) - 8} more rows" if len(rows) > 8 else ""
    return "; ".join(shown) + more + "."


def _with_gist(data, gist):
    return data.assign(gist=[gist, *[None] * len(data)][: len(data)])


def indexed(tokens):
    """Labels that tell repeated tokens apart by their position: the, cat, the (4)."""
    return [f"{token} ({i})" if tokens.index(token) < i else token for i, token in enumerate(tokens)]


def _with(spec, **values):
    """The description with the values of its parameters replaced; the cached one stays as it is."""
    params = [{**p, "value": values[p["name"]]} if p["name"] in values else p for p in spec.get("params", ())]
    return {**spec, "params": params}


@lru_cache(maxsize=512)
def _heatmap_spec(num_rows, num_columns, kind, step, titles, colours, banded=(False, False)):
    numbers = max(num_rows, num_columns) <= NUMBERS_UP_TO
    cell = alt.selection_point(  # a double click must not clear it: that would take back clicks on other cells
        name="cell", fields=["row", "col"], on="mousedown", clear=False, toggle="true", empty=False
    )
    gaps = alt.Scale(paddingInner=0.06, paddingOuter=0.03)
    base = alt.Chart(DATA).encode(
        x=alt.X(
            "col:O",
            scale=gaps,
            title=titles[1] or None,
            axis=_label_axis("col_labels", colours[1], step, orient="top", labelAngle=-35 if step > 16 else -90),
        ),
        y=alt.Y("row:O", scale=gaps, title=titles[0] or None, axis=_label_axis("row_labels", colours[0], step)),
        tooltip=[
            alt.Tooltip("row_name:N", title=titles[0] or "row"),
            alt.Tooltip("col_name:N", title=titles[1] or "column"),
            alt.Tooltip("exact:N", title="value"),
        ],
        description=alt.Description("said:N"),
    )
    palette, domain = (SIGNED_COLOURS, [-1, 1]) if kind == "signed" else (WEIGHT_COLOURS, [0, 1])
    scale = alt.Scale(domain=domain, range=list(palette), interpolate="rgb", clamp=True)
    # a weight that should not be there keeps its colour under the cross
    grey = "datum.exact == 'NaN' || datum.masked" + ("" if kind == "signed" else " && !(datum.fill > 0)")
    rect = (
        base.mark_rect(cursor="pointer")
        .properties(name="cells")
        .encode(
            color=alt.when(grey).then(alt.value(MASKED)).otherwise(alt.Color("fill:Q", scale=scale, legend=None)),
            stroke=alt.when("datum.mark == 2").then(alt.value(SELECTED)).otherwise(alt.value(SOURCE)),
            strokeWidth=alt.StrokeWidth("mark:Q", legend=None, scale=alt.Scale(domain=[0, 1, 2], range=[0, 2, 4])),
        )
    )
    diagonals = "M-1,-1L1,1M-1,1L1,-1"
    cross = base.transform_filter("datum.masked").mark_point(
        shape=diagonals, size=(0.8 * step) ** 2, stroke=CROSS, strokeWidth=1, opacity=0.55, aria=False
    )
    layers = [rect, cross]
    if numbers:
        low, high = white_text(kind)
        white = f"!({grey}) && (datum.fill < {low} || datum.fill > {high})"
        layers.append(
            base.mark_text(fontSize=max(9, round(step * 0.28)), aria=False).encode(
                text="text:N",
                color=alt.when(white).then(alt.value("#ffffff")).otherwise(alt.value("#000000")),
            )
        )
    layers += [_gist()]
    layers += [mark for axis, shown in enumerate(banded) if shown for mark in _strip(base, axis)]
    named = alt.layer(*layers).transform_calculate(
        row_name="row_labels[datum.row]",
        col_name="col_labels[datum.col]",
        said="datum.row_name + ', ' + datum.col_name + ': ' + datum.exact",
    )
    if any(banded):
        named = named.resolve_scale(color="independent")
    return _compiled(
        named.add_params(
            cell, alt.param(name="row_labels", value=[]), alt.param(name="col_labels", value=[])
        ).properties(width=alt.Step(step), height=alt.Step(step), autosize="pad")
    )


def _strip(base, axis):
    """Right of the rows (axis 0) or below the columns (axis 1): the head of each, by number and colour."""
    name, other, along, end = (("row", "col", "y", "width"), ("col", "row", "x", "height"))[axis]
    across = "x" if along == "y" else "y"

    def at(offset):
        return {"value": alt.ExprRef(f"{end} + {offset}")}

    first = base.transform_filter(f"datum.{other} == 0").transform_calculate(
        **{f"{name}_colour": f"datum.{name}_band % {len(CATEGORIES)}"}
    )
    colours = alt.Scale(domain=list(range(len(CATEGORIES))), range=list(CATEGORIES))
    ink = alt.Scale(domain=colours.domain, range=[_ink(colour) for colour in CATEGORIES])
    block = first.mark_rect(aria=False).encode(
        **{across: at(4), f"{across}2": at(20)}, color=alt.Color(f"{name}_colour:N", scale=colours, legend=None)
    )
    number = first.mark_text(aria=False, fontSize=11).encode(
        **{across: at(12)}, text=f"{name}_band:N", color=alt.Color(f"{name}_colour:N", scale=ink, legend=None)
    )
    return block, number


def _ink(colour):
    return max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, colour))


@lru_cache(maxsize=128)
def _bars_spec(number, title, low, high, height):
    step = 44 if number <= 6 else 26  # 16 bars fit beside the sidebar on a narrow screen
    base = alt.Chart(DATA).encode(
        x=alt.X("position:O", title=None, axis=_label_axis("labels", "", step, labelAngle=-35)),
        y=alt.Y("value:Q", title=title or None, scale=alt.Scale(domain=[low, high], clamp=True)),
    )
    bar = base.mark_bar(color=CATEGORIES[0], stroke=SELECTED).encode(
        tooltip=[alt.Tooltip("name:N", title="token"), alt.Tooltip("value:Q", format=".4f")],
        description=alt.Description("said:N"),
        strokeWidth=alt.when("datum.mark").then(alt.value(4)).otherwise(alt.value(0)),
    )
    text = base.mark_text(dy=-8, aria=False, color=alt.ExprRef("ink")).encode(text="text:N")
    named = alt.layer(bar, text, _gist()).transform_calculate(
        name="labels[datum.position]", said="labels[datum.position] + ': ' + datum.text"
    )
    sized = named.properties(width=alt.Step(step), height=height, autosize="pad")
    return _compiled(sized.add_params(alt.param(name="labels", value=[]), alt.param(name="ink", value=INK)))


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
    return _compiled(alt.layer(chart, _gist()).properties(height=height))


@lru_cache(maxsize=128)
def _panels_spec(number, num_rows, num_columns, per_line, cell):
    wide, high = num_columns + 1, num_rows + 1 + 20 / cell  # of one picture with the gap after it, in cells
    lines = -(-number // per_line)
    scales = [alt.Scale(domain=ends, nice=False) for ends in ([0, per_line * wide], [lines * high, 0])]
    left, top = f"datum.panel % {per_line} * {wide}", f"floor(datum.panel / {per_line}) * {high} + {20 / cell}"
    picked = alt.selection_point(
        name="panel", fields=["panel"], on="mousedown", clear=False, toggle="true", empty=False
    )
    base = alt.Chart(DATA)

    def box(x, y, width, height):
        return base.transform_calculate(
            left=f"{left} + {x}",
            top=f"{top} + {y}",
            right=f"{left} + {x} + {width}",
            bottom=f"{top} + {y} + {height}",
            name="names[datum.panel]",
            row_name="row_labels[datum.row]",
            col_name="col_labels[datum.col]",
            said="datum.name + ': ' + datum.row_name + ', ' + datum.col_name + ': ' + format(datum.fill, '.4f')",
        ).encode(x=alt.X("left:Q", scale=scales[0], axis=None), y=alt.Y("top:Q", scale=scales[1], axis=None))

    rect = (
        box("datum.col", "datum.row", 0.94, 0.94)
        .mark_rect(cursor="pointer")
        .encode(
            x2="right:Q",
            y2="bottom:Q",
            color=alt.Color(
                "fill:Q",
                scale=alt.Scale(domain=[0, 1], range=list(WEIGHT_COLOURS), interpolate="rgb", clamp=True),
                legend=None,
            ),
            tooltip=[
                alt.Tooltip("name:N", title="head"),
                alt.Tooltip("row_name:N", title="query"),
                alt.Tooltip("col_name:N", title="key"),
                alt.Tooltip("fill:Q", title="weight", format=".4f"),
            ],
            description=alt.Description("said:N"),
        )
    )
    one = box(0, 0, num_columns - 0.06, num_rows - 0.06).transform_filter("datum.row == 0 && datum.col == 0")
    frame = (
        one.transform_filter("datum.mark")
        .mark_rect(filled=False, stroke=SELECTED, strokeWidth=3, aria=False)
        .encode(x2="right:Q", y2="bottom:Q")
    )
    ink = alt.ExprRef("ink")
    name = one.mark_text(align="left", baseline="bottom", dy=-3, aria=False, color=ink).encode(text="name:N")
    texts = [alt.param(name=text, value=[]) for text in ("names", "row_labels", "col_labels")]
    texts.append(alt.param(name="ink", value=INK))
    return _compiled(
        alt.layer(rect.add_params(picked), frame, name)
        .add_params(*texts)
        .properties(width=per_line * wide * cell, height=lines * high * cell, autosize="pad")
    )


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
    return _compiled(alt.layer(chart, _gist()).properties(height=height))


def _gist():
    """A mark without a picture, whose words a screen reader reads."""
    mark = alt.Chart(DATA).transform_filter("isString(datum.gist)").mark_rule(opacity=0)
    return mark.encode(x=alt.value(0), y=alt.value(0), description="gist:N")


def _label_axis(parameter, colour, step, **options):
    options |= {"titleColor": colour} if colour else {}
    options |= {"labelFontSize": 18, "titleFontSize": 18} if step > 50 else {}
    options |= {"labelFontSize": min(10, step - 1)} if step <= 16 else {}
    text = {"labelExpr": f"{parameter}[datum.value]", "labelLimit": 110, "labelOverlap": False}
    return alt.Axis(ticks=False, domain=False, **text, **options)


def _compiled(chart):
    """The description as plain data, without the data set: the renderer gets that beside it."""
    spec = chart.to_dict()
    spec.pop("data", None)
    spec.pop("$schema", None)
    return spec


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


def contrast(one, other):
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.2, "relative luminance")."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _rgb(colour):
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5)) if isinstance(colour, str) else colour


def _luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in np.divide(_rgb(colour), 255)]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))
