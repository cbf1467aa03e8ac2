"""A closer look at designed heads: why they look there, what they bring, another order of words, chance."""

import numpy as np
import pandas as pd
import streamlit as st

from attention import charts, designed
from attention.heads import pattern_scores, share_as_high
from pages.shared import cells, controls, shell
from pages.shared.heads_scene import weights_of

STEP = 27  # pixels of a cell of the projections: twelve and more of them stand side by side

WHY = {
    "previous": "Row $i$ of $W_Q$ picks position $i + 1$, row $i$ of $W_K$ picks position $i$: a query meets the key "
    "one step back, and no other.",
    "subject": "Both rows of $W_Q$ pick the feature *verb*, so a verb asks for all that $W_K$ picks: *noun*, and "
    "*animal*.",
    "similar": "$W_Q$ and $W_K$ pick the same six features: where two words share one, its product adds to the score.",
}
WHY_RANDOM = "Each component mixes all features and positions, by chance: there is no reason to be read off."


def show(scene, heads, shown, board):
    """The part that the reader picks; `shown` is the key of the large head, and `board` has its matrices."""
    names = {part: name for part, (name, *_) in PARTS.items()}
    _, about, draw = PARTS[controls.choice("Look closer", PARTS, key="look", names=names)]
    st.subheader(about)
    draw(scene, heads, shown, board)


def _why(scene, heads, shown, board):
    st.markdown(WHY.get(shown, WHY_RANDOM))
    for names, step in ((("X", "W_Q", "query"), STEP), (("W_K", "key"), STEP), (("scores", "masked_scores"), None)):
        with st.container(horizontal=True):
            for name in names:
                with st.container(width="content"):
                    board.show(name, step=step and (STEP * 3 // 2 if st.session_state.get("large") else step))
    if shown == "previous" and not scene.positions:
        st.caption("Positions are left out of the embeddings, so the head has nothing to go by: every row is even.")


def _brings(scene, heads, shown, board):
    st.markdown(
        "The values are the features. What a head hands on for a word is their mix by its weights: **what it looked "
        "at**, no matter why."
    )
    board.side_by_side("value", "output")


ORDERS = {"back": "backwards", "swap": "first and last swapped", "shuffle": "shuffled"}


def _order(scene, heads, shown, board):
    T = len(scene.tokens)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = controls.choice("The words are written", ORDERS, key="order", names=ORDERS)
        shuffle = controls.number("Shuffle", 0, 999, 0, key="shuffle", width=140) if kind == "shuffle" else 0
    order = {
        "back": np.arange(T)[::-1],
        "swap": np.roll(np.arange(T), 1) if T < 3 else np.r_[T - 1, 1 : T - 1, 0],
        "shuffle": np.random.default_rng(shuffle).permutation(T),
    }[kind].tolist()
    moved = scene.in_order(order)
    others = moved.heads()
    changes = designed.order_changes(weights_of(heads), weights_of(others), order)
    st.markdown("By how much does a weight **between the same two words** change, at most?")
    shell.draw(charts.bars(changes, [head.name for head in heads.values()]), "changes")
    same = [head.name for head, change in zip(heads.values(), changes, strict=True) if change < 1e-9]
    st.markdown(
        f"Unchanged: **{', '.join(same) or 'none'}**. Features go along with a word, positions do not. A head changes "
        "only if it reads positions: the previous-token head looks at the same *place*, whoever stands there. Leave "
        "positions out, under *Change the heads*, and no head can know the order."
    )
    figures = st.container()
    here = others[shown]
    again = cells.Board(here.matrices(moved.tokens), scale=here.steps.scale, first="weights", at=(2, 1), key="o_")
    with figures:
        st.markdown(f"{here.name}, the words {ORDERS[kind]}:")
        again.show("weights")


def _chance(scene, heads, shown, board):
    number = controls.number("Heads drawn at random", 1, 1000, 72, key="draws", width=200)
    drawn = _random_weights(scene.X, number, scene.seed, scene.sharpness)
    patterns = {name: p for name, p in designed.patterns(scene.tokens, scene.kinds).items() if p.any()}
    T = len(scene.tokens)
    rows = {head.name: head.steps.weights for head in heads.values()} | {"All keys alike": np.full((T, T), 1 / T)}
    table = {
        designed.HEADS[name]: [*(pattern_scores(w, pattern) for w in rows.values()), *_middle_and_best(drawn, pattern)]
        for name, pattern in patterns.items()
    }
    index = [*rows, "Random heads, in the middle", f"Random heads, the best of {number}"]
    st.markdown(
        "How much weight does each head put on what a designed one was made for, on average over the words that have "
        "such a key?"
    )
    st.table(pd.DataFrame(table, index=index).map("{:.3f}".format))
    for name, pattern in patterns.items():
        own = pattern_scores(heads[name].steps.weights, pattern)
        reached = share_as_high(own, pattern_scores(drawn, pattern))
        st.markdown(
            f"- **{designed.HEADS[name]}**: {pattern.any(axis=1).sum()} of {T} words have such a key. "
            f"{round(reached * number)} of {number} random heads do as well as the designed one."
        )
    for name in designed.HEADS.keys() - patterns.keys():
        st.caption(f"{designed.HEADS[name]}: no word here has such a key.")
    st.markdown(
        "The fewer words a pattern is about, the easier it is hit by chance, and the more heads are searched, the "
        "surer. Keep that in mind for the heads of a real model."
    )


def _middle_and_best(weights, pattern):
    scores = pattern_scores(weights, pattern)
    return np.median(scores), scores.max()


_random_weights = st.cache_data(designed.random_weights, max_entries=16, show_spinner=False)

PARTS = {  # name in the list and in the address, what it is about, what draws it
    "why": ("Why there", "From word to score: why does it look there?", _why),
    "brings": ("What it brings", "What does it bring along?", _brings),
    "order": ("Another order", "What changes when the words are reordered?", _order),
    "chance": ("Chance", "Would a random head do it, too?", _chance),
}
