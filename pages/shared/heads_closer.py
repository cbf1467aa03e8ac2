"""What a picture of a real head does not show by itself: values, chance, other sentences, other heads."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from attention import attention_steps, charts, merge_heads
from attention import heads as measures
from attention.head_slices import relative_change, switch_off
from attention.recordings import CONTRASTS, PAIRS, SENTENCES, Recording, load_recording
from pages.shared import cells, controls, quiz, shell


@dataclass(frozen=True)
class Chosen:
    """The sentence and the head that a reader looks at; weights (layers, heads, T, T)."""

    sentence: str
    causal: bool
    recording: Recording
    weights: np.ndarray
    layer: int
    head: int

    @property
    def tokens(self):
        return self.recording.query_tokens

    @property
    def A(self):
        return self.weights[self.layer, self.head]

    @property
    def value(self):
        return self.recording.value[self.layer, self.head]

    @property
    def steps(self):
        """The AttentionSteps of the head, computed now."""
        recording, index = self.recording, (self.layer, self.head)
        arrays = (array[index] for array in (recording.query, recording.key, recording.value))
        return attention_steps(*arrays, causal=self.causal)


@st.cache_resource(max_entries=32, show_spinner=False)
def recorded(sentence, causal):
    """(the Recording, its weights (layers, heads, T, T)): the same for all visitors, and nobody writes to them."""
    recording = load_recording(sentence)
    return recording, recording.attend(causal=causal)[1]


def pair(sentence):
    """The positions of the two words that one may want to see connected: who looks, and at whom."""
    return tuple(map(recorded(sentence, False)[0].query_tokens.index, PAIRS[sentence]))


def show(chosen):
    short = {part: name for part, (name, *_) in PARTS.items()}
    _, about, draw = PARTS[controls.choice("Look closer", PARTS, key="closer", names=short)]
    st.subheader(about)
    draw(chosen)


# --- values -----------------------------------------------------------------------------------------------


def _values(chosen):
    norms, words = measures.value_norms(chosen.value), measures.words(chosen.tokens)
    share = norms[0] / norms[words].mean()
    first = measures.head_scores(chosen.weights, "first", chosen.tokens, chosen.tokens, rows=words)
    layer, head, score = measures.rank_heads(first)[0]
    st.markdown(
        "What reaches the output is weight **times value**. In this head the words give `[CLS]` "
        f"**{first[chosen.layer, chosen.head]:.3f}** of their weight, and the value of `[CLS]` is **{share:.1%}** as "
        "long as a word's. Much weight on a short value is a way to do nothing."
    )
    if (layer, head) != (chosen.layer, chosen.head):
        st.button(
            f"Show the head that looks most at [CLS]: layer {layer}, head {head}, with {score:.3f}",
            icon=":material/visibility:",
            on_click=lambda: controls.put(layer=layer, head=head),
        )
    labels = charts.indexed(chosen.tokens)
    steps = chosen.steps
    by_name = cells.standard(steps, chosen.tokens)
    added = measures.norm_weights(chosen.A, chosen.value)
    by_name["norm_weights"] = cells.Matrix(
        r"Weight × length of value $N$", added, labels, labels, ("T_q", "T_k"), "amounts"
    )
    figures = st.container()
    board = cells.Board(by_name, scale=steps.scale, first="norm_weights", key="norm_")
    with figures:
        board.side_by_side("norm_weights")
        shell.draw(charts.bars(norms, labels, title="length of value", limit=None), "norms")
    st.caption("Kobayashi et al. 2020, section 3, before the output projection, which was not recorded.")


# --- other sentences --------------------------------------------------------------------------------------


def _contrasts(chosen):
    st.markdown(
        "Change one word, and *it* means another thing to a reader. Does the head look elsewhere? Both sentences of "
        "each pair, in the head chosen above:"
    )
    for name, (sentences, asking, nouns) in CONTRASTS.items():
        pairs = []  # for each sentence, the weights (layers, heads) of the word on each of the two nouns
        for recording, weights in (recorded(sentence, chosen.causal) for sentence in sentences):
            at = recording.query_tokens.index
            pairs.append([weights[..., at(asking), at(noun)] for noun in nouns])
        here = [[pair[chosen.layer, chosen.head] for pair in row] for row in pairs]
        looks = [nouns[int(np.argmax(row))] for row in here]
        st.dataframe(
            pd.DataFrame(
                [
                    (f"… {SENTENCES[sentence].split()[-1]}", meant, *map(float, row), look)
                    for sentence, meant, row, look in zip(sentences, nouns, here, looks, strict=True)
                ],
                columns=["last word", f"{asking} means", *(f"{asking} → {noun}" for noun in nouns), "looks more at"],
            ).round(3),
            hide_index=True,
            width="content",
        )
        right = (pairs[0][0] > pairs[0][1]) & (pairs[1][1] > pairs[1][0])
        st.markdown(
            f"**{name}**: {'the look changes with it' if looks[0] != looks[1] else 'the look does not change'}. Of all "
            f"{right.size} heads, **{right.sum()}** look more at the noun that is meant in both; two coins thrown for "
            f"each head would give {right.size / 4:.0f}."
        )
    st.caption("A head that attends from *it* to the right noun in one sentence need not do so for what *it* means.")


# --- other heads ------------------------------------------------------------------------------------------


def _compare(chosen):
    layers, number, T, _ = chosen.weights.shape
    with st.container(horizontal=True):
        layer = controls.number("Other layer", 0, layers - 1, 1, key="layer2", width=140)
        head = controls.number("Other head", 0, number - 1, 8, key="head2", width=140)
    words, other = measures.words(chosen.tokens), chosen.weights[layer, head]
    labels = charts.indexed(chosen.tokens)
    names = [f"layer {chosen.layer}, head {chosen.head}", f"other: layer {layer}, head {head}"]
    both = np.stack([chosen.A, other])
    shell.draw(charts.panels(both, names, labels, labels, per_line=2, cell=16), "two")
    rows = {
        f"entropy, of ln {T} = {np.log(T):.2f} at most": measures.entropy,
        "mean distance of what is looked at, in tokens": measures.reach,
    }
    table = [(name, *(float(measure(A)[words].mean()) for A in both)) for name, measure in rows.items()]
    st.dataframe(
        pd.DataFrame(table, columns=["mean over the words", *names]).round(3), hide_index=True, width="content"
    )
    st.markdown(
        f"Weight that both put on the same keys: **{measures.overlap(chosen.A, other)[words].mean():.3f}**, of 1. "
        f"Divergence of their rows (Jensen–Shannon): **{measures.divergence(chosen.A, other)[words].mean():.3f}**, "
        f"from 0 (the same) to ln 2 = {np.log(2):.3f} (nothing in common)."
    )


def _off(chosen):
    heads_in_layer = chosen.weights.shape[1]
    st.markdown(f"Switch heads of layer {chosen.layer} off: their slice of the joined outputs becomes 0.")
    with st.container(horizontal=True):
        on = np.array([controls.switch(f"Head {h}", True, key=f"real_on{h}") for h in range(heads_in_layer)])
    outputs = chosen.weights[chosen.layer] @ chosen.recording.value[chosen.layer]  # (heads, T, head_dim)
    joined = merge_heads(outputs)  # (heads, T, head_dim) -> (T, heads · head_dim)
    change = relative_change(joined, switch_off(joined, on))
    labels = charts.indexed(chosen.tokens)
    if on.all():
        squares = (outputs**2).sum(axis=-1)  # (heads, T)
        share = (squares / squares.sum(axis=0)).mean(axis=1)
        shell.draw(charts.bars(share, [f"head {h}" for h in range(heads_in_layer)], title="share", limit=1), "shares")
        st.markdown(
            "Each head's share of the squared length of the joined outputs, averaged over the tokens. All are on."
        )
    else:
        shell.draw(charts.bars(change, labels, title="moved", limit=1), "moved")
        st.markdown(
            f"How far each token's joined output moves, as a share of its length; {change.mean():.3f} on average."
        )
    st.caption(
        "Joined outputs, before W_O: the output projection and the layers above were not recorded, so what the model "
        "would answer without these heads cannot be said here."
    )


# --- what is not shown ------------------------------------------------------------------------------------


def _beware(chosen):
    words = measures.words(chosen.tokens)
    even = np.broadcast_to(1 / len(chosen.tokens), chosen.A.shape)
    moved = relative_change(chosen.A @ chosen.value, even @ chosen.value)[words]
    distant = measures.best_for_distant_pairs(chosen.weights[..., words, :][..., words])
    st.markdown(
        "- **A weight is not a reason.** Put even weights in the place of this head's: the outputs of the words move "
        f"by **{moved.min():.0%}** to **{moved.max():.0%}** of their length. Where that is little, the picture "
        "explains little. Jain and Wallace 2019 found other weights with the same predictions; Wiegreffe and Pinter "
        "2019 answer that it depends on what is to be explained, and how it is tested.\n"
        "- **Values count too.** See “Values”: much weight can go where nothing is handed over.\n"
        f"- **One head of {chosen.weights[..., 0, 0].size} always fits.** For two words at least three apart that "
        f"nobody chose, the best head here gives **{np.median(distant):.2f}** in the middle, and one pair in twenty "
        f"gets **{np.quantile(distant, 0.95):.2f}** or more.\n"
        "- **Layers mix.** Above the first layer a token's vector already holds something of the others: its position "
        "is not its word."
    )


PARTS = {
    "values": ("Values", "Weight times value", _values),
    "contrast": ("One word changed", "Does it follow the meaning?", _contrasts),
    "compare": ("Two heads", "One head beside another", _compare),
    "off": ("Heads off", "Without some heads", _off),
    "beware": ("Beware", "What the picture does not show", _beware),
}


# --- predict, then reveal ---------------------------------------------------------------------------------


def questions(chosen):
    weights, layer, head, A = chosen.weights, chosen.layer, chosen.head, chosen.A
    words = measures.words(chosen.tokens)
    st.subheader("Predict, then check")
    quiz.number(
        "q_special",
        f"How much of their weight do the words give to `[CLS]` and `[SEP]` together, in layer {layer}, head {head}, "
        "on average?",
        A[words][:, ~words].sum(axis=1).mean(),
        f"Over all {weights[..., 0, 0].size} heads it is "
        f"{weights[..., words, :][..., ~words].sum(axis=-1).mean():.3f}: many use these two as a place to rest.",
    )
    distant = measures.best_for_distant_pairs(weights[..., words, :][..., words])
    quiz.number(
        "q_best",
        "Take two words at least three apart, without choosing. What does the **best** of all heads give for them, in "
        "the middle of all such pairs?",
        np.median(distant),
        "So a head found for one pair proves little: see what chance gives, above.",
    )
    norms = measures.value_norms(chosen.value)
    change = "longer" if norms[0] > norms[words].mean() else "shorter"
    quiz.choice(
        "q_norm",
        f"In layer {layer}, head {head}: is the value of `[CLS]` longer or shorter than the values of the words?",
        ("longer", "shorter"),
        change,
        f"{norms[0]:.2f} against {norms[words].mean():.2f} on average.",
    )
