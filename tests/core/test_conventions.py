"""One mask in the code of each library: run where the library is there, and compared."""

import numpy as np
import pytest

from attention import conventions, scaled_dot_product_attention
from attention.masks import combine, create_causal_mask, packed_mask, padding_mask, prefix_mask, sliding_window_mask

MASKS = {
    "none": np.ones((5, 5), bool),
    "causal": create_causal_mask(5),
    "padding": np.broadcast_to(padding_mask(3, 5), (5, 5)),
    "causal and padding": combine(create_causal_mask(5), padding_mask(3, 5)),
    "sliding": sliding_window_mask(5, 1, 1),
    "prefix": prefix_mask(5, 3),
    "packed": packed_mask([2, 3]),
    "by hand": np.array([[int(c) for c in row] for row in ("10110", "01000", "11111", "00001", "10001")]) == 1,
    "one": np.ones((1, 1), bool),
    "not square": np.array([[True, False, True], [True, True, False]]),
}


def inputs(mask, seed=0):
    rng = np.random.default_rng(seed)
    T_q, T_k = mask.shape
    return rng.normal(size=(T_q, 4)), rng.normal(size=(T_k, 4)), rng.normal(size=(T_k, 4))


def by_hand(query, key, value, mask):
    """Attention by loops over what the mask leaves: independent of everything that is tested."""
    output = np.zeros((len(query), value.shape[1]))
    for i in range(len(query)):
        keys = [j for j in range(len(key)) if mask[i, j]]
        powers = [np.exp(sum(query[i] * key[j]) / 2) for j in keys]  # √4
        for power, j in zip(powers, keys, strict=True):
            output[i] += power / sum(powers) * value[j]
    return output


def run(library, mask, **names):
    exec(compile(conventions.code(library, mask), library, "exec"), names)
    return np.asarray(names["output"])


@pytest.mark.parametrize("name", MASKS)
def test_numpy(name):
    query, key, value = inputs(MASKS[name])
    output = run("numpy", MASKS[name], query=query, key=key, value=value)
    np.testing.assert_allclose(output, by_hand(query, key, value, MASKS[name]), atol=1e-12)


@pytest.mark.parametrize("name", MASKS)
def test_pytorch_functional(torch, name):
    query, key, value = inputs(MASKS[name])
    tensors = dict(zip(("query", "key", "value"), map(torch.from_numpy, (query, key, value)), strict=True))
    output = run("torch", MASKS[name], **tensors)
    np.testing.assert_allclose(output, by_hand(query, key, value, MASKS[name]), atol=1e-12)


@pytest.mark.parametrize("name", MASKS)
def test_additive(torch, name):
    query, key, value = inputs(MASKS[name])
    scores = torch.from_numpy(query @ key.T / 2)
    output = run("additive", MASKS[name], scores=scores, value=torch.from_numpy(value))
    np.testing.assert_allclose(output, by_hand(query, key, value, MASKS[name]), atol=1e-12)


@pytest.mark.parametrize("name", MASKS)
def test_pytorch_module_wants_the_reverse(torch, name):
    """A module of one head whose projections are the identity is plain attention."""
    module = torch.nn.MultiheadAttention(4, 1, bias=False, dtype=torch.float64)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.eye(4).repeat(3, 1))
        module.out_proj.weight.copy_(torch.eye(4))
        query, key, value = inputs(MASKS[name])
        tensors = dict(zip(("query", "key", "value"), map(torch.from_numpy, (query, key, value)), strict=True))
        output = run("module", MASKS[name], module=module, **tensors)
    np.testing.assert_allclose(output, by_hand(query, key, value, MASKS[name]), atol=1e-12)


def test_a_row_with_nothing_left(torch):
    """What the texts and the page say of it: zeros here and in the function, NaN in the module, an average."""
    mask = np.array([[True, True], [False, False]])
    query, key, value = inputs(mask)
    names = {"query": query, "key": key, "value": value}
    tensors = {name: torch.from_numpy(array) for name, array in names.items()}
    module = torch.nn.MultiheadAttention(4, 1, dtype=torch.float64)
    assert (run("numpy", mask, **names)[1] == 0).all()
    assert (run("torch", mask, **tensors)[1] == 0).all()
    with torch.no_grad():
        assert np.isnan(run("module", mask, module=module, **tensors)[1]).all()
    averaged = run("additive", mask, scores=torch.zeros(2, 2, dtype=torch.float64), value=tensors["value"])
    np.testing.assert_allclose(averaged[1], value.mean(axis=0))


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("library", conventions.LIBRARIES)
def test_every_text_is_python(library, name):
    compile(conventions.code(library, MASKS[name]), library, "exec")


@pytest.mark.parametrize(
    ("name", "row", "causal"),
    [
        ("none", [1, 1, 1, 1, 1], False),
        ("causal", [1, 1, 1, 1, 1], True),
        ("padding", [1, 1, 1, 0, 0], False),
        ("causal and padding", [1, 1, 1, 0, 0], True),
    ],
)
def test_what_one_number_a_key_can_say(name, row, causal):
    said, as_causal = conventions.as_padding(MASKS[name])
    assert said.astype(int).tolist() == row and as_causal is causal
    assert str(row) in conventions.code("hf", MASKS[name])


@pytest.mark.parametrize("name", ["sliding", "prefix", "packed", "by hand"])
def test_what_one_number_a_key_cannot_say(name):
    assert conventions.as_padding(MASKS[name]) is None
    assert "cannot be said" in conventions.code("hf", MASKS[name])


def test_zero_one_reads_back(torch):
    """A decoder's own causal mask and the row of the text make the mask again."""
    names = {"input_ids": None, "model": lambda input_ids, attention_mask: attention_mask}
    row = run("hf", MASKS["causal and padding"], **names)
    assert np.array_equal(np.tri(5, dtype=bool) & (row == 1), MASKS["causal and padding"])


def test_the_call_that_the_lesson_prints():
    mask = create_causal_mask(4)
    query, key, value = inputs(mask)
    output, weights = scaled_dot_product_attention(query, key, value, mask)
    assert output.shape == (4, 4) and (np.triu(weights, 1) == 0).all()
