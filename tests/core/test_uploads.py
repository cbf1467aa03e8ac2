"""A visitor's file: what is read, what is refused in which words, 500 damaged files, the page's snippets."""

import io
import json
import pickle
import random
import runpy
import struct
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

from attention import snippets
from attention.recordings import Recording, load_recording, to_json, to_npz
from attention.uploads import UploadError, read_upload

FIXTURES = Path(__file__).parent / "fixtures"
ROWS = [[0.25, 0.75, 0], [0.5, 0.25, 0.25]]


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def zipped(members, compression=zipfile.ZIP_DEFLATED):
    """An archive of (name, bytes) pairs, whatever is in them; names may stand twice."""
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", compression) as archive:
        warnings.simplefilter("ignore")  # zipfile warns of double names
        for name, content in members:
            archive.writestr(name, content)
    return buffer.getvalue()


def npy(array):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array)
    return buffer.getvalue()


def npy_claiming(header, content=b""):
    """An .npy whose header says what we like."""
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + content


def as_json(**content):
    return json.dumps(content).encode()


def projections(query=(2, 4), key=(3, 4), value=(3, 5)):
    return {"query": np.ones(query), "key": np.ones(key), "value": np.ones(value)}


# --- read -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("leading", [(), (1,), (3,), (2, 3)])
def test_weights_of_two_to_four_axes(leading):
    weights = np.broadcast_to(np.array(ROWS), (*leading, 2, 3))
    full_shape = (*(1, 1, *leading)[-2:], 2, 3)
    for name, data in (("a.npz", npz(weights=weights)), ("a.JSON", as_json(weights=weights.tolist()))):
        recording = read_upload(name, data)
        assert recording.shape == full_shape
        assert recording.weights.dtype == np.float32
        np.testing.assert_array_equal(recording.weights, weights.reshape(full_shape))
        assert recording.query is recording.key is recording.value is None
        assert (recording.query_tokens, recording.key_tokens) == (("0", "1"), ("0", "1", "2"))
        assert recording.warnings == ()


def test_queries_keys_and_values():
    arrays = projections(query=(2, 3, 2, 4), key=(2, 3, 5, 4), value=(2, 3, 5, 6))
    for name, data in (
        ("a.npz", npz(**arrays)),
        ("a.json", as_json(**{k: v.tolist() for k, v in arrays.items()})),
    ):
        recording = read_upload(name, data)
        assert recording.shape == (2, 3, 2, 5)
        assert recording.weights is None
        output, weights = recording.attend()
        np.testing.assert_allclose(weights, 0.2, rtol=1e-6)  # all keys alike
        np.testing.assert_allclose(output, np.ones((2, 3, 2, 6)), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["<f2", ">f4", "<f8", "<i8", "u1", "g"])
def test_any_kind_of_plain_number(dtype):
    recording = read_upload("a.npz", npz(weights=np.asfortranarray(np.eye(2, 3, 1)).astype(dtype)))
    np.testing.assert_array_equal(recording.weights[0, 0], [[0, 1, 0], [0, 0, 1]])


def test_integers_in_json():
    assert read_upload("a.json", b'{"weights": [[1, 0], [0, 1]]}').weights.tolist() == [[[[1, 0], [0, 1]]]]


def test_tokens_of_one_side_or_both():
    square = [[1, 0], [0, 1]]
    both = read_upload("a.json", as_json(weights=square, tokens=["the", "the"]))
    assert both.query_tokens == both.key_tokens == ("the", "the")
    one = read_upload("a.npz", npz(weights=np.array(ROWS), key_tokens=np.array(["a", "b", "c"])))
    assert (one.query_tokens, one.key_tokens) == (("0", "1"), ("a", "b", "c"))


def test_tokens_are_text_whatever_they_look_like():
    tokens = ['"', "\\", "$x$", ":red[x]", "<b>", "\U0001f600", "مرحبا", "", "a b", "x" * 60, "Ġthe"]
    weights = np.eye(len(tokens))
    assert read_upload("a.json", as_json(weights=weights.tolist(), tokens=tokens)).key_tokens == tuple(tokens)
    assert read_upload("a.npz", npz(weights=weights, tokens=np.array(tokens))).key_tokens == tuple(tokens)


def test_rows_that_do_not_sum_to_one_are_kept_with_a_warning():
    recording = read_upload("a.json", as_json(weights=[[0.5, 0.25], [0, 0], [0.5, 0.5]]))
    assert recording.weights[0, 0].tolist() == [[0.5, 0.25], [0, 0], [0.5, 0.5]]
    (warning,) = recording.warnings
    assert warning.startswith("Each row should sum to 1, and 2 of 3 do not: the sums go from 0 to 1.")


def test_rounding_is_no_reason_for_a_warning():
    weights = np.random.default_rng(0).dirichlet(np.ones(200), size=200)
    assert read_upload("a.npz", npz(weights=weights.astype(np.float16))).warnings == ()


def test_entries_that_nothing_reads_are_ignored_with_a_warning():
    arrays = {"weights": np.eye(2), "query": np.eye(2), "model": np.array("bert"), "odd": np.array([{}])}
    recording = read_upload("a.npz", npz(**arrays))
    assert recording.query is None
    (warning,) = recording.warnings
    assert warning.startswith("Ignored: 3 of the 4 entries")
    assert read_upload("a.json", b'{"weights": [[1]], "note": {"a": [null]}}').warnings[0].startswith("Ignored: 1 of")


@pytest.mark.parametrize("write, name", [(to_npz, "a.npz"), (to_json, "a.json")])
def test_what_the_app_writes_it_reads(write, name):
    weights = np.random.default_rng(1).dirichlet(np.ones(3), size=(2, 4, 2)).astype(np.float32)
    for recording in (load_recording("cat_mat"), Recording(("a", "b"), ("c", "d", "ü"), weights=weights)):
        again = read_upload(name, write(recording))
        assert (again.query_tokens, again.key_tokens) == (recording.query_tokens, recording.key_tokens)
        assert again.warnings == ()
        for part in ("weights", "query", "key", "value"):
            np.testing.assert_array_equal(getattr(again, part), getattr(recording, part))


def test_our_own_recordings_are_such_files():
    recording = load_recording("keys")
    path = Path("attention/data/keys.npz")
    data = (Path(__file__).parents[2] / path).read_bytes()
    np.testing.assert_array_equal(read_upload(path.name, data).query, recording.query)


# --- refused ----------------------------------------------------------------------------------------------


def assert_refused(name, data, words):
    with pytest.raises(UploadError) as refusal:
        read_upload(name, data)
    assert_sentence(str(refusal.value))
    assert words in str(refusal.value)


def assert_sentence(message):
    assert message[0].isupper() or message[0] == '"', message
    assert message.endswith(".") and "\n" not in message and len(message) < 250, message
    for jargon in ("Error", "Traceback", "0x", "dtype"):
        assert jargon not in message


LARGE = np.zeros(17 * 2**20, dtype=np.float32)  # 68 MB of nothing
HEADER = "{'descr': '%s', 'fortran_order': False, 'shape': %s}"
REFUSED_NPZ = {
    "empty": (b"", "damaged or cut short"),
    "text": (b"hello", "damaged or cut short"),
    "a pickle": (pickle.dumps({"weights": [[1]]}), "damaged or cut short"),
    "a bare .npy": (npy(np.eye(2)), "damaged or cut short"),
    "cut short": (npz(weights=np.eye(9))[:-30], "damaged or cut short"),
    "no entries": (zipped([]), 'neither "weights" nor'),
    "a directory": (zipped([("weights/", b"")]), 'neither "weights" nor'),
    "no .npy inside": (zipped([("weights.npy", b"hello")]), "damaged or cut short"),
    "empty .npy": (zipped([("weights.npy", b"")]), "damaged or cut short"),
    "unpacks to 68 MB": (npz(weights=LARGE), "more than the 64 MB"),
    "unpacks to 68 MB where nothing reads": (npz(weights=np.eye(2), other=LARGE), "more than the 64 MB"),
    "objects": (npz(weights=np.array([[{}, None]])), "Python objects"),
    "tokens as objects": (npz(weights=np.eye(1), tokens=np.array(["a"], dtype=object)), "Python objects"),
    "objects in a record": (npz(weights=np.zeros((2, 2), dtype=[("a", object)])), "Python objects"),
    "booleans": (npz(weights=np.eye(2, dtype=bool)), "plain numbers"),
    "complex numbers": (npz(weights=np.eye(2, dtype=complex)), "plain numbers"),
    "records": (npz(weights=np.zeros((2, 2), dtype=[("a", "f4")])), "plain numbers"),
    "dates": (npz(weights=np.zeros((2, 2), dtype="M8[s]")), "plain numbers"),
    "bytes as tokens": (npz(weights=np.eye(2), tokens=np.array([b"a", b"b"])), "text"),
    "text as weights": (npz(weights=np.array([["a"]])), "numbers only"),
    "numbers as tokens": (npz(weights=np.eye(2), tokens=np.arange(2)), "list of texts"),
    "tokens in a table": (npz(weights=np.eye(2), tokens=np.array([["a", "b"]])), "list of texts"),
    "one text as tokens": (npz(weights=np.eye(2), tokens=np.array("ab")), "list of texts"),
    "a double name": (zipped([("weights.npy", npy(np.eye(2)))] * 2), "same name"),
    "a double name, with and without .npy": (
        zipped([("weights.npy", npy(np.eye(2))), ("weights", npy(np.eye(3)))]), "same name"),
    "many entries": (zipped([(f"{i}.npy", b"") for i in range(65)]), "too many entries"),
    "an unusual compression": (zipped([("weights.npy", npy(np.eye(2)))], zipfile.ZIP_BZIP2), "unusual"),
    "an absurd shape": (
        zipped([("weights.npy", npy_claiming(HEADER % ("<f8", (10**15, 2))))]),
        "damaged or cut short"),
    "a negative shape": (
        zipped([("weights.npy", npy_claiming(HEADER % ("<f8", (-2, -2)), bytes(32)))]),
        "damaged or cut short"),
    "code in the header": (
        zipped([("weights.npy", npy_claiming("{'descr': __import__('os').getcwd(), 'shape': (1, 1)}"))]),
        "damaged or cut short"),
    "a deep header": (zipped([("weights.npy", npy_claiming("(" * 110))]), "damaged or cut short"),
    "a later version": (zipped([("weights.npy", b"\x93NUMPY\x09\x00" + bytes(99))]), "damaged or cut short"),
    "impossible characters": (
        zipped([("tokens.npy", npy_claiming(HEADER % ("<U1", (1,)), b"\xff" * 4))]), "damaged or cut short"),
    "20,000 tokens": (npz(**projections(*[(20_000, 2)] * 3)), "20,000 tokens: at most 1,024"),
    "20,000 keys": (npz(weights=np.zeros((1, 20_000))), "20,000 tokens: at most 1,024"),
    "20,000 names": (npz(weights=np.eye(2), tokens=np.array(["a"] * 20_000)), "20,000 tokens: at most 1,024"),
    "a thousand layers": (npz(weights=np.zeros((1000, 1, 1, 1))), "1,000 layers of 1 heads: at most 128"),
    "small numbers that grow": (npz(weights=np.zeros((17, 1024, 1024), dtype="u1")), "17,825,792 numbers"),
    "queries and keys that grow": (
        npz(**projections((128, 128, 33, 1), (128, 128, 33, 1), (128, 128, 33, 1))), "17,842,176 numbers"),
    "no tokens at all": (npz(weights=np.zeros((0, 0))), "is empty"),
    "vectors of no width": (npz(**projections((2, 0), (3, 0))), "is empty"),
    "one axis": (npz(weights=np.ones(3)), "has 1 axes"),
    "a number": (npz(weights=np.float32(1)), "has 0 axes"),
    "a batch axis": (npz(weights=np.ones((2, 1, 3, 4, 4))), "Of a batch, save one item"),
    "not finite": (npz(weights=np.array([[np.nan, 1]])), "finite numbers"),
    "infinite": (npz(weights=np.array([[np.inf, 1]])), "finite numbers"),
    "beyond float32": (npz(weights=np.array([[1e300, 1]])), "finite numbers"),
    "products beyond float32": (npz(**projections() | {"query": np.full((2, 4), 1e30)}), "finite numbers"),
    "scores": (npz(weights=np.array([[-0.1, 1.1]])), "after the softmax"),
    "no keys": (npz(query=np.eye(2), value=np.eye(2)), 'neither "weights" nor "key"'),
    "heads that share keys": (npz(**projections((4, 2, 3), (2, 2, 3), (2, 2, 3))), "equally many layers"),
    "widths that differ": (npz(**projections((2, 4), (3, 5))), "have 4 numbers and those of \"key\" 5"),
    "lengths that differ": (npz(**projections(value=(4, 5))), '"key" has 3 tokens and "value" 4'),
    "too few names": (npz(weights=np.eye(3), tokens=np.array(["a", "b"])), "2 query tokens for 3 positions"),
    "too few keys": (npz(weights=np.array(ROWS), key_tokens=np.array(["a"])), "1 key tokens for 3 positions"),
}  # fmt: skip


@pytest.mark.parametrize("data, words", REFUSED_NPZ.values(), ids=REFUSED_NPZ)
def test_an_npz_is_refused(data, words):
    assert_refused("a.npz", data, words)


REFUSED_JSON = {
    "empty": (b"", "not JSON, or cut short, at line 1, column 1"),
    "cut short": (b'{"weights": [[1, 0],\n [0, ', "not JSON, or cut short, at line 2, column 6"),
    "an .npz": (npz(weights=np.eye(2)), "UTF-8"),
    "latin-1": ('{"tokens": ["é"]}'.encode("latin-1"), "UTF-8"),
    "a bare list": (b"[[1]]", "must be an object"),
    "nothing known": (b'{"a": 1}', 'neither "weights" nor "query" and "key" and "value"'),
    "nested a thousand deep": (b'{"weights": ' + b"[" * 1000 + b"]" * 1000 + b"}", "nested too deeply"),
    "nested a million deep": (b"[" * 10**6, "nested too deeply"),
    "objects nested deep": (b'{"weights": ' * 10**5, "nested too deeply"),
    "five axes": (as_json(weights=[[[[[1]]]]]), "nested too deeply"),
    "a double name": (b'{"weights": [[1]], "weights": [[1]]}', "same name"),
    "a double name inside": (b'{"weights": [[1]], "note": {"a": 1, "a": 2}}', "same name"),
    "NaN": (b'{"weights": [[NaN]]}', "NaN or Infinity"),
    "-Infinity": (b'{"weights": [[-Infinity]]}', "NaN or Infinity"),
    "1e999": (b'{"weights": [[1e999]]}', "finite numbers"),
    "400 digits": (b'{"weights": [[' + b"9" * 400 + b"]]}", "finite numbers"),
    "5,000 digits": (b'{"weights": [[' + b"9" * 5000 + b"]]}", "ordinary numbers"),
    "ragged": (as_json(weights=[[1, 0], [1]]), "different lengths"),
    "ragged deeper": (as_json(weights=[[1, 0], 1]), "different lengths"),
    "true": (as_json(weights=[[True, 0]]), "numbers only"),
    "null": (as_json(weights=[[None, 0]]), "numbers only"),
    "text": (as_json(weights=[["1", 0]]), "numbers only"),
    "a word": (as_json(weights="abc"), "numbers only"),
    "an object": (as_json(weights={"0": [1]}), "numbers only"),
    "an empty list": (as_json(weights=[]), "has 1 axes"),
    "empty rows": (as_json(weights=[[], []]), "is empty"),
    "tokens as a word": (as_json(weights=[[1]], tokens="a"), "list of texts"),
    "tokens with a number": (as_json(weights=[[1]], tokens=[1]), "list of texts"),
    "too few tokens": (as_json(weights=[[1, 0], [0, 1]], tokens=["a"]), "1 query tokens for 2 positions"),
    "no tokens": (as_json(weights=[[1]], tokens=[]), "0 query tokens for 1 positions"),
    "a long token": (as_json(weights=[[1]], tokens=["x" * 201]), "at most 200 characters"),
    "half a character": (b'{"weights": [[1]], "tokens": ["\\ud800"]}', "lone surrogate"),
    "too much text": (b" " * (8 * 2**20 + 1), "at most 8 MB of .json"),
}


@pytest.mark.parametrize("data, words", REFUSED_JSON.values(), ids=REFUSED_JSON)
def test_json_is_refused(data, words):
    assert_refused("a.json", data, words)


def test_queries_keys_and_values_share_one_limit():
    """32 MB each, and 64 MB for all of them."""
    wide = {name: np.zeros((128, 128, 2, 256), dtype=np.float32) for name in ("query", "key", "value")}
    assert_refused("a.npz", npz(**wide), "unpacks to more than the 64 MB")
    half = {name: array.astype(np.float16) for name, array in wide.items()}  # unpacked, but twice as much once read
    assert_refused("a.npz", npz(**half), "at most 16,777,216 are allowed")
    third = {name: array[..., :170] for name, array in half.items()}
    assert read_upload("a.npz", npz(**third)).shape == (128, 128, 2, 2)


@pytest.mark.parametrize("name", ["a.npy", "a.pkl", "npz", "", "a.json.gz", ".npz", "\x00"])
def test_another_kind_of_file_is_refused(name):
    assert_refused(name, b"", "must end in .npz or .json")


def test_an_archive_that_lies_about_its_sizes_costs_no_memory():
    honest = npz(weights=LARGE)
    directory = honest.rindex(b"PK\x01\x02")
    liar = bytearray(honest)
    liar[directory + 24 : directory + 28] = struct.pack("<I", 200)  # "unpacks to 200 bytes"
    tracemalloc.start()
    try:
        assert_refused("a.npz", bytes(liar), "damaged or cut short")
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


# --- 500 damaged files ------------------------------------------------------------------------------------


def damaged(data, chance):
    """Bytes flipped, cut, doubled, dropped or exchanged: one to four such accidents."""
    data = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at, until = sorted(chance.randrange(len(data) + 1) for _ in range(2))
        until = min(until, at + chance.choice((1, 2, 30, 1000)))
        accident = chance.randrange(6)
        if accident == 0:
            data[at:until] = bytes(chance.randrange(256) for _ in range(until - at))
        elif accident == 1:
            del data[until:]
        elif accident == 2:
            data[at:at] = data[at:until]
        elif accident == 3:
            del data[at:until]
        elif accident == 4:
            data[at:until] = reversed(data[at:until])
        elif data:
            data[at % len(data)] ^= 1 << chance.randrange(8)
        data = data or bytearray(b"\x00")
    return bytes(data)


def test_500_damaged_files_meet_plain_sentences_only():
    chance = random.Random(7)
    weights = np.random.default_rng(7).dirichlet(np.ones(3), size=(2, 2, 3)).astype(np.float32)
    recording = Recording(("a", "b", "c"), ("a", "b", "é"), weights=weights)
    members = [("weights.npy", npy(weights)), ("tokens.npy", npy(np.array(["a", "b", "é"])))]
    projected = {name: array.tolist() for name, array in projections().items()}

    def archive_with_a_damaged_array():  # whose checksums are right: the damage reaches what is behind them
        return zipped([(name, damaged(content, chance)) for name, content in members])

    makers = [
        ("a.npz", lambda: damaged(to_npz(recording), chance)),
        ("a.npz", lambda: damaged(zipped(members, zipfile.ZIP_STORED), chance)),
        ("a.npz", archive_with_a_damaged_array),
        ("a.json", lambda: damaged(to_json(recording), chance)),
        ("a.json", lambda: damaged(as_json(**projected), chance)),
    ]
    refused = 0
    for number in range(500):
        name, make = makers[number % len(makers)]
        data = make()
        try:
            survivor = read_upload(name, data)
        except UploadError as refusal:
            assert_sentence(str(refusal))
            refused += 1
        else:
            assert_usable(survivor)
    assert refused > 300


def assert_usable(recording):
    layers, heads, T_q, T_k = recording.shape
    _, weights = recording.attend()
    assert weights.shape == (layers, heads, T_q, T_k)
    assert np.isfinite(weights).all() and (weights >= 0).all()
    for token in recording.query_tokens + recording.key_tokens:
        token.encode()
    for warning in recording.warnings:
        assert_sentence(warning)


# --- the snippets -----------------------------------------------------------------------------------------


def run(snippet, folder, monkeypatch, **yours):
    monkeypatch.chdir(folder)
    exec(snippet, yours)
    return read_upload("attention.npz", (folder / "attention.npz").read_bytes())


def test_what_the_hugging_face_snippet_saved():
    recording = read_upload("huggingface.npz", (FIXTURES / "huggingface.npz").read_bytes())
    assert recording.key_tokens == ("[CLS]", "the", "cat", "sat", "on", "the", "mat", "[SEP]")
    assert recording.shape == (2, 3, 8, 8) and recording.warnings == ()
    expected = json.loads((FIXTURES / "huggingface_expected.json").read_text())
    np.testing.assert_allclose(recording.weights, expected, rtol=0, atol=1e-7)


def test_the_hugging_face_snippet_still_saves_it(tmp_path):
    pytest.importorskip("transformers", reason="transformers is not installed")
    runpy.run_path(str(FIXTURES / "make_huggingface.py"))["main"](target=tmp_path)
    again, kept = (read_upload("a.npz", (f / "huggingface.npz").read_bytes()) for f in (tmp_path, FIXTURES))
    assert again.key_tokens == kept.key_tokens
    np.testing.assert_allclose(again.weights, kept.weights, rtol=0, atol=1e-5)


def test_the_hugging_face_snippet_on_a_stand_in(torch, tmp_path, monkeypatch):
    given = {"input_ids": torch.tensor([[3, 1, 2]])}
    attentions = tuple(torch.rand(1, 2, 3, 3, dtype=torch.bfloat16).softmax(-1) for _ in range(4))

    class Inputs(dict):
        def to(self, _device):
            return self

    class Model:
        device = "cpu"

        def eval(self):
            return self

        def set_attn_implementation(self, name):
            assert name == "eager"

        def __call__(self, input_ids, output_attentions):
            assert output_attentions and input_ids is given["input_ids"]
            return type("Output", (), {"attentions": attentions})

    class Tokenizer:
        def __call__(self, _text, return_tensors):
            assert return_tensors == "pt"
            return Inputs(given)

        def convert_ids_to_tokens(self, ids):
            return [f"token {number}" for number in ids]

    yours = {"model": Model(), "tokenizer": Tokenizer(), "text": "a text"}
    recording = run(snippets.HUGGING_FACE, tmp_path, monkeypatch, **yours)
    assert recording.key_tokens == ("token 3", "token 1", "token 2")
    for layer in range(4):
        np.testing.assert_array_equal(recording.weights[layer], attentions[layer][0].float().numpy())


def test_the_pytorch_snippet(torch, tmp_path, monkeypatch):
    torch.manual_seed(0)
    module = torch.nn.MultiheadAttention(12, 3, dropout=0.5, batch_first=True)
    x = torch.randn(2, 4, 12)
    tokens = ["the", "cat", "the", "mat"]
    recording = run(snippets.PYTORCH, tmp_path, monkeypatch, module=module, x=x, tokens=tokens)
    assert recording.key_tokens == recording.query_tokens == ("the", "cat", "the", "mat")
    assert recording.shape == (1, 3, 4, 4) and recording.warnings == ()
    # the module's own projections, taken apart: rows 0–11 of its weights are W_Q, 12–23 W_K; 3 heads of 4
    projected = x[0] @ module.in_proj_weight.T + module.in_proj_bias
    query, key = (part.unflatten(-1, (3, 4)).transpose(0, 1) for part in projected.split(12, dim=-1)[:2])
    expected = (query @ key.mT / 2).softmax(-1).detach().numpy()
    np.testing.assert_allclose(recording.weights[0], expected, rtol=0, atol=1e-6)


def test_the_keras_snippet(tmp_path, monkeypatch):
    keras = pytest.importorskip("keras", reason="Keras is not installed")
    layer = keras.layers.MultiHeadAttention(num_heads=3, key_dim=4)
    x = np.random.default_rng(0).normal(size=(2, 4, 12)).astype(np.float32)
    recording = run(snippets.KERAS, tmp_path, monkeypatch, layer=layer, x=x, tokens=["a", "b", "c", "d"])
    assert recording.shape == (1, 3, 4, 4) and recording.warnings == ()
    _, expected = layer(x[:1], x[:1], return_attention_scores=True)
    np.testing.assert_allclose(recording.weights, keras.ops.convert_to_numpy(expected), rtol=0, atol=1e-6)
