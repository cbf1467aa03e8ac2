"""How fast it is, as tables in Markdown.

    python tests/benchmark.py             attention beside other implementations, and its memory
    python tests/benchmark.py --pages     the server's time for a rerun of each page
    python tests/benchmark.py --browser   what a reader waits for, in Chromium

In the first, ratios are our time over the other's, measured in turn within each of several rounds; the median over
the rounds. Needs tests/requirements-reference.txt. Our function always returns the weights.
"""

import argparse
import importlib
import os
import statistics
import sys
import time
import tracemalloc
from pathlib import Path

SHAPES = ((3, 4), (1, 8, 64, 64), (1, 8, 512, 64), (8, 8, 512, 64), (1, 8, 2048, 64))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of NumPy's BLAS and of PyTorch")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--pages", action="store_true")
    parser.add_argument("--browser", action="store_true")
    options = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).parents[1]))
    if options.pages or options.browser:
        print(importlib.import_module("benchmark_pages" if options.pages else "benchmark_browser").table())
    else:
        compare_attention(options)


def compare_attention(options):
    use_threads(options.threads)
    print(f"float32, {options.threads} threads, {options.rounds} rounds\n")
    print_row("shape", "ours, ms", "/ text's NumPy", "/ PyTorch plain", "/ PyTorch fused", "peak memory / weights")
    print_row(*["---"] * 6)
    for shape in SHAPES:
        arrays = random_arrays(shape)
        ours, *ratios = compare(*contenders(*arrays), rounds=options.rounds)
        memory = f"{peak_memory(*arrays):.2f}" if len(shape) > 2 else "–"
        print_row(f"`{shape}`", f"{1000 * ours:.3g}", *(f"{ratio:.2f}" for ratio in ratios), memory)


def use_threads(number):
    """Must come before NumPy is loaded: its BLAS reads the environment once."""
    for library in ("OPENBLAS", "MKL", "VECLIB", "OMP"):
        os.environ[f"{library}_NUM_THREADS"] = str(number)
    import torch

    torch.set_num_threads(number)


def print_row(*cells):
    print(f"| {' | '.join(cells)} |", flush=True)


def random_arrays(shape):
    import numpy as np

    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape, dtype=np.float32) for _ in range(3)]


def contenders(query, key, value):
    """Functions without arguments: ours, the text's straightforward NumPy, PyTorch's plain and fused ones."""
    import numpy as np
    import torch

    from attention import scaled_dot_product_attention

    def text():
        scores = np.matmul(query, key.swapaxes(-1, -2)) / np.float32(np.sqrt(query.shape[-1]))
        exps = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        weights = exps / np.sum(exps, axis=-1, keepdims=True)
        return np.matmul(weights, value), weights

    tensors = q, k, v = [torch.from_numpy(array) for array in (query, key, value)]
    scale = query.shape[-1] ** -0.5
    return (
        lambda: scaled_dot_product_attention(query, key, value),
        text,
        lambda: torch.softmax(q @ k.transpose(-2, -1) * scale, dim=-1) @ v,
        lambda: torch.nn.functional.scaled_dot_product_attention(*tensors),
    )


def compare(ours, *others, rounds):
    """Our time in seconds, and its ratio to each other's: medians over the rounds."""
    times = [[seconds(function) for function in (ours, *others)] for _ in range(rounds)]
    ratios = (statistics.median(row[0] / row[1 + i] for row in times) for i in range(len(others)))
    return statistics.median(row[0] for row in times), *ratios


def seconds(function, budget=0.1):
    """The median time of one call, warm, over about `budget` seconds; idle threads of the last one sleep first."""
    time.sleep(0.05)
    function()
    spent = []
    while sum(spent[-1000:]) < budget and len(spent) < 1000:
        start = time.perf_counter()
        function()
        spent.append(time.perf_counter() - start)
    return statistics.median(spent)


def peak_memory(query, key, value):
    """All that our function holds at once, its results included, in sizes of the weights."""
    from attention import scaled_dot_product_attention

    tracemalloc.start()
    _, weights = scaled_dot_product_attention(query, key, value)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / weights.nbytes


if __name__ == "__main__":
    main()
