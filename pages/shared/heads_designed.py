"""Designed heads: three whose projections were set by hand, beside random ones, and why each looks where it does."""

from functools import partial

import streamlit as st

from attention import charts, designed, export
from attention.worked import work_through
from pages.shared import cells, controls, heads_designed_closer, quiz, shell
from pages.shared.heads_scene import RANDOM, Scene, weights_of

MOST = 9  # words of the reader's own sentence: as many as the longer one of the text
ABOUT = {
    "previous": "A query holds the position **before** its own, a key its own position: they match one step back. "
    "The first token has nothing before it and asks for nothing.",
    "subject": "A verb asks for a noun that is an animal. All other words ask for nothing.",
    "similar": "Queries and keys are the features themselves: a score counts how many features two words share. "
    "No word is more similar to a word than itself.",
}
ABOUT_RANDOM = (
    "Drawn at random. Its rows may be as sharp as those of a head with a purpose: a picture alone does not tell."
)
KINDS = {
    "unknown": "unknown: only its position",
    "animal": "noun, an animal",
    "place": "noun, a place",
    "noun": "noun, something else",
    "verb": "verb",
    "function word": "function word",
    "function word of place": "function word of place",
    "quality": "quality",
}


def show():
    st.markdown(
        "**What could one head do?** These three were **designed**: their projections were set by hand, so that each "
        "does one thing for a reason that you can read. Nothing was trained. Beside them are heads whose projections "
        "are **random**."
    )
    scene = _ask()
    heads = scene.heads()
    names, labels = {key: head.name for key, head in heads.items()}, scene.labels
    pictures = st.container()
    shown = controls.choice("Head", names, key="shown", names=names)
    keys = list(heads)
    with pictures:
        weights, marked = weights_of(heads), keys.index(shown)
        chart = charts.panels(weights, list(names.values()), labels, labels, marked=marked, per_line=RANDOM)
        cells.clickable(chart, "designed", lambda panel: controls.put(shown=keys[panel]))
    head = heads[shown]
    with st.container(horizontal=True):
        large, why = st.container(width="content"), st.container(width=380)
    board = cells.Board(head.matrices(scene.tokens), scale=head.steps.scale, first="weights", at=(2, 1), key="d_")
    with large:
        board.show("weights")
    with why:
        st.markdown(f"**{head.name}**. {ABOUT.get(shown, ABOUT_RANDOM)}")
        _why(head, labels, board.selected)
    heads_designed_closer.show(scene, heads, shown, board)
    _questions(scene, heads)
    _downloads(scene, head)


# --- what is asked ----------------------------------------------------------------------------------------


def _ask():
    options = {name: sentence for name, sentence in designed.SENTENCES.items()} | {"own": "Your own words"}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        which = controls.choice("Sentence", options, key="text", widget=st.selectbox, names=options, width=420)
        sharpness = controls.slider("Sharpness of all heads", 0.0, 2.0, 1.0, key="sharp", step=0.25, width=260)
    tokens, kinds = options[which].split(), {}
    if which == "own":
        tokens, kinds = _own()
    with st.expander("Change the heads", icon=":material/tune:", on_change="rerun", key="change_heads"):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            seed = controls.number("Seed of the random heads", 0, 9999, 0, key="dseed", width=180)
            positions = controls.switch("Positions in the embeddings", True, key="positions")
        st.caption(
            "A word is embedded as features that we gave it, then its position as a single 1. Sharpness multiplies "
            "the queries."
        )
    return Scene(tuple(tokens), kinds, sharpness, seed, positions)


def _own():
    """The reader's words, and what they say that those are that we have no features for."""
    tokens = controls.words(f"1 to {MOST} words", "The dog chased the ball", key="own", most=MOST)
    unknown = dict.fromkeys(token.casefold() for token in tokens if token.casefold() not in designed.KIND_OF)
    kinds = {}
    if unknown:
        st.caption(
            "A designed head knows of a word what its designer wrote down. Say what these are; until then, only the "
            "previous-token head has something to go by."
        )
        with st.container(horizontal=True):
            for i, word in enumerate(unknown):
                label = f"{shell.token(word)} is a"
                kinds[word] = controls.choice(label, KINDS, key=f"kind{i}", widget=st.selectbox, names=KINDS, width=210)
    return tokens, kinds


# --- one head, large --------------------------------------------------------------------------------------


def _why(head, labels, selected):
    """What the query of the selected cell asks for, what its key offers, and the score that comes of it."""
    name, row, column = selected
    if name not in ("scores", "scaled_scores", "masked_scores", "weights"):
        return
    query, key = head.steps.query[row], head.steps.key[column]
    asked, offered = (_listed(head.components, vector) for vector in (query, key))
    both = [f"{charts.short(q)} · {charts.short(k)}" for q, k in zip(query, key, strict=True) if q * k]
    scaled, weight = head.steps.scaled_scores[row, column], head.steps.weights[row, column]
    st.markdown(
        f"- {shell.token(labels[row])} asks for {asked}\n"
        f"- {shell.token(labels[column])} offers {offered}\n"
        f"- together: {' + '.join(both) or 'nothing in common'} = **{charts.short(head.steps.scores[row, column])}**\n"
        f"- divided by √{len(query)}: **{charts.short(scaled)}**\n"
        f"- after softmax: **{weight:.3f}** of the row's weight"
    )


def _listed(names, vector):
    return ", ".join(f"*{name}* {charts.short(x)}" for name, x in zip(names, vector, strict=True) if x) or "nothing"


# --- predict, then reveal; take away ----------------------------------------------------------------------


def _questions(scene, heads):
    st.subheader("Predict, then check")
    labels = [shell.token(label) for label in scene.labels]
    T, previous, similar = len(labels), heads["previous"].steps, heads["similar"].steps
    quiz.number(
        "q_even",
        f"In the previous-token head, the query of the first token, {labels[0]}, is all zeros. What weight does it "
        f"give to each of the {T} keys?",
        previous.weights[0, -1],
        "All its scores are 0, hence equal. A head cannot look nowhere: who asks for nothing gets the average.",
    )
    back = list(range(T))[::-1]
    changes = designed.order_changes(weights_of(heads), weights_of(scene.in_order(back).heads()), back)
    changed = [name for name, change in zip(designed.HEADS.values(), changes, strict=False) if change > 1e-9]
    quiz.choice(
        "q_back",
        "The same words are written backwards. Which designed head now gives other weights between the same two words?",
        (*designed.HEADS.values(), "None of them"),
        (*changed, "None of them")[0],
        "Features go along with a word, positions do not: a head changes only if it reads positions.",
    )
    two = designed.two_odds(similar.weights)
    if two:
        row, best, less = two
        odds = similar.weights[row, best] / similar.weights[row, less]
        twice = work_through(scene.X, *designed.designed_head("similar", T, 2 * scene.sharpness)).weights
        quiz.number(
            "q_sharper",
            f"In the head of similar words, {labels[row]} gives {labels[best]} {odds:.3f} times the weight of "
            f"{labels[less]}. How many times is it with **twice** the sharpness?",
            twice[row, best] / twice[row, less],
            "Twice the sharpness doubles each score, and $e^{2s} = (e^s)^2$: the odds are squared.",
        )


def _downloads(scene, head):
    st.subheader("Take the numbers with you")
    labels = scene.labels
    files = {
        "This head, JSON": (partial(export.as_json, scene.tokens, head.inputs, head.steps), "head.json"),
        "Its weights, CSV": (partial(export.as_csv, head.steps.weights, labels, labels), "weights.csv"),
    }
    with st.container(horizontal=True):
        for label, (content, name) in files.items():
            st.download_button(label, content, name, icon=":material/download:", on_click="ignore", key=f"d_{name}")
