"""Learning through Streamlit."""

from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from threading import Event

import pytest
import streamlit as st
from test_all_pages import healthy

from attention import learning
from attention.learning import Settings, train
from pages.shared import training

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


def test_the_button_trains_it(open_page):
    app = open_page(PATH)
    app.button(key="train_button").click().run()
    healthy(app)
    assert "After 400 steps" in words(app)
    assert "it is right in **100.0%**" in words(app)
    assert not app.warning
    assert app.query_params["train"] == "true"
    assert "train_button" not in [button.key for button in app.button]


def test_another_head_starts_elsewhere(open_page):
    app = open_page(PATH, train="true", seed=9999)
    before = words(app)
    app.button(key="another").click().run()
    healthy(app)
    assert app.number_input(key="seed").value == 0
    assert words(app) != before
    assert words(app) == words(open_page(PATH, train="true"))


@pytest.mark.parametrize("train", ["true", "false"])
def test_a_link_can_hide_the_training(open_page, train):
    app = open_page(PATH, train=train, hide="train")
    healthy(app)
    assert f"After {400 if train == 'true' else 0} steps" in words(app)
    assert not {"train_button", "another"} & {button.key for button in app.button}


def test_the_shared_link_opens_the_trained_head(open_page):
    app = open_page(PATH, train="true", step=30)
    app.session_state["share"] = True
    app.run()
    link = next(code.value for code in app.code if "train=true" in code.value)
    assert "step=30" in link


def test_a_link_opens_the_trained_head_at_its_step(open_page):
    app = open_page(PATH, train="true", step=30)
    healthy(app)
    assert "After 30 steps" in words(app)
    for step in (0, 1, 400):
        app.select_slider(key="step").set_value(step).run()
        healthy(app)
        assert f"After {step} steps" in words(app)


def test_a_hidden_step_is_kept(open_page):
    assert "After 30 steps" in words(open_page(PATH, train="true", step=30, hide="step"))


def test_leaving_and_coming_back(open_page):
    app = open_page(PATH, train="true", step=30)
    app.switch_page("pages/scaling.py").run()
    app.query_params.clear()
    app.switch_page(PATH).run()
    healthy(app)
    assert "After 30 steps" in words(app)


def test_a_page_left_while_it_runs_forgets_nothing(open_page, monkeypatch):
    app = open_page(PATH, train="true")
    app.select_slider(key="step").set_value(30).run()
    with monkeypatch.context() as patch:
        patch.setattr(training, "trained", lambda settings: st.stop())  # another run begins here, above the steps
        app.number_input(key="seed").set_value(3).run()
        assert "step" not in app.session_state["controls"]
    for path in ("pages/intuition.py", PATH):
        app.query_params.clear()  # as a link in the sidebar does
        app.switch_page(path).run()
        assert "step" in app.session_state["memory"][PATH]  # a browser's session has it from nowhere else
    healthy(app)
    assert "After 30 steps" in words(app)
    assert app.number_input(key="seed").value == 3


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("train", ["true", "false"])
def test_every_part(open_page, part, train):
    healthy(open_page(PATH, part=part, train=train))


def test_what_it_has_learnt_stands_on_the_diagonal(open_page):
    assert "**8** of 8 rows have their largest number" in words(open_page(PATH, part="W_Q and W_K", train="true"))
    assert "**8** of 8" not in words(open_page(PATH, part="W_Q and W_K"))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"dim": 1}, "a query can only prefer the largest key or the smallest"),
        ({"dim": 32}, ""),
        ({"rate": "0.001"}, "It is still learning"),
        ({"rate": "3"}, "It overshot"),
        ({"rate": "3", "dim": 32, "start": "8.0", "scaled": "false"}, "It overshot"),
        ({"rate": "0.001", "dim": 1, "start": "8.0", "scaled": "false"}, "It is stuck"),
        ({"start": "6.0", "scaled": "false"}, "where it is small, weights hardly move"),
        ({"start": "6.0"}, ""),
        ({"scaled": "false"}, ""),
    ],
)
def test_every_way_to_train(open_page, query, said):
    app = open_page(PATH, train="true", part="Scaling", **query)
    healthy(app)
    assert said in words(app)
    assert ("This run did not learn the lookup" in words(app)) == bool(said)
    assert ("need no root" in words(app)) == ("start" not in query)


def test_large_scores_need_the_root(open_page):
    """From the same start: one learns the lookup within its 400 steps, the other does not."""
    text = words(open_page(PATH, train="true", part="Scaling", start="6.0"))
    assert "divided by √d_k after" in text
    assert "not divided never" in text


@pytest.mark.parametrize("question", [0, 9])
def test_questions_at_their_ends(open_page, question):
    app = open_page(PATH, train="true", question=question)
    healthy(app)
    assert "which is right" in words(app)


@pytest.mark.parametrize(
    "query",
    [
        {"dim": "inf"},
        {"dim": 0},
        {"rate": "x"},
        {"step": "-1"},
        {"step": "nan"},
        {"step": "inf"},
        {"step": "31"},
        {"question": 99},
        {"seed": "1e9"},
        {"start": "0"},
        {"start": "inf"},
    ],
)
def test_addresses_that_make_no_sense(open_page, query):
    app = open_page(PATH, train="true", **query)
    healthy(app)
    assert "After 400 steps" in words(app)


@pytest.fixture
def finished():
    training.finished().clear()
    return training.finished()


def test_runs_are_kept_but_not_for_ever(finished, monkeypatch):
    monkeypatch.setattr(training, "RUNS", 3)
    for seed in range(5):
        training.trained(Settings(seed=seed, steps=2))
    assert [settings.seed for settings in finished] == [2, 3, 4]


def test_what_one_visitor_trained_another_finds(open_page, finished, monkeypatch):
    open_page(PATH, train="true")
    monkeypatch.setattr(learning, "train", lambda settings: iter([next(train(settings))]))
    assert "After 400 steps" in words(open_page(PATH, train="true"))


def test_nobody_waits_for_another(finished, monkeypatch):
    """One run hangs in the middle; a second of the same settings goes through, and then the first takes its."""
    settings, hanging, go_on = Settings(steps=3), Event(), Event()

    def hang(settings):
        yield from islice(train(settings), 2)
        hanging.set()
        go_on.wait(20)
        yield from islice(train(settings), 2, None)

    with ThreadPoolExecutor() as pool:
        monkeypatch.setattr(learning, "train", hang)
        first = pool.submit(training.trained, settings)
        assert hanging.wait(20)
        monkeypatch.setattr(learning, "train", train)
        second = training.trained(settings)
        assert not first.done()
        go_on.set()
        assert first.result(20) is second is finished[settings]
    assert [moment.step for moment in second] == [0, 1, 2, 3]


@pytest.mark.parametrize(("question", "answer"), [("q_count", 8 * 3 + 8 * 3 + 6 * 3 + 6 * 3), ("q_stranger", 1.0)])
def test_predictions(open_page, question, answer):
    """Four matrices with a side of d = 3; softmax always shares out all of its weight."""
    app = open_page(PATH, dim=3)
    app.number_input(key=f"{question}_guess").set_value(answer)
    app.button(key=f"FormSubmitter:{question}-Check").click().run()
    assert app.success[0].value.startswith("Right")


def test_a_trained_head_that_is_doubled_is_surer(open_page):
    """Where the right record is ahead, larger differences give it more."""
    app = open_page(PATH, train="true")
    app.radio(key="q_double_guess").set_value("grows")
    app.button(key="FormSubmitter:q_double-Check").click().run()
    assert app.success[0].value.startswith("Right")


def test_order_does_not_matter(open_page):
    app = open_page(PATH)
    app.radio(key="q_order_guess").set_value("stays the same")
    app.button(key="FormSubmitter:q_order-Check").click().run()
    assert app.success[0].value.startswith("Right")
