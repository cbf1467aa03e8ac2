"""Learning: one head, random at first, learns the lookup of the first lesson."""

import json
from functools import partial
from itertools import islice

import numpy as np
import streamlit as st

from attention import charts, export, learning
from attention.gradients import attention_backward
from attention.head_slices import one_head
from pages.shared import cells, controls, quiz, shell, training

PAGE = "pages/learning.py"
KEYS = [chr(ord("A") + i) for i in range(learning.KEYS)]
VALUES = [str(i + 1) for i in range(learning.VALUES)]
QUESTIONS = 10  # of the held-out ones, to be looked at
UNTRAINED = "Nothing is trained yet: press the button above."

shell.open_page(PAGE)
st.markdown(
    f"Nobody tells this head how to look. It reads {learning.RECORDS} records, each a key with a value, and a key that "
    "is asked for; it is corrected when its answer is wrong. **Which key has which value is new in every question**, "
    "so it cannot learn the answers by heart. It can only learn to look things up."
)

# --- the run ----------------------------------------------------------------------------------------------

SEEDS = 10_000


def another():
    controls.put(seed=(controls.now("seed") + 1) % SEEDS)


with st.expander("Change how it is trained", icon=":material/tune:", on_change="rerun", key="change"):
    rates = {f"{rate:g}": rate for rate in (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)}
    rate = rates[controls.choice("Learning rate", rates, key="rate", default="0.03")]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        dimension = controls.number("Dimension d_k = d_v", 1, 32, 8, key="dim", width=180)
        seed = controls.number("Seed", 0, SEEDS - 1, 0, key="seed", width=140)
        scaled = controls.switch("Scores divided by √d_k", True, key="scaled")
    factor = controls.slider("W_Q and W_K start so many times as large", 1.0, 8.0, 1.0, key="start", step=0.5)
settings = learning.Settings(dimension, rate, scaled, seed, start=factor)

label = f"Train: {settings.steps} steps of {learning.BATCH} questions each"
ready = controls.button(label, key="train", icon=":material/play_arrow:")
if ready and not (controls.hidden("train") or controls.hidden("seed")):
    st.button("Train another head", icon=":material/replay:", on_click=another, key="another")
moments = training.trained(settings) if ready else list(islice(learning.train(settings), 1))
moment = moments[0]
with st.container(horizontal=True, vertical_alignment="bottom"):
    if ready:
        recorded = {m.step: m for m in moments}
        names = {step: str(step) for step in recorded}
        at = controls.choice(
            "Steps of training", recorded, key="step", widget=st.select_slider, names=names, default=settings.steps
        )
        moment = recorded[at]
    which = controls.number("Question it was not trained on", 0, QUESTIONS - 1, 0, key="question", width=230)

held_out = learning.held_out(settings)
shown = learning.unambiguous(held_out, QUESTIONS)
steps, logits = learning.answer(moment.parameters, shown, scaled)
records = [f"{KEYS[k]} → {VALUES[v]}" for k, v in zip(shown.keys[which], shown.values[which], strict=True)]
place = int(shown.asked[which])
asked = KEYS[shown.keys[which, place]]
right, said = VALUES[shown.answers[which]], VALUES[logits[which].argmax()]
st.markdown(
    f"The records are {', '.join(f'**{record}**' for record in records)}. **What stands beside {asked}?** After "
    f"{moment.step} steps it says **{said}**, which is {'right' if said == right else f'wrong: it is {right}'}."
)
shell.draw(charts.bars(steps.weights[which, 0], records, title="weight", marked=place), "weights")
st.markdown(
    f"On {learning.HELD_OUT} such questions it is right in **{moment.accuracy:.1%}**, with "
    f"**{moment.right_weight:.3f}** of its weight on the record that was asked for, framed here. Guessing would be "
    f"right in {1 / learning.VALUES:.1%}; weights that are all alike have {1 / learning.RECORDS:.3f}."
)
if ready and learning.verdict(moments) != "learnt":
    st.warning(
        f"This run did not learn the lookup: {moments[-1].accuracy:.1%} after {settings.steps} steps. "
        + training.not_learnt(moments, settings),
        icon=":material/trending_down:",
    )

# --- look closer ------------------------------------------------------------------------------------------


def curves():
    if not ready:
        st.markdown(UNTRAINED)
        return
    x = list(recorded)
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
    one, at = one_head(steps, which), (0, place)
    board = cells.Board(cells.standard(one, [asked], records), scale=one.scale, first="weights", at=at, key="in_")
    with figures:
        board.side_by_side("query", "key")
        board.side_by_side("scores", "scaled_scores", "weights")
        board.side_by_side("value", "output")


def scaling():
    if not ready:
        st.markdown(UNTRAINED)
        return
    runs = {
        name: training.trained(settings._replace(scaled=on))
        for name, on in (("divided by √d_k", True), ("not divided", False))
    }
    series = {name: [m.right_weight for m in run] for name, run in runs.items()}
    shell.draw(charts.lines(list(recorded), series, titles=("step", "weight on the right record")), "both")
    after = {name: learning.learnt_after(run) for name, run in runs.items()}
    reached = "; ".join(f"{name} {'never' if n is None else f'after {n} steps'}" for name, n in after.items())
    first = moments[0].parameters
    movable = [learning.mean_jacobian_norm(first, held_out, on) for on in (True, False)]
    st.markdown(
        f"{learning.LEARNT:.0%} of the answers are right: **{reached}**. Before training, scores reach "
        f"{np.abs(learning.match(first)).max():.2f}, and the softmax Jacobian has a mean norm of **{movable[0]:.3f}** "
        f"where they are divided by the root, **{movable[1]:.3f}** where not. Corrections pass through this matrix."
    )
    if factor < 4:
        st.markdown(
            "Scores as small as these need no root. Open “Change how it is trained”, let W_Q and W_K start 4 or 6 "
            "times as large, and look again."
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
parameters = moment.parameters
sizes = ", ".join(f"${name}$ ({' × '.join(map(str, array.shape))})" for name, array in parameters.items())
quiz.number(
    "q_count",
    f"The head consists of {sizes}. How many numbers does training adjust?",
    sum(array.size for array in parameters.values()),
    "All of its entries, and nothing else: the records are given with each question.",
)
doubled = learning.measure(moment.step, parameters | {"W_Q": 2 * parameters["W_Q"]}, held_out, scaled)
change = round(doubled.right_weight - moment.right_weight, 3)
quiz.choice(
    "q_double",
    f"Take the head as it is after {moment.step} steps, and double $W_Q$, so that every score doubles. The mean weight "
    "on the record that was asked for …",
    ("grows", "shrinks", "stays the same, to three decimals"),
    "grows" if change > 0 else "shrinks" if change < 0 else "stays the same, to three decimals",
    f"It goes from {moment.right_weight:.3f} to {doubled.right_weight:.3f}. Larger differences between scores give "
    "more to whichever record is ahead: that helps where the right one is.",
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
            lambda: json.dumps(
                {"settings": settings._asdict(), "step": moment.step}
                | {name: array.tolist() for name, array in moment.parameters.items()}
            ),
            "weights.json",
        ),
    }
    for label, (content, name) in files.items():
        st.download_button(label, content, name, icon=":material/download:", on_click="ignore", key=f"as_{name}")

shell.close_page(PAGE, learning.train, learning.loss_and_gradients, attention_backward, learning.Adam)
