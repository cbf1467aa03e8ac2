"""Your own attention through Streamlit: files and samples, heads and filters, limits, damage, strangers."""

import io
import json
import random

import numpy as np
import pytest
from test_all_pages import HOSTILE, healthy

from attention.recordings import SENTENCES, load_recording, to_json, to_npz
from attention.uploads import MAX_TOKENS

PATH = "pages/your_own.py"
SENTENCE = SENTENCES["cat_black"]
ROWS = [[0.5, 0.2, 0.3], [0.1, 0.8, 0.1], [0.25, 0.25, 0.5]]


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def upload(app, data, name="attention.npz"):
    app.file_uploader(key="file").set_value((name, data, "application/octet-stream")).run()
    healthy(app)
    return app


def words(app):
    return "\n".join(element.value for element in [*app.markdown, *app.caption, *app.subheader])


def formulas(app):
    return " ".join(element.value for element in app.latex)


def button(app, start):
    return next(button for button in app.button if button.label.startswith(start))


def opened_all(app):
    for key in ("more_ranking", "more_sources", "more_numbers", "share", "code"):
        app.session_state[key] = True
    app.run()
    healthy(app)
    return app


# --- files and samples ------------------------------------------------------------------------------------


def test_nothing_is_open_at_first(open_page):
    app = open_page(PATH)
    healthy(app)
    assert not app.subheader
    assert [tab.label for tab in app.tabs] == ["Hugging Face", "PyTorch", "Keras"]
    assert all("np.savez_compressed" in tab.code[0].value for tab in app.tabs)


def test_one_click_opens_a_sample_and_the_address_says_so(open_page):
    app = open_page(PATH)
    button(app, "Open the sample").click().run()
    healthy(app)
    assert "Layers: **6**. Heads in each: **12**. Queries: **11**. Keys: **11**." in words(app)
    assert app.query_params["sample"] == SENTENCE
    assert button(app, "Open the sample").disabled


@pytest.mark.parametrize("sentence", SENTENCES.values())
def test_every_sample_opens_whole(open_page, sentence):
    opened_all(open_page(PATH, sample=sentence))


def test_weights_are_shown_as_they_came(open_page):
    app = upload(open_page(PATH), npz(weights=np.array(ROWS), tokens=np.array(["a", "b", "c"])))
    assert "Layers: **1**. Heads in each: **1**. Queries: **3**. Keys: **3**." in words(app)
    assert "row `a`, column `a`: **0.5**" in words(app)
    assert "An input of this page" in words(app)
    opened_all(app)
    assert "mask" not in app.session_state["controls"]  # the scores were not recorded


def test_json_and_npz_show_the_same(open_page):
    recording = load_recording("cat_mat")
    pages = [
        upload(open_page(PATH, head="2", row="2", col="1"), data, name)
        for name, data in (("a.npz", to_npz(recording)), ("b.JSON", to_json(recording)))
    ]
    assert words(pages[0]) == words(pages[1])
    assert formulas(pages[0]) == formulas(pages[1]) != ""


def test_a_file_takes_the_place_of_the_sample_and_goes_again(open_page):
    app = upload(open_page(PATH, sample=SENTENCE), npz(weights=np.array(ROWS)))
    assert "Queries: **3**" in words(app)
    app.selectbox(key="sample").set_value("cat_mat").run()
    assert "Queries: **8**" in words(app)
    app.selectbox(key="sample").set_value("own").run()
    assert "Queries: **3**" in words(app)
    app.file_uploader(key="file").clear().run()
    healthy(app)
    assert not app.subheader


def test_a_file_stays_open_while_its_reader_looks_at_another_page(open_page):
    app = upload(open_page(PATH), npz(weights=np.array(ROWS)))
    app.switch_page("pages/masking.py").run()
    app.switch_page(PATH).run()
    healthy(app)
    assert "Queries: **3**" in words(app)
    button(app, "Close the file").click().run()
    healthy(app)
    assert not app.subheader


def test_a_second_file_that_is_smaller(open_page):
    """Layer, head, cell and what is left out are those of the first file, and do not exist in the second."""
    app = open_page(PATH, sample=SENTENCES["animal_tired"])
    for key, value in {"layer": 5, "head": 11, "row": 14, "col": 14}.items():
        app.number_input(key=key).set_value(value)
    app.selectbox(key="cell").set_value("query").run()
    app.multiselect[0].set_value([14]).run()
    upload(app, npz(weights=np.array(ROWS)))
    assert "Layer 0, head 0" in words(app)
    assert app.number_input(key="row").value == 2


def test_strangers_do_not_see_each_other_s_file(open_page):
    upload(open_page(PATH), npz(weights=np.array(ROWS), tokens=np.array(["my", "own", "secret"])))
    other = open_page(PATH)
    assert not other.subheader
    assert "secret" not in words(other)
    upload(other, npz(weights=np.eye(3)))
    assert "secret" not in words(opened_all(other))


# --- the heads --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("looks_at", "layer", "head"),  # found with another program, over five sentences
    [
        ("the token before", 0, 2),
        ("the token after", 1, 8),
        ("the first token", 4, 5),
        ("the same word elsewhere", 0, 8),
    ],
)
def test_the_finder_finds_what_is_known(open_page, looks_at, layer, head):
    app = open_page(PATH, sample=SENTENCE, find=looks_at)
    button(app, f"Take the highest: layer {layer}, head {head}").click().run()
    healthy(app)
    assert f"Layer {layer}, head {head}" in words(app)


@pytest.mark.parametrize("looks_at", ["all tokens alike (entropy)", "tokens far away (reach)", "a key of your choice"])
def test_every_measure(open_page, looks_at):
    opened_all(open_page(PATH, sample=SENTENCE, find=looks_at))


def test_a_pair_is_warned_of(open_page):
    app = opened_all(open_page(PATH, sample=SENTENCE, find="a key of your choice", asks="black", asked="cat"))
    assert "`black` looks at `cat`" in words(app)
    best = app.dataframe[0].value.iloc[0]
    assert (best["layer"], best["head"]) == (5, 11)
    assert best["score"] == pytest.approx(0.488, abs=2e-3)  # as measured on the model itself, not in float16
    assert "Mind the choosing" in words(app)


def test_a_pattern_that_no_query_has(open_page):
    data = npz(weights=np.eye(2)[None, None], tokens=np.array(["a", "b"]))
    app = upload(open_page(PATH, find="the same word elsewhere"), data)
    assert "No query has a key like that" in app.info[0].value


# --- one head ---------------------------------------------------------------------------------------------


def test_left_out_and_renormalised(open_page):
    app = upload(open_page(PATH, row=0, col=1), npz(weights=np.array(ROWS), tokens=np.array(["a", "b", "c"])))
    assert "3 of 3 queries and 3 of 3 keys. Rows are **not renormalised**" in words(app)
    leave_keys = app.multiselect[1]
    leave_keys.set_value([0]).run()
    # rows keep 0.5, 0.9, 0.75
    assert "these keys hold 0.500 to 0.900, 0.717 on average. Rows are **not renormalised**" in words(app)
    app.toggle(key="renormalise").set_value(True).run()
    assert "Rows are **renormalised**" in words(app)
    app.selectbox(key="cell").set_value("renormalised").run()
    healthy(app)
    assert r"\frac{0.2}{0.2 + 0.3}" in formulas(app)
    assert r"\frac{0.2}{0.5} = 0.4" in formulas(app)
    app.toggle(key="renormalise").set_value(False).run()
    healthy(app)


def test_colours_can_be_stretched(open_page):
    app = upload(open_page(PATH, stretch="true", renormalise="true"), npz(weights=np.full((2, 2, 30, 30), 1 / 30)))
    assert "Colours are **stretched**" in words(opened_all(app))


def test_what_renormalising_magnifies_is_said(open_page):
    app = upload(open_page(PATH, renormalise="true"), npz(weights=np.array([[0.95, 0.05], [0.5, 0.5]])))
    assert "magnifies" not in words(app)
    app.multiselect[1].set_value([0]).run()
    assert "these keys hold 0.050 to 0.500" in words(app)
    assert "which magnifies what little some gave" in words(app)


def test_something_always_stays(open_page):
    app = upload(open_page(PATH), npz(weights=np.array(ROWS)))
    app.multiselect[0].set_value([0, 1, 2]).run()
    healthy(app)
    assert "leave at least one in" in "".join(warning.value for warning in app.warning)


def test_special_tokens_can_be_left_out(open_page):
    app = open_page(PATH, sample=SENTENCE, plain="true")
    healthy(app)
    assert "9 of 11 queries and 9 of 11 keys" in words(app)


@pytest.mark.parametrize(
    ("mask", "weight"),  # row 1 of ones: every visible key gets the same
    [("none", "0.25"), ("causal", "0.5"), ("window", "0.333333"), ("causal window", "0.5")],
)
def test_masks(open_page, mask, weight):
    data = npz(query=np.zeros((4, 2)), key=np.ones((4, 2)), value=np.eye(4))
    app = upload(open_page(PATH, mask=mask, width=1, row=1, col=1), data)
    assert f"column `1`: **{weight}**" in words(app)
    assert ("what-if" in words(app)) == (mask != "none")
    opened_all(app)


def test_the_scale_may_be_left_away(open_page):
    data = npz(query=np.full((1, 4), 1.0), key=np.array([[1.0] * 4, [0.0] * 4]), value=np.eye(2))
    assert "**0.880797**" in words(upload(open_page(PATH), data))  # 1 / (1 + e^-2): scores 4 and 0, halved
    assert "**0.982014**" in words(upload(open_page(PATH, scale="not at all"), data))  # 1 / (1 + e^-4)


@pytest.mark.parametrize("name", ["query", "key", "value", "scores", "scaled_scores", "masked_scores", "output"])
def test_every_matrix_is_explained(open_page, name):
    app = open_page(PATH, sample=SENTENCE)
    app.selectbox(key="cell").set_value(name).run()
    opened_all(app)


def test_predictions_are_checked(open_page):
    app = upload(open_page(PATH), npz(weights=np.array(ROWS)))
    app.number_input(key="q_without_guess").set_value(0.6)  # 0.3 of the 0.5 that are left in row 0
    app.button(key="FormSubmitter:q_without-Check").click().run()
    assert app.success[0].value.startswith("Right")


# --- limits -----------------------------------------------------------------------------------------------


def test_long_inputs_are_drawn_in_parts(open_page):
    T = 200
    app = upload(open_page(PATH), npz(weights=np.full((T, T), 1 / T)))
    assert "Drawn: queries 0 to 63, keys 0 to 63." in words(app)
    app.number_input(key="from_queries").set_value(199).run()
    app.number_input(key="from_keys").set_value(100).run()
    healthy(app)
    assert "Drawn: queries 199 to 199, keys 100 to 163." in words(app)
    opened_all(app)


@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (1, 1, 1, 300), (1, 1, 300, 1), (128, 128, 2, 2), (3, 70, 5, 17)])
def test_shapes_at_the_edges(open_page, shape):
    app = upload(open_page(PATH), npz(weights=np.full(shape, 1 / shape[-1])))
    opened_all(app)


@pytest.mark.parametrize("tokens", [1, 2, 90])
def test_queries_keys_and_values_at_the_edges(open_page, tokens):
    arrays = {name: np.ones((tokens, 100)) for name in ("query", "key", "value")}
    opened_all(upload(open_page(PATH, mask="causal window", width=0), npz(**arrays)))


def test_huge_numbers(open_page):
    arrays = {name: np.full((3, 4), 1e15) for name in ("query", "key", "value")}
    opened_all(upload(open_page(PATH), npz(**arrays)))


def test_rows_without_any_weight(open_page):
    app = upload(open_page(PATH, renormalise="true"), npz(weights=np.zeros((2, 3, 3))))
    assert "do not" in app.warning[0].value
    opened_all(app)


# --- nothing in a file is trusted -------------------------------------------------------------------------


@pytest.mark.parametrize("token", HOSTILE)
def test_hostile_tokens_are_shown_as_text(open_page, token):
    tokens = [token[:200], token[:200], "[CLS]"]
    app = upload(open_page(PATH, plain="true"), json.dumps({"weights": ROWS, "tokens": tokens}).encode(), "a.json")
    opened_all(app)
    for element in [*app.markdown, *app.caption, *app.latex, *app.subheader, *app.warning]:
        outside_of_code = element.value.split("`")[::2]
        assert not any("<script>" in text or ":red[" in text for text in outside_of_code)


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("a.npz", b"", "damaged or cut short"),
        ("a.npz", npz(weights=np.array([{}], dtype=object)), "never opened"),
        ("a.pt", b"PK", "must end in .npz or .json"),
        ("a" * 5000, b"", "must end in .npz or .json"),
        ("a.json", b"[" * 5000, "nested too deeply"),
        ("a.json", b'{"weights": [[NaN]]}', "only finite numbers"),
        ("a.json", b'{"weights": [[-1]]}', "negative numbers"),
        ("a.npz", npz(weights=np.eye(MAX_TOKENS + 1)), "at most 1,024 are allowed"),
    ],
    ids=["empty", "objects", "other", "endless name", "deep", "NaN", "negative", "long"],
)
def test_what_is_wrong_is_said_and_the_page_lives(open_page, name, data, sentence):
    app = upload(open_page(PATH), data, name)
    assert sentence in app.error[0].value
    upload(app, npz(weights=np.array(ROWS)))
    assert not app.error
    assert "Queries: **3**" in words(app)


def test_damaged_files_meet_plain_sentences_only(open_page):
    """The core meets 500; these show that the page passes on what it says, in one session that goes on."""
    rng, app = random.Random(7), open_page(PATH)
    originals = [
        ("a.npz", to_npz(load_recording("cat_mat"), np.float16)),
        ("a.npz", npz(weights=np.array(ROWS))),
        ("a.json", json.dumps({"weights": ROWS, "tokens": ["a", "b", "c"]}).encode()),
    ]
    for _ in range(40):
        name, data = rng.choice(originals)
        damaged = bytearray(data)
        for _ in range(rng.randint(1, 8)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        upload(app, bytes(damaged[: rng.choice((len(damaged), rng.randrange(len(damaged))))]), name)
        assert app.error or app.subheader
