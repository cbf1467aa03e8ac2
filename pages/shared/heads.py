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

    @property
    def pair(self):
        """(query, key), by position, if a pair was looked for."""
        return tuple(np.argwhere(self.pattern)[0].tolist()) if self.name == "pair" else None


def find(weights, query_tokens, key_tokens, *, version, rows=None, default="first", pair=(0, 0), changed=None):
    """Ask what the heads shall be scored for, and return the Finding.

    weights (layers, heads, T_q, T_k); `version` names them, with whatever they were computed from: scores are
    kept for it until the session ends. Queries where `rows` (T_q,) is False do not count; one must remain.
    `default` is what is looked for at first, `pair` the positions of the query and the key of one's choice,
    and `changed` is called when the reader takes others.
    """
    names = PATTERNS | SPREADS
    options = {"key": "find", "widget": st.selectbox, "names": names, "default": default, "width": 400}
    name = controls.choice("Which heads look at …", names, **options)
    pair = _pair(query_tokens, key_tokens, *pair, changed) if name == "pair" else (0, 0)
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


def ranking(finding):
    """The heads with the highest scores."""
    st.dataframe(
        pd.DataFrame(heads.rank_heads(finding.scores)[:BEST], columns=["layer", "head", "score"]),
        hide_index=True,
        width="content",
        column_config={"score": st.column_config.NumberColumn(format="%.3f")},
    )


def chance(finding, weights, query_tokens, key_tokens, *, version):
    """Say how high the best head would score where there is nothing to find."""
    if finding.name == "pair":
        _chance_of_a_pair(finding, weights, query_tokens, key_tokens)
    elif finding.pattern is not None:
        draws = int(np.clip(CHANCE / weights.size, 50, 1000))
        with st.spinner("Drawing random keys …"):
            by_chance = _chance(version, finding.pattern.tobytes(), draws, weights, finding.pattern)
        layer, head, best = heads.rank_heads(finding.scores)[0]
        st.markdown(
            f"Would chance do it? Aimed at **random** keys instead, {draws:,} times, the best of all "
            f"{finding.scores.size:,} heads scores {np.median(by_chance):.3f} in the middle and {by_chance.max():.3f} "
            f"at most. Layer {layer}, head {head} has **{best:.3f}**: "
            f"{heads.share_as_high(best, by_chance):.1%} of the draws reach that."
        )


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


def _chance_of_a_pair(finding, weights, query_tokens, key_tokens):
    query, key = finding.pair
    rows, columns = heads.words(query_tokens), heads.words(key_tokens)
    kind = "words"  # which are compared with words: marks such as [CLS] get much from all of them
    if not (rows[query] and columns[key]):
        rows, columns, kind = np.ones_like(rows), np.ones_like(columns), "tokens"
    apart = min(max(abs(query - key), 1), 3)
    others = heads.best_for_distant_pairs(weights[..., rows, :][..., columns], apart)
    if others.size:
        best = finding.scores.max()
        st.markdown(
            f"Mind the choosing: for two {kind} that **nobody chose**, at least {apart} apart, the best of all "
            f"{finding.scores.size:,} heads gives {np.median(others):.3f} in the middle. Yours gets **{best:.3f}** "
            f"from its best; {heads.share_as_high(best, others):.1%} of all such pairs get as much. High for one pair "
            "is not yet a head *for* such pairs."
        )


def _pair(query_tokens, key_tokens, query, key, changed):
    with st.container(horizontal=True, vertical_alignment="bottom"):
        query = _position("Query: who looks", query_tokens, query, "asks", changed)
        key = _position("Key: who is looked at", key_tokens, key, "asked", changed)
        st.markdown(f"{shell.token(query_tokens[query])} looks at {shell.token(key_tokens[key])}")
    return query, key


def _position(label, tokens, default, key, changed):
    more = {"key": key, "width": 200, "on_change": changed}
    if len(tokens) > charts.COLOURS_UP_TO:  # too many for a list
        return controls.number(f"{label}, by position", 0, len(tokens) - 1, default, **more)
    names = dict(enumerate(charts.indexed(tokens)))
    return controls.choice(label, names, widget=st.selectbox, names=names, default=default, **more)


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
    controls.put(layer=layer, head=head)


@st.cache_resource(scope="session", max_entries=64, show_spinner=False)
def _score(version, name, rows_bytes, pair, _weights, _query_tokens, _key_tokens, _rows):
    try:
        return heads.head_scores(_weights, name, _query_tokens, _key_tokens, rows=_rows, pair=pair)
    except ValueError:
        return None


@st.cache_resource(scope="session", max_entries=16, show_spinner=False)
def _chance(version, pattern_bytes, draws, _weights, _pattern):
    return heads.chance_scores(_weights, _pattern, draws=draws)
