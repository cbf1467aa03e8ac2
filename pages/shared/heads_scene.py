"""What the part on designed heads shows: the words, and the designed and random heads that look at them."""

from dataclasses import dataclass, replace

import numpy as np

from attention import AttentionSteps, charts, designed
from attention.worked import work_through
from pages.shared import cells

RANDOM = 3


@dataclass(frozen=True, eq=False)
class Head:
    """One head: its name, X and its projections by name, what came of them, and its components in words."""

    name: str
    inputs: dict[str, np.ndarray]
    steps: AttentionSteps
    components: list[str]

    def matrices(self, tokens):
        """`cells.Matrix` by name, its dimensions labelled with what they stand for."""
        positions = [f"position {i}" for i in range(len(tokens))]
        labels = {
            "d_model": [*designed.FEATURES, *positions],
            "d_k": self.components,
            "d_v": list(designed.FEATURES),
        }
        matrices = {}
        for name, matrix in cells.standard(self.steps, tokens, inputs=self.inputs).items():
            rows, columns = (
                labels.get(dimension, old)
                for dimension, old in zip(matrix.dimensions, (matrix.rows, matrix.columns), strict=True)
            )
            matrices[name] = replace(matrix, rows=rows, columns=columns)
        title = r"Scaled scores $\tilde S = \hat S$, none masked"
        return matrices | {"masked_scores": replace(matrices["masked_scores"], title=title)}


@dataclass(frozen=True)
class Scene:
    """What the reader chose; `kinds` says what their own words are, as `designed.features` takes it."""

    tokens: tuple[str, ...]
    kinds: dict[str, str]
    sharpness: float
    seed: int
    positions: bool

    def in_order(self, order):
        """The same words, written in another order."""
        return replace(self, tokens=tuple(self.tokens[i] for i in order))

    @property
    def labels(self):
        return charts.indexed(self.tokens)

    @property
    def X(self):
        return designed.embed(self.tokens, self.kinds, positions=self.positions)

    def heads(self):
        """Head by key: those of `designed.HEADS`, then "random0" and so on."""
        T = len(self.tokens)
        heads = {
            name: self._head(words, designed.designed_head(name, T, self.sharpness), designed.components(name, T))
            for name, words in designed.HEADS.items()
        }
        unnamed = cells.numbered(designed.RANDOM_DIM)
        for i in range(RANDOM):
            projections = designed.random_head(self.seed + i, T, self.sharpness)
            heads[f"random{i}"] = self._head(f"Random {i + 1}", projections, unnamed)
        return heads

    def _head(self, name, projections, components):
        inputs = {"X": self.X} | dict(zip(("W_Q", "W_K", "W_V"), projections, strict=True))
        return Head(name, inputs, work_through(*inputs.values()), components)


def weights_of(heads):
    """(heads, T, T): the weights of all of them."""
    return np.stack([head.steps.weights for head in heads.values()])
