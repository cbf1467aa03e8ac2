"""Where a number came from: the formula of one cell, with the cell's own numbers in it.

Matrices go by their names in `AttentionSteps`, with X, W_Q, W_K, W_V, W_O and others beside them; cells are
counted from 0, as in code. Formulas are LaTeX and hold nothing but numbers and the field's letters.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

SYMBOLS = {
    "X": "X",
    "W_Q": "{W_Q}",
    "W_K": "{W_K}",
    "W_V": "{W_V}",
    "W_O": "{W_O}",
    "query": "Q",
    "key": "K",
    "value": "V",
    "scores": "S",
    "scaled_scores": r"\hat S",
    "masked_scores": r"\tilde S",
    "weights": "A",
    "renormalised": "A'",
    "output": "O",
    "concatenated": "C",
    "projected": "Y",
    "all_queries": r"Q^{\text{all}}",
    "all_keys": r"K^{\text{all}}",
    "all_values": r"V^{\text{all}}",
    "viewed": "Z",
    "norm_weights": "N",
    "weight_row": "a",
    "jacobian": "J",
    "query_table": r"{W_Q^\top}",
    "key_table": r"{W_K^\top}",
    "match": "M",
    "unmasked_weights": r"{A^0}",
    "zeroed": r"{A^0_{\text{zeroed}}}",
    "slip_scores": r"{\tilde S^\times}",
    "slip_weights": r"{A^\times}",
}
# Matrix products: name -> (left, right, whether the right one is transposed, that is: row meets row).
PRODUCTS = {
    "query": ("X", "W_Q", True),
    "key": ("X", "W_K", True),
    "value": ("X", "W_V", True),
    "scores": ("query", "key", True),
    "output": ("weights", "value", False),
    "projected": ("concatenated", "W_O", True),
    "match": ("query_table", "key_table", True),
    "all_queries": ("X", "W_Q", True),
    "all_keys": ("X", "W_K", True),
    "all_values": ("X", "W_V", True),
}
# Softmaxes: name -> the scores whose rows it takes.
SOFTMAXES = {
    "weights": "masked_scores",
    "unmasked_weights": "scaled_scores",
    "slip_weights": "slip_scores",
}
DECIMALS = 4
TERMS = 6  # longer sums are folded: the first four terms, and the rest in one number


@dataclass(frozen=True)
class Explanation:
    """How one cell was computed.

    `formula`: lines of LaTeX, the general rule first; `note`: what rounding does, in words, or "";
    `sources`: the cells it came from, as (matrix, row, column), None for a whole row or column.
    """

    formula: tuple[str, ...]
    note: str = ""
    sources: tuple[tuple[str, int | None, int | None], ...] = ()


def explain(matrices, name, row, column, *, scale=None, copies=None):
    """The Explanation of cell (row, column) of matrices[name]; None for a matrix that is an input.

    `matrices` maps names to 2-D arrays and holds all that the cell came from; `scale` is what scores were
    multiplied by. `copies` names the matrices that only hold numbers of other ones: name -> a function from
    (row, column) to where that cell came from, (matrix, its LaTeX symbol, row, column). Raises IndexError for a
    cell outside of the matrix.
    """
    matrix = matrices[name]
    if not (0 <= row < matrix.shape[0] and 0 <= column < matrix.shape[1]):
        raise IndexError(f"cell ({row}, {column}) of {name} with shape {matrix.shape}")
    if copies and name in copies:
        return _copied(matrix[row, column], name, row, column, *copies[name](row, column))
    if name in PRODUCTS and PRODUCTS[name][1] in matrices:
        return _product(matrices, name, row, column)
    if name == "scaled_scores" and "scores" in matrices:
        return _scaled(matrices["scores"][row, column], matrix[row, column], scale, row, column)
    if name == "masked_scores":
        return _masked(matrices["scaled_scores"][row, column], matrix[row, column], row, column)
    if name == "jacobian":
        return _moved(matrices["weight_row"][0], matrix[row, column], row, column)
    if name == "norm_weights":
        return _norm_weight(matrices["weights"][row, column], matrices["value"][column], row, column)
    if name == "slip_scores":
        return _slipped(matrices["scaled_scores"][row, column], matrix[row, column], row, column)
    if name == "zeroed":
        return _zeroed(matrices["unmasked_weights"][row, column], matrix[row, column], row, column)
    if name == "renormalised":
        source = "unmasked_weights" if "unmasked_weights" in matrices else "weights"
        return _renormalised(source, matrices[source][row], matrix[row], row, column)
    if SOFTMAXES.get(name) in matrices:
        return _softmax(name, matrices[SOFTMAXES[name]][row], matrix[row], row, column)
    return None


def marks(name, shape, selected, explanation):
    """What `charts.heatmap` marks in the matrix `name`, an int array of `shape`.

    2 at the `selected` cell (name, row, column), 1 at the cells which it came from, 0 elsewhere.
    """
    marks = np.zeros(shape, dtype=int)
    for source, row, column in explanation.sources if explanation else ():
        if source == name:
            marks[slice(None) if row is None else row, slice(None) if column is None else column] = 1
    if selected and selected[0] == name:
        marks[selected[1], selected[2]] = 2
    return marks


def _product(matrices, name, row, column):
    left, right, transposed = PRODUCTS[name]
    ours = matrices[left][row]
    theirs = matrices[right][column] if transposed else matrices[right][:, column]
    cell = rf"{SYMBOLS[name]}_{{{row},{column}}}"
    index = rf"{SYMBOLS[right]}_{{{column},t}}" if transposed else rf"{SYMBOLS[right]}_{{t,{column}}}"
    factors = [rf"{_factor(a)} \cdot {_factor(b)}" for a, b in zip(ours, theirs, strict=True)]
    products, total = [shown(a * b) for a, b in zip(ours, theirs, strict=True)], shown(ours @ theirs)
    factors, products = _fold(factors, products, total)
    lines = [rf"{cell} = \sum_t {SYMBOLS[left]}_{{{row},t}}\, {index}", "= " + " + ".join(factors)]
    if len(products) > 1:
        lines.append("= " + " + ".join(map(_factor, products)))
    lines.append(f"= {latex(total)}")
    sources = ((left, row, None), (right, column, None) if transposed else (right, None, column))
    return Explanation(tuple(lines), _rounding([*ours, *theirs], products, total), sources)


def _copied(number, name, row, column, source, symbol, from_row, from_column):
    formula = rf"{SYMBOLS[name]}_{{{row},{column}}} = {symbol}_{{{from_row},{from_column}}} = {latex(shown(number))}"
    off = symbol.startswith("0")
    note = "This head is switched off." if off else "Copied as it is: splitting and joining compute nothing."
    return Explanation((formula,), note, ((source, from_row, from_column),))


def _norm_weight(weight, value, row, column):
    length = np.linalg.norm(value)
    lines = (
        rf"N_{{{row},{column}}} = A_{{{row},{column}}} \, \lVert V_{{{column}}} \rVert",
        rf"= {latex(shown(weight))} \cdot {latex(shown(length))} = {latex(shown(weight * length))}",
    )
    sources = (("weights", row, column), ("value", column, None))
    return Explanation(lines, _rounding([weight, length], [], ""), sources)


def _moved(weights, slope, row, column):
    """How weight `row` of a row of weights moves with score `column`: an entry of the softmax Jacobian."""
    ours, theirs = _factor(weights[row]), _factor(weights[column])
    same = row == column
    lines = (
        rf"J_{{{row},{column}}} = \frac{{\partial a_{{{row}}}}}{{\partial \hat S_{{{column}}}}}",
        rf"= a_{{{row}}} \left({'1 - ' if same else '0 - '}a_{{{column}}}\right)",
        rf"= {ours} \cdot \left({'1' if same else '0'} - {theirs}\right) = {latex(shown(slope))}",
    )
    sources = (("weight_row", 0, row), ("weight_row", 0, column))
    return Explanation(lines, _rounding([weights[row], weights[column], slope], [], ""), sources)


def _scaled(score, value, scale, row, column):
    formula = rf"\hat S_{{{row},{column}}} = S_{{{row},{column}}} \cdot {latex(shown(scale))} = "
    formula += rf"{_factor(score)} \cdot {latex(shown(scale))} = {latex(shown(value))}"
    return Explanation((formula,), _rounding([score, scale, value], [], ""), (("scores", row, column),))


def _masked(score, value, row, column):
    cell = rf"\tilde S_{{{row},{column}}}"
    kept = rf"{cell} = \hat S_{{{row},{column}}} = {latex(shown(value))}"
    if value == score:
        return Explanation((kept,), sources=(("scaled_scores", row, column),))
    bias = "-\\infty" if np.isneginf(value) else latex(shown(value - score))
    added = rf"{cell} = {latex(shown(score))} + ({bias}) = {latex(shown(value))}"
    return Explanation((added,), sources=(("scaled_scores", row, column),))


def _slipped(score, value, row, column):
    cell = rf"{SYMBOLS['slip_scores']}_{{{row},{column}}}"
    if value == score:
        formula = rf"{cell} = \hat S_{{{row},{column}}} = {latex(shown(value))}"
    else:
        formula = (
            rf"{cell} = {latex(shown(value))} \text{{ in place of }} "
            rf"\hat S_{{{row},{column}}} = {latex(shown(score))}"
        )
    return Explanation((formula,), sources=(("scaled_scores", row, column),))


def _zeroed(weight, kept, row, column):
    factor, result = int(kept == weight), latex(shown(kept))
    cell, source = (rf"{SYMBOLS[name]}_{{{row},{column}}}" for name in ("zeroed", "unmasked_weights"))
    lines = (rf"{cell} = {factor} \cdot {source} = {factor} \cdot {latex(shown(weight))} = {result}",)
    return Explanation(lines, sources=(("unmasked_weights", row, column),))


def _softmax(name, scores, weights, row, column):
    letter, source = SYMBOLS[name], SYMBOLS[SOFTMAXES[name]]
    cell, sources = rf"{letter}_{{{row},{column}}}", ((SOFTMAXES[name], row, None),)
    if np.isnan(weights[column]):
        note = "Softmax takes the row's largest number off each, and infinity less infinity is no number (NaN)."
        return Explanation((rf"{cell} = \text{{NaN}}",), note, sources)
    if np.isneginf(scores).all():
        note = "Every key of this row is masked, so there is nothing to share: the row is zero by definition."
        return Explanation((f"{cell} = 0",), note, sources)
    peak = scores.max() if np.abs(scores[np.isfinite(scores)]).max(initial=0) > 20 else 0.0
    powers = [rf"e^{{{latex(shown(score - peak))}}}" for score in scores]
    exps = np.exp(scores - peak)
    terms, total = [shown(power) for power in exps], shown(exps.sum())
    shown_powers, shown_terms = _fold(powers, terms, total)
    shift = rf" - {_factor(peak)}" if peak else ""
    lines = (
        rf"{cell} = \frac{{e^{{{source}_{{{row},{column}}}{shift}}}}}"
        rf"{{\sum_t e^{{{source}_{{{row},t}}{shift}}}}}",
        rf"= \frac{{{powers[column]}}}{{{' + '.join(shown_powers)}}}",
        rf"= \frac{{{latex(terms[column])}}}{{{' + '.join(map(latex, shown_terms))}}}",
        rf"= \frac{{{latex(terms[column])}}}{{{latex(total)}}} = {latex(shown(weights[column]))}",
    )
    note = _rounding(exps, shown_terms, total)
    if peak:
        largest = "The row's largest score is taken off each score first: the weights stay the same, and no power"
        note = f"{largest} overflows. {note}"
    return Explanation(lines, note, sources)


def _renormalised(source, weights, kept, row, column):
    """`kept` is `weights` without some keys, made to sum to 1 again: it is 0 where nothing is added."""
    letter, sources = SYMBOLS[source], ((source, row, None),)
    cell = rf"{letter}'_{{{row},{column}}}"
    if np.isnan(kept[column]):
        return Explanation((rf"{cell} = \frac{{0}}{{0}}",), "Nothing is left of this row to divide by.", sources)
    added = [shown(weight) for weight in weights[kept > 0]]
    if not kept[column]:
        return Explanation((f"{cell} = 0",), "This key is left out, or had no weight.", sources)
    total = shown(weights[kept > 0].sum())
    sum_shown, terms = _fold(list(map(latex, added)), added, total)
    lines = (
        rf"{cell} = \frac{{{letter}_{{{row},{column}}}}}{{\sum_{{t \text{{ kept}}}} {letter}_{{{row},t}}}}",
        rf"= \frac{{{latex(shown(weights[column]))}}}{{{' + '.join(sum_shown)}}}",
        rf"= \frac{{{latex(shown(weights[column]))}}}{{{latex(total)}}} = {latex(shown(kept[column]))}",
    )
    return Explanation(lines, _rounding(weights[kept > 0], terms, total), sources)


def _fold(texts: Sequence[str], terms: Sequence[str], total: str):
    """Both lists, shortened alike; the number that stands for the rest makes the terms add up to `total`."""
    if len(terms) <= TERMS or not Decimal(total).is_finite():
        return list(texts), list(terms)
    kept = TERMS - 2
    rest = (Decimal(total) - sum(map(Decimal, terms[:kept]))).normalize()
    folded = rf"\underbrace{{{_factor(f'{rest:f}')}}}_{{\text{{{len(terms) - kept} more}}}}"
    return [*texts[:kept], folded], [*terms[:kept], f"{rest:f}"]


def _rounding(numbers, terms, total):
    if all(Decimal(shown(number)) == Decimal(float(number).__repr__()) for number in numbers):
        return ""
    note = f"Numbers are shown with {DECIMALS} decimals and computed with all of them"
    gap = Decimal(total) - sum(map(Decimal, terms)) if terms and Decimal(total).is_finite() else 0
    return f"{note}: the terms as shown miss the total by {gap:+f}." if gap else f"{note}."


def shown(number):
    """A number as formulas show it: four decimals at most, a power of ten where it is huge or tiny."""
    number = float(number)
    if not np.isfinite(number):
        return str(number)
    if number == 0 or 10.0**-DECIMALS <= abs(number) < 1e9:
        return f"{number:.{DECIMALS}f}".rstrip("0").rstrip(".")
    return f"{number:.4g}"


def latex(text):
    """A number of `shown` as LaTeX."""
    if text in ("inf", "-inf", "nan"):
        return {"inf": r"\infty", "-inf": r"-\infty", "nan": r"\text{NaN}"}[text]
    mantissa, _, exponent = text.partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def _factor(number):
    """As `latex`, negative numbers in brackets: what stands after a dot or a plus."""
    text = latex(number if isinstance(number, str) else shown(number))
    return f"({text})" if text.startswith("-") else text
