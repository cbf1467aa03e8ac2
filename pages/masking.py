"""Masking: who may attend to whom, where the mask belongs, and what goes wrong with it."""

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from attention import Linear, attention_steps, charts, conventions, examples, export, pairs, pitfalls, softmax
from attention.masks import (
    combine,
    create_causal_mask,
    packed_mask,
    padding_mask,
    prefix_mask,
    sliding_window_mask,
)
from pages.shared import cells, controls, mask_editor, quiz, shell
from pages.shared.dimensions import shape

PAGE, PAD = "pages/masking.py", "<pad>"
MOST_PADDING = 4
shell.open_page(PAGE)
st.markdown(
    "A mask says **who may attend to whom**. A query gives no weight at all to a key that is hidden from it, and "
    "shares all of it among the others."
)

# --- the words, the mask, the attention -------------------------------------------------------------------

with st.expander("Change the words", icon=":material/edit:", on_change="rerun", key="change"):
    most = charts.COLOURS_UP_TO
    tokens = controls.words(f"1 to {most} words", examples.SENTENCE, key="words", most=most)
    st.caption("Scores come from features of the words that were made by hand, or guessed: illustrative.")

MASKS = {
    "causal": "Causal",
    "none": "None",
    "padding": "Padding",
    "both": "Causal + padding",
    "sliding": "Sliding window",
    "prefix": "Prefix",
    "packed": "Packed documents",
    "hand": "Hand-made",
}
SAYS = {
    "causal": "Each token sees itself and the past: what a model needs that writes from left to right.",
    "none": "Everyone sees everyone, as in an encoder.",
    "padding": "Sequences of a batch are filled up to one length; nobody may attend to the filling.",
    "both": "Hidden is what either mask hides. With padding at the start, some queries see nothing at all.",
    "sliding": "Only the neighbourhood: the work grows with T, not with T².",
    "prefix": "The first tokens see each other both ways, the others only look back.",
    "packed": "Several documents share one sequence, and none sees another.",
    "hand": "Yours: click a cell of the picture, or write it as text.",
}


def padding(words):
    """The words with padding around them, and who may attend to whom then."""
    room = min(MOST_PADDING, charts.COLOURS_UP_TO - len(words))
    number = controls.number("Padding tokens", 0, room, min(2, room), key="pads")
    where = controls.choice("Padding stands", ("at the end", "at the start"), key="side")
    size = len(words) + number
    kept = np.broadcast_to(padding_mask(len(words), size), (size, size))
    if where == "at the start":
        return [PAD] * number + words, kept[:, ::-1]
    return words + [PAD] * number, kept


kind = controls.choice("Mask", MASKS, key="mask", names=MASKS)
T = len(tokens)
with st.container(horizontal=True, vertical_alignment="bottom"):
    match kind:
        case "none":
            mask = np.ones((T, T), bool)
        case "causal":
            mask = create_causal_mask(T)
        case "padding":
            tokens, mask = padding(tokens)
        case "both":
            tokens, mask = padding(tokens)
            mask = combine(create_causal_mask(len(tokens)), mask)
        case "sliding":
            left = controls.number("Keys to the left", 0, T, min(2, T), key="left")
            mask = sliding_window_mask(T, left, controls.number("Keys to the right", 0, T, 0, key="right"))
        case "prefix":
            mask = prefix_mask(T, controls.number("Tokens in the prefix", 0, T, min(3, T), key="prefix"))
        case "packed":
            documents = np.array_split(tokens, controls.number("Documents", 1, T, min(2, T), key="documents"))
            mask = packed_mask([len(document) for document in documents])
            if controls.switch("Causal inside each", key="inside"):
                mask = combine(create_causal_mask(T), mask)
        case "hand":
            mask = mask_editor.edit(create_causal_mask(T), key="hand")
T = len(tokens)
st.caption(SAYS[kind])

features = examples.features(tokens)
query = Linear.from_arrays(examples.LOOKS_FOR.T).forward(features)
steps = attention_steps(query, features, features, mask)


with st.container(horizontal=True):
    picture, effect = st.container(width="content"), st.container(width="content")
names = charts.indexed(tokens)
matrices = cells.standard(steps, tokens, mask=mask)
matrices["unmasked_weights"] = cells.Matrix(
    "Weights without the mask $A^0$", softmax(steps.scaled_scores), names, names, ("T_q", "T_k"), "weights"
)
board = cells.Board(matrices, scale=steps.scale, first="weights", at=(2, 1))
cell = row, column = [min(i, T - 1) for i in board.selected[1:]]
with picture:
    st.markdown(f"**The mask: {MASKS[kind].lower()}**  \n{mask.sum()} of {mask.size} pairs are left")
    mask_editor.draw(
        mask,
        tokens,
        key="hand",
        chooser="mask",
        cell=cell,
        also={"words": " ".join(tokens)},  # padding that was drawn on becomes words like others
    )
    may = "may" if mask[row, column] else "may **not**"
    st.caption(f"{shell.token(names[row])} {may} attend to {shell.token(names[column])}.")
with effect:
    board.show("weights")


# --- depth: one part at a time ----------------------------------------------------------------------------

PARTS = {  # name in the list and in the address, and what it is about
    "effect": ("Before and after", "What the mask does to scores and weights"),
    "order": ("Order", "Mask first, or softmax first?"),
    "value": ("Infinity", "How much is −∞?"),
    "shift": ("Shift by one", "What a position sees, and what it predicts"),
    "slips": ("Slips", "What goes wrong, and how it looks"),
    "code": ("Libraries", "The same mask elsewhere"),
    "two": ("Two sequences", "Who asks, who answers, and where padding belongs"),
    "count": ("Pairs", "How many pairs are left?"),
}
names_of_parts = {part: name for part, (name, _) in PARTS.items()}
part = controls.choice("Look closer", PARTS, key="part", names=names_of_parts)
st.subheader(PARTS[part][1])


def weights_of(title, array, rows=names):
    return cells.Matrix(title, array, rows, names, ("T_q", "T_k"), "weights", mask)


def scores_of(title, array):
    return cells.Matrix(title, array, names, names, ("T_q", "T_k"), mask=mask)


if part == "effect":
    st.markdown(
        "The mask works on **scores**: a hidden one becomes −∞, and $e^{-\\infty} = 0$. The softmax then "
        "shares the whole weight among the keys that are left."
    )
    board.side_by_side("scaled_scores", "masked_scores")
    board.side_by_side("unmasked_weights", "weights")

if part == "order":
    raised_by = controls.number("Raise the hidden scores by", 0, 1000, 0, key="raise")
    scores = pitfalls.raised(steps.scaled_scores, mask, raised_by)
    pipelines = {
        "weights": ("Mask, then softmax", pitfalls.masked_first),
        "zeroed": ("Softmax, then zeros", pitfalls.zeroed),
        "renormalised": ("Zeros, then divided by the sum", pitfalls.renormalised),
    }
    results = {name: pipeline(scores, mask) for name, (_, pipeline) in pipelines.items()}
    sums = {name: result.sum(axis=1) for name, result in results.items()}
    figures = st.container(horizontal=True)
    others = {
        "scaled_scores": scores_of("Scores, hidden ones raised", scores),
        "masked_scores": scores_of("Masked scores", steps.masked_scores),
        "unmasked_weights": weights_of("Weights without the mask", softmax(scores)),
    }
    order = cells.Board(
        {
            name: weights_of(
                title, results[name], [f"Σ {sums[name][i]:.2f} · {token}" for i, token in enumerate(names)]
            )
            for name, (title, _) in pipelines.items()
        }
        | others,
        at=(2, 1),
        key="o_",
    )
    for name in pipelines:
        with figures.container(width="content"):
            order.show(name)
    rows = {
        title: (
            f"{charts.exact(sums[name].min())} … {charts.exact(sums[name].max())}",
            charts.exact(np.abs(results[name] - results["weights"]).max()),
        )
        for name, (title, _) in pipelines.items()
    }
    st.table(
        pd.DataFrame.from_dict(rows, "index", columns=["rows sum to", "largest difference from masking first"])
    )
    leaks = [charts.exact(pitfalls.leak(pipeline, scores, mask)) for _, pipeline in pipelines.values()]
    lost, broken = (sums["zeroed"] < 1 - 1e-12).sum(), np.isnan(sums["renormalised"]).sum()
    if mask.all():
        st.markdown("This mask hides nothing, so the three are the same. Choose another one above.")
    else:
        st.markdown(
            f"**Zeroing** afterwards leaves {lost} of {T} rows with a sum below 1. And it leaks: a row's sum "
            "tells how large the hidden scores are. Let those rise by 1, and visible weights move by up to "
            f"{leaks[1]}.  \n**Dividing by the sum** "
            + (
                f"leaves {broken} of {T} rows without numbers: what was left of them is 0/0."
                if broken
                else "repairs both: what remains of the difference is rounding. Where it fails: raise the hidden "
                "scores by 800, and the visible weights are too small to be stored."
            )
            + f"  \n**Masking the scores** moves by {leaks[0]}: it never looks at a hidden one."
        )

if part == "value":
    st.markdown(
        "Codes hide a score by −∞, or by a number that is large enough, as they hope. Here is one row of "
        "scores, that of the printed lesson, under each rule; let **nothing** be left, and they part."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        left_keys = controls.slider("Keys that are left", 0, 4, 3, key="keys", width=300)
        dtype = controls.choice("Precision", ("float64", "float32", "float16"), key="dtype")
    row, allowed = np.array(examples.TEXT_ROW), np.arange(4) < left_keys
    hidden, weights = pitfalls.by_rule(row, allowed, np.dtype(dtype))
    figures, positions = st.container(), [f"pos {i}" for i in range(4)]
    table = {
        "slip_scores": ("What enters the softmax", hidden, "signed"),
        "slip_weights": ("Weights", weights, "weights"),
        "scaled_scores": ("The row, once for each rule", np.tile(row, (len(hidden), 1)), "signed"),
    }
    board_of_rules = cells.Board(
        {
            name: cells.Matrix(title, array, list(pitfalls.RULES), positions, ("rules", "T_k"), look, allowed)
            for name, (title, array, look) in table.items()
        },
        first="slip_weights",
        key="r_",
    )
    with figures:
        board_of_rules.side_by_side("slip_scores", "slip_weights")
    if left_keys == 3 and dtype == "float64":
        printed = " ".join(f"{number:.2f}" for number in examples.PRINTED_MASKED_ROW)
        right = " ".join(f"{number:.4f}" for number in weights[0])
        st.caption(
            f":material/fact_check: The printed lesson says {printed} for this row; it is {right}. Click a cell."
        )
    st.markdown(
        "With nothing left, plain −∞ is 0/0. A finite number written in makes all scores equal: the row "
        "becomes an average over exactly what is forbidden. Added, it falls out of the softmax again, and the "
        "row is as if there were no mask, unless the precision is too low to hold both. Zeros say what is "
        "meant: this query takes nothing."
    )

if part == "shift":
    st.markdown(
        "A language model learns to predict the **next** token at every position at once. Position t holds "
        "token t, may attend to 0 … t, and predicts token t + 1: its answer, framed below, is one to the "
        "right of the diagonal."
    )
    diagonal = controls.choice("Diagonal k of the mask: key ≤ query + k", ("0", "-1", "+1"), key="k")
    shifted = create_causal_mask(T, diagonal=int(diagonal))
    answers = [*names[1:], "?"]
    verdicts = pitfalls.shift(shifted)
    said = {"fair": "fair", "answer": "sees its answer", "nothing": "sees nothing"}
    on_answer = np.diagonal(attention_steps(query, features, features, shifted).weights, 1)
    arrows = [f"{name} → {answer}" for name, answer in zip(names, answers, strict=True)]
    mask_editor.draw(shifted, tokens, key="shift", rows=arrows, marks=np.eye(T, k=1))
    st.markdown(
        f"{verdicts.count('answer')} of {T} positions see their answer, {verdicts.count('nothing')} see "
        "nothing at all."
    )
    st.dataframe(
        pd.DataFrame(
            {
                "position": range(T),
                "holds": names,
                "may attend to": [", ".join(np.array(names)[row]) for row in shifted],
                "predicts": answers,
                "which is": [said[verdict] for verdict in verdicts],
                "weight on its answer": [*map(charts.exact, on_answer), "–"],
            }
        ),
        hide_index=True,
    )
    st.caption(
        ":material/fact_check: The printed lesson calls it cheating if position 2 sees “sat”. It holds “sat”, "
        "and sees it; what it must not see is position 3. Nor is “The” predicted from nothing: without a "
        "start token, the first prediction is the second token."
    )

SLIPS = {
    "polarity": ("True taken for “hide”", "np.where(~mask, scores, -np.inf)"),
    "ones": ("0/1 added like a bias", "scores + mask"),
    "zero": ("Hidden scores set to 0", "np.where(mask, scores, 0)"),
    "sign": ("+∞ by a slip of sign", "np.where(mask, scores, -float('-inf'))"),
    "huge64": ("−1e10 added, float64", "scores + np.where(mask, 0, -1e10)"),
    "huge32": ("−1e10 added, float32", "scores.astype('f4') + np.where(mask, 0, -1e10).astype('f4')"),
}
SLIP_SAYS = {
    "polarity": "The right matrix, read the other way round. PyTorch's function and its module differ in this.",
    "ones": "Adding 1 multiplies a visible key's share by e, and hides nobody.",
    "zero": "0 is a score like any other: $e^0 = 1$. Where the visible scores are negative, the hidden keys win: "
    "add −3 to every score.",
    "sign": "The hidden keys take everything, as ∞ − ∞: no number, in every row that hides one.",
    "huge64": "Right, as long as a row has a key left. If it has none, −1e10 is in every score, and cancels.",
    "huge32": "Right, as long as a row has a key left. If it has none, −1e10 swallowed all scores: an average.",
}

if part == "slips":
    with st.container(horizontal=True, vertical_alignment="bottom"):
        titles = {name: title for name, (title, _) in SLIPS.items()}
        slip = controls.choice("Slip", SLIPS, key="slip", widget=st.selectbox, names=titles, width=300)
        add = controls.number("Add to every score", -20, 20, 0, key="add", help="The right weights do not move.")
    st.code(f"weights = softmax({SLIPS[slip][1]})", language="python")
    scores = steps.scaled_scores + add
    wrong = pitfalls.SLIPS[slip](scores, mask)
    weights = pitfalls.plain_softmax(wrong)
    figures = st.container()
    slips = cells.Board(
        {
            "slip_weights": weights_of("Weights by this slip", weights),
            "slip_scores": scores_of("What enters the softmax", wrong),
            "weights": weights_of("Right weights", pitfalls.masked_first(scores, mask)),
            "masked_scores": scores_of("Masked scores", np.where(mask, scores, -np.inf)),
            "scaled_scores": scores_of("Scaled scores", scores),
        },
        at=(2, 1),
        key="s_",
    )
    with figures:
        slips.side_by_side("slip_weights", "weights", "slip_scores")
    bad = np.isnan(weights).any(axis=1)
    with st.container(horizontal=True):
        st.metric("Most weight on a hidden key", f"{pitfalls.left_over(weights, mask):.3f}", width="content")
        st.metric("Rows that are no numbers", f"{bad.sum()} of {T}", width="content")
        st.metric("Rows with nothing left", f"{(~mask.any(axis=1)).sum()} of {T}", width="content")
    st.markdown(SLIP_SAYS[slip])
    if slip.startswith("huge") and mask.any(axis=1).all():
        st.button(
            "Show rows with nothing left",
            icon=":material/visibility:",
            on_click=partial(controls.put, mask="both", side="at the start"),
        )

if part == "code":
    both = pd.DataFrame.from_dict(conventions.values(), "index", columns=["may attend", "may not"])
    both.index = [conventions.LIBRARIES[library] for library in both.index]
    st.table(both.map(lambda value: str(value) if isinstance(value, bool) else charts.exact(value)))
    library = controls.choice(
        "The present mask for", conventions.LIBRARIES, key="lib", names=conventions.LIBRARIES
    )
    st.code(
        conventions.code(library, mask), language="python", height=500 if T > charts.NUMBERS_UP_TO else "content"
    )

if part == "two":
    st.markdown(
        "In **cross-attention** the target asks and the source answers: queries come from one sequence, keys "
        "and values from another, and the matrix need not be square. Padding hides **keys**, the columns of "
        "the source's filling. The rows of the target's filling are computed like any other, and the loss "
        "leaves them out."
    )
    room = min(MOST_PADDING, charts.COLOURS_UP_TO - T)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        target = controls.words("Target words", "le chat", key="target", most=12, width=300)
        source_pads = controls.number("Padding in the source", 0, room, min(1, room), key="pad_k")
        target_pads = controls.number("Padding in the target", 0, MOST_PADDING, 1, key="pad_q")
        hides = controls.choice("The mask hides", ("padded keys", "padded queries, by mistake"), key="axis")
        st.toggle("Causal", disabled=True, help="Off: two sequences have no common order, so no future to hide.")
    target_tokens, source_tokens = target + [PAD] * target_pads, tokens + [PAD] * source_pads
    key_mask = padding_mask(len(tokens), len(source_tokens))
    query_mask = padding_mask(len(target), len(target_tokens))
    cross_mask = np.broadcast_to(
        key_mask if hides == "padded keys" else query_mask.T, (len(target_tokens), len(source_tokens))
    )
    source = examples.features(source_tokens)
    asked = Linear.from_arrays(examples.LOOKS_FOR.T).forward(examples.features(target_tokens))
    cross = attention_steps(asked, source, source, cross_mask)
    figures = st.container()
    crossed = cells.Board(
        cells.standard(cross, target_tokens, source_tokens, mask=cross_mask),
        scale=cross.scale,
        first="weights",
        at=(0, 1),
        key="x_",
    )
    with figures:
        crossed.side_by_side("weights", "output")
    on_padding = cross.weights[: len(target), len(tokens) :].sum(axis=1).max(initial=0)
    st.markdown(
        f"The output has a row for each **query**: {shape(('T_q', 'd_v'), cross.output.shape)}. "
        f"Of a real target word's weight, up to **{charts.exact(on_padding)}** goes to the source's padding."
    )
    if target_pads:
        st.markdown(
            f"Padding has an output too, the last row: {', '.join(map(charts.exact, cross.output[-1]))}. It is "
            "computed like any other, and means nothing."
        )
    try:
        attention_steps(asked, source, source, query_mask)
        st.caption(
            "The target's padding mask happens to fit the source's length: given by mistake, no error would "
            "warn you."
        )
    except ValueError as error:
        st.markdown("Given the target's padding mask instead of the source's, the core refuses:")
        st.code(str(error), language=None, wrap_lines=True)

if part == "count":
    with st.container(horizontal=True):
        length = controls.number("Tokens T", 1, 4096, 512, key="T")
        window = controls.number("Window: keys to the left", 0, 4096, 64, key="w")
        documents = controls.number("Documents", 1, 64, 8, key="n")
    kinds = {
        "none": ("None", lambda T: None),
        "causal": ("Causal", lambda T: None),
        "sliding": (f"Window of {window}", lambda T: window),
        "prefix": ("Prefix of T/4", lambda T: T // 4),
        "packed": (f"{documents} documents", lambda T: documents),
    }
    lengths = 2 ** np.arange(13)
    series = {
        title: [pairs.formula(name, T, of(T)) for T in lengths.tolist()] for name, (title, of) in kinds.items()
    }
    shell.draw(charts.lines(lengths, series, titles=("tokens T", "pairs left"), log_x=True, log_y=True), "pairs")
    formulas = {
        title: [pairs.formula(name, length, of(length)), pairs.count(name, length, of(length))]
        for name, (title, of) in kinds.items()
    }
    counted = pd.DataFrame.from_dict(formulas, "index", columns=["by formula", "counted"])
    counted["share of T²"] = [f"{100 * share:.3g} %" for share in counted["counted"] / length**2]
    st.table(counted)

# --- predict, then reveal ---------------------------------------------------------------------------------

st.subheader("Predict, then check")
quiz.number(
    "q_pairs",
    f"Under a causal mask, how many of the {4 * T * T} pairs of {2 * T} tokens are left?",
    pairs.formula("causal", 2 * T),
    f"Query 0 has one key, query 1 two, and so on: {2 * T} · {2 * T + 1} / 2. A little over half, however long.",
)
after = pitfalls.zeroed(steps.scaled_scores, mask).sum(axis=1)
least = int(after.argmin())
quiz.number(
    "q_zeroed",
    "The mask is used **after** the softmax, by setting hidden weights to 0. What do the weights of row "
    f"{least}, {shell.token(names[least])}, then sum to?",
    after[least],
    "The hidden keys had taken the rest of the weight, and nobody gets it back.",
)
quiz.number(
    "q_nothing",
    "Padding at the start, and a causal mask: query 0 may attend to nothing. What do its weights sum to here?",
    pitfalls.masked_first(steps.scaled_scores[0], np.zeros(T, bool)).sum(),
    "There is nothing to share. Any other answer would let it attend to what is hidden.",
)
if T > 2:
    moved = pitfalls.leak(pitfalls.masked_first, steps.scaled_scores, mask)
    quiz.choice(
        "q_hidden",
        "Raise the score of every hidden key by 1, and mask as it should be. The weights of the visible keys …",
        ("grow", "shrink", "stay the same"),
        "stay the same" if moved == 0 else "shrink",
        f"They change by {charts.exact(moved)}: −∞ takes the place of a hidden score, whatever it was.",
    )
    quiz.choice(
        "q_answer",
        "A language model predicts the next token at each position. Which position must position 1 not attend "
        "to?",
        ("position 0", "position 1", "position 2"),
        f"position {create_causal_mask(T)[1].argmin()}",
        f"It holds {shell.token(tokens[1])} and predicts {shell.token(tokens[2])}, which stands in position 2.",
    )

st.subheader("Take the numbers with you")
with st.container(horizontal=True):
    files = {
        "Mask and matrices, JSON": (partial(export.as_json, tokens, {"mask": mask}, steps, causal=kind == "causal"), "masking.json"),
        "Weights, CSV": (partial(export.as_csv, steps.weights, names, names), "weights.csv"),
    }
    for label, (content, name) in files.items():
        st.download_button(label, content, name, icon=":material/download:", on_click="ignore", key=f"as_{name}")

shell.close_page(PAGE, attention_steps, softmax, create_causal_mask, pitfalls.masked_first)
