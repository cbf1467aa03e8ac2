"""The heads of a real model: find one, look at it, and be careful with what it seems to say."""

from dataclasses import replace

import numpy as np
import streamlit as st

from attention import heads as measures
from attention.recordings import PAIRS, SENTENCES
from pages.shared import cells, controls, heads, heads_closer, parts

FIRST = "animal_tired"  # the sentence shown at first


def show():
    st.markdown(
        "Nobody designed these heads: training did. Queries, keys and values of all heads of **all-MiniLM-L6-v2** were "
        "recorded for a few sentences; weights are computed from them here, now. Which head connects *it* to *animal*?"
    )
    names = {name: SENTENCES[name] for name in (FIRST, *SENTENCES)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        sentence = controls.choice(
            "Sentence", names, key="sentence", widget=st.selectbox, names=names, on_change=_ask_anew, width=520
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
    asks, asked = map(tokens.index, PAIRS[sentence])
    version = (sentence, causal)

    finding = heads.find(weights, tokens, tokens, version=version, rows=rows, default="pair", pair=(asks, asked))
    over = "" if finding.name == "pair" else ", averaged over the words"
    st.markdown(f"Each head's score for {finding.words}{over}. **Click** a head to see it large.")
    layer, head = heads.pick(finding)
    with st.expander("The highest scores, and what chance gives", on_change="rerun", key="more_ranking") as box:
        if box.open:
            heads.ranking(finding, weights, version=version)

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
    board = cells.Board(matrices, scale=steps.scale, first=shown, at=(asks, asked))
    with figure:
        board.show(shown)
    left = steps.weights[rows][:, rows].sum(axis=1)
    st.markdown(
        f"The words share {left.mean():.3f} of each word's weight on average, `[CLS]` and `[SEP]` have the rest. "
        + ("Rows are **renormalised**: what little is left looks like much. " if renormalise else "")
        + ("Rows are **not renormalised**: they sum to less than 1." if plain and not renormalise else "")
    )
    heads.sources(board, shown)
    heads_closer.show(chosen)
    heads_closer.questions(chosen)


def _ask_anew():
    """Another sentence has other words in these positions."""
    for key in ("asks", "asked"):
        st.session_state.pop(key, None)
