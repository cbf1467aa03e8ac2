"""Matrices as coloured cells."""

from functools import lru_cache

import altair as alt
import numpy as np
import pandas as pd

from attention.charts.colours import (
    CATEGORIES,
    CROSS,
    INK,
    MASKED,
    SELECTED,
    SIGNED_COLOURS,
    SOURCE,
    WEIGHT_COLOURS,
    colour_limit,
    ink_on,
    white_text,
)
from attention.charts.parts import (
    DATA,
    NUMBERS_UP_TO,
    Chart,
    axis_look,
    compiled,
    exact,
    gist,
    label_axis,
    short,
    with_gist,
    with_values,
)


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
    spec = _heatmap_spec(numbers, kind, step > 16, titles, tuple(band is not None for band in bands))
    spec = spec | _heatmap_look(spec["config"], step, colours)
    labels = {"row_labels": list(rows), "col_labels": list(columns)}
    spec = with_values(spec, font_size=max(9, round(step * 0.28)), **labels)
    what = f"Matrix of {len(rows)} × {len(columns)} numbers."
    return Chart(with_gist(data, _largest(matrix, rows, columns)), spec, what)


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
    return Chart(with_gist(data, f"{words}."), chart.spec, f"Mask of {len(rows)} queries.")


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
    spec = with_values(spec, names=list(names), row_labels=list(rows), col_labels=list(columns))
    return Chart(data, spec, f"Panels of {len(matrices)} matrices of weights: {', '.join(names[:12])}.")


def _largest(matrix, rows, columns):
    """The gist of a matrix: each row's largest entry."""
    shown = [
        f"{name}: largest {short(values.max())} at {columns[int(values.argmax())]}"
        for name, values in zip(rows[:8], matrix, strict=False)
    ]
    more = f"; and {len(rows) - 8} more rows" if len(rows) > 8 else ""
    return "; ".join(shown) + more + "."


@lru_cache(maxsize=512)
def _heatmap_spec(numbers, kind, wide, titles, banded=(False, False)):
    cell = alt.selection_point(  # a double click must not clear it: that would take back clicks on other cells
        name="cell", fields=["row", "col"], on="mousedown", clear=False, toggle="true", empty=False
    )
    gaps = alt.Scale(paddingInner=0.06, paddingOuter=0.03)
    base = alt.Chart(DATA).encode(
        x=alt.X(
            "col:O",
            scale=gaps,
            title=titles[1] or None,
            axis=label_axis("col_labels", orient="top", labelAngle=-35 if wide else -90),
        ),
        y=alt.Y("row:O", scale=gaps, title=titles[0] or None, axis=label_axis("row_labels")),
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
        shape=diagonals, stroke=CROSS, strokeWidth=1, opacity=0.55, aria=False
    )
    layers = [rect, cross]
    if numbers:
        low, high = white_text(kind)
        white = f"!({grey}) && (datum.fill < {low} || datum.fill > {high})"
        layers.append(
            base.mark_text(aria=False, fontSize=alt.ExprRef("font_size")).encode(
                text="text:N",
                color=alt.when(white).then(alt.value("#ffffff")).otherwise(alt.value("#000000")),
            )
        )
    layers += [gist()]
    layers += [mark for axis, shown in enumerate(banded) if shown for mark in _strip(base, axis)]
    named = alt.layer(*layers).transform_calculate(
        row_name="row_labels[datum.row]",
        col_name="col_labels[datum.col]",
        said="datum.row_name + ', ' + datum.col_name + ': ' + datum.exact",
    )
    if any(banded):
        named = named.resolve_scale(color="independent")
    return compiled(
        named.add_params(
            cell,
            *(alt.param(name=name, value=[]) for name in ("row_labels", "col_labels")),
            alt.param(name="font_size", value=12),
        ).properties(autosize="pad")
    )


def _heatmap_look(config, step, colours):
    """What depends on the size of a cell and on the axes' colours: beside the description, which serves for all."""
    look = {
        "axisX": axis_look(step, colours[1]),
        "axisY": axis_look(step, colours[0]),
        "point": {"size": (0.8 * step) ** 2},
    }
    return {"width": {"step": step}, "height": {"step": step}, "config": config | look}


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
    ink = alt.Scale(domain=colours.domain, range=[ink_on(colour) for colour in CATEGORIES])
    block = first.mark_rect(aria=False).encode(
        **{across: at(4), f"{across}2": at(20)}, color=alt.Color(f"{name}_colour:N", scale=colours, legend=None)
    )
    number = first.mark_text(aria=False, fontSize=11).encode(
        **{across: at(12)}, text=f"{name}_band:N", color=alt.Color(f"{name}_colour:N", scale=ink, legend=None)
    )
    return block, number


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
    return compiled(
        alt.layer(rect.add_params(picked), frame, name)
        .add_params(*texts)
        .properties(width=per_line * wide * cell, height=lines * high * cell, autosize="pad")
    )
