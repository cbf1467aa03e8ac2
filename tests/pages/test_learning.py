"""Learning through Streamlit."""

import pytest
from test_all_pages import healthy

PATH = "pages/learning.py"
PARTS = ("Curves", "Questions", "W_Q and W_K", "One question", "Scaling")


def words(app):
    return " ".join(element.value for element in [*app.markdown, *app.caption, *app.warning, *app.latex])


def test_at_first_it_guesses(open_page):
    app = open_page(PATH)
    healthy(app)
    assert "After 0 steps" in words(app)
    assert "Guessing would be right in 16.7%" in words(app)
    assert "weights that are all alike have 0.200" in words(app)


def test_the_switch_trains_it(open_page):
    app = open_page(PATH)
    app.toggle(key="train").set_value(True).run()
    healthy(app)
    assert "After 400 steps" in words(app)
    assert "it is right in **100.0%**" in words(app)
    assert not app.warning


def test_a_link_opens_the_trained_head_at_its_step(open_page):
    app = open_page(PATH, train="true", step=30)
    healthy(app)
    assert "After 30 steps" in words(app)
    for step in (0, 400):
        app.slider(key="step").set_value(step).run()
        assert f"After {step} steps" in words(app)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("train", ["true", "false"])
def test_every_part(open_page, part, train):
    healthy(open_page(PATH, part=part, train=train))


def test_what_it_has_learnt_stands_on_the_diagonal(open_page):
    assert "**8** of 8 rows have their largest number" in words(open_page(PATH, part="W_Q and W_K", train="true"))
    assert "**8** of 8" not in words(open_page(PATH, part="W_Q and W_K"))


@pytest.mark.parametrize("query", [{"dim": 1}, {"dim": 32}, {"rate": "0.001"}, {"rate": "3"}, {"scaled": "false"}])
def test_every_way_to_train(open_page, query):
    app = open_page(PATH, train="true", part="Scaling", **query)
    healthy(app)
    learnt = ("dim" not in query and "rate" not in query) or query.get("dim") == 32
    assert bool(app.warning) != learnt
    assert ("This run did not learn the lookup" in words(app)) != learnt


@pytest.mark.parametrize("question", [0, 9])
def test_questions_at_their_ends(open_page, question):
    app = open_page(PATH, train="true", question=question)
    healthy(app)
    assert "which is right" in words(app)


@pytest.mark.parametrize(
    "query",
    [{"dim": "inf"}, {"dim": 0}, {"rate": "x"}, {"step": "-1"}, {"step": "nan"}, {"question": 99}, {"seed": "1e9"}],
)
def test_addresses_that_make_no_sense(open_page, query):
    app = open_page(PATH, train="true", **query)
    healthy(app)
    assert "After 400 steps" in words(app)


def test_runs_are_kept_but_not_for_ever(open_page):
    app = open_page(PATH, train="true")
    for seed in range(1, 7):
        app.session_state["seed"] = seed
        app.session_state["change"] = True
        app.run()
    assert len(app.session_state["runs"]) == 4


@pytest.mark.parametrize(("question", "answer"), [("q_before", 0.2), ("q_stranger", 1.0)])
def test_predictions(open_page, question, answer):
    """Five records share one weight; softmax always shares out all of it."""
    app = open_page(PATH)
    app.number_input(key=f"{question}_guess").set_value(answer)
    app.button(key=f"FormSubmitter:{question}-Check").click().run()
    assert app.success[0].value.startswith("Right")


def test_order_does_not_matter(open_page):
    app = open_page(PATH)
    app.radio(key="q_order_guess").set_value("stays the same")
    app.button(key="FormSubmitter:q_order-Check").click().run()
    assert app.success[0].value.startswith("Right")
