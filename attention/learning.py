"""One head learns to look things up: the database lookup of the first lesson, trained by our own backward pass.

A question is RECORDS records, each a key with a value, and one of the keys; the answer is the value beside that key.
Which key goes with which value is new in every question, so that nothing can be learnt by heart but *how to look*.
Keys and values enter as one-hot vectors; there is nothing but the four projections of one attention head.
"""

from typing import NamedTuple

import numpy as np

from attention.core import AttentionSteps, attention_steps, softmax
from attention.gradients import attention_backward, jacobian_norm
from attention.multi_head import Linear

KEYS, VALUES, RECORDS = 8, 6, 5
BATCH, HELD_OUT = 64, 512  # questions in a step, questions never trained on
RECORDED = 40  # moments to look back at, beside the one before training
LEARNT = 0.95  # the accuracy from which the lookup counts as learnt
NAMES = ("W_Q", "W_K", "W_V", "W_O")


class Settings(NamedTuple):
    """How a head is trained: d_k = d_v = `dimension`; `scaled` divides scores by √d_k.

    `start` is by how much W_Q and W_K start larger than Linear draws them: scores, that grow with its square,
    start in the flat part of the softmax where it is large.
    """

    dimension: int = 8
    learning_rate: float = 0.03
    scaled: bool = True
    seed: int = 0
    steps: int = 400
    start: float = 1.0


class Questions(NamedTuple):
    """n questions: `keys` and `values` (n, RECORDS) as numbers, `asked` (n,) the position of the record asked for."""

    keys: np.ndarray
    values: np.ndarray
    asked: np.ndarray

    @property
    def answers(self):
        """(n,): the value of the record asked for."""
        return self.values[np.arange(len(self.asked)), self.asked]

    @property
    def one_hot(self):
        """What the head reads: the key asked for (n, 1, KEYS), keys (n, RECORDS, KEYS), values (n, RECORDS, VALUES)."""
        keys = np.eye(KEYS)[self.keys]
        return np.take_along_axis(keys, self.asked[:, None, None], axis=1), keys, np.eye(VALUES)[self.values]


class Moment(NamedTuple):
    """The head after `step` steps, and how it does on held-out questions; accuracy and right_weight in [0, 1]."""

    step: int
    loss: float  # cross-entropy in nats
    accuracy: float
    right_weight: float  # the mean weight on the record asked for
    parameters: dict[str, np.ndarray]


def draw_questions(number, rng):
    """Questions with distinct keys, drawn by a NumPy Generator; two records may hold the same value."""
    keys = rng.random((number, KEYS)).argsort(axis=1)[:, :RECORDS]  # the first of a shuffled row
    return Questions(keys, rng.integers(VALUES, size=(number, RECORDS)), rng.integers(RECORDS, size=number))


def held_out(settings):
    """The HELD_OUT questions that a run of these settings is measured on."""
    return draw_questions(HELD_OUT, np.random.default_rng([settings.seed, 1]))


def unambiguous(questions, number):
    """The first `number` of them, or fewer, whose answer stands in one record only: no other could give it."""
    once = (questions.values == questions.answers[:, None]).sum(axis=1) == 1
    return Questions(*(array[once][:number] for array in questions))


def new_parameters(settings):
    """Random W_Q, W_K (dimension, KEYS), W_V (dimension, VALUES) and W_O (VALUES, dimension), drawn as in Linear."""
    rng, d = np.random.default_rng(settings.seed), settings.dimension
    sizes = ((KEYS, d), (KEYS, d), (VALUES, d), (d, VALUES))
    drawn = {name: Linear(*size, rng=rng).weight for name, size in zip(NAMES, sizes, strict=True)}
    return drawn | {name: settings.start * drawn[name] for name in ("W_Q", "W_K")}


def match(parameters):
    """(KEYS, KEYS): the score, before scaling, of a query for key i with a record of key j: W_Qᵀ W_K."""
    return parameters["W_Q"].T @ parameters["W_K"]


def answer(parameters, questions, scaled=True) -> tuple[AttentionSteps, np.ndarray]:
    """(the steps of the attention, weights (n, 1, RECORDS); logits (n, VALUES), one for each possible answer)."""
    asked, keys, values = questions.one_hot
    query, key, value = asked @ parameters["W_Q"].T, keys @ parameters["W_K"].T, values @ parameters["W_V"].T
    steps = attention_steps(query, key, value, scale=None if scaled else 1.0)
    return steps, steps.output[:, 0] @ parameters["W_O"].T  # (n, 1, d) -> (n, d) -> (n, VALUES)


def ask_for_a_stranger(parameters, questions, scaled=True):
    """The weights (n, RECORDS) of a query for a key that stands in no record."""
    absent = [np.setdiff1d(np.arange(KEYS), keys)[0] for keys in questions.keys]
    scores = match(parameters)[np.array(absent)[:, None], questions.keys]  # (n, RECORDS)
    return softmax(scores * (len(parameters["W_Q"]) ** -0.5 if scaled else 1.0))


def mean_jacobian_norm(parameters, questions, scaled=True):
    """How much the weights can move, on average over these questions: `jacobian_norm`, in [0, 1/2]."""
    return float(jacobian_norm(answer(parameters, questions, scaled)[0].weights[:, 0]).mean())


def reordering_gap(parameters, questions, scaled=True):
    """How much logits differ, at most, when the records of every question stand in the opposite order: rounding."""
    turned = Questions(questions.keys[:, ::-1], questions.values[:, ::-1], RECORDS - 1 - questions.asked)
    gap = answer(parameters, questions, scaled)[1] - answer(parameters, turned, scaled)[1]
    return float(np.abs(gap).max())


def measure(step, parameters, questions, scaled=True):
    """The Moment of a head on these questions."""
    steps, logits = answer(parameters, questions, scaled)
    right = steps.weights[np.arange(len(questions.asked)), 0, questions.asked]
    correct = logits.argmax(axis=1) == questions.answers
    return Moment(
        step, _cross_entropy(logits, questions.answers), float(correct.mean()), float(right.mean()), parameters
    )


def loss_and_gradients(parameters, questions, scaled=True):
    """(mean cross-entropy in nats, its gradient for each parameter): the chain rule, from the loss back."""
    asked, keys, values = questions.one_hot
    steps, logits = answer(parameters, questions, scaled)
    number = len(logits)
    grad_logits = (softmax(logits) - np.eye(VALUES)[questions.answers]) / number
    grad_output = (grad_logits @ parameters["W_O"])[:, None]  # (n, d) -> (n, 1, d)
    grads = attention_backward(steps.query, steps.key, steps.value, grad_output, scale=steps.scale)
    gradients = {
        name: np.einsum("nto,nti->oi", grad, inputs)
        for name, grad, inputs in zip(NAMES, grads, (asked, keys, values), strict=False)
    }
    gradients["W_O"] = grad_logits.T @ steps.output[:, 0]
    return _cross_entropy(logits, questions.answers), gradients


def recorded_steps(steps):
    """0, …, `steps`: up to RECORDED + 1 of them, by their squares denser at first, where most is learnt."""
    return list(dict.fromkeys(round(steps * (i / RECORDED) ** 2) for i in range(RECORDED + 1)))


def train(settings):
    """Yield the Moment before training, and those at `recorded_steps(settings.steps)`, as the head learns."""
    rng = np.random.default_rng([settings.seed, 2])
    parameters, test = new_parameters(settings), held_out(settings)
    adam, recorded = Adam(settings.learning_rate), recorded_steps(settings.steps)
    yield measure(0, parameters, test, settings.scaled)
    for step in range(1, settings.steps + 1):
        _, gradients = loss_and_gradients(parameters, draw_questions(BATCH, rng), settings.scaled)
        parameters = adam.step(parameters, gradients)
        if step in recorded:
            yield measure(step, parameters, test, settings.scaled)


def learnt_after(moments):
    """The first recorded step with an accuracy of at least LEARNT; None where there is none."""
    return next((moment.step for moment in moments if moment.accuracy >= LEARNT), None)


def verdict(moments):
    """What became of a whole run: "learnt", "overshot", "falling" or "stuck", by the accuracy at its end and its loss.

    Overshot: the loss had risen by half above where it began. Falling: by a tenth or more in the last quarter of
    the moments, so that more steps would help.
    """
    first, late, last = (moments[i].loss for i in (0, -len(moments) // 4, -1))
    if moments[-1].accuracy >= LEARNT:
        return "learnt"
    if max(moment.loss for moment in moments) > 1.5 * first:
        return "overshot"
    return "falling" if last < 0.9 * late else "stuck"


class Adam:
    """Kingma and Ba 2015, algorithm 1, with its suggested β₁ = 0.9, β₂ = 0.999, ε = 1e-8."""

    def __init__(self, learning_rate):
        self.learning_rate, self.time, self.mean, self.square = learning_rate, 0, {}, {}

    def step(self, parameters, gradients):
        """New parameters; the given ones are not modified."""
        self.time += 1
        moved = {}
        for name, gradient in gradients.items():
            self.mean[name] = 0.9 * self.mean.get(name, 0) + 0.1 * gradient
            self.square[name] = 0.999 * self.square.get(name, 0) + 0.001 * gradient**2
            mean, square = self.mean[name] / (1 - 0.9**self.time), self.square[name] / (1 - 0.999**self.time)
            moved[name] = parameters[name] - self.learning_rate * mean / (np.sqrt(square) + 1e-8)
        return moved


def _cross_entropy(logits, answers):
    """-log softmax at the right answers, through differences to the largest logit: no weight vanishes in a log."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    right = shifted[np.arange(len(answers)), answers]
    return float((np.log(np.exp(shifted).sum(axis=1)) - right).mean())
