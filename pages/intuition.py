"""Intuition: attention as a soft database lookup."""

import numpy as np
import streamlit as st

from attention import Linear, attention_steps, charts, examples, lookup, softmax
from pages.shared import cells, controls, matrices, quiz, shell
from pages.shared.dimensions import symbol

PAGE = "pages/intuition.py"
shell.open_page(PAGE)

# --- why look directly ------------------------------------------------------------------------------------

st.markdown(
    f"“{examples.LONG_SENTENCE}.” What was black? You connect *cat* with *black* at once, over all the words "
    "between. How many steps does a network need for that?"
)
far = examples.LONG_SENTENCE.split()
distance = controls.slider(
    "Tokens from one word to the other", 1, 512, far.index("black") - far.index("cat"), key="distance"
)
with st.expander("Width of the convolutions", on_change="rerun", key="convolutions"):
    width = controls.number("Positions that one convolution sees", 2, 16, 3, key="width")
paths = lookup.path_lengths(distance, width)
shell.draw(charts.bars(list(paths.values()), list(paths), title="steps", limit=None), "paths")
st.markdown(
    f"A recurrent network hands information on from token to token: **{paths['recurrent']}** steps. Stacked "
    f"convolutions reach further layer by layer: **{paths['convolutions']}**, or "
    f"**{paths['dilated convolutions']}** with growing gaps. With attention every token looks at every other: "
    f"**{paths['attention']}** step, however far."
)
st.caption("Vaswani et al. 2017, table 1. The price is that each token is compared with each: see Masking.")

# --- the lookup -------------------------------------------------------------------------------------------

st.header("A lookup that is soft")
st.markdown(
    "| | in a database | in attention |\n|---|---|---|\n"
    "| **Query** | the search term | what the asking token looks for |\n"
    "| **Key** | what a record can be found by | what each token can be found by |\n"
    "| **Value** | what the record holds | what each token hands over |\n\n"
    "A database compares the query with every key and returns the **one** value that fits. Attention returns a "
    "**mixture** of all values, each with a weight for how well its key fits."
)
tokens = controls.words("The sentence, 1 to 16 words", examples.SENTENCE, key="words", most=16)
labels = charts.indexed(tokens)
with st.expander("The features behind it (illustrative: made by hand)", on_change="rerun", key="features") as box:
    st.markdown(
        "Each word has a few features that we chose, so that the picture is easy to read; no model made them. "
        "Words of your own get a fixed guess from their letters, which says nothing of what they mean. Change them."
    )
    X = matrices.edit("X", examples.features(tokens), labels, list(examples.FEATURES), key="F1", seen=box.open)
names = dict(enumerate(labels))
ask, sharpen = st.columns(2, vertical_alignment="bottom")
with ask:
    asker = controls.choice(
        "Who asks?", names, key="ask", widget=st.selectbox, names=names, default=min(2, len(tokens) - 1)
    )
with sharpen:
    sharpness = controls.slider(
        "Sharpness: 0 averages, 1 is attention, more comes near a hard lookup",
        0.0,
        50.0,
        1.0,
        key="sharp",
        step=0.5,
    )

# What a word looks for follows from its own features; what it can be found by and hands over are the features.
W_Q = examples.LOOKS_FOR.T
query, key, value = Linear.from_arrays(W_Q).forward(X[[asker]]), X, X
steps = lookup.soft_lookup(query, key, value, sharpness)
hard = int(lookup.hard_lookup(query, key)[0])
me = shell.token(labels[asker])

shell.draw(charts.bars(steps.weights[0], labels, title="weight"), "weights_bars")
top = int(steps.weights[0].argmax())
st.markdown(
    f"{me} attends most to {shell.token(labels[top])}, with a weight of {steps.weights[0, top]:.3f}. "
    f"A hard lookup would take the value of {shell.token(labels[hard])} alone. The weights sum to "
    f"{steps.weights[0].sum():.3f}."
)

# --- four steps -------------------------------------------------------------------------------------------

st.header("The four steps")
st.latex(
    r"\underbrace{QK^\top}_{\text{1 compare}} \;\to\;"
    rf" \underbrace{{\div\sqrt{{{symbol('d_k')}}}}}_{{\text{{2 scale}}}}"
    r" \;\to\; \underbrace{\operatorname{softmax}}_{\text{3 share out}} \;\to\;"
    r" \underbrace{\times V}_{\text{4 mix}}"
)
st.markdown(f"One row each: what {me} computes. **Click any cell** to see its arithmetic.")
figures = st.container()
inputs = {"X": X[[asker]], "W_Q": W_Q}
by_name = cells.standard(steps, [labels[asker]], labels, inputs=inputs, vectors=list(examples.FEATURES))
board = cells.Board(by_name, scale=steps.scale, first="weights", at=(0, hard))
with figures:
    board.side_by_side("query", "key")
    board.side_by_side("scores", "scaled_scores", "weights")
    board.side_by_side("value", "output")
st.caption(
    "The query is the asking word's features times a table of what each kind of word looks for, which is "
    f"illustrative too: a verb looks for who acts. Scores are multiplied by {charts.exact(steps.scale)}, which is "
    f"the sharpness over √{query.shape[1]}."
)

with st.expander("All words ask at once", on_change="rerun", key="everyone") as box:
    if box.open:
        everyone = lookup.soft_lookup(Linear.from_arrays(W_Q).forward(X), key, value, sharpness)
        picture = st.container()
        all_inputs = {"X": X, "W_Q": W_Q}
        every = cells.standard(everyone, tokens, inputs=all_inputs, vectors=list(examples.FEATURES))
        all_board = cells.Board(every, scale=everyone.scale, first="weights", key="all_")
        with picture:
            all_board.side_by_side("scores", "weights")
            st.markdown(
                "Each **row** is one word's query, and sums to 1. Columns need not: many may look at one word. "
                "That one asks another does not mean that it is asked back: compare the two cells."
            )

# --- the table of the text --------------------------------------------------------------------------------

st.header("The same from the other end")
given = np.array([examples.TEXT_WEIGHTS])
case = attention_steps(np.ones((1, 1)), lookup.scores_for(given).T, np.array(examples.TEXT_VALUES), scale=1)
with st.expander(
    "The printed weights of “sat”: which scores give them, and which value comes out",
    on_change="rerun",
    key="printed",
) as box:
    if box.open:
        st.markdown(
            f"The printed lesson gives “sat” the weights {', '.join(f'{w:.2f}' for w in examples.TEXT_WEIGHTS)} "
            f"(their sum is {given.sum():.2f}) and two numbers of each value. Scores are determined by weights up to a "
            "constant: their logarithms will do."
        )
        sentence = charts.indexed(examples.SENTENCE.split())
        printed = cells.standard(case, ["sat"], sentence)
        printed = {name: printed[name] for name in ("masked_scores", "weights", "value", "output")}
        pictures = st.container()
        text_board = cells.Board(printed, scale=1, first="output", key="text_")
        with pictures:
            text_board.side_by_side("masked_scores", "weights")
            text_board.side_by_side("value", "output")

# --- what if ----------------------------------------------------------------------------------------------

st.header("What if …")
change = controls.choice("What if …", lookup.WHAT_IFS, key="if", names=lookup.WHAT_IFS, label_visibility="collapsed")
changed = lookup.soft_lookup(*lookup.what_if(change, query, key, value), sharpness)
order = labels[::-1] if change == "shuffled" else labels
with st.container(horizontal=True):
    for name, weights, words in (("Now", steps.weights[0], labels), ("Then", changed.weights[0], order)):
        with st.container(width="content"):
            st.markdown(name)
            shell.draw(charts.bars(weights, words, title="weight", height=120), f"{name}_bars")
moved = float(np.abs(changed.output - steps.output).max())
CONSEQUENCES = {
    "equal": f"Every word gets 1/{len(tokens)}: the output is the plain average of all values.",
    "huge": f"The softmax saturates: the largest weight is {changed.weights.max():.6f}, a hard lookup in all but name.",
    "longer": "A score is a dot product, so a key twice as long scores twice as much, whatever it points at. With "
    "identity projections, long vectors are favoured.",
    "empty": f"The weights stay as they are, yet the output moves by up to {moved:.3f}: a large weight on an empty "
    "value hands over nothing. A weight alone does not explain an output.",
    "shuffled": f"The bars move with their words, and the output differs by {charts.exact(moved)}: attention does "
    "not know the order of its keys. Models add positions to the embeddings.",
}
st.markdown(CONSEQUENCES[change])

# --- predict, then reveal ---------------------------------------------------------------------------------

st.header("Predict, then check")
quiz.number(
    "q_average",
    f"Set the sharpness to 0. What weight does {me} give to each word?",
    lookup.soft_lookup(query, key, value, 0).weights[0, 0],
    f"All scores become 0, and {len(tokens)} equal powers share 1.",
)
if len(tokens) > 1:
    next_one = (asker + 1) % len(tokens)
    next_query = Linear.from_arrays(W_Q).forward(X[[next_one]])
    asked = lookup.soft_lookup(next_query, key, value)
    quiz.choice(
        "q_next",
        f"Let {shell.token(labels[next_one])} ask. Which word gets the most weight?",
        [shell.token(label) for label in labels],
        shell.token(labels[int(asked.weights[0].argmax())]),
        f"Its scores are {', '.join(f'{score:.2f}' for score in asked.scores[0])}.",
    )
quiz.number(
    "q_twice",
    f"The key of {shell.token(labels[hard])} becomes twice as long. What does its score with {me}, now "
    f"{charts.exact(steps.scores[0, hard])}, become?",
    lookup.soft_lookup(*lookup.what_if("longer", query, key, value)).scores[0, hard],
    "A dot product is linear in the key.",
)

shell.close_page(PAGE, softmax, attention_steps, lookup.soft_lookup)
