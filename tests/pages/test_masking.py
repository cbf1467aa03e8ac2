"""Masking through Streamlit: every mask against PyTorch, every part, every widget at its edges."""

import numpy as np
import pytest
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from test_all_pages import HOSTILE, healthy

from attention import examples
from attention.conventions import LIBRARIES
from attention.pitfalls import SLIPS
from pages.shared.mask_editor import write

PATH = "pages/masking.py"
PARTS = (
    "Before and after",
    "Order",
    "Infinity",
    "Shift by one",
    "Slips",
    "Libraries",
    "Two sequences",
    "Pairs",
)
START = {"mask": "Causal + padding", "side": "at the start"}
MASKS = {  # name -> (address, what query i of the words and paddings may attend to, by hand)
    "causal": ({}, lambda i, j: j <= i),
    "none": ({"mask": "None"}, lambda i, j: True),
    "padding": ({"mask": "Padding"}, lambda i, j: j < 6),
    "padding at the start": ({"mask": "Padding", "side": "at the start"}, lambda i, j: j >= 2),
    "causal and padding": ({"mask": "Causal + padding"}, lambda i, j: j <= i and j < 6),
    "rows with nothing left": (START, lambda i, j: 2 <= j <= i),
    "sliding": ({"mask": "Sliding window"}, lambda i, j: i - 2 <= j <= i),
    "sliding both ways": ({"mask": "Sliding window", "left": 1, "right": 2}, lambda i, j: i - 1 <= j <= i + 2),
    "prefix": ({"mask": "Prefix"}, lambda i, j: j <= i or j < 3),
    "packed": ({"mask": "Packed documents"}, lambda i, j: i // 3 == j // 3),
    "packed, causal": (
        {"mask": "Packed documents", "inside": "true"},
        lambda i, j: i // 3 == j // 3 and j <= i,
    ),
    "hand-made": ({"mask": "Hand-made", "hand": "20 10 08 04 02 01"}, lambda i, j: i == j),
    "hand-made, with nothing left": (
        {"mask": "Hand-made", "hand": "000000 111111 000000 101010 010101 000001"},
        lambda i, j: ("000000", "111111", "000000", "101010", "010101", "000001")[i][j] == "1",
    ),
}


def numbers(app, index):
    """The matrix that the heatmap number `index` of the page shows, as its tooltips say it."""
    proto = app.get("vega_lite_chart")[index].proto
    data = convert_arrow_bytes_to_pandas_df(proto.datasets[0].data.data if proto.datasets else proto.data.data)
    read = {"∞": np.inf, "−∞": -np.inf, "may attend": True, "may not attend": False}
    values = [read[text] if text in read else float(text.replace("−", "-")) for text in data["exact"]]
    return np.array(values).reshape(data["row"].max() + 1, data["col"].max() + 1)


def words(app):
    return " ".join(element.value for element in [*app.markdown, *app.caption])


def scores_of(tokens):
    """Scaled scores of tokens, by NumPy alone."""
    features = examples.features(tokens)
    return features @ examples.LOOKS_FOR @ features.T / np.sqrt(features.shape[1])


@pytest.mark.parametrize("name", MASKS)
def test_the_weights_of_each_mask_are_those_of_pytorch(torch, open_page, name):
    address, may = MASKS[name]
    app = open_page(PATH, **address)
    healthy(app)
    size = 8 if "adding" in address.get("mask", "") else 6
    mask = np.array([[may(i, j) for j in range(size)] for i in range(size)])
    assert np.array_equal(numbers(app, 0), mask)
    tokens = examples.SENTENCE.split()
    pads = ["<pad>"] * (size - 6)
    tokens = pads + tokens if address.get("side") else tokens + pads
    scores = scores_of(tokens)
    np.testing.assert_allclose(numbers(app, 2), scores, rtol=2e-5)
    # with the identity as value, PyTorch's output is its weights; its query is made to give these scores
    value = torch.eye(size, dtype=torch.float64)
    query = torch.from_numpy(scores * np.sqrt(size))
    weights = torch.nn.functional.scaled_dot_product_attention(query, value, value, attn_mask=torch.from_numpy(mask))
    np.testing.assert_allclose(numbers(app, 1), weights.numpy(), atol=2e-6)
    np.testing.assert_allclose(numbers(app, 5), weights.numpy(), atol=2e-6)
    assert np.array_equal(np.isneginf(numbers(app, 3)), ~mask)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", MASKS)
def test_every_part_with_every_mask(open_page, part, name):
    healthy(open_page(PATH, part=part, **MASKS[name][0]))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("count", [1, 2, 16, 17, 64])
def test_every_part_with_few_and_many_words(open_page, part, count):
    app = open_page(PATH, part=part, words=" ".join(f"w{i}" for i in range(count)))
    healthy(app)
    data = numbers(app, 0)
    assert data.shape == (count, count)


@pytest.mark.parametrize("mask", ["Padding", "Causal + padding", "Sliding window", "Prefix", "Packed documents"])
@pytest.mark.parametrize("count", [1, 64])
def test_every_widget_of_a_mask_at_its_edges(open_page, mask, count):
    app = open_page(PATH, mask=mask, words=" ".join(["w"] * count))
    keys = {"pads", "left", "right", "prefix", "documents"} & {field.key for field in app.number_input}
    assert keys
    for key in keys:
        for value in (app.number_input(key=key).min, app.number_input(key=key).max):
            app.number_input(key=key).set_value(value).run()
            healthy(app)


@pytest.mark.parametrize("part", PARTS)
def test_every_number_of_a_part_at_its_edges(open_page, part):
    app = open_page(PATH, part=part, **START)
    guesses = {field.key for field in app.number_input if field.key.endswith("_guess")}
    for key in {field.key for field in app.number_input} - guesses:
        for value in (app.number_input(key=key).min, app.number_input(key=key).max):
            app.number_input(key=key).set_value(value).run()
            healthy(app)


@pytest.mark.parametrize("words", HOSTILE)
@pytest.mark.parametrize("part", ("Shift by one", "Two sequences", "Order"))
def test_hostile_words(open_page, part, words):
    healthy(open_page(PATH, part=part, words=words, target=words))


@pytest.mark.parametrize(
    "address",
    [
        {"mask": "Triangular"},
        {"mask": ""},
        {"mask": "Padding", "pads": "99"},
        {"mask": "Padding", "pads": "inf"},
        {"mask": "Sliding window", "left": "-1", "right": "nan"},
        {"mask": "Packed documents", "documents": "0"},
        {"part": "Nothing"},
        {"part": "Infinity", "keys": "9", "dtype": "float8"},
        {"part": "Shift by one", "k": "2"},
        {"part": "Slips", "slip": "none", "add": "1e308"},
        {"part": "Pairs", "T": "5000", "w": "-3", "n": "0"},
        {"part": "Libraries", "lib": "torchvision"},
        {"part": "Two sequences", "axis": "both", "pad_k": "true"},
    ],
)
def test_bad_addresses(open_page, address):
    healthy(open_page(PATH, **address))


# --- the mask made by hand --------------------------------------------------------------------------------


@pytest.mark.parametrize("hand", ["1", "10 1", "hello", "1 " * 65, "x" * 5000, "<b>", "$x$", "\u0000", "🙂"])
def test_a_bad_mask_is_said_and_nothing_is_lost(open_page, hand):
    app = open_page(PATH, mask="Hand-made", hand=hand)
    healthy(app)
    if hand != "1":
        assert "Write a row for each query" in app.error[0].value
        assert np.array_equal(numbers(app, 0), np.tri(6))
    if len(hand) < 100 and hand.isprintable():
        assert app.text_area(key="hand").value == hand


def test_a_cell_turned_over_makes_the_mask_the_readers_own(open_page):
    app = open_page(PATH, row="0", col="5")
    app.button(key="hand_turn").click().run()
    healthy(app)
    expected = np.tri(6, dtype=bool)
    expected[0, 5] = True
    assert app.text_area(key="hand").value == write(expected)
    assert np.array_equal(numbers(app, 0), expected)
    assert app.query_params["mask"] == "Hand-made"
    app.button(key="hand_turn").click().run()
    assert np.array_equal(numbers(app, 0), np.tri(6))


def test_a_click_sent_with_old_values_undoes_nothing(open_page):
    """The browser sends all that it knows; of quick clicks, the next may come before it knows of the last."""
    app = open_page(PATH, row="0", col="1", mask="Hand-made", hand="11 11", words="a b")
    for crosses in (1, 0, 1):
        app.text_area(key="hand").set_value("11 11")  # as it was before all of them
        app.button(key="hand_turn").click().run()
        assert (numbers(app, 0) == 0).sum() == crosses
    app.text_area(key="hand").set_value("11 11").run()  # by the reader
    app.button(key="hand_turn").click().run()
    assert (numbers(app, 0) == 0).sum() == 1
    healthy(app)


def test_a_mask_by_hand_keeps_through_other_words(open_page):
    app = open_page(PATH, mask="Hand-made", hand="01 10", words="a b")
    app.text_input(key="words").set_value("a b c").run()
    assert numbers(app, 0).astype(int).tolist() == [[0, 1, 0], [1, 0, 0], [1, 1, 1]]
    app.text_input(key="words").set_value("a").run()
    assert numbers(app, 0).tolist() == [[0]]
    healthy(app)


def test_a_hidden_mask_cannot_be_turned_over(open_page):
    app = open_page(PATH, hide="mask")
    healthy(app)
    assert "hand_turn" not in {button.key for button in app.button}


# --- what the parts say -----------------------------------------------------------------------------------


def test_the_order_matters_and_the_table_says_how_much(open_page):
    app = open_page(PATH, part="Order")
    table = app.table[0].value
    assert table.loc["Mask, then softmax"].tolist()[1] == "0"
    scores = scores_of(examples.SENTENCE.split())
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    sums = (weights * np.tri(6)).sum(axis=1)
    assert table.iloc[1, 0] == f"{sums.min():.6g} … 1"
    assert "leaves 5 of 6 rows with a sum below 1" in words(app) and "moves by 0: it never looks" in words(app)
    assert "hides nothing, so the three are the same" in words(open_page(PATH, part="Order", mask="None"))
    app.number_input(key="raise").set_value(1000).run()
    healthy(app)
    assert "leaves 5 of 6 rows without numbers" in words(app)
    assert "NaN" in app.table[0].value.iloc[2, 0]


def test_the_printed_row_is_put_right(open_page):
    app = open_page(PATH, part="Infinity")
    assert "0.28 0.41 0.31 0.00 for this row; it is 0.3156 0.4260 0.2584 0.0000" in words(app)
    assert "The printed lesson says" not in words(open_page(PATH, part="Infinity", keys="2"))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("keys", range(5))
def test_every_precision(open_page, dtype, keys):
    healthy(open_page(PATH, part="Infinity", dtype=dtype, keys=keys))


@pytest.mark.parametrize(("k", "said"), [("0", "fair"), ("-1", "sees nothing"), ("+1", "sees its answer")])
def test_shift(open_page, k, said):
    table = open_page(PATH, part="Shift by one", k=k).dataframe[0].value
    assert table["which is"][0] == said and table["which is"][5] == "fair"
    assert table["predicts"].tolist() == ["cat", "sat", "on", "the", "mat", "?"]
    assert (table["weight on its answer"][2] == "0") == (k != "+1")


def test_slips(open_page):
    app = open_page(PATH, part="Slips")
    names = app.selectbox(key="slip").options
    assert len(names) == len(SLIPS)
    found = {}
    for name in names:
        app = open_page(PATH, part="Slips", slip=name)
        healthy(app)
        found[name] = [metric.value for metric in app.metric]
    assert found["+∞ by a slip of sign"][1] == "5 of 6"
    assert found["−1e10 added, float64"] == ["0.000", "0 of 6", "0 of 6"]
    assert float(found["True taken for “hide”"][0]) == 1.0  # query 4 is left with one hidden key


def test_a_button_shows_the_rows_where_a_huge_number_fails(open_page):
    app = open_page(PATH, part="Slips", slip="−1e10 added, float32")
    next(button for button in app.button if button.label == "Show rows with nothing left").click().run()
    healthy(app)
    assert [metric.value for metric in app.metric][2] == "2 of 8"
    assert app.query_params["side"] == "at the start"


@pytest.mark.parametrize("library", LIBRARIES.values())
def test_libraries(open_page, library):
    app = open_page(PATH, part="Libraries", lib=library)
    healthy(app)
    if library != "Hugging Face, 0/1":
        assert "100000\n110000\n111000" in app.code[0].value


def test_two_sequences(open_page):
    app = open_page(PATH, part="Two sequences")
    weights = numbers(app, 2)
    assert weights.shape == (3, 7) and (weights[:, 6] == 0).all()
    assert "up to **0** goes to the source's padding" in words(app)
    assert "mask (1, 3)" in app.code[0].value
    wrong = open_page(PATH, part="Two sequences", axis="padded queries, by mistake")
    weights = numbers(wrong, 2)
    assert (weights[2] == 0).all() and (weights[:2, 6] > 0).all()
    silent = open_page(PATH, part="Two sequences", target="a b c d e f")
    assert "no error would warn you" in words(silent)


def test_pairs(open_page):
    app = open_page(PATH, part="Pairs", T="4096")
    table = app.table[0].value
    assert table["by formula"].tolist() == table["counted"].tolist()
    assert table.loc["Causal", "counted"] == 8_390_656


# --- questions --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("question", "answer"), [("q_pairs", 78.0), ("q_nothing", 0.0)])  # 12 · 13 / 2
def test_predictions_are_checked(open_page, question, answer):
    app = open_page(PATH)
    submit = f"FormSubmitter:{question}-Check"
    app.number_input(key=f"{question}_guess").set_value(answer)
    app.button(key=submit).click().run()
    assert app.success[0].value.startswith("Right")
    app.number_input(key=f"{question}_guess").set_value(answer + 5)
    app.button(key=submit).click().run()
    assert app.error[0].value.startswith("Not so")


@pytest.mark.parametrize(("question", "answer"), [("q_hidden", "stay the same"), ("q_answer", "position 2")])
def test_choices_are_checked(open_page, question, answer):
    app = open_page(PATH)
    app.radio(key=f"{question}_guess").set_value(answer)
    app.button(key=f"FormSubmitter:{question}-Check").click().run()
    assert app.success[0].value.startswith("Right")


def test_padding_that_is_drawn_on_stays(open_page):
    app = open_page(PATH, mask="Padding", side="at the start", row="0", col="0")
    app.button(key="hand_turn").click().run()
    healthy(app)
    expected = np.tile(np.arange(8) >= 2, (8, 1))
    expected[0, 0] = True
    assert np.array_equal(numbers(app, 0), expected)
    assert app.text_input(key="words").value == "<pad> <pad> The cat sat on the mat"
