"""Numeric walkthrough through Streamlit: its numbers, its controls and their edges."""

import pytest
from test_all_pages import healthy

PATH = "pages/numeric_walkthrough.py"
STEPS = ("1 Projection", "2 Scores", "3 Scale", "4 Mask", "5 Softmax", "6 Output", "All steps")


def formulas(app):
    return " ".join(element.value for element in app.latex)


def words(app):
    return " ".join(element.value for element in [*app.markdown, *app.caption])


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("causal", ["true", "false"])
def test_every_step(open_page, step, causal):
    healthy(open_page(PATH, step=step, causal=causal))


def test_the_errata_are_lessons(open_page):
    assert "The printed lesson says 0.65 in row 1, column 2; it is 0.55." in words(open_page(PATH, step="2 Scores"))
    assert "The printed lesson" not in words(open_page(PATH, step="2 Scores", X1="2"))


def test_the_output_is_explained(open_page):
    app = open_page(PATH, step="6 Output", row="1", col="3")
    assert "0.5175" in formulas(app)


@pytest.mark.parametrize("key", ["d", "d_k", "d_v"])
@pytest.mark.parametrize("size", [1, 8])
def test_sizes(open_page, key, size):
    app = open_page(PATH, step="All steps", words="a b c d e f g h", **{key: size})
    healthy(app)


def test_one_token_attends_to_itself(open_page):
    app = open_page(PATH, words="alone", step="5 Softmax")
    healthy(app)
    assert "= 1 " in formulas(app)


def test_going_on_and_back(open_page):
    app = open_page(PATH)
    for expected in STEPS[1:]:
        next(button for button in app.button if button.label == "Next").click().run()
        healthy(app)
        assert app.get("button_group")[-1] is not None
        assert app.session_state["controls"]["step"][1] == expected
    for expected in reversed(STEPS[:-1]):
        next(button for button in app.button if button.label == "Back").click().run()
        assert app.session_state["controls"]["step"][1] == expected


@pytest.mark.parametrize(
    "preset", ["Identical tokens", "Orthogonal tokens", "One dominant token", "Random, with a seed"]
)
def test_presets(open_page, preset):
    healthy(open_page(PATH, preset=preset, step="All steps"))


def test_a_broken_matrix_is_said_and_the_page_lives(open_page):
    app = open_page(PATH, X1="1,x", step="6 Output")
    healthy(app)
    assert "row 0, column 1 is no number" in app.error[0].value
    assert app.text_area(key="X1").value == "1,x"  # nothing that the reader wrote is lost


def test_an_edited_matrix_keeps_through_sizes(open_page):
    app = open_page(PATH, X1="5,5;5,5", step="2 Scores")
    assert r"5 \cdot 5 + 5 \cdot 5" in formulas(app)
    app.number_input(key="d").set_value(1).run()
    healthy(app)
    app.number_input(key="d").set_value(4).run()
    assert r"5 \cdot 5 + 5 \cdot 5" in formulas(app)
    next(button for button in app.button if button.label == "Reset to the preset").click().run()
    assert r"1 \cdot 1 + 0.5 \cdot 0.5" in formulas(app)


def test_pickers_stay_inside_when_the_matrix_shrinks(open_page):
    app = open_page(PATH, words="a b c d e f g h", step="2 Scores", row="7", col="7")
    app.text_input(key="words").set_value("a b").run()
    healthy(app)
    assert app.number_input(key="row").value == 1


@pytest.mark.parametrize(
    ("question", "answer"),
    [("q_double", 7.72), ("q_shift", 0.4327), ("q_first", 1.0)],  # 4 · 1.93; unchanged; no choice
)
def test_predictions_are_checked(open_page, question, answer):
    app = open_page(PATH)
    submit = f"FormSubmitter:{question}-Check"
    app.number_input(key=f"{question}_guess").set_value(answer)
    app.button(key=submit).click().run()
    assert app.success[0].value.startswith("Right")
    app.number_input(key=f"{question}_guess").set_value(answer + 1)
    app.button(key=submit).click().run()
    assert app.error[0].value.startswith("Not so")


def test_taking_the_scaling_away_makes_the_rows_more_peaked(open_page):
    app = open_page(PATH)
    app.radio(key="q_scale_guess").set_value("become more peaked")
    app.button(key="FormSubmitter:q_scale-Check").click().run()
    assert app.success[0].value.startswith("Right")


@pytest.mark.parametrize(("row", "norm"), [(0, 0.0), (1, 2 * 0.50239 * 0.49761)])
def test_how_far_a_weight_can_move(open_page, row, norm):
    """Under the causal mask "cat" has one weight, 1, and "sat" two: a and 1 - a, so that the norm is 2 a (1 - a)."""
    app = open_page(PATH, step="5 Softmax", causal="true", row=row)
    app.session_state["slopes"] = True
    app.run()
    healthy(app)
    assert f"norm of the matrix is **{norm:.4f}**" in " ".join(element.value for element in app.markdown)
