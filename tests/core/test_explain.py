"""Explanations of cells: their numbers, read back out of the formula, give the cell."""

import re
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention import examples
from attention.explain import explain, latex, marks, shown
from attention.worked import work_through


def matrices(inputs, **options):
    steps = work_through(*inputs, **options)
    names = ("query", "key", "value", "scores", "scaled_scores", "masked_scores", "weights", "output")
    return dict(zip(("X", "W_Q", "W_K", "W_V"), inputs, strict=True)) | {n: getattr(steps, n) for n in names}, steps


TEXT, STEPS = matrices(examples.preset("text", 3, 4, 4, 4))


def test_a_score_is_written_term_by_term():
    lines = explain(TEXT, "scores", 1, 2, scale=0.5).formula
    assert lines[0] == r"S_{1,2} = \sum_t Q_{1,t}\, K_{2,t}"
    assert lines[1] == r"= 0.3 \cdot 0.6 + 0.9 \cdot 0.2 + 0.1 \cdot 0.7 + 0.4 \cdot 0.3"
    assert lines[2:] == ("= 0.18 + 0.18 + 0.07 + 0.12", "= 0.55")


def test_a_weight_is_a_power_over_a_sum():
    explanation = explain(TEXT, "weights", 0, 1)
    assert explanation.formula[1] == r"= \frac{e^{0.545}}{e^{0.965} + e^{0.545} + e^{0.54}}"
    assert explanation.formula[3] == r"= \frac{1.7246}{6.0654} = 0.2843"
    assert explanation.sources == (("masked_scores", 0, None),)
    assert "4 decimals" in explanation.note


def test_scaling_and_masking():
    assert explain(TEXT, "scaled_scores", 0, 0, scale=0.5).formula[0].endswith(r"1.93 \cdot 0.5 = 0.965")
    masked, _ = matrices(examples.preset("text", 3, 4, 4, 4), causal=True)
    assert explain(masked, "masked_scores", 0, 2).formula[0].endswith(r"0.54 + (-\infty) = -\infty")
    assert explain(masked, "masked_scores", 2, 0).formula[0].endswith("= 0.54")
    assert "e^{-\\infty}" in explain(masked, "weights", 0, 0).formula[1]


def test_a_row_with_nothing_to_attend_to_is_explained_as_zero():
    nothing = {"masked_scores": np.full((1, 2), -np.inf), "weights": np.zeros((1, 2))}
    assert explain(nothing, "weights", 0, 1).formula == ("A_{0,1} = 0",)


def test_huge_scores_do_not_overflow():
    scores = np.array([[1000.0, 999.0]])
    explanation = explain({"masked_scores": scores, "weights": np.array([[0.7311, 0.2689]])}, "weights", 0, 1)
    assert explanation.formula[3].endswith("= 0.2689") and "largest score is taken off" in explanation.note


def test_inputs_have_no_explanation_and_cells_outside_are_refused():
    assert explain(TEXT, "X", 0, 0) is None
    with pytest.raises(IndexError, match=r"\(3, 0\) of scores"):
        explain(TEXT, "scores", 3, 0)


def test_sources_and_marks():
    output = explain(TEXT, "output", 1, 3)
    assert output.sources == (("weights", 1, None), ("value", None, 3))
    assert marks("value", (3, 4), ("output", 1, 3), output).tolist() == [[0, 0, 0, 1]] * 3
    assert marks("output", (3, 4), ("output", 1, 3), output)[1].tolist() == [0, 0, 0, 2]


def numbers(line):
    """The numbers of a line of a sum, in order."""
    plain = re.sub(r" \\cdot 10\^\{(.*?)\}", r"e\1", line)
    plain = re.sub(r"\\text\{.*?\}|\\underbrace|_\{|[{}()=]", " ", plain)
    return [Decimal(part.strip()) for part in plain.split("+")]


@given(st.integers(0, 10_000), st.integers(7, 8), st.sampled_from(["scores", "output", "query"]))
def test_folded_sums_add_up_to_the_number_shown(seed, size, name):
    many, steps = matrices(examples.preset("random", size, size, size, size, seed))
    explanation = explain(many, name, 2, 3)
    shown_sum, total = numbers(explanation.formula[2]), numbers(explanation.formula[3])[0]
    assert sum(shown_sum) == total
    assert abs(float(total) - getattr(steps, name)[2, 3]) <= 5.1e-5
    assert f"{size - 4} more" in explanation.formula[1]


@given(st.floats(-1e12, 1e12))
def test_shown_is_near_and_never_zero_by_rounding(number):
    assert abs(float(shown(number)) - number) <= max(5.1e-5, 1e-3 * abs(number))
    assert (float(shown(number)) == 0) == (number == 0)


def test_latex_of_numbers():
    assert [latex(shown(x)) for x in (1e12, -2.5e-7, np.inf, -np.inf, np.nan, 0.1, 3.0)] == [
        r"1 \cdot 10^{12}",
        r"-2.5 \cdot 10^{-7}",
        r"\infty",
        r"-\infty",
        r"\text{NaN}",
        "0.1",
        "3",
    ]


def test_recorded_weights_came_with_the_file():
    assert explain({"weights": np.eye(2)}, "weights", 0, 0) is None


def test_renormalised_weights_share_what_was_kept():
    weights = np.array([[0.5, 0.2, 0.1, 0.2]])
    kept = np.array([[0, 0.4, 0.2, 0.4]])  # key 0 left out, 0.5 remain
    explanation = explain({"weights": weights, "renormalised": kept}, "renormalised", 0, 1)
    assert explanation.formula[1:] == (r"= \frac{0.2}{0.2 + 0.1 + 0.2}", r"= \frac{0.2}{0.5} = 0.4")
    assert explanation.sources == (("weights", 0, None),)
    left_out = explain({"weights": weights, "renormalised": kept}, "renormalised", 0, 0)
    assert left_out.formula == ("A'_{0,0} = 0",)
    assert "left out" in left_out.note


def masked_too_late():
    """One row of scores, its weights without a mask, and what is done to them after."""
    scores = np.log([[0.5, 0.25, 0.25]])
    return {
        "scaled_scores": scores,
        "unmasked_weights": np.array([[0.5, 0.25, 0.25]]),
        "zeroed": np.array([[0.5, 0.25, 0]]),
        "renormalised": np.array([[2 / 3, 1 / 3, 0]]),
        "slip_scores": np.array([[scores[0, 0], scores[0, 1], 0]]),
        "slip_weights": np.array([[np.nan] * 3]),
    }


def test_weights_without_a_mask_come_from_scaled_scores():
    explanation = explain(masked_too_late(), "unmasked_weights", 0, 0)
    assert explanation.sources == (("scaled_scores", 0, None),)
    assert explanation.formula[-1] == r"= \frac{0.5}{1} = 0.5"


def test_zeroed_weights_are_a_product():
    assert explain(masked_too_late(), "zeroed", 0, 1).formula[0].endswith("= 1 \\cdot 0.25 = 0.25")
    explanation = explain(masked_too_late(), "zeroed", 0, 2)
    assert explanation.formula[0].endswith("= 0 \\cdot 0.25 = 0")
    assert explanation.sources == (("unmasked_weights", 0, 2),)


def test_renormalised_weights_come_from_those_without_a_mask():
    explanation = explain(masked_too_late(), "renormalised", 0, 0)
    assert explanation.formula[-1] == r"= \frac{0.5}{0.75} = 0.6667"
    assert explanation.sources == (("unmasked_weights", 0, None),)
    nothing = masked_too_late() | {"renormalised": np.full((1, 3), np.nan)}
    assert explain(nothing, "renormalised", 0, 0).formula == (r"{A^0}'_{0,0} = \frac{0}{0}",)


def test_a_slip_says_what_it_put_in_place():
    assert explain(masked_too_late(), "slip_scores", 0, 2).formula == (
        r"{\tilde S^\times}_{0,2} = 0 \text{ in place of } \hat S_{0,2} = -1.3863",
    )
    assert "in place" not in explain(masked_too_late(), "slip_scores", 0, 0).formula[0]


def test_no_number_is_said_to_be_none():
    explanation = explain(masked_too_late(), "slip_weights", 0, 0)
    assert r"\text{NaN}" in explanation.formula[0] and "no number" in explanation.note


def test_a_jacobian_by_hand():
    """Weights ¼ and ¾: on the diagonal ¼ (1 - ¼) = 3/16, beside it -¼ · ¾."""
    rows = {"weight_row": np.array([[0.25, 0.75]]), "jacobian": np.array([[3, -3], [-3, 3]]) / 16}
    same, other = explain(rows, "jacobian", 0, 0), explain(rows, "jacobian", 0, 1)
    assert same.formula[-1] == r"= 0.25 \cdot \left(1 - 0.25\right) = 0.1875"
    assert other.formula[-1] == r"= 0.25 \cdot \left(0 - 0.75\right) = -0.1875"
    assert other.sources == (("weight_row", 0, 0), ("weight_row", 0, 1))


def test_a_copy_says_where_it_came_from_and_a_head_that_is_off_that_it_is():
    joined = {"concatenated": np.array([[1.5, 0.0]])}
    sources = {"concatenated": lambda row, column: ("output", ("O^{(0)}", r"0 \cdot O^{(1)}")[column], row, 0)}
    copied, off = (explain(joined, "concatenated", 0, column, copies=sources) for column in (0, 1))
    assert copied.formula == ("C_{0,0} = O^{(0)}_{0,0} = 1.5",) and copied.note.startswith("Copied as it is")
    assert off.formula == (r"C_{0,1} = 0 \cdot O^{(1)}_{0,0} = 0",) and off.note == "This head is switched off."
