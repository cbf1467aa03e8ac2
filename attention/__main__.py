"""The worked example of the lesson, every matrix of it, and attention without and with a causal mask.

python -m attention [--seed N] [--decimals N]
"""

import argparse
import os
import sys

import numpy as np

from attention import create_causal_mask, scaled_dot_product_attention
from attention.examples import CAT_SAT_MAT
from attention.worked import work_through

TITLES = {
    "query": "Q = X W_Qᵀ",
    "key": "K = X W_Kᵀ",
    "value": "V = X W_Vᵀ",
    "scores": "S = Q Kᵀ",
    "scaled_scores": "S / √d_k",
    "masked_scores": "masked: -inf where a token may not look",
    "weights": "A = softmax, row by row",
    "output": "O = A V",
}


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m attention", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=seed, default=42, metavar="N", help="of the random example (default: 42)")
    parser.add_argument("--decimals", type=int, default=4, choices=range(1, 17), metavar="1…16", help="default: 4")
    options = parser.parse_args(arguments)
    sys.stdout.reconfigure(encoding="utf-8")  # Kᵀ must not stop it where the terminal knows less
    try:
        worked_example(options.decimals)
        random_example(options.seed, options.decimals)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read it, as head does, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def seed(text):
    """What RandomState takes. argparse turns the error into a sentence."""
    number = int(text)
    if not 0 <= number < 2**32:
        raise ValueError(text)
    return number


def worked_example(decimals):
    tokens, *inputs = vars(CAT_SAT_MAT).values()
    for causal in (False, True):
        print(f"# {', '.join(tokens)}{', causal' if causal else ''}\n")
        steps = work_through(*inputs, causal=causal)
        if not causal:
            show("X", inputs[0], decimals)
        same = ("query", "key", "value", "scores", "scaled_scores") if causal else ("masked_scores",)
        for name, title in TITLES.items():
            if name not in same:
                show(title, getattr(steps, name), decimals)


def random_example(seed, decimals):
    """The last listing of the text: NumPy's older generator, so that the numbers are the text's."""
    random = np.random.RandomState(seed)
    query, key, value = (random.randn(1, 4, 8) for _ in range(3))
    print(f"# Four random tokens, d_k = 8, seed {seed}\n")
    for title, mask in (("A, no mask", None), ("A, causal mask", create_causal_mask(4))):
        _, weights = scaled_dot_product_attention(query, key, value, mask)
        show(title, weights[0], decimals)


def show(title, matrix, decimals):
    print(f"{title}  {matrix.shape}")
    print(np.array2string(matrix, formatter={"float_kind": lambda number: f"{number:.{decimals}f}"}), end="\n\n")


if __name__ == "__main__":
    main()
