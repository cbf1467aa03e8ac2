"""Code that saves a visitor's own attention to a file that `uploads.read_upload` takes, for three libraries.

Each is short, and whole but for the names in its first line, which are the visitor's own. The tests run them.
"""

HUGGING_FACE = """\
# yours: model, tokenizer and text
import numpy as np
import torch

model.eval()  # no dropout
model.set_attn_implementation("eager")  # the others return no weights
inputs = tokenizer(text, return_tensors="pt").to(model.device)
with torch.no_grad():
    attentions = model(**inputs, output_attentions=True).attentions  # per layer: (batch, heads, T, T)
weights = torch.stack(attentions)[:, 0]  # the first of the batch: (layers, heads, T, T)
tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0].tolist())
# .half() instead of .float() makes a large file half as large
np.savez_compressed("attention.npz", weights=weights.float().cpu().numpy(), tokens=np.array(tokens))
"""

PYTORCH = """\
# yours: module, a torch.nn.MultiheadAttention with batch_first=True; x, its input (batch, T, E); tokens
import numpy as np
import torch

module.eval()  # no dropout
with torch.no_grad():
    _, weights = module(x, x, x, average_attn_weights=False)  # (batch, heads, T, T)
np.savez_compressed("attention.npz", weights=weights[0].float().cpu().numpy(), tokens=np.array(tokens))
"""

KERAS = """\
# yours: layer, a keras.layers.MultiHeadAttention; x, its input (batch, T, E); tokens
import keras
import numpy as np

_, weights = layer(x, x, return_attention_scores=True)  # weights, after the softmax: (batch, heads, T, T)
weights = keras.ops.convert_to_numpy(weights[0])
np.savez_compressed("attention.npz", weights=weights, tokens=np.array(tokens))
"""

LIBRARIES = {"Hugging Face": HUGGING_FACE, "PyTorch": PYTORCH, "Keras": KERAS}
