"""Learning: one head, random at first, learns the lookup of the first lesson."""

import json
from functools import partial
from itertools import islice

import numpy as np
import streamlit as st

from attention import charts, export, learning
from attention.gradients import attention_backward
from attention.head_slices import one_head
from pages.shared import cells, controls, quiz, shell

PAGE = "pages/learning.py"
KEYS = [chr(ord("A") + i) for i in range(learning.KEYS)]
VALUES = [str(i + 1) for i in range(learning.VALUES)]
QUESTIONS = 10  # of the held-out ones, to be looked at
RUNS = 4  # kept for a visitor, so that going back and forth does not train anew

shell.open_page(PAGE)
st.markdown(
    f"Nobody tells this head how to look. It reads {learning.RECORDS} records, each a key with a value, and a key that "
    "is asked for; it is corrected when its answer is wrong. **Which key has which value is new in every question**, "
    "so it cannot learn the answers by heart. It can only learn to look things up."
)

# --- the run ----------------------------------------------------------------------------------------------

with st.expander("Change how it is trained", icon=":material/tune:", on_change="rerun", key="change"):
    rates = {f"{rate:g}": rate for rate in (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)}
    rate = rates[controls.choice("Learning rate", rates, key="rate", default="0.03")]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        dimension = controls.number("Dimension d_k = d_v", 1, 32, 8, key="dim", width=180)
        seed = controls.number("Seed", 0, 9999, 0, key="seed", width=140)
        scaled = controls.switch("Scores divided by √d_k", True, key="scaled")
settings = learning.Settings(dimension, rate, scaled, seed)


def trained(settings):
    """Every Moment of a run, with its progress shown while it is computed.

    Kept in the visitor's session and not in a cache that all share: there, the second who asks would wait.
    """
    runs = st.session_state.setdefault("runs", {})
    if settings not in runs:
        progress, moments = st.progress(0.0), []
        for moment in learning.train(settings):
            moments.append(moment)
            progress.progress(moment.step / settings.steps, f"Step {moment.step}: accuracy {moment.accuracy:.0%}")
        progress.empty()
        runs[settings] = moments
        for old in list(runs)[:-RUNS]:
            del runs[old]
    return runs[settings]


start = controls.switch(f"Train it: {settings.steps} steps of {learning.BATCH} questions each", key="train")
moments = trained(settings) if start else list(islice(learning.train(settings), 1))
moment = moments[0]
if start:
    last = len(moments) - 1
    gap = moments[1].step
    at = controls.slider("Training step to look at", 0, settings.steps, settings.steps, key="step", step=gap)
    moment = moments[min(round(at / gap), last)]

held_out = learning.held_out(settings)
shown = learning.Questions(*(array[:QUESTIONS] for array in held_out))
which = controls.number("Question, of those it was never trained on", 0, QUESTIONS - 1, 0, key="question", width=300)
steps, logits = learning.answer(moment.parameters, shown, scaled)
records = [f"{KEYS[k]} → {VALUES[v]}" for k, v in zip(shown.keys[which], shown.values[which], strict=True)]
asked = KEYS[shown.keys[which, shown.asked[which]]]
right, said = VALUES[shown.answers[which]], VALUES[logits[which].argmax()]
st.markdown(
    f"The records are {', '.join(f'**{record}**' for record in records)}. **What stands beside {asked}?** After "
    f"{moment.step} steps it says **{said}**, which is {'right' if said == right else f'wrong: it is {right}'}."
)
shell.draw(charts.bars(steps.weights[which, 0], records, title="weight"), "weights")
st.markdown(
    f"On {learning.HELD_OUT} such questions it is right in **{moment.accuracy:.1%}**, with "
    f"**{moment.right_weight:.3f}** of its weight on the record that was asked for. Guessing would be right in "
    f"{1 / learning.VALUES:.1%}; weights that are all alike have {1 / learning.RECORDS:.3f}."
)
if start and moments[-1].accuracy < 0.95:
    st.warning(
        f"This run did not learn the lookup: {moments[-1].accuracy:.1%} after {settings.steps} steps with a learning "
        f"rate of {rate:g} and {dimension} dimension{'s' if dimension > 1 else ''}. Too small a rate has not got there "
        "yet; too large a one jumps past what it looks for; too few dimensions cannot tell the keys apart.",
        icon=":material/trending_down:",
    )

# --- look closer ------------------------------------------------------------------------------------------


def curves():
    if not start:
        st.markdown("Nothing is trained yet: switch the training on above.")
        return
    x = [m.step for m in moments]
    series = {
        "accuracy": [m.accuracy for m in moments],
        "weight on the right record": [m.right_weight for m in moments],
    }
    shell.draw(charts.lines(x, series, titles=("step", "share")), "curves")
    shell.draw(charts.lines(x, {"loss": [m.loss for m in moments]}, titles=("step", "loss, nats"), height=220), "loss")
    st.markdown(
        f"The loss is the cross-entropy of the right answer: {moments[0].loss:.3f} before, {moments[-1].loss:.5f} "
        f"after. Answers that are all alike would have ln {learning.VALUES} = {np.log(learning.VALUES):.3f}."
    )


def questions():
    st.markdown(
        f"{QUESTIONS} questions, one in each row. The framed cell is the record that was asked for: the only way to it "
        "is to compare keys. **Click** a row to read that question above."
    )
    rows = [f"{i}: {KEYS[keys[asked]]}?" for i, (keys, asked) in enumerate(zip(shown.keys, shown.asked, strict=True))]
    marks = 2 * (np.arange(learning.RECORDS) == shown.asked[:, None])
    chart = charts.heatmap(
        steps.weights[:, 0],
        rows,
        [f"record {i}" for i in range(learning.RECORDS)],
        "weights",
        titles=("question", "record"),
        marks=marks,
        step=cells.cell_size(marks.shape),
    )
    cells.clickable(chart, "rows", lambda row, col: controls.put(question=row))


def match():
    st.markdown(
        r"Keys enter one-hot, so row $i$ of $W_Q^\top$ *is* the query of key $i$, and row $j$ of $W_K^\top$ is how key "
        r"$j$ can be found. $M = W_Q^\top W_K$ holds the score of every query with every key: a lookup needs the "
        "largest number of each row **on the diagonal**. Nobody put it there."
    )
    M = learning.match(moment.parameters)
    features = cells.numbered(dimension)
    by_name = {
        "query_table": cells.Matrix(r"$W_Q^\top$", moment.parameters["W_Q"].T, KEYS, features, ("asked", "d_k")),
        "key_table": cells.Matrix(r"$W_K^\top$", moment.parameters["W_K"].T, KEYS, features, ("record", "d_k")),
        "match": cells.Matrix(r"$M = W_Q^\top W_K$", M, KEYS, KEYS, ("asked", "record")),
    }
    figures = st.container()
    board = cells.Board(by_name, first="match", key="match_")
    with figures:
        board.side_by_side("query_table", "key_table", "match")
    found = int((M.argmax(axis=1) == np.arange(len(M))).sum())
    st.markdown(f"After {moment.step} steps **{found}** of {len(M)} rows have their largest number on the diagonal.")


def inside():
    st.markdown("The question above as every other attention in these lessons: one query, five records.")
    figures = st.container()
    one, at = one_head(steps, which), (0, int(shown.asked[which]))
    board = cells.Board(cells.standard(one, [asked], records), scale=one.scale, first="weights", at=at, key="in_")
    with figures:
        board.side_by_side("query", "key")
        board.side_by_side("scores", "scaled_scores", "weights")
        board.side_by_side("value", "output")


def scaling():
    if not start:
        st.markdown("Nothing is trained yet: switch the training on above.")
        return
    runs = {name: trained(settings._replace(scaled=on)) for name, on in (("÷ √d_k", True), ("not scaled", False))}
    x = [m.step for m in moments]
    titles = ("step", "weight on the right record")
    shell.draw(
        charts.lines(x, {name: [m.right_weight for m in run] for name, run in runs.items()}, titles=titles), "both"
    )
    with_root, without = runs.values()
    first = {name: next((m.step for m in run if m.accuracy >= 0.95), None) for name, run in runs.items()}
    reached = "; ".join(f"{name} {'never' if step is None else f'after {step} steps'}" for name, step in first.items())
    st.markdown(
        f"95 % of the answers are right: {reached}. In the end {with_root[-1].right_weight:.3f} of the weight is on "
        f"the right record with scaling, {without[-1].right_weight:.3f} without. These scores start small, "
        f"{np.abs(learning.match(moments[0].parameters)).max():.2f} at most, because the weights do: the root matters "
        "where queries and keys start with components of variance 1."
    )
    st.page_link("pages/scaling.py", label="How large scores are", icon=":material/straighten:")


PARTS = {
    "curves": ("Curves", "How it learns", curves),
    "questions": ("Questions", "Where it looks", questions),
    "match": ("W_Q and W_K", "What it has learnt", match),
    "inside": ("One question", "Every number of one answer", inside),
    "scaling": ("Scaling", "With and without √d_k", scaling),
}
short = {part: name for part, (name, *_) in PARTS.items()}
_, about, draw = PARTS[controls.choice("Look closer", PARTS, key="part", names=short)]
st.subheader(about)
draw()

# --- predict, then reveal ---------------------------------------------------------------------------------

st.subheader("Predict, then check")
quiz.number(
    "q_before",
    "Before any training, how much of its weight does the head put on the record that is asked for, on average?",
    moments[0].right_weight,
    f"It has no reason to prefer any of {learning.RECORDS} records.",
)
stranger = learning.ask_for_a_stranger(moment.parameters, shown, scaled)
quiz.number(
    "q_stranger",
    "Ask for a key that stands in **none** of the records. What do the weights of the query sum to?",
    stranger[which].sum(),
    f"Softmax must share out all of it: here the largest is {stranger[which].max():.3f}, on a record that does not "
    "fit. A lookup in a database would find nothing.",
)
quiz.choice(
    "q_order",
    "The five records of a question change places, each with its value. The answer of the head …",
    ("stays the same", "changes"),
    "stays the same" if learning.reordering_gap(moment.parameters, shown, scaled) < 1e-9 else "changes",
    "Weights move with their records, and the sum of values does not know their order.",
)

st.subheader("Take the numbers with you")
table = np.array([moment[1:4] for moment in moments])
with st.container(horizontal=True):
    files = {
        "The run, CSV": (
            partial(
                export.as_csv, table, [str(m.step) for m in moments], ("loss", "accuracy", "weight on the right record")
            ),
            "learning.csv",
        ),
        "The weights at this step, JSON": (
            lambda: json.dumps({name: array.tolist() for name, array in moment.parameters.items()}),
            "weights.json",
        ),
    }
    for label, (content, name) in files.items():
        st.download_button(label, content, name, icon=":material/download:", on_click="ignore", key=f"as_{name}")

shell.close_page(PAGE, learning.train, learning.loss_and_gradients, attention_backward, learning.Adam)
