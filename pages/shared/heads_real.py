"""The heads of a real model: find one, look at it, and be careful with what it seems to say."""

from dataclasses import replace

import numpy as np
import streamlit as st

from attention import heads as measures
from attention.recordings import SENTENCES
from pages.shared import cells, controls, heads, heads_closer, parts, shell

FIRST = "animal_tired"  # the sentence shown at first


def show():
    st.markdown(
        "Nobody designed these heads: training did. The queries, keys and values of all heads of **all-MiniLM-L6-v2** "
        "were recorded for a few sentences; their weights are computed here, now. Which head connects *it* to *animal*?"
    )
    names = {name: SENTENCES[name] for name in (FIRST, *SENTENCES)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        sentence = controls.choice(
            "Sentence", names, key="sentence", widget=st.selectbox, names=names, on_change=_another_sentence, width=520
        )
        causal = controls.switch("Causal mask, as a what-if", key="causal")
    if causal:
        st.caption(
            "The model was trained without a mask: every token sees the later ones too. In a model run with one, the "
            "layers above the first would get other inputs; here each head keeps its recorded queries and keys."
        )
    recording, weights = heads_closer.recorded(sentence, causal)
    tokens = recording.query_tokens
    rows = measures.words(tokens)
    version, pair = (sentence, causal), heads_closer.pair(sentence)

    asking = {"default": "pair", "pair": pair, "changed": _another_pair}
    finding = heads.find(weights, tokens, tokens, version=version, rows=rows, **asking)
    pair = finding.pair or pair
    query, key = (shell.token(tokens[position]) for position in pair)
    what = f"{finding.words}, averaged over the words" if not finding.pair else f"{key}, in the row of {query}"
    st.markdown(f"The score of all {finding.scores.size} heads for {what}. **Click** a head to see it large.")
    layer, head = heads.pick(finding)
    heads.chance(finding, weights, tokens, tokens, version=version)
    with st.expander("The highest scores", on_change="rerun", key="more_ranking") as box:
        if box.open:
            heads.ranking(finding)

    st.subheader(f"Layer {layer}, head {head}")
    with st.container(horizontal=True):
        plain = controls.switch("Leave out the special tokens", key="plain")
        renormalise = plain and controls.switch("Renormalise what is left", key="renormalise")
    kept = rows if plain else np.ones(len(tokens), dtype=bool)
    chosen = heads_closer.Chosen(sentence, causal, recording, weights, layer, head)
    steps = chosen.steps
    matrices = cells.standard(steps, tokens, mask=np.isfinite(steps.masked_scores))
    shown = "weights"
    if renormalise:
        shown = "renormalised"
        array = measures.hide_keys(steps.weights, kept, renormalise=True)
        matrices[shown] = replace(matrices["weights"], title="Renormalised weights $A'$", array=array)
    drawn = dict.fromkeys(("T_q", "T_k"), np.flatnonzero(kept))
    matrices = {name: parts.shown(matrix, drawn) for name, matrix in matrices.items()}
    figure = st.container()
    board = cells.Board(matrices, scale=steps.scale, first=shown, at=pair)
    with figure:
        board.show(shown)
    if plain:
        left = steps.weights[rows][:, rows].sum(axis=1)
        st.markdown(
            f"`[CLS]` and `[SEP]` are out of sight: the words keep {left.min():.3f} to {left.max():.3f} of their rows, "
            f"{left.mean():.3f} on average. "
            + (
                "Rows are **renormalised**, divided by that: where it is little, it now looks like much."
                if renormalise
                else "Rows are **not renormalised**: they sum to that."
            )
        )
    heads.sources(board, shown)
    with st.expander("Statistics of this head", on_change="rerun", key="more_numbers") as box:
        if box.open:
            heads.statistics(weights, tokens, tokens, layer, head, version=version, rows=rows)
    heads_closer.show(chosen)
    heads_closer.questions(chosen)
    st.caption(
        "Recorded in float16 from sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), with a script that is kept "
        "beside the data, `attention/data/record.py`. An encoder: no mask in training, `[CLS]` and `[SEP]` at the ends."
    )


def _another_sentence():
    """Ask for its own pair of words: the positions of the last one hold other words here."""
    _look_at(*heads_closer.pair(st.session_state["sentence"]))


def _another_pair():
    _look_at(st.session_state["asks"], st.session_state["asked"])


def _look_at(query, key):
    """Explain the cell of this pair; ask for it too, if a pair is asked for."""
    controls.put(row=query, col=key)
    if "asks" in st.session_state:
        controls.put(asks=query, asked=key)
