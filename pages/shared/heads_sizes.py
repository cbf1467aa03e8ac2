"""How large a multi-head layer is: parameters, and what a decoder keeps, counted on layers made for it."""

import pandas as pd
import streamlit as st

from attention import head_slices as slices
from pages.shared import controls

LAYERS = {"here": "the layer above", "text": "the lesson's text", "vaswani": "Vaswani et al. 2017"}
WIDTHS = {"text": (128, 4), "vaswani": (512, 8)}


def show(layer):
    label = "Parameters and cache: does more heads mean more of them?"
    with st.expander(label, icon=":material/straighten:", on_change="rerun", key="more_sizes") as box:
        if not box.open:
            return
        which = controls.choice("Sizes of", LAYERS, key="sizes", names=LAYERS)
        seq_len = controls.number("Tokens in the cache", 1, 1_000_000, 1024, key="cached", width=200)
        embed_dim, num_heads = WIDTHS.get(which, (layer.embedding_dimension, layer.num_heads))
        st.dataframe(_size_table(embed_dim, num_heads, seq_len), hide_index=True, width="content")
        st.markdown(
            f"Counted on layers of embed_dim {embed_dim}, built for this table, without biases. With as many "
            "key/value heads as heads, the parameters stay **the same** whatever the number of heads: more heads are "
            "narrower. Fewer key/value heads make $W_K$ and $W_V$ smaller, and the keys and values that a decoder "
            "keeps of past tokens."
        )


@st.cache_data(max_entries=32, show_spinner=False)
def _size_table(embed_dim, num_heads, seq_len):
    counts = [(number, number) for number in slices.divisors(embed_dim)]
    counts += [(num_heads, groups) for groups in reversed(slices.divisors(num_heads)[:-1])]
    table = pd.DataFrame(slices.sizes(embed_dim, counts, seq_len))
    table.columns = ["", "heads", "key/value heads", "head_dim", "parameters", "numbers in the cache"]
    return table
