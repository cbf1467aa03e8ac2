"""A visitor's own attention: an .npz or .json file, read or refused in plain words.

Nothing in such a file is trusted: no pickle is ever opened, sizes are checked before memory is spent, and
whatever is wrong, `UploadError` says so in a sentence that quotes nothing out of the file.
"""

import io
import json
import zipfile
from itertools import chain
from math import prod
from pathlib import PurePath

import numpy as np
import numpy.lib.format as npy

from attention.recordings import Recording

MAX_BYTES = 64 * 2**20  # of a file, of its arrays, and of the weights that its queries and keys give
MAX_JSON_BYTES = 8 * 2**20  # as Python objects, text can take thirty times its size
MAX_MEMBERS = 64
MAX_TOKENS = 1024
MAX_HEADS = 128  # per layer; also the most layers
MAX_TOKEN_LENGTH = 200
LARGEST = 1e15  # of any number: products and sums of such stay far inside float32
ROW_TOLERANCE = 0.01  # what rounding to bfloat16 can take from the sum of a row

ARRAYS = ("weights", "query", "key", "value")
TOKENS = ("tokens", "query_tokens", "key_tokens")
CONTENT = 'A file holds "weights", or "query", "key" and "value"; "tokens" are welcome.'


class UploadError(ValueError):
    """The file cannot be used; the message says what was wrong and what is allowed."""


def read_upload(name, data):
    """The Recording in the file called `name` (.npz or .json), whose bytes are `data`.

    "weights" may be (layers, heads, T_q, T_k), (heads, T_q, T_k) or (T_q, T_k), numbers ≥ 0; so may
    "query", "key" and "value", each (…, T, width). "tokens" name both sides, "query_tokens" and
    "key_tokens" one; a side without any is numbered from 0. Rows that do not sum to 1, and entries that
    nothing here reads, leave a sentence in `warnings`. Raises UploadError for everything else, and never
    another exception.
    """
    suffix = PurePath(name).suffix.lower()
    if suffix not in (".npz", ".json"):
        raise UploadError("The name of the file must end in .npz or .json.")
    limit = MAX_BYTES if suffix == ".npz" else MAX_JSON_BYTES
    if len(data) > limit:
        raise UploadError(f"The file is too large: at most {limit // 2**20} MB of {suffix} are allowed.")
    content = _read_npz(data) if suffix == ".npz" else _read_json(data)
    return _recording(content)


# --- bytes -> {name: numbers as an array, anything else as plain Python values} ---------------------------


def _read_npz(data):
    try:
        # each member costs memory as soon as the archive is opened, so they are counted before
        if data.count(b"PK\x01\x02") > MAX_MEMBERS:
            raise UploadError(f"The archive has too many entries: at most {MAX_MEMBERS} are allowed.")
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}
            if len(members) < len(archive.infolist()):
                raise UploadError("Two entries of the file have the same name: each may stand there once.")
            if sum(member.file_size for member in members.values()) > MAX_BYTES:
                raise UploadError(f"The file unpacks to more than the {MAX_BYTES // 2**20} MB allowed.")
            return {name: _read_member(archive, member, name) for name, member in members.items()}
    except UploadError:
        raise
    except Exception as error:  # damage makes zipfile and NumPy raise nearly anything
        raise UploadError("This is no .npz file, or it is damaged or cut short: save it with np.savez.") from error


def _read_member(archive, member, name):
    if name not in ARRAYS + TOKENS:
        return None
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # others unpack unbounded
        raise UploadError("The archive is compressed in an unusual way: save it with np.savez_compressed.")
    with archive.open(member) as file:
        raw = file.read(member.file_size)  # never more than was declared, and summed up, whatever is in there
    return _read_npy(raw, name)


def _read_npy(raw, name):
    header = io.BytesIO(raw)
    version = npy.read_magic(header)
    read_header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[version]
    shape, fortran_order, dtype = read_header(header)
    if dtype.hasobject:
        raise UploadError(f'"{name}" holds Python objects, which are never opened: save numbers and text.')
    if dtype.kind not in "fiuU":
        raise UploadError(f'"{name}" must hold plain numbers (or text, for tokens), not {dtype.name}.')
    order = "F" if fortran_order else "C"
    array = np.frombuffer(raw, dtype, offset=header.tell()).reshape(shape, order=order)
    if dtype.kind != "U":
        return array
    if array.size > MAX_TOKENS:
        raise _too_many_tokens(array.size)
    return array.tolist()


def _read_json(data):
    try:
        text = data.decode("utf-8-sig")
        content = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except UploadError:
        raise
    except RecursionError as error:
        raise UploadError("The JSON is nested too deeply: weights are at most 4 lists deep.") from error
    except json.JSONDecodeError as error:
        raise UploadError(f"This is not JSON, or cut short, at line {error.lineno}, column {error.colno}.") from error
    except ValueError as error:  # not UTF-8, or a number of more digits than Python reads
        raise UploadError("The file must be UTF-8 text with ordinary numbers in it.") from error
    if not isinstance(content, dict):
        raise UploadError(f"The JSON must be an object with names. {CONTENT}")
    return content


def _unique(pairs):
    content = dict(pairs)
    if len(content) < len(pairs):
        raise UploadError("Two entries of the file have the same name: each may stand there once.")
    return content


def _refuse_constant(_name):
    raise UploadError("The file holds NaN or Infinity: only finite numbers are allowed.")


# --- entries -> checked arrays and tokens -----------------------------------------------------------------


def _recording(content):
    warnings = []
    if "weights" in content:
        arrays = {"weights": _heads("weights", content["weights"])}
        _check_weights(arrays["weights"], warnings)
        T_q, T_k = arrays["weights"].shape[2:]
    else:
        missing = [f'"{name}"' for name in ("query", "key", "value") if name not in content]
        if missing:
            raise UploadError(f'The file has neither "weights" nor {" and ".join(missing)}. {CONTENT}')
        arrays = {name: _heads(name, content[name]) for name in ("query", "key", "value")}
        T_q, T_k = _check_projections(**arrays)
        _check_bytes(sum(array.size for array in arrays.values()))
    tokens = {side: _side_tokens(content, side, T) for side, T in (("query", T_q), ("key", T_k))}
    ignored = len(content.keys() - arrays.keys() - set(TOKENS))
    if ignored:
        warnings.append(f"Ignored: {ignored} of the {len(content)} entries of the file. {CONTENT}")
    return Recording(tokens["query"], tokens["key"], **arrays, warnings=tuple(warnings))


def _heads(name, numbers):
    """Finite float32 (layers, heads, T, …) from an array or nested lists with 2 to 4 axes."""
    array = numbers if isinstance(numbers, np.ndarray) else _from_lists(name, numbers)
    if array.ndim not in (2, 3, 4):
        raise UploadError(
            f'"{name}" has {array.ndim} axes: allowed are (T, …), (heads, T, …) and (layers, heads, T, …). '
            "Of a batch, save one item."
        )
    array = array.reshape((1,) * (4 - array.ndim) + array.shape)
    _check_sizes(name, array.shape)
    with np.errstate(over="ignore"):
        array = array.astype(np.float32)
    if not (np.abs(array) <= LARGEST).all():  # NaN is not
        raise _not_finite(name)
    return array


def _check_sizes(name, shape):
    layers, heads, *tokens = shape if name == "weights" else shape[:3]
    if 0 in shape:
        raise UploadError(f'"{name}" is empty: at least one head and one token are needed.')
    if max(layers, heads) > MAX_HEADS:
        raise UploadError(
            f'"{name}" has {layers:,} layers of {heads:,} heads: at most {MAX_HEADS} of each are allowed.'
        )
    if max(tokens) > MAX_TOKENS:
        raise _too_many_tokens(max(tokens))
    _check_bytes(prod(shape))


def _from_lists(name, nested):
    """The array of nested JSON lists, level by level: no recursion, no guess about ragged ones."""
    shape, level = [], [nested]
    while level and any(isinstance(item, list) for item in level):
        lengths = {len(item) if isinstance(item, list) else None for item in level}
        if len(lengths) > 1:
            raise UploadError(f'"{name}" has rows of different lengths: all must be equally long.')
        shape.append(lengths.pop())
        if len(shape) > 4:
            raise UploadError(f'"{name}" is nested too deeply: at most 4 lists deep is allowed.')
        level = list(chain.from_iterable(level))
    if not set(map(type, level)) <= {int, float}:
        raise UploadError(f'"{name}" must hold numbers only, neither text nor true, false or null.')
    try:
        return np.array(level, dtype=float).reshape(shape)
    except OverflowError as error:
        raise _not_finite(name) from error


def _check_weights(weights, warnings):
    if (weights < 0).any():
        raise UploadError('"weights" holds negative numbers: save the weights after the softmax, not the scores.')
    sums = weights.sum(axis=-1, dtype=float)
    off = np.abs(sums - 1) > ROW_TOLERANCE
    if off.any():
        warnings.append(
            f"Each row should sum to 1, and {off.sum():,} of {off.size:,} do not: the sums go from "
            f"{sums.min():.3g} to {sums.max():.3g}. Dropout and masks do that; the rows stay as they are."
        )


def _check_projections(query, key, value):
    """(T_q, T_k) of three arrays that fit together."""
    if not query.shape[:2] == key.shape[:2] == value.shape[:2]:
        raise UploadError(
            '"query", "key" and "value" must have equally many layers and heads: '
            "where heads share keys and values, repeat them."
        )
    if query.shape[3] != key.shape[3]:
        raise UploadError(
            f'The vectors of "query" have {query.shape[3]:,} numbers and those of "key" {key.shape[3]:,}: '
            "they must have equally many."
        )
    if key.shape[2] != value.shape[2]:
        raise UploadError(
            f'"key" has {key.shape[2]:,} tokens and "value" {value.shape[2]:,}: they must have equally many.'
        )
    _check_bytes(query.size // query.shape[3] * key.shape[2])
    return query.shape[2], key.shape[2]


def _check_bytes(numbers):
    if numbers * np.float32().itemsize > MAX_BYTES:
        raise UploadError(f"These are {numbers:,} numbers: at most {MAX_BYTES // 4:,} are allowed. Save fewer layers.")


def _side_tokens(content, side, T):
    tokens = content.get(f"{side}_tokens", content.get("tokens"))
    if tokens is None:
        return tuple(str(position) for position in range(T))
    if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
        raise UploadError(f"The {side} tokens must be a list of texts.")
    if len(tokens) != T:
        raise UploadError(
            f"There are {len(tokens):,} {side} tokens for {T:,} positions: the numbers must be equal. "
            'Where the two sides differ, save "query_tokens" and "key_tokens".'
        )
    if max(map(len, tokens)) > MAX_TOKEN_LENGTH:
        raise UploadError(f"A {side} token is too long: at most {MAX_TOKEN_LENGTH} characters are allowed.")
    if any("\ud800" <= character <= "\udfff" for character in "".join(tokens)):
        raise UploadError(f"A {side} token holds half a character, a lone surrogate: only whole ones are allowed.")
    return tuple(tokens)


def _not_finite(name):
    return UploadError(f'"{name}" must hold finite numbers, none beyond ±{LARGEST:.0e}.')


def _too_many_tokens(number):
    return UploadError(f"There are {number:,} tokens: at most {MAX_TOKENS:,} are allowed. Save a part of them.")
