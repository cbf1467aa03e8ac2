"""The lookup is learnt: gradients against PyTorch and finite differences, results against what the task allows."""

import numpy as np
import pytest

from attention import learning
from attention.learning import KEYS, NAMES, RECORDS, VALUES, Adam, Questions, Settings, train


@pytest.fixture
def questions():
    return learning.draw_questions(7, np.random.default_rng(5))


def test_questions_can_be_answered(questions):
    for keys, values, asked, answer in zip(
        questions.keys, questions.values, questions.asked, questions.answers, strict=True
    ):
        assert len(set(keys)) == RECORDS
        assert set(keys) <= set(range(KEYS))
        assert set(values) <= set(range(VALUES))
        assert dict(zip(keys, values, strict=True))[keys[asked]] == answer  # a hard lookup
    asked, keys, values = questions.one_hot
    assert (asked.shape, keys.shape, values.shape) == ((7, 1, 8), (7, 5, 8), (7, 5, 6))
    np.testing.assert_array_equal(keys.argmax(-1), questions.keys)
    np.testing.assert_array_equal(asked[:, 0].argmax(-1), questions.keys[np.arange(7), questions.asked])


def test_unambiguous_questions():
    """The second and the last have their answer in one record."""
    values = np.array([[1, 2, 1, 0, 0], [1, 2, 1, 0, 0], [3, 3, 3, 3, 3], [0, 1, 2, 3, 4]])
    questions = Questions(np.arange(20).reshape(4, 5), values, np.array([0, 1, 0, 4]))
    np.testing.assert_array_equal(learning.unambiguous(questions, 5).keys, questions.keys[[1, 3]])
    assert learning.unambiguous(questions, 5).answers.tolist() == [2, 4]
    assert learning.unambiguous(questions, 1).asked.tolist() == [1]


@pytest.mark.parametrize("seed", [0, 9999])
def test_enough_held_out_questions_are_unambiguous(seed):
    """(5/6)⁴ of 512 are 247; 10 are looked at."""
    assert 190 < len(learning.unambiguous(learning.held_out(Settings(seed=seed)), 512).asked) < 310


def test_a_head_made_by_hand_answers_everything():
    """W_Q = W_K = √20 I finds the record by a score of 20 / √8 against 0; W_V and W_O hand its value on."""
    eye = np.eye(8)
    parameters = {"W_Q": eye * 20**0.5, "W_K": eye * 20**0.5, "W_V": eye[:, :6], "W_O": eye[:6]}
    moment = learning.measure(0, parameters, learning.held_out(Settings()))
    e = np.exp(20 / 8**0.5)
    assert moment.right_weight == pytest.approx(e / (e + 4))
    assert moment.accuracy == 1
    np.testing.assert_allclose(learning.match(parameters), 20 * eye)


@pytest.mark.parametrize("scaled", [True, False])
def test_gradients_are_those_of_pytorch(torch, questions, scaled):
    parameters = learning.new_parameters(Settings(dimension=3))
    loss, gradients = learning.loss_and_gradients(parameters, questions, scaled)
    tensors = {name: torch.tensor(array, requires_grad=True) for name, array in parameters.items()}
    asked, keys, values = map(torch.tensor, questions.one_hot)
    q, k, v = asked @ tensors["W_Q"].T, keys @ tensors["W_K"].T, values @ tensors["W_V"].T
    output = torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=None if scaled else 1.0)
    theirs = torch.nn.functional.cross_entropy(output[:, 0] @ tensors["W_O"].T, torch.tensor(questions.answers))
    theirs.backward()
    assert loss == pytest.approx(theirs.item())
    for name in NAMES:
        np.testing.assert_allclose(gradients[name], tensors[name].grad.numpy(), atol=1e-12)


def test_gradients_are_slopes(questions):
    parameters = learning.new_parameters(Settings(dimension=2, seed=3))
    _, gradients = learning.loss_and_gradients(parameters, questions)
    for name, gradient in gradients.items():
        for index in np.ndindex(gradient.shape):
            losses = []
            for step in (1e-6, -1e-6):
                moved = {key: array.copy() for key, array in parameters.items()}
                moved[name][index] += step
                losses.append(learning.loss_and_gradients(moved, questions)[0])
            assert gradient[index] == pytest.approx((losses[0] - losses[1]) / 2e-6, abs=1e-8)


def test_adam_is_that_of_pytorch(torch):
    rng = np.random.default_rng(0)
    parameters = {"W": rng.standard_normal((2, 3))}
    tensor = torch.tensor(parameters["W"], requires_grad=True)
    adam, theirs = Adam(0.1), torch.optim.Adam([tensor], lr=0.1)
    for _ in range(5):
        gradient = rng.standard_normal((2, 3))
        parameters = adam.step(parameters, {"W": gradient})
        tensor.grad = torch.tensor(gradient)
        theirs.step()
    np.testing.assert_allclose(parameters["W"], tensor.detach().numpy(), rtol=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_it_learns_within_400_steps(seed):
    first, *_, last = train(Settings(seed=seed))
    assert first.step == 0
    assert first.accuracy < 0.35  # 1/6 by guessing; an untrained head may favour a value
    assert first.right_weight == pytest.approx(1 / RECORDS, abs=0.05)
    assert last.step == 400
    assert last.accuracy >= 0.95
    assert last.right_weight > 0.9
    assert (learning.match(last.parameters).argmax(axis=1) == np.arange(KEYS)).all()


def test_the_same_seed_learns_the_same():
    one, other = (list(train(Settings(seed=4, steps=30))) for _ in range(2))
    for a, b in zip(one, other, strict=True):
        assert a[:4] == b[:4]
        for name in NAMES:
            np.testing.assert_array_equal(a.parameters[name], b.parameters[name])


def test_moments_are_denser_at_first_and_kept():
    moments = list(train(Settings(steps=100)))
    assert [moment.step for moment in moments[:12]] == [0, 1, 2, 3, 4, 5, 6, 8, 9, 11, 12, 14]  # i² / 16
    assert moments[-1].step == 100
    untouched = learning.new_parameters(Settings(steps=100))
    np.testing.assert_array_equal(moments[0].parameters["W_Q"], untouched["W_Q"])


@pytest.mark.parametrize("rate", [1e-4, 3.0])
@pytest.mark.parametrize("dimension", [1, 32])
def test_no_rate_gives_anything_but_numbers(rate, dimension):
    with np.errstate(all="raise", under="ignore"):
        for moment in train(Settings(dimension, rate, scaled=False, steps=60, start=8.0)):
            assert np.isfinite(moment.loss)
            assert 0 <= moment.accuracy <= 1
            assert 0 <= moment.right_weight <= 1


@pytest.mark.parametrize(("steps", "recorded"), [(1, [0, 1]), (2, [0, 1, 2]), (1600, [i**2 for i in range(41)])])
def test_which_steps_are_recorded(steps, recorded):
    assert learning.recorded_steps(steps) == recorded


@pytest.mark.parametrize("seed", range(5))
def test_large_scores_learn_late_without_the_root(seed):
    """Why scores are scaled: W_Q and W_K start four times as large, so scores sixteen times."""
    first = learning.new_parameters(Settings(seed=seed, start=4.0))
    for name, factor in {"W_Q": 4, "W_K": 4, "W_V": 1, "W_O": 1}.items():
        np.testing.assert_array_equal(first[name], factor * learning.new_parameters(Settings(seed=seed))[name])
    rooted, raw = (
        learning.learnt_after(train(Settings(scaled=scaled, seed=seed, start=4.0))) for scaled in (True, False)
    )
    assert rooted < raw


def test_how_much_weights_can_move():
    """Equal weights of five records: √4 / 5. Scores that leave one record alone: nothing."""
    eye, asked = np.eye(8), learning.held_out(Settings())
    parameters = {"W_Q": 0 * eye, "W_K": eye, "W_V": eye[:, :6], "W_O": eye[:6]}
    assert learning.mean_jacobian_norm(parameters, asked) == pytest.approx(2 / 5)
    parameters["W_Q"] = 1000 * eye
    assert learning.mean_jacobian_norm(parameters, asked) == pytest.approx(0)


def run_of(losses, accuracy):
    return [learning.Moment(step, loss, accuracy, 0.5, {}) for step, loss in enumerate(losses)]


@pytest.mark.parametrize(
    ("losses", "accuracy", "said"),
    [
        ([2, 1, 0.5, 0.1], 0.95, "learnt"),
        ([2, 9, 0.5, 0.1], 0.96, "learnt"),
        ([2, 3.1, 1, 0.5], 0.94, "overshot"),
        ([2, 1.9, 1.8, 1.7, 1.6, 1.5, 1.4, 1.2], 0.5, "falling"),
        ([2, 1.5, 1.4, 1.3, 1.2, 1.2, 1.2, 1.1], 0.5, "stuck"),
        ([2, 1.5, 1.4, 1.3, 1.2, 1.2, 1.2, 1.3], 0.5, "stuck"),
    ],
)
def test_what_became_of_a_run(losses, accuracy, said):
    assert learning.verdict(run_of(losses, accuracy)) == said


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (Settings(), "learnt"),
        (Settings(learning_rate=3.0), "overshot"),
        (Settings(learning_rate=0.001), "falling"),
        (Settings(dimension=1), "stuck"),
    ],
)
def test_what_becomes_of_real_runs(settings, said):
    assert learning.verdict(list(train(settings))) == said


def test_when_it_has_learnt():
    accuracies = [0.2, 0.94, 0.95, 0.9, 1.0]
    moments = [learning.Moment(10 * i, 1.0, accuracy, 0.5, {}) for i, accuracy in enumerate(accuracies)]
    assert learning.learnt_after(moments) == 20
    assert learning.learnt_after(moments[:2]) is None


def test_one_record_is_read_off():
    """The loss of equal logits is ln 6, whatever was asked."""
    one = Questions(np.zeros((1, 1), int), np.array([[2]]), np.zeros(1, int))
    parameters = {"W_Q": np.eye(8), "W_K": np.eye(8), "W_V": np.zeros((8, 6)), "W_O": np.zeros((6, 8))}
    assert learning.measure(0, parameters, one).loss == pytest.approx(np.log(6))


def test_a_stranger_is_attended_to_as_well_as_can_be():
    """Of keys 0…7 the first question lacks 5, 6, 7 and the other 1, 2, 3: the first of each is asked for."""
    two = Questions(np.array([[0, 1, 2, 3, 4], [7, 6, 5, 4, 0]]), np.zeros((2, 5), int), np.zeros(2, int))
    parameters = learning.new_parameters(Settings())
    weights = learning.ask_for_a_stranger(parameters, two)
    M = parameters["W_Q"].T @ parameters["W_K"]
    for row, missing, keys in zip(weights, (5, 1), two.keys, strict=True):
        powers = np.exp([M[missing, key] / 8**0.5 for key in keys])
        np.testing.assert_allclose(row, powers / powers.sum())


def test_order_does_not_matter():
    assert learning.reordering_gap(learning.new_parameters(Settings()), learning.held_out(Settings())) < 1e-12
