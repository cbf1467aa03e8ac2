"""Charts: what is described, what is fed, and that both can be read by everybody."""

import json

import altair as alt
import numpy as np
import pytest

from attention import charts

HOSTILE = ['"', "\\", "$x$", ":red[x]", "<b>", "'); alert(1); ('", "🙂", "مرحبا", "the", "the"]


def test_the_cells_hold_the_matrix():
    chart = charts.heatmap([[0.25, 0.75], [1, 0]], ["a", "b"], ["c", "d"], "weights", marks=[[0, 2], [1, 1]])
    assert chart.data["fill"].tolist() == [0.25, 0.75, 1, 0]
    assert chart.data["text"].tolist() == ["0.25", "0.75", "1.00", "0.00"]
    assert chart.data[["row", "col"]].values.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert chart.data["mark"].tolist() == [0, 2, 1, 1]
    assert chart.alt == "Matrix of 2 × 2 numbers."
    assert gist(chart) == "a: largest 0.75 at d; b: largest 1.00 at c."


def gist(chart):
    """What a screen reader hears of the picture as a whole: once, not once for each row of the data."""
    assert chart.data["gist"].notna().tolist() == [True] + [False] * (len(chart.data) - 1)
    return chart.data["gist"].iloc[0]


@pytest.mark.parametrize(
    "draw",
    [
        lambda numbers: charts.heatmap([numbers], ["a"], ["b", "c"], "weights"),
        lambda numbers: charts.heatmap([10 * numbers], ["a"], ["b", "c"], marks=[numbers > 0.5]),
        lambda numbers: charts.mask_picture([numbers > 0.5], ["a"], ["b", "c"]),
        lambda numbers: charts.panels([[numbers]], ["head"], ["a"], ["b", "c"]),
        lambda numbers: charts.bars(numbers, ["a", "b"]),
        lambda numbers: charts.bars(100 * numbers, ["a", "b"], limit=None),
        lambda numbers: charts.histogram(numbers, 1),
        lambda numbers: charts.lines([1, 2], {"ours": numbers}),
    ],
)
def test_new_numbers_are_no_new_chart(draw):
    """A browser builds a chart anew for a new description or name, and loses what is clicked meanwhile."""
    one, other = draw(np.array([0.1, 0.9])), draw(np.array([0.7, 0.3]))
    assert (one.spec, one.alt) == (other.spec, other.alt)
    assert not one.data.equals(other.data)


def test_the_description_is_made_once_and_the_labels_are_data():
    first = charts.heatmap(np.zeros((10, 10)), HOSTILE, HOSTILE)
    second = charts.heatmap(np.ones((10, 10)), list("abcdefghij"), list("abcdefghij"))
    assert first.spec["layer"] is second.spec["layer"]
    values = {p["name"]: p.get("value") for p in first.spec["params"]}
    assert values["row_labels"] == HOSTILE
    without_values = json.dumps([first.spec["layer"], first.spec["transform"]])
    assert "alert" not in without_values


def test_masked_cells_are_crossed_and_not_coloured():
    chart = charts.heatmap([[1, -np.inf]], ["a"], ["b", "c"], mask=[[True, False]])
    assert chart.data["masked"].tolist() == [False, True]
    assert chart.data["text"].tolist() == ["1.00", "−∞"]
    assert [layer["mark"]["type"] for layer in chart.spec["layer"]] == ["rect", "point", "text", "rule"]


def test_numbers_are_left_out_where_they_do_not_fit():
    chart = charts.heatmap(np.eye(17), ["t"] * 17, ["t"] * 17)
    assert [layer["mark"]["type"] for layer in chart.spec["layer"]] == ["rect", "point", "rule"]


def test_labels_must_match():
    with pytest.raises(ValueError, match=r"2 row and 1 column labels for a matrix of \(2, 2\)"):
        charts.heatmap(np.eye(2), ["a", "b"], ["c"])


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.005, "0.01"), (-0.001, "0.00"), (99.999, "100"), (-12.346, "−12.35"), (1e308, "1e+308"), (np.nan, "NaN")],
)
def test_numbers_in_cells(number, text):
    assert charts.short(number) == text


@pytest.mark.parametrize(("largest", "limit"), [(0, 1), (0.3, 1), (1.01, 2), (999, 1000), (1200, 10_000), (3e7, 1e8)])
def test_the_colour_scale_ends_at_a_round_number(largest, limit):
    assert charts.colour_limit(np.array([[-largest, np.inf]])) == limit


@pytest.mark.parametrize("kind", ["weights", "signed"])
def test_numbers_can_be_read_on_every_fill(kind):
    low, high = charts.white_text(kind)
    for fill in np.linspace(0 if kind == "weights" else -1, 1, 333):
        ink = "#ffffff" if fill < low or fill > high else "#000000"
        assert charts.contrast(ink, charts.cell_colour(fill, kind)) >= 4.5


def test_contrast_of_black_and_white_is_21():
    assert charts.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert charts.contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)  # a well-known near miss


def test_repeated_tokens_are_told_apart():
    assert charts.indexed(["the", "cat", "the"]) == ["the", "cat", "the (2)"]


def test_lines_leave_out_what_is_not_finite():
    chart = charts.lines([1, 2, 3], {"ours": [1, np.inf, 3], "theory": [1, 2, 3]}, titles=("d_k", "variance"))
    assert len(chart.data) == 5
    assert "ours: from 1.00 to 3.00" in gist(chart)


def test_bars():
    chart = charts.bars([0.1, 0.9], ["a", "b"], title="weight")
    assert chart.data["value"].tolist() == [0.1, 0.9]
    assert (chart.alt, gist(chart)) == ("Bars of weight.", "a: 0.10; b: 0.90.")
    assert not chart.data["mark"].any()
    assert charts.bars([0.1, 0.9], ["a", "b"], marked=1).data["mark"].tolist() == [False, True]


def test_small_weights_can_be_stretched():
    weights = [[0.02, 0.0, 0.04]]
    assert charts.heatmap(weights, ["a"], ["b", "c", "d"], "weights").data["fill"].tolist() == [0.02, 0, 0.04]
    assert charts.heatmap(weights, ["a"], ["b", "c", "d"], "stretched").data["fill"].tolist() == [0.5, 0, 1]
    assert charts.heatmap([[0.0]], ["a"], ["b"], "stretched").data["fill"].tolist() == [0]


def test_amounts_start_at_zero_and_end_at_a_round_number():
    chart = charts.heatmap([[0, 3.5]], ["a"], ["b", "c"], "amounts")
    assert chart.data["fill"].tolist() == [0, 0.7]  # 3.5 of 5
    colour = chart.spec["layer"][0]["encoding"]["color"]["scale"]
    assert (colour["domain"], colour["range"]) == ([0, 1], list(charts.WEIGHT_COLOURS))


def test_the_picture_of_a_mask():
    chart = charts.mask_picture(np.array([[True, False], [False, False]]), ["a", "b"], ["x", "y"])
    assert chart.data["text"].tolist() == ["✓", "", "", ""]
    assert chart.data["masked"].tolist() == [False, True, True, True]
    assert chart.data["exact"].tolist()[:2] == ["may attend", "may not attend"]
    assert gist(chart) == "a may attend to x; b may attend to nothing."
    cell = next(param for param in chart.spec["params"] if param["name"] == "cell")
    assert cell["select"]["clear"] is False  # a double click turns a cell over twice, and forgets none


def test_no_number_has_a_fill_that_can_be_drawn():
    chart = charts.heatmap([[np.nan, 1]], ["a"], ["b", "c"], "weights")
    assert chart.data["fill"].tolist() == [0, 1] and chart.data["text"].tolist() == ["NaN", "1.00"]


def test_a_histogram_counts_everything():
    chart = charts.histogram([-9, -1, 0, 0, 2, 50], 2.05, title="scores")
    assert len(chart.data) == charts.BINS
    assert chart.data.share.sum() == pytest.approx(1)
    assert chart.data.share.iloc[0] == pytest.approx(1 / 6)  # -9, outside, in the first bar
    assert chart.data.share.iloc[-1] == pytest.approx(2 / 6)  # 2 and 50
    assert chart.data.share.iloc[charts.BINS // 2] == pytest.approx(2 / 6)
    assert gist(chart).startswith("6 numbers: mean 7.00")


def test_text_is_light_on_a_dark_page():
    chart = charts.bars([1], ["a"])
    colours = [
        {p["name"]: p["value"] for p in spec["params"]}["ink"] for spec in (chart.spec, charts.on_dark(chart).spec)
    ]
    assert charts.contrast(colours[0], "#ffffff") > 7
    assert charts.contrast(colours[1], "#0e1117") > 7
    assert charts.on_dark(charts.lines([1, 2], {"a": [1, 2]})).spec  # which has no text of its own


@pytest.mark.parametrize(
    "chart",
    [
        charts.heatmap(np.eye(2), ["a", "b"], ["c", "d"], bands=([0, 0], [0, 1])),
        charts.heatmap(np.eye(17), ["t"] * 17, ["t"] * 17, "weights", mask=np.eye(17, dtype=bool), step=10),
        charts.mask_picture(np.eye(2), ["a", "b"], ["c", "d"], titles=("query", "key")),
        charts.panels(np.ones((3, 1, 2)), ["h"] * 3, ["a"], ["b", "c"], marked=1),
        charts.bars([1, 2], ["a", "b"], title="weight"),
        charts.histogram([1, 2], 3, title="scores"),
        charts.lines([1, 2], {"a": [1, 2]}, titles=("x", "y"), log_x=True),
    ],
)
def test_every_description_is_valid(chart):
    alt.Chart.from_dict({**chart.spec, "data": {"name": "data"}}, validate=True)


def test_matrices_of_all_sizes_share_a_description():
    one, other = (charts.heatmap(np.eye(n), list("abcdef")[:n], list("abcdef")[:n]) for n in (2, 6))
    assert one.spec["layer"] is other.spec["layer"]
