"""Your own attention: open what a model computed, find its heads, read one of them, mask it, take it away."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from attention import attention_steps, charts, export, snippets, uploads
from attention import heads as measures
from attention.recordings import SENTENCES, Recording, load_recording, to_json, to_npz
from pages.shared import cells, controls, heads, parts, quiz, shell

PAGE = "pages/your_own.py"
shell.open_page(PAGE)
st.markdown(
    "Bring the attention of a model of your own, as a file, and look into it. It stays in the memory of your "
    "session: it is not stored, no other visitor sees it, and it goes with your session, soon after you leave."
)

# --- a file, or a sample ----------------------------------------------------------------------------------

OWN, SAMPLE = "own", "cat_black"
SAMPLES = {OWN: "No sample: my own file"} | SENTENCES


def receive():
    """Open the file that came, if none was taken away; it takes the sample's place. All that is kept of it."""
    file = st.session_state["file"]
    st.session_state["opened"] = (None, "", None)
    if file is not None:
        st.session_state["sample"] = OWN
        try:
            recording, problem = uploads.read_upload(file.name, file.getvalue()), ""
        except uploads.UploadError as error:
            recording, problem = None, str(error)
        st.session_state["opened"] = (recording, problem, file.file_id)


bring, try_one = st.columns(2, gap="large")
with bring:
    # of any type: our sentence about a wrong one is clearer, and Streamlit's check ends a forged one in a crash
    st.file_uploader("Your file, .npz or .json", key="file", on_change=receive)
with try_one:
    sample = controls.choice(
        "Or a sample: the 72 heads of all-MiniLM-L6-v2",
        SAMPLES,
        key="sample",
        widget=st.selectbox,
        names=SAMPLES,
    )
    with st.container(horizontal=True):
        st.button(
            "Open the sample",
            icon=":material/play_arrow:",
            on_click=partial(st.session_state.update, sample=SAMPLE),
            disabled=sample != OWN,
        )
        st.download_button(
            "Download it",
            lambda: to_npz(load_recording(SAMPLE if sample == OWN else sample), np.float16),
            "sample.npz",
            icon=":material/download:",
            on_click="ignore",
            key="sample_file",
        )

recording, problem, version = st.session_state.get("opened", (None, "", None))
if sample != OWN:
    recording, problem, version = load_recording(sample), "", sample
if problem:
    st.error(f"This file cannot be opened. {problem}")
elif sample == OWN and recording and not st.session_state["file"]:  # its reader was on another page meanwhile
    st.button("Close the file", icon=":material/close:", on_click=st.session_state.pop, args=("opened",))

with st.expander("How to save your own", icon=":material/code:", expanded=recording is None):
    st.markdown(
        "A file holds `weights` (layers, heads, T_q, T_k), or `query`, `key` and `value`, each (layers, heads, "
        "T, …): with these, masks can be tried and every cell is explained. Leading axes may be missing. "
        "`tokens` name both sides; where these differ, save `query_tokens` and `key_tokens`. JSON has "
        f"the same names, and nested lists. Allowed are {st.get_option('server.maxUploadSize')} MB, "
        f"{uploads.MAX_TOKENS:,} tokens, {uploads.MAX_HEADS} layers of {uploads.MAX_HEADS} heads."
    )
    for tab, code in zip(st.tabs(list(snippets.LIBRARIES)), snippets.LIBRARIES.values(), strict=True):
        with tab:
            shell.program(code, wrap_lines=True)

if recording is None:
    shell.close_page(PAGE, uploads.read_upload)
    st.stop()

for warning in recording.warnings:
    st.warning(warning, icon=":material/info:")
num_layers, num_heads, T_q, T_k = recording.shape
tokens = recording.query_tokens, recording.key_tokens
queries, keys = map(charts.indexed, tokens)
st.markdown(
    f"Layers: **{num_layers:,}**. Heads in each: **{num_heads:,}**. Queries: **{T_q:,}**. Keys: **{T_k:,}**. "
    + ("Recorded as weights." if recording.query is None else "Recomputed now from queries, keys and values.")
)

# --- recomputed with a mask -------------------------------------------------------------------------------

MASKS = {"none": "none", "causal": "causal", "window": "window", "both": "causal window"}
SCALES = {"sqrt": "÷ √d_k", "none": "not at all"}
options = {}
if recording.query is None:
    st.caption("A mask belongs before the softmax: to try one here, save queries, keys and values instead.")
else:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = controls.choice("Mask", MASKS, key="mask", names=MASKS)
        width = (
            controls.number("Tokens each way", 0, uploads.MAX_TOKENS, 2, key="width", width=150)
            if kind in ("window", "both")
            else 0
        )
        scaling = controls.choice("Scale the scores", SCALES, key="scale", names=SCALES)
    options = {
        "causal": kind in ("causal", "both"),
        "window": (width, width) if kind in ("window", "both") else None,
        "scale": None if scaling == "sqrt" else 1.0,
    }
    if kind != "none" or scaling != "sqrt":
        st.caption(
            "A what-if: each head gets its own recorded queries and keys. In a model run like this, the layers "
            "above would get other inputs."
        )


@st.cache_resource(scope="session", max_entries=1, show_spinner=False)
def attend(version, causal=False, window=None, scale=None, *, _recording):
    """(layers, heads, T_q, T_k): kept for this visitor alone, and only the last."""
    return _recording.attend(causal=causal, window=window, scale=scale)[1]


weights = attend(version, **options, _recording=recording)
version = (version, *options.values())

# --- the heads --------------------------------------------------------------------------------------------

st.subheader("Which head does what?")
word_rows = measures.words(recording.query_tokens)
word_rows = word_rows if word_rows.any() else np.ones(T_q, dtype=bool)
finding = heads.find(weights, *tokens, version=version, rows=word_rows)
st.markdown(
    f"Each head's score for {finding.words}"
    + (", in tokens" if finding.name == "reach" else ", from 0 to 1")
    + ", averaged over the queries"
    + ("" if word_rows.all() else ", special tokens aside")
    + ". Click a head to see it large."
)
stretch = controls.switch(
    "Stretch the colours",
    key="stretch",
    help="Where all numbers are small: from 0 to the largest drawn, instead of from 0 to 1.",
)
layer, head = heads.pick(finding, stretch=stretch)
with st.expander("The highest scores, and what chance gives", on_change="rerun", key="more_ranking") as box:
    if box.open:
        heads.ranking(finding)
        heads.chance(finding, weights, *tokens, version=version)

# --- one head, large --------------------------------------------------------------------------------------

st.subheader(f"Layer {layer}, head {head}")


long = max(T_q, T_k) > charts.COLOURS_UP_TO
with st.expander("Leave tokens out, draw a part", icon=":material/filter_alt:", expanded=long):
    marked = not all(measures.words(side).all() for side in tokens)
    without_marks = controls.switch("Without special tokens, such as [CLS]", key="plain") if marked else False
    renormalise = controls.switch("Renormalise: let the rest of each row sum to 1 again", key="renormalise")
    size = parts.size(max(T_q, T_k))
    query_kept, rows = parts.choose("queries", tokens[0], version[0], size, without_marks=without_marks)
    key_kept, columns = parts.choose("keys", tokens[1], version[0], size, without_marks=without_marks)

if recording.query is None:
    steps = None
    matrix = cells.Matrix("Weights $A$", weights[layer, head], queries, keys, ("T_q", "T_k"), "weights")
    matrices = {"weights": matrix}
else:
    one = (array[layer, head] for array in (recording.query, recording.key, recording.value))
    steps = attention_steps(*one, **options)
    matrices = cells.standard(steps, *tokens, mask=np.isfinite(steps.masked_scores))
shown = "weights"
if renormalise:
    shown = "renormalised"
    kept_weights = measures.hide_keys(matrices["weights"].array, key_kept, renormalise=True)
    matrices[shown] = replace(matrices["weights"], title="Renormalised weights $A'$", array=kept_weights)
matrices = {name: parts.shown(matrix, {"T_q": rows, "T_k": columns}) for name, matrix in matrices.items()}
if stretch:
    matrices = {
        name: replace(matrix, kind="stretched") if matrix.kind == "weights" else matrix
        for name, matrix in matrices.items()
    }
LITTLE = 0.1
remaining = measures.hide_keys(matrices["weights"].array, key_kept)[query_kept].sum(axis=1)
st.markdown(
    f"{query_kept.sum():,} of {T_q:,} queries and {key_kept.sum():,} of {T_k:,} keys. "
    + (
        ""
        if key_kept.all()
        else f"Of each row's weight, these keys hold {remaining.min():.3f} to {remaining.max():.3f}, "
        f"{remaining.mean():.3f} on average. "
    )
    + ("Rows are **renormalised**: divided by their sums" if renormalise else "Rows are **not renormalised**")
    + (", which magnifies what little some gave." if renormalise and remaining.min() < LITTLE else ".")
    + (" Colours are **stretched**: the darkest is the largest number drawn, not 1." if stretch else "")
)
if len(rows) < query_kept.sum() or len(columns) < key_kept.sum():
    st.caption(
        f"Drawn: queries {rows[0]} to {rows[-1]}, keys {columns[0]} to {columns[-1]}. The others are out of "
        "sight, not left out: all numbers count them."
    )
figure = st.container()
board = cells.Board(matrices, scale=steps and steps.scale, first=shown)
with figure:
    board.show(shown)
heads.sources(board, shown)

# --- in numbers -------------------------------------------------------------------------------------------

A = matrices["weights"].array
with st.expander(
    "Statistics of this head", icon=":material/query_stats:", on_change="rerun", key="more_numbers"
) as box:
    if box.open:
        heads.statistics(weights, *tokens, layer, head, version=version, rows=word_rows)
        received = {"key": keys, "mean weight": A[query_kept].mean(axis=0)}
        if recording.value is not None:
            value = recording.value[layer, head]
            received["‖v‖"] = measures.value_norms(value)
            received["mean weight × ‖v‖"] = measures.norm_weights(A, value)[query_kept].mean(axis=0)
            st.markdown("A key that gets much weight adds little if its value is short: weight × ‖v‖ is what arrives.")
        st.dataframe(pd.DataFrame(received)[key_kept].round(4), hide_index=True, width="content")

# --- predict, then reveal ---------------------------------------------------------------------------------

row = min(board.selected[1], T_q - 1)
order = np.argsort(-A[row], kind="stable").tolist()
if T_k > 1 and A[row][order[1]] > 0:
    st.subheader("Predict, then check")
    asking, most, second = (shell.token(text) for text in (queries[row], keys[order[0]], keys[order[1]]))
    others = np.arange(T_k) != order[0]
    quiz.number(
        "q_without",
        f"In the row of {asking}, {second} has {charts.exact(A[row, order[1]])} and {most} most of all, "
        f"{charts.exact(A[row, order[0]])}. Leave {most} out and renormalise: what does {second} have then?",
        measures.hide_keys(A[row], others, renormalise=True)[order[1]],
        f"It is divided by what is left of the row without {most}.",
    )
    if recording.value is not None:
        added = measures.norm_weights(A, recording.value[layer, head])[row]
        candidates = [shell.token(keys[position]) for position in order[:4]]
        quiz.choice(
            "q_adds",
            f"Which of these keys adds most to the output of {asking}, by weight × ‖v‖?",
            candidates,
            candidates[int(np.argmax(added[order[:4]]))],
            "; ".join(
                f"{name}: weight {charts.short(A[row, k])}, weight × ‖v‖ {charts.short(added[k])}"
                for name, k in zip(candidates, order, strict=False)
            )
            + ".",
        )

# --- to take away -----------------------------------------------------------------------------------------

JSON_NUMBERS = 500_000  # more would not be opened here again
st.subheader("Take it with you")
everything = Recording(*tokens, weights=weights)
this_head = matrices[shown].array[np.ix_(rows, columns)]
labels = [queries[i] for i in rows], [keys[j] for j in columns]
files = {
    "All heads as now computed, .npz": (partial(to_npz, everything), "npz"),
    "All heads as now computed, .json": (partial(to_json, everything), "json"),
    "This head as drawn, .csv": (partial(export.as_csv, this_head, *labels), "csv"),
}
with st.container(horizontal=True):
    for label, (content, suffix) in files.items():
        st.download_button(
            label,
            content,
            f"attention.{suffix}",
            icon=":material/download:",
            on_click="ignore",
            key=f"as_{suffix}",
            disabled=suffix == "json" and weights.size > JSON_NUMBERS,
            help=f"JSON is for up to {JSON_NUMBERS:,} numbers." if suffix == "json" else None,
        )

shell.close_page(PAGE, attention_steps, measures.head_scores, measures.hide_keys, measures.chance_scores)
