"""Scaling through Streamlit."""

from itertools import product
from math import sqrt

import pytest
from test_all_pages import healthy

PATH = "pages/scaling.py"
PARTS = ("Variance", "Weights", "Gradient", "The text's two rows")
ASSUMED = ("Independent, as the paper assumes", "Correlated within each vector", "Query and key alike")


def words(app):
    return " ".join(element.value for element in [*app.markdown, *app.caption, *app.warning, *app.latex])


@pytest.mark.parametrize("d_k", [1, 64, 1024])
def test_theory_is_d_k(open_page, d_k):
    app = open_page(PATH, d_k=d_k)
    healthy(app)
    assert f"theory says **{d_k}**" in words(app)
    assert not app.warning


@pytest.mark.parametrize(("part", "assumed"), list(product(PARTS, ASSUMED)))
def test_every_part_under_every_assumption(open_page, part, assumed):
    healthy(open_page(PATH, part=part, assume=assumed, corr="1.0", sigma="4.0", d_k="1024"))


def test_where_the_rule_fails(open_page):
    """ρ = ½, σ = 1, d_k = 64: 64 + 64 · 63 / 4 = 1072; divided by 64, 16.75."""
    app = open_page(PATH, assume=ASSUMED[1])
    assert "theory says **1072**" in words(app)
    assert "the variance 16.75 in theory, not 0 and 1" in words(app)
    assert "here the root is not enough" in words(app)


def test_another_deviation(open_page):
    """σ = 2 makes the variance 2⁴ · 64 = 1024, and 16 after dividing."""
    app = open_page(PATH, sigma="2.0")
    assert "theory says **1024**" in words(app)
    assert "the variance 16 in theory" in words(app)
    assert "the root is the right power" in words(app)


def test_alike_vectors_have_a_mean(open_page):
    """ρ = ½: the mean is 32, and 32 / 8 = 4 after dividing."""
    assert "dividing by √d_k the mean is 4 and the variance 1.25" in words(open_page(PATH, assume=ASSUMED[2]))


def test_the_printed_softmax_is_put_right(open_page):
    """e² / (e² + 3 √e) = 0.599; the large scores leave a gradient of nothing."""
    app = open_page(PATH, part=PARTS[3])
    assert "(0.599, 0.134, 0.134, 0.134)" in words(app)
    assert "(1.000, 0.000, 0.000, 0.000)" in words(app)
    assert "Norm of its Jacobian: **0**" in words(app)
    assert "The text prints (0.5, 0.17, 0.17, 0.17), which sums to 1.01" in words(app)


@pytest.mark.parametrize("keys", [2, 16])
@pytest.mark.parametrize("power", [0.0, 1.0])
def test_keys_and_exponents(open_page, keys, power):
    app = open_page(PATH, part="Weights", keys=keys)
    app.slider(key="power").set_value(power).run()
    healthy(app)
    app.segmented_control(key="part").set_value("gradient").run()
    healthy(app)


@pytest.mark.parametrize("seed", [0, 9999])
def test_seeds(open_page, seed):
    app = open_page(PATH)
    app.session_state["change"] = True
    app.run()
    app.number_input(key="seed").set_value(seed).run()
    healthy(app)


@pytest.mark.parametrize(
    "query",
    [{"d_k": "3"}, {"d_k": "inf"}, {"assume": "x"}, {"corr": "9"}, {"sigma": "nan"}, {"seed": "inf"}, {"power": "-1"}],
)
def test_addresses_that_make_no_sense(open_page, query):
    app = open_page(PATH, **query)
    healthy(app)
    assert "theory says **64**" in words(app)


def test_the_jacobian_explains_its_cells(open_page):
    app = open_page(PATH, part="Gradient", jac_row=1, jac_col=2)
    assert r"J_{1,2} &= \frac{\partial a_{1}}{\partial \hat S_{2}}" in words(app)


@pytest.mark.parametrize(
    ("question", "answer"), [("q_variance", 256), ("q_growth", 2), ("q_most", 1 / 4)]
)  # 4 · 64; √4; ½ (1 - ½)
def test_predictions(open_page, question, answer):
    app = open_page(PATH)
    app.number_input(key=f"{question}_guess").set_value(answer)
    app.button(key=f"FormSubmitter:{question}-Check").click().run()
    assert app.success[0].value.startswith("Right")


def test_growth_where_components_move_together(open_page):
    """ρ = 1: the deviation is σ² d_k, four times as large for four times as many components."""
    app = open_page(PATH, assume=ASSUMED[1], corr="1.0")
    app.number_input(key="q_growth_guess").set_value(sqrt(16))
    app.button(key="FormSubmitter:q_growth-Check").click().run()
    assert app.success[0].value.startswith("Right")
