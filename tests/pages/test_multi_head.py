"""The multi-head lesson: splitting and joining, and designed heads beside random ones."""

import math

import numpy as np
import pytest
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from test_all_pages import HOSTILE, healthy

PATH = "pages/multi_head.py"
STEPS = ("1 Project", "2 Split", "3 Attend", "4 Join", "5 Mix with W_O")
DESIGNED = {"part": "Designed heads"}
LOOKS = ("Why there", "What it brings", "Another order", "Chance")
HEADS = ("Previous token", "Subject and verb", "Similar words", "Random 1", "Random 2", "Random 3")
LONG = "The cat that ran across the street was black"


def pictures(app):
    """The data of every chart of the page, in order."""
    data = [chart.proto for chart in app.get("vega_lite_chart")]
    return [convert_arrow_bytes_to_pandas_df(p.datasets[0].data.data if p.datasets else p.data.data) for p in data]


def matrix(data):
    """The numbers of a heatmap, as its tooltips say them."""
    values = [float(text.replace("−", "-")) for text in data["exact"]]
    return np.array(values).reshape(data["row"].max() + 1, data["col"].max() + 1)


def matrices(app):
    return [matrix(data) for data in pictures(app) if "exact" in data]


def words(app):
    return " ".join(element.value for element in [*app.markdown, *app.caption])


# --- split and merge --------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("batch", ["false", "true"])
@pytest.mark.parametrize(("dim", "heads", "kv"), [(1, 1, 1), (8, 2, 2), (12, 6, 3), (16, 16, 1), (16, 8, 4), (7, 7, 7)])
def test_every_step_with_every_kind_of_head(open_page, step, batch, dim, heads, kv):
    each = "one each" if kv == heads else kv
    app = open_page(PATH, step=step, batch=batch, dim=dim, heads=heads, kv=each, h=heads - 1)
    healthy(app)
    assert app.selectbox(key="heads").value == str(heads) and app.selectbox(key="kv").options[0] == "one each"
    assert app.selectbox(key="kv").value == ("each" if kv == heads else str(kv))


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("count", [1, 2, 8, 9])
def test_few_and_many_words(open_page, step, count):
    app = open_page(PATH, step=step, words=" ".join(f"w{i}" for i in range(count)), batch="true", seq="1")
    healthy(app)
    assert any(f"{{{min(count, 8)}}}" in text.value for text in app.markdown)


@pytest.mark.parametrize("step", STEPS)
def test_every_number_at_its_edges(open_page, step):
    for key in ("dim", "h", "seed", "seq", "row", "col"):
        app = open_page(PATH, step=step, batch="true", dim="8", heads="4", kv="2")
        for edge in ("min", "max"):
            field = app.number_input(key=key)
            field.set_value(getattr(field, edge)).run()
            healthy(app)


@pytest.mark.parametrize("dim", range(1, 17))
def test_heads_are_the_divisors_of_embed_dim(open_page, dim):
    app = open_page(PATH, dim=dim)
    divisors = [str(d) for d in range(1, dim + 1) if dim % d == 0]
    assert app.selectbox(key="heads").options == divisors
    app.selectbox(key="heads").set_value(divisors[-1]).run()
    healthy(app)
    assert app.selectbox(key="kv").options == ["one each", *divisors[-2::-1]]


def test_heads_stay_multi_head_until_the_reader_wants_fewer_key_heads(open_page):
    app = open_page(PATH, dim=8)
    app.selectbox(key="heads").set_value("8").run()
    assert "share each" not in words(app)
    app.selectbox(key="kv").set_value("2").run()
    assert "4 query heads share each" in words(app)


def test_heads_that_no_longer_divide_give_way(open_page):
    app = open_page(PATH, dim=12, heads=6, kv=3)
    app.number_input(key="dim").set_value(8).run()
    healthy(app)
    assert app.selectbox(key="heads").value == "2" and app.selectbox(key="kv").value == "each"


@pytest.mark.parametrize(
    "address",
    [
        {"dim": "0"},
        {"dim": "17"},
        {"dim": "8", "heads": "3"},
        {"heads": "-1"},
        {"heads": "4", "kv": "3"},
        {"kv": "8"},
        {"h": "2"},
        {"h": "nan", "seed": "inf"},
        {"step": "6 Nothing"},
        {"of": "keys and values"},
        {"batch": "maybe", "seq": "7"},
        {"part": "Nothing"},
        {"more_sizes": "true", "sizes": "GPT", "cached": "0"},
        {"step": "5 Mix with W_O", "on0": "perhaps"},
        {"cell": "W_R", "row": "99", "col": "99"},
        {"hide": "heads,kv,dim", "heads": "5", "kv": "9", "dim": "99"},
        DESIGNED | {"text": "War and Peace", "sharp": "9", "shown": "Best"},
        DESIGNED | {"sharp": "nan", "dseed": "-3", "positions": "no"},
        DESIGNED | {"look": "Nothing", "d_cell": "W_O", "d_row": "99"},
        DESIGNED | {"look": "Another order", "order": "sideways", "shuffle": "inf"},
        DESIGNED | {"look": "Chance", "draws": "0"},
        DESIGNED | {"text": "Your own words", "kind0": "pronoun"},
        DESIGNED | {"hide": "text,shown,look,d_cell", "text": "Your own words", "own": "a b"},
    ],
)
def test_bad_addresses(open_page, address):
    healthy(open_page(PATH, **address))


def layer_of(app):
    """X, W and the product, as the first step shows them."""
    return matrices(app)


def test_the_projection_is_that_of_numpy_and_the_split_that_of_torch(torch, open_page):
    X, W_Q, everything = layer_of(open_page(PATH, dim=8, heads=4))
    np.testing.assert_allclose(everything, X @ W_Q.T, atol=1e-5)
    shown, head = matrices(open_page(PATH, step="2 Split", dim=8, heads=4, h=2))
    np.testing.assert_allclose(shown, everything, atol=1e-12)
    np.testing.assert_allclose(head, torch.from_numpy(everything).view(6, 4, 2).transpose(0, 1)[2].numpy())


def test_without_the_swap_it_is_a_view(torch, open_page):
    app = open_page(PATH, step="2 Split", dim=8, heads=4, h=2)
    app.session_state["more_view"] = True
    app.run()
    healthy(app)
    everything, _, _, viewed = matrices(app)
    assert np.array_equal(viewed, torch.from_numpy(everything).view(4, 6, 2)[2].numpy())
    # 6 tokens by 4 heads: head 2 starts at number 2 · 12 of 48, that is token 3
    assert "row 0 holds `on` (3)" in words(app) and "row 5 holds `the` (4)" in words(app)
    assert "4 of 6 rows hold another token's numbers, and the head sees 2 of 6 tokens" in words(app)


@pytest.mark.parametrize("kv", [4, 2, 1])
def test_the_whole_layer_is_that_of_torch(torch, open_page, kv):
    shape = {"dim": 8, "heads": 4, "kv": "one each" if kv == 4 else kv}
    X = torch.from_numpy(layer_of(open_page(PATH, **shape))[0])
    projected = []
    for kind, number in (("queries", 4), ("keys", kv), ("values", kv)):
        W = torch.from_numpy(layer_of(open_page(PATH, of=kind, **shape))[1])
        split = (X @ W.T).view(6, number, 2).transpose(0, 1)
        projected.append(split.repeat_interleave(4 // number, dim=0))
    output = torch.nn.functional.scaled_dot_product_attention(*projected)
    joined = output.transpose(0, 1).reshape(6, 8)
    C, W_O, Y = matrices(open_page(PATH, step="5 Mix with W_O", **shape))
    np.testing.assert_allclose(C, joined.numpy(), atol=1e-5)
    np.testing.assert_allclose(Y, (joined @ torch.from_numpy(W_O).T).numpy(), atol=1e-4)


def test_a_head_switched_off_is_zero_and_says_so(open_page):
    app = open_page(PATH, step="5 Mix with W_O", dim=8, heads=2, on0="false", cell="Joined heads C")
    healthy(app)
    C, W_O, Y = matrices(app)
    assert not C[:, :4].any() and C[:, 4:].all()
    np.testing.assert_allclose(Y, C @ W_O.T, atol=1e-4)
    assert any(r"0 \cdot O^{(0)}" in formula.value for formula in app.latex)
    assert "Copied as it is" not in words(app)
    off = open_page(PATH, step="5 Mix with W_O", dim=8, heads=2, on0="false", on1="false")
    assert not matrices(off)[2].any()
    moved = next(data for data in pictures(off) if "value" in data)
    assert moved["value"].tolist() == [1.0] * 6  # all of it is lost


def test_a_batch_holds_the_words_backwards_and_says_that_outputs_agree(open_page):
    plain = open_page(PATH, step="4 Join")
    app = open_page(PATH, step="4 Join", batch="true", seq="1")
    healthy(app)
    np.testing.assert_allclose(matrices(app)[1], matrices(plain)[1][::-1], atol=1e-5)
    assert "never see each other" in words(app)
    assert r"\textcolor{#57606a}{2} \times" in words(app)  # the batch axis, in the shapes


def test_fewer_key_heads_are_said(open_page):
    assert "2 query heads share each" in words(open_page(PATH, dim=8, heads=4, kv=2))
    assert "query heads share" not in words(open_page(PATH, dim=8, heads=4))


@pytest.mark.parametrize(("kv", "head"), [(2, 3), (1, 2), (4, 3)])
def test_a_head_shows_the_keys_of_its_group(open_page, kv, head):
    shape = {"dim": 8, "heads": 4, "kv": "one each" if kv == 4 else kv, "h": head, "of": "keys"}
    _, W, everything = layer_of(open_page(PATH, **shape))
    assert W.shape == (2 * kv, 8)
    group = head * kv // 4
    _, shown = matrices(open_page(PATH, step="2 Split", **shape))
    assert np.array_equal(shown, everything[:, 2 * group : 2 * group + 2])


def test_sizes(open_page):
    app = open_page(PATH)
    app.session_state["more_sizes"] = True
    app.run()
    table = app.dataframe[0].value
    assert set(table["parameters"][table["heads"] == table["key/value heads"]]) == {4 * 8 * 8}
    app = open_page(PATH, sizes="the lesson's text", cached="10")
    app.session_state["more_sizes"] = True
    app.run()
    healthy(app)
    table = app.dataframe[0].value
    (single,) = table[(table["heads"] == 4) & (table["key/value heads"] == 1)].to_dict("records")
    # 128 wide, heads of 32: W_Q and W_O 128 · 128, W_K and W_V 32 · 128; 32 numbers of K and of V a token
    assert single["parameters"] == 2 * 128 * 128 + 2 * 32 * 128 and single["numbers in the cache"] == 10 * 64


@pytest.mark.parametrize("words", HOSTILE)
@pytest.mark.parametrize("step", ("2 Split", "3 Attend"))
def test_hostile_words(open_page, step, words):
    healthy(open_page(PATH, step=step, words=words))


# --- designed heads ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("text", ["The cat sat on the mat", LONG, "Your own words"])
def test_every_look_at_every_head(open_page, look, head, text):
    healthy(open_page(PATH, look=look, shown=head, text=text, **DESIGNED))


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("own", ["a", "a b", "the the the", "1 2 3 4 5 6 7 8 9 10", *HOSTILE])
def test_own_words(open_page, look, own):
    healthy(open_page(PATH, look=look, text="Your own words", own=own, **DESIGNED))


@pytest.mark.parametrize("look", LOOKS)
def test_every_number_of_designed_heads_at_its_edges(open_page, look):
    app = open_page(PATH, look=look, order="shuffled", **DESIGNED)
    guesses = {field.key for field in app.number_input if field.key.endswith("_guess")}
    for key in {field.key for field in app.number_input} - guesses:
        for edge in ("min", "max"):
            field = app.number_input(key=key)
            field.set_value(getattr(field, edge)).run()
            healthy(app)
    for value in (0.0, 2.0):
        app.slider(key="sharp").set_value(value).run()
        healthy(app)
    app.toggle(key="positions").set_value(False).run()
    healthy(app)


def test_previous_token_and_its_pictures(open_page):
    app = open_page(PATH, **DESIGNED)
    high = math.exp(16 / math.sqrt(6))
    expected = np.full((6, 6), 1 / (high + 5))
    expected[0] = 1 / 6
    expected[np.arange(1, 6), np.arange(5)] = high / (high + 5)
    np.testing.assert_allclose(matrices(app)[0], expected, rtol=1e-5)
    panels = pictures(app)[0]
    assert panels["panel"].nunique() == 6 and panels["panel"][panels["mark"]].unique().tolist() == [0]
    np.testing.assert_allclose(panels["fill"][panels["panel"] == 0], expected.ravel(), rtol=1e-12)
    assert "`sat` asks for *position 1* 16.00" in words(app) and "`cat` offers *position 1* 1.00" in words(app)


def test_the_projections_of_a_head_lead_to_its_scores(open_page):
    app = open_page(PATH, shown="Subject and verb", **DESIGNED)
    weights, X, W_Q, query, W_K, key, scores, scaled = matrices(app)
    assert X.shape == (6, 12) and W_Q.shape == W_K.shape == (2, 12)
    np.testing.assert_allclose(query, X @ W_Q.T)
    np.testing.assert_allclose(key, X @ W_K.T)
    np.testing.assert_allclose(scores, query @ key.T)
    np.testing.assert_allclose(scaled, scores / math.sqrt(2), rtol=1e-5)
    powers = np.exp(scaled)
    np.testing.assert_allclose(weights, powers / powers.sum(axis=1, keepdims=True), rtol=1e-4)
    # sat asks 8 for a noun and 8 for an animal, and cat is both
    assert "8.00 · 1.00 + 8.00 · 1.00 = **16.00**" in words(app)


def test_what_a_head_brings_is_the_mix_of_features(open_page):
    app = open_page(PATH, shown="Subject and verb", look="What it brings", **DESIGNED)
    weights, value, output = matrices(app)
    np.testing.assert_allclose(output, weights @ value, atol=1e-5)
    assert output[2].round(1).tolist() == [1, 0, 0, 1, 0, 0]  # sat fetches a noun that is an animal


def test_sharpness_zero_is_even(open_page):
    app = open_page(PATH, sharp="0.0", text=LONG, shown="Random 2", **DESIGNED)
    np.testing.assert_allclose(matrices(app)[0], 1 / 9, rtol=1e-5)


@pytest.mark.parametrize("order", ["backwards", "first and last swapped", "shuffled"])
def test_another_order_changes_only_what_reads_positions(open_page, order):
    app = open_page(PATH, look="Another order", order=order, **DESIGNED)
    changes = next(data for data in pictures(app) if "value" in data)["value"]
    assert changes[0] > 0.5 and changes[1:3].max() < 1e-9 and changes[3:].min() > 0.01
    assert "Unchanged: **Subject and verb, Similar words**" in words(app)
    same_place, moved = matrices(app)
    np.testing.assert_allclose(same_place, moved)  # the previous token is the same place
    without = open_page(PATH, look="Another order", order=order, positions="false", **DESIGNED)
    changes = next(data for data in pictures(without) if "value" in data)["value"]
    assert changes.max() < 1e-9 and "nothing to go by" not in words(without)


def test_chance(open_page):
    app = open_page(PATH, look="Chance", **DESIGNED)
    table = app.table[0].value.astype(float)
    assert table.loc["All keys alike"].tolist() == [0.167, 0.167, 0.444]  # similar: 3 + 2 + 1 + 4 + 3 + 3 of 36
    assert table.loc["Previous token", "Previous token"] == pytest.approx(0.993)
    best = table.loc["Random heads, the best of 72"]
    assert (best >= table.loc[["Random 1", "Random 2", "Random 3"]].max()).all()
    few = open_page(PATH, look="Chance", draws="3", **DESIGNED).table[0].value.astype(float)
    assert (few.iloc[-1] == few.loc[["Random 1", "Random 2", "Random 3"]].max()).all()
    alone = open_page(PATH, look="Chance", text="Your own words", own="blorp", **DESIGNED)
    assert "Subject and verb: no word here has such a key." in words(alone)


def test_the_reader_says_what_their_words_are(open_page):
    app = open_page(PATH, text="Your own words", shown="Subject and verb", **DESIGNED)
    np.testing.assert_allclose(matrices(app)[0], 0.2, rtol=1e-5)  # dog, chased, ball are unknown
    app.selectbox(key="kind0").set_value("animal").run()
    app.selectbox(key="kind1").set_value("verb").run()
    healthy(app)
    assert matrices(app)[0][2, 1] > 0.99  # chased looks at dog
    kinds = {"kind0": "noun, an animal", "kind1": "verb"}
    again = open_page(PATH, text="Your own words", shown="Subject and verb", **kinds, **DESIGNED)
    assert np.array_equal(matrices(again)[0], matrices(app)[0])


def test_downloads(open_page):
    app = open_page(PATH, shown="Similar words", **DESIGNED)
    labels = [button.proto.label for button in app.get("download_button")]
    assert labels == ["This head, JSON", "Its weights, CSV"]


# --- questions --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "question", "answer"),
    [
        ({}, "q_parameters", 256),  # 4 · 8 · 8, whatever the heads
        ({}, "q_off", 48),
        (DESIGNED, "q_even", 1 / 6),
        (DESIGNED, "q_sharper", math.exp(2 * 4 / math.sqrt(6))),  # one feature shared, score 4 / √6
    ],
)
def test_predictions_are_checked(open_page, part, question, answer):
    app = open_page(PATH, **part)
    submit = f"FormSubmitter:{question}-Check"
    app.number_input(key=f"{question}_guess").set_value(answer)
    app.button(key=submit).click().run()
    assert app.success[0].value.startswith("Right")
    app.number_input(key=f"{question}_guess").set_value(2 * answer + 5)
    app.button(key=submit).click().run()
    assert app.error[0].value.startswith("Not so")


@pytest.mark.parametrize(
    ("part", "question", "answer"),
    # 6 tokens by 2 heads: head 1 starts in the middle of the memory, at token 3
    [
        ({}, "q_view", "`on`"),
        (DESIGNED, "q_back", "Previous token"),
        (DESIGNED | {"positions": "false"}, "q_back", "None of them"),
    ],
)
def test_choices_are_checked(open_page, part, question, answer):
    app = open_page(PATH, **part)
    app.radio(key=f"{question}_guess").set_value(answer)
    app.button(key=f"FormSubmitter:{question}-Check").click().run()
    assert app.success[0].value.startswith("Right")


@pytest.mark.parametrize("part", [{}, DESIGNED])
def test_three_questions_at_least(open_page, part):
    app = open_page(PATH, **part)
    assert sum("**Predict.**" in text.value for text in app.markdown) >= 3
