"""The real heads through Streamlit; numbers recomputed with plain NumPy, or as measured on the model itself."""

import numpy as np
import pytest
from test_all_pages import healthy

from attention.recordings import DATA, PAIRS, SENTENCES

PATH, PART = "pages/multi_head.py", "Heads of a real model"
CLOSER = ("Values", "One word changed", "Two heads", "Heads off", "Beware")


def words(app):
    return " ".join(element.value for element in [*app.markdown, *app.caption])


@pytest.fixture
def opened(open_page):
    return lambda **query: open_page(PATH, part=PART, **query)


def plain_weights(sentence, layer, head):
    with np.load(DATA / f"{sentence}.npz") as file:
        query, key = (file[name][layer, head].astype(float) for name in ("query", "key"))
    powers = np.exp(query @ key.T / np.sqrt(32))
    return powers / powers.sum(axis=1, keepdims=True)


def test_it_to_animal_is_found_at_once(opened):
    app = opened()
    healthy(app)
    assert "`it` looks at `animal`" in words(app)
    (take,) = (button for button in app.button if "Take the highest" in button.label)
    assert "layer 5, head 11" in take.label
    take.click().run()
    healthy(app)
    assert "row `it`, column `animal`: **0.64" in words(app)  # 0.647 in the model itself


def test_numbers_are_recomputed_from_what_was_recorded(opened):
    app = opened(layer=3, head=1, sentence=SENTENCES["bank"])
    expected = plain_weights("bank", 3, 1)[7, 2]
    assert "row `its`, column `bank`" in words(app)
    (shown,) = (text.value for text in app.markdown if text.value.startswith("**Weights $A$**, row"))
    assert float(shown.rsplit("**", 2)[1]) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_every_sentence_asks_for_its_own_pair(opened, sentence):
    app = opened()
    app.selectbox(key="sentence").set_value(sentence).run()
    healthy(app)
    asks, asked = PAIRS[sentence]
    assert f"`{asks}` looks at `{asked}`" in words(app)


@pytest.mark.parametrize("closer", CLOSER)
@pytest.mark.parametrize("causal", ["true", "false"])
def test_every_part(opened, closer, causal):
    for head in (0, 11):
        healthy(opened(closer=closer, causal=causal, layer=5, head=head, layer2=0, head2=0))


def test_the_first_token_is_a_place_to_rest(opened):
    app = opened(closer="Values", sentence=SENTENCES["cat_mat"], layer=4, head=5)
    weights = plain_weights("cat_mat", 4, 5)
    with np.load(DATA / "cat_mat.npz") as file:
        norms = np.linalg.norm(file["value"][4, 5].astype(float), axis=-1)
    assert f"give `[CLS]` **{weights[1:-1, 0].mean():.3f}**" in words(app)
    assert f"is **{norms[0] / norms[1:-1].mean():.1%}** as long" in words(app)
    (go,) = (button for button in opened(closer="Values").button if "looks most at [CLS]" in button.label)
    assert "layer 4, head 5" in go.label


def test_meaning_is_not_followed(opened):
    """As measured with the model: 6 of 72 heads are right on both animal sentences, none on the trophy ones."""
    app = opened(closer="One word changed", layer=5, head=11)
    assert "**tired / wide**: the look does not change. Of all 72 heads, **6** look more" in words(app)
    assert "**big / small**: the look does not change. Of all 72 heads, **0** look more" in words(app)


def test_special_tokens_left_out(opened):
    app = opened(layer=5, head=11, plain="true")
    healthy(app)
    assert "Rows are **not renormalised**" in words(app)
    app.toggle(key="renormalise").set_value(True).run()
    healthy(app)
    assert "Rows are **renormalised**" in words(app)


def test_a_head_beside_itself(opened):
    app = opened(closer="Two heads", layer=1, head=8)
    assert "same keys: **1.000**" in words(app)
    assert "(Jensen–Shannon): **0.000**" in words(app)


def test_heads_off(opened):
    app = opened(closer="Heads off", layer=2)
    for head in range(12):
        app.toggle(key=f"real_on{head}").set_value(False)
    app.run()
    healthy(app)
    assert "1.000 on average" in words(app)  # nothing is left of the joined output


def test_the_causal_mask_hides_the_future(opened):
    app = opened(causal="true", row=1, col=2)
    assert "row `the`, column `animal`: **0**" in words(app)
    assert "trained without a mask" in words(app)


@pytest.mark.parametrize(
    "query",
    [
        {"sentence": "x"},
        {"asks": "nobody"},
        {"layer": 6},
        {"head": "inf"},
        {"find": "?"},
        {"layer2": "-1", "closer": "Two heads"},
        {"closer": "x"},
        {"row": 99, "col": 99},
    ],
)
def test_addresses_that_make_no_sense(opened, query):
    app = opened(**query)
    healthy(app)
    assert "`it` looks at `animal`" in words(app)


@pytest.mark.parametrize("find", ["the first token", "the token before", "the same word elsewhere", "itself"])
def test_every_pattern_beside_chance(opened, find):
    app = opened(find=find)
    app.session_state["more_ranking"] = True
    app.run()
    healthy(app)
    assert "Would chance do it?" in words(app)


def test_predictions(opened):
    app = opened(layer=5, head=11)
    weights = plain_weights("animal_tired", 5, 11)[1:-1]
    app.number_input(key="q_special_guess").set_value(float(weights[:, [0, -1]].sum(axis=1).mean()))
    app.button(key="FormSubmitter:q_special-Check").click().run()
    assert app.success[0].value.startswith("Right")
