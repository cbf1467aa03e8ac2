"""The heads of a model, layers × heads: each scored for what it looks at, one of them picked."""

from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from attention import charts, heads
from pages.shared import cells, controls, shell

# What a head may look at: name in `heads.head_scores` -> words
PATTERNS = {
    "first": "the first token",
    "previous": "the token before",
    "next": "the token after",
    "self": "itself",
    "word": "the same word elsewhere",
    "pair": "a key of your choice",
}
SPREADS = {"evenness": "all tokens alike (entropy)", "reach": "tokens far away (reach)"}
CHANCE = 5e8  # numbers read for the chance of a pattern: a second or two at most
BEST = 5


class Finding(NamedTuple):
    """What was looked for: its name, the scores (layers, heads), and the pattern (T_q, T_k), if it is one."""

    name: str
    scores: np.ndarray
    pattern: np.ndarray | None

    @property
    def words(self):
        return (PATTERNS | SPREADS)[self.name]


def find(weights, query_tokens, key_tokens, *, version, rows=None, default="first", pair=(0, 0)):
    """Ask what the heads shall be scored for, and return the Finding.

    weights (layers, heads, T_q, T_k); `version` names them, with whatever they were computed from: scores are
    kept for it until the session ends. Queries where `rows` (T_q,) is False do not count; one must remain.
    `default` is what is looked for at first, `pair` the positions of the query and the key of one's choice.
    """
    names = PATTERNS | SPREADS
    options = {"key": "find", "widget": st.selectbox, "names": names, "default": default, "width": 400}
    name = controls.choice("Which heads look at …", names, **options)
    pair = _pair(query_tokens, key_tokens, *pair) if name == "pair" else (0, 0)
    rows = np.ones(len(query_tokens), dtype=bool) if rows is None else rows
    if name == "pair":
        rows = np.ones(len(query_tokens), dtype=bool)
    scores = score(weights, name, query_tokens, key_tokens, version=version, rows=rows, pair=pair)
    if scores is None:
        st.info(f"No query has a key like that here, {names[name]}; scored for {names['first']} instead.")
        name, scores = "first", score(weights, "first", query_tokens, key_tokens, version=version, rows=rows)
    if name in SPREADS:
        return Finding(name, scores, None)
    return Finding(name, scores, heads.named_pattern(name, query_tokens, key_tokens, pair) & rows[:, None])


def score(weights, name, query_tokens, key_tokens, *, version, rows, pair=(0, 0)):
    """`heads.head_scores`, once in a session for each `version`; None where no query has such a key."""
    return _score(version, name, rows.tobytes(), pair, weights, query_tokens, key_tokens, rows)


def pick(finding, *, stretch=False):
    """Draw layers × heads by their scores; returns the (layer, head) that was clicked or picked.

    `stretch`: the darkest colour is that of the highest score, not of 1.
    """
    num_layers, num_heads = finding.scores.shape
    figure = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        picks = (("Layer", num_layers, "layer"), ("Head", num_heads, "head"))
        layer, head = (
            controls.number(label, 0, size - 1, 0, key=key, width=120) if size > 1 else 0 for label, size, key in picks
        )
        best = heads.rank_heads(finding.scores)[0]
        if num_layers * num_heads > 1 and not (controls.hidden("layer") or controls.hidden("head")):
            st.button(
                f"Take the highest: layer {best[0]}, head {best[1]}",
                icon=":material/trophy:",
                on_click=partial(_take, *best[:2]),
            )
    if num_layers * num_heads > 1:
        with figure:
            _overview(finding, layer, head, stretch)
    return layer, head


def ranking(finding, weights, *, version):
    """The heads with the highest scores, and what chance would give."""
    ranked = heads.rank_heads(finding.scores)
    st.dataframe(
        pd.DataFrame(ranked[:BEST], columns=["layer", "head", "score"]),
        hide_index=True,
        width="content",
        column_config={"score": st.column_config.NumberColumn(format="%.3f")},
    )
    if finding.pattern is None:
        return
    draws = int(np.clip(CHANCE / weights.size, 50, 1000))
    with st.spinner("Drawing random keys …"):
        chance = _chance(version, finding.pattern.tobytes(), draws, weights, finding.pattern)
    layer, head, best = ranked[0]
    reached = heads.share_as_high(best, chance)
    st.markdown(
        f"Would chance do it? Aimed at **random** keys instead, {draws:,} times, the best of all "
        f"{finding.scores.size:,} heads scores {np.median(chance):.3f} in the middle and {chance.max():.3f} at "
        f"most. Layer {layer}, head {head} has {best:.3f}; {reached:.1%} of the draws reach that."
    )
    if finding.name == "pair":
        _warn_of_choosing(best, weights)


def statistics(weights, query_tokens, key_tokens, layer, head, *, version, rows):
    """One head's score for everything that `find` offers but the pair, its rank, and the median of all heads."""
    table = []
    for name, words in (PATTERNS | SPREADS).items():
        scores = name != "pair" and score(weights, name, query_tokens, key_tokens, version=version, rows=rows)
        if scores is not False and scores is not None:
            own = scores[layer, head]
            table.append((words, own, int((scores > own).sum()) + 1, np.median(scores)))
    names = [
        "looks at …",
        "this head",
        f"rank among {weights.shape[0] * weights.shape[1]:,}",
        "median of all heads",
    ]
    st.dataframe(pd.DataFrame(table, columns=names).round(3), hide_index=True, width="content")


def sources(board, shown):
    """An expander with the matrices that the selected cell of `board` came from; `shown` is drawn already."""
    came_from = dict.fromkeys(name for name, *_ in board.explanation.sources) if board.explanation else {}
    before = [name for name in {board.selected[0]: None} | came_from if name != shown]
    if before:
        with st.expander("The matrices that this cell came from", on_change="rerun", key="more_sources") as box:
            if box.open:
                for name in before:
                    board.show(name)


def _warn_of_choosing(best, weights):
    distant = heads.best_for_distant_pairs(weights)
    if distant.size:
        st.markdown(
            "Mind the choosing: for a pair that nobody chose, at least three tokens apart, the best of all heads "
            f"gives {np.median(distant):.3f} in the middle; {heads.share_as_high(best, distant):.1%} of those "
            "pairs get as much as yours. High for one pair is not yet a head *for* such pairs."
        )


def _pair(query_tokens, key_tokens, query, key):
    with st.container(horizontal=True, vertical_alignment="bottom"):
        query = _position("Query: who looks", query_tokens, query, "asks")
        key = _position("Key: who is looked at", key_tokens, key, "asked")
        st.markdown(f"{shell.token(query_tokens[query])} looks at {shell.token(key_tokens[key])}")
    return query, key


def _position(label, tokens, default, key):
    if len(tokens) > charts.COLOURS_UP_TO:  # too many for a list
        return controls.number(f"{label}, by position", 0, len(tokens) - 1, default, key=key, width=200)
    names = dict(enumerate(charts.indexed(tokens)))
    return controls.choice(label, names, key=key, widget=st.selectbox, names=names, default=default, width=200)


def _overview(finding, layer, head, stretch):
    """As many layers and heads as can be drawn, with the one picked among them."""
    first = [index // charts.COLOURS_UP_TO * charts.COLOURS_UP_TO for index in (layer, head)]
    part = finding.scores[tuple(slice(start, start + charts.COLOURS_UP_TO) for start in first)]
    marks = np.zeros(part.shape, dtype=int)
    marks[layer - first[0], head - first[1]] = 2
    if part.size < finding.scores.size:
        st.caption(
            f"Layers from {first[0]} and heads from {first[1]} on: at most {charts.COLOURS_UP_TO} a side are "
            "drawn. The pickers reach the others."
        )
    chart = charts.heatmap(
        part,
        [f"layer {first[0] + i}" for i in range(part.shape[0])],
        [f"head {first[1] + i}" for i in range(part.shape[1])],
        "stretched" if stretch else "amounts" if finding.name == "reach" else "weights",
        titles=("layer", "head"),
        marks=marks,
        step=cells.cell_size(part.shape),
    )
    cells.clickable(chart, "heads", lambda row, col: _take(first[0] + row, first[1] + col))


def _take(layer, head):
    st.session_state.update(layer=layer, head=head)


@st.cache_resource(scope="session", max_entries=64, show_spinner=False)
def _score(version, name, rows_bytes, pair, _weights, _query_tokens, _key_tokens, _rows):
    try:
        return heads.head_scores(_weights, name, _query_tokens, _key_tokens, rows=_rows, pair=pair)
    except ValueError:
        return None


@st.cache_resource(scope="session", max_entries=16, show_spinner=False)
def _chance(version, pattern_bytes, draws, _weights, _pattern):
    return heads.chance_scores(_weights, _pattern, draws=draws)
