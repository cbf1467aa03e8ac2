"""Intuition and the first page through Streamlit."""

import pytest
from test_all_pages import healthy

from attention import lookup

PATH = "pages/intuition.py"


def words(app):
    return " ".join(element.value for element in [*app.markdown, *app.caption])


def test_sat_attends_to_cat(open_page):
    app = open_page(PATH)
    assert "`sat` attends most to `cat`" in words(app)
    assert app.selectbox(key="ask").value == 2


@pytest.mark.parametrize("distance", [1, 512])
@pytest.mark.parametrize("width", [2, 16])
def test_distances(open_page, distance, width):
    app = open_page(PATH, distance=distance)
    app.session_state["convolutions"] = True
    app.run()
    app.number_input(key="width").set_value(width).run()
    healthy(app)
    assert f"token to token: **{distance}** steps" in words(app)


def test_sharpness_at_its_ends(open_page):
    assert "with a weight of 0.167" in words(open_page(PATH, sharp="0"))
    assert "with a weight of 1.000" in words(open_page(PATH, sharp="50"))


def test_somebody_else_asks(open_page):
    app = open_page(PATH)
    for asker in range(6):
        app.selectbox(key="ask").set_value(asker).run()
        healthy(app)


def test_a_shorter_sentence_has_another_asker(open_page):
    app = open_page(PATH)
    app.selectbox(key="ask").set_value(5).run()
    app.text_input(key="words").set_value("alone").run()
    healthy(app)
    assert "`alone` attends most to `alone`, with a weight of 1.000" in words(app)


@pytest.mark.parametrize("change", lookup.WHAT_IFS.values())
def test_what_if(open_page, change):
    healthy(open_page(PATH, **{"if": change}))


def test_features_can_be_changed(open_page):
    app = open_page(PATH, F1="0,0,1,0,0;0,0,1,0,0")  # the cat becomes an article
    healthy(app)
    assert "`sat` attends most to `mat`" in words(app)


@pytest.mark.parametrize("box", ["features", "everyone", "printed"])
def test_what_is_folded_away(open_page, box):
    app = open_page(PATH)
    app.session_state[box] = True
    app.run()
    healthy(app)


@pytest.mark.parametrize(
    ("question", "answer"),
    [("q_average", 1 / 6), ("q_twice", 2 * 4.8)],  # six words; (1.6 + 3.2) doubled
)
def test_predictions(open_page, question, answer):
    app = open_page(PATH)
    app.number_input(key=f"{question}_guess").set_value(answer)
    app.button(key=f"FormSubmitter:{question}-Check").click().run()
    assert app.success[0].value.startswith("Right")


def test_the_first_page_leads_to_every_other(open_page):
    app = open_page()
    for scale in (0.0, 10.0):
        app.slider(key="scale").set_value(scale).run()
        healthy(app)
    assert len(app.get("page_link")) >= 15
