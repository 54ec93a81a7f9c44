"""Changes to valid files, made with knowledge of their structure: fields, headers, arrays, lines, bytes.

Every function takes a random number generator, so that input number n of a reader is always the same. Files are changed
in memory: an input is a dictionary of names and bytes.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from random import Random
from typing import Any

import numpy as np

from firth.bulk.journal import _checksum as journal_checksum
from firth.formats import safetensors
from firth.text import tokenfile
from firth.training.checkpoints import CHECKSUM, sum_array, sum_config
from pickles import change_tensors

Changes = dict[str, bytes | None]  # new contents of files; None removes a file
NUMBERS: tuple[Any, ...] = (
    *(0, 1, -1, 2, 3, 7, 16, 64, 127, 128, 255, 256, 65_535, 65_536, 10**6, 10**9, 2**31 - 1, 2**31, -(2**31)),
    *(2**32, 2**40, 2**62, 2**63 - 1, 2**63, 2**64, 10**20, 0.5, -0.5, 1e-9, 1e308, -1e308, float("inf"), float("nan")),
)
DEEP: Any = 7
for _ in range(940):
    DEEP = [DEEP]
TEXTS = ("", "x", "nan", "../..", "\0", "\ud800", "x" * 300)
VALUES: tuple[Any, ...] = (*NUMBERS, *TEXTS, None, True, False, [], {}, [[]], [0], {"x": 1})
WORDS = (
    *(b"", b"0", b"1", b"-1", b"1e-400", b"1e400", b"-1e-400", b"nan", b"inf", b"-inf", b"9" * 5000),
    *(b"\xff\xfe", b"\0", b"\r", b"\x0b", b"\x1c", b"\t", b" ", b"\xe2\x80\xa8", b"\xc2\x85", b"\xd9\xa3", b"\xc2\xb2"),
    *(b"\\", b'"', b'""', b"'", b"#", b"#a=b", b"(", b")", b"(1", b"1)", b"(V*)", b"*", b"-", b"_", b"|", b",", b";"),
    *(b"[", b"]", b"{", b"}", b"<", b">", b"<b>", b"</b>", b"<!--", b"&#x110000;", b"__label__a", b"</s>", b"<unk>"),
    *(b"2147483648", b"18446744073709551616", b"1_0", b"0x7f", b"true", b"B-X", b"I-X", b"0." + b"3" * 400),
)
LONG_WORDS = (b"[" * 3000, b"{" * 3000, b"(0 " * 1500, b"<b>" * 1000, b"x" * 70_000)
INTEGERS = (0, 1, 2, 255, 256, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**64 - 1)
PATHS = (
    "",
    ".",
    "..",
    "/",
    "../up",
    "/tmp/up",
    "a/../../up",
    "a//b",
    "a\\b",
    "\0",
    "\ud800",
    "x" * 300,
    "model",
    "CON",
)
KINDS = ("f4", "f2", "f8", "i8", "i4", "i2", "i1", "u1", "u4", "u8", "?")
HEADER = 96  # bytes at the start of a binary file that are changed more often


@dataclass(frozen=True)
class Seed:
    """A valid input: a file, or the files of a folder, by their paths below its parent."""

    root: str
    files: Mapping[str, bytes]

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(map(len, self.files.values()))


def mutate(rng: Random, seeds: Sequence[Seed], number: int) -> Changes:
    """Changes of the seed with this number, one to four deep; some take a part of another seed."""
    seed = seeds[number]
    changes: Changes = {}
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        names = [name for name in seed.files if changes.get(name, b"") is not None]
        if not names:
            break
        name = rng.choice(names)
        data = changes.get(name, seed.files[name])
        assert data is not None
        draw = rng.random()
        if draw < 0.01 and len(seed.files) > 1:
            changes[name] = None
        elif draw < 0.06:
            changes[name] = splice(rng, data, name, seeds[rng.randrange(len(seeds))])
        else:
            changes[name] = change_file(rng, name, data)
    forge(rng, seed, changes)
    for name, data in changes.items():
        if data is not None and name.rpartition("/")[2].startswith("packed"):
            changes[name] = pack(rng, data)
    return changes


def splice(rng: Random, data: bytes, name: str, other: Seed) -> bytes:
    """A file of another input in place of this one, or the start of one and the end of the other."""
    last = name.rpartition("/")[2]
    same = [file for file in other.files if file.rpartition("/")[2] == last] or list(other.files)
    if not same:
        return data
    donor = other.files[rng.choice(same)]
    if rng.random() < 0.4:
        return donor
    return data[: rng.randrange(len(data) + 1)] + donor[rng.randrange(len(donor) + 1) :]


def change_file(rng: Random, name: str, data: bytes) -> bytes:
    """A changed file, by its kind."""
    draw = rng.random()
    if name.endswith(".safetensors") and draw < 0.85:
        return change_arrays(rng, data)
    if name.endswith((".json", ".jsonl")) and draw < 0.85:
        return change_json(rng, data)
    if name.endswith(".pkl") and draw < 0.85:
        return change_tensors(rng, data)
    if name.endswith(".msgpack") and draw < 0.85:
        return change_packed_files(rng, data)
    if draw < 0.8 and b"\0" not in data:
        return change_lines(rng, data)
    return change_bytes(rng, data)


def change_packed_files(rng: Random, data: bytes) -> bytes:
    """The files of a spaCy component in bytes, with another file or name."""
    import srsly

    try:
        files = dict(srsly.msgpack.unpackb(data, raw=False, object_pairs_hook=dict))
        name = rng.choice(sorted(files))
        content, draw = files[name], rng.random()
        if draw < 0.1:
            del files[name]
        elif draw < 0.3:
            files[rng.choice((*PATHS, name + "/x", 7, None, (1, 2)))] = files.pop(name)
        elif draw < 0.4:
            files[name] = rng.choice((None, 7, "text", [content], {"x": content}, np.zeros(2)))
        else:
            files[name] = change_file(rng, name, content)
        packed: bytes = srsly.msgpack_dumps(files)
    except (ValueError, TypeError, IndexError, AttributeError):  # an earlier change has damaged it
        return change_bytes(rng, data)
    return packed


def forge(rng: Random, seed: Seed, changes: Changes) -> None:
    """Corrects checksums after a change, more often than not: what a checksum guards must hold without it, too."""
    if rng.random() < 0.3:
        return
    for name in list(changes):
        data = changes[name]
        if data is None:
            continue
        if name.endswith((".tokens", ".vocab")):
            stem = name.rpartition(".")[0]
            tokens = changes.get(stem + ".tokens", seed.files.get(stem + ".tokens"))
            words = changes.get(stem + ".vocab", seed.files.get(stem + ".vocab"))
            if tokens and words is not None:
                changes[stem + ".tokens"] = forge_tokens(tokens, words)
        elif name.endswith("journal.json"):
            changes[name] = forge_checksum(data, journal_checksum)
        elif name.endswith("config.json") and CHECKSUM.encode() in data:
            changes[name] = forge_checksum(data, sum_config)
        elif "state-" in name:
            changes[name] = forge_arrays(data)
        elif name.endswith((".tar", ".conll.tar")):
            changes[name] = forge_tar(data)


def forge_tokens(data: bytes, words: bytes) -> bytes:
    """A token file with right checksums."""
    if len(data) < tokenfile.HEADER.size:
        return data
    magic, version, _, *counts, _, _ = tokenfile.HEADER.unpack(data[: tokenfile.HEADER.size])
    body = data[tokenfile.HEADER.size :]
    checksums = zlib.crc32(body), zlib.crc32(words)
    return tokenfile.HEADER.pack(magic, version, tokenfile._checksum(counts), *counts, *checksums) + body


def forge_checksum(data: bytes, compute: Callable[[Any], Any]) -> bytes:
    """A JSON object with a right checksum."""
    try:
        value = json.loads(data)
        value.pop(CHECKSUM)
        return json.dumps({**value, CHECKSUM: compute(value)}).encode()
    except (ValueError, RecursionError, KeyError, AttributeError, TypeError):
        return data


def forge_arrays(data: bytes) -> bytes:
    """The arrays of a checkpoint with right checksums."""
    try:
        _, _, arrays, _ = parse_arrays(data)
    except ValueError:
        return data
    return write_arrays(arrays, {name: str(sum_array(name, array)) for name, array in arrays.items()})


def forge_tar(data: bytes) -> bytes:
    """A tar archive whose first header has a right checksum."""
    if len(data) < 512:
        return data
    head = bytearray(data[:512])
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head) + data[512:]


def _pack_zst(data: bytes) -> bytes:
    import zstandard

    packed: bytes = zstandard.ZstdCompressor(level=1).compress(data)
    return packed


PACKERS: tuple[Callable[[bytes], bytes], ...] = (
    partial(gzip.compress, compresslevel=1, mtime=0),
    partial(bz2.compress, compresslevel=1),
    partial(lzma.compress, preset=0),
    _pack_zst,
)


def pack(rng: Random, data: bytes) -> bytes:
    """Compressed data, often with damage in it or after it."""
    packed = rng.choice(PACKERS)(data)
    if rng.random() < 0.4:
        packed += rng.choice((b"", b"\0" * rng.randrange(9), b"junk", packed, packed[: rng.randrange(1, len(packed))]))
    return change_bytes(rng, packed) if rng.random() < 0.5 else packed


def change_bytes(rng: Random, data: bytes) -> bytes:
    """Flipped bits, numbers written over others, pieces removed, repeated or moved, a cut end."""
    raw = bytearray(data or b"\0")
    for _ in range(rng.choice((1, 1, 2, 8))):
        in_header = rng.random() < 0.4
        at = rng.randrange(min(HEADER, len(raw)) if in_header else len(raw))
        action = rng.randrange(9)
        if action == 0:
            raw[at] ^= 1 << rng.randrange(8)
        elif action == 1:
            raw[at] = rng.choice((0, 1, 9, 10, 32, 127, 128, 255))
        elif action <= 3:
            size = rng.choice((1, 2, 4, 8))
            at -= at % size if rng.random() < 0.8 else 0
            here = int.from_bytes(raw[at : at + size], "little")
            number = rng.choice((rng.choice(INTEGERS), here + 1, here - 1, here * 2)) % (1 << (8 * size))
            raw[at : at + size] = number.to_bytes(size, "little")
        elif action == 4:
            del raw[at : at + rng.choice((1, 4, 8, 100))]
        elif action == 5:
            raw[at:at] = raw[rng.randrange(len(raw)) :][: rng.choice((1, 4, 8, 100))]
        elif action == 6:
            raw[at:at] = rng.randbytes(rng.choice((1, 4, 8, 64)))
        elif action == 7:
            value = rng.choice((np.nan, np.inf, -np.inf, 1e38, -1e38, 1e-45))
            raw[at : at + 4] = struct.pack("<f", value)
        elif rng.random() < 0.3:
            del raw[at:]
        if not raw:
            break
    return bytes(raw)


def change_lines(rng: Random, data: bytes) -> bytes:
    """Lines removed, repeated, swapped or cut; fields replaced by unusual ones, or by fields of other lines."""
    lines = data.split(b"\n")
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(lines))
        action = rng.randrange(8)
        if action == 0 and len(lines) > 1:
            del lines[at]
        elif action == 1:
            lines.insert(at, lines[rng.randrange(len(lines))])
        elif action == 2:
            other = rng.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        elif action == 3:
            lines[at] = lines[at][: rng.randrange(len(lines[at]) + 1)]
        else:
            line = lines[at]
            blank = b"\t" if b"\t" in line and rng.random() < 0.7 else b" "
            if b"," in line and rng.random() < 0.5:
                blank = b","
            fields = line.split(blank)
            place = rng.randrange(len(fields))
            word = rng.choice(LONG_WORDS) if rng.random() < 0.01 else rng.choice(WORDS)
            if action == 4:
                fields[place] = word
            elif action == 5:
                fields.insert(place, rng.choice((word, fields[place])))
            elif action == 6:
                others = lines[rng.randrange(len(lines))].split(blank)
                fields[place] = rng.choice(others)
            else:
                field = fields[place]
                cut = rng.randrange(len(field) + 1)
                fields[place] = field[:cut] + word + field[cut + rng.randrange(3) :]
            lines[at] = blank.join(fields)
    return b"\n".join(lines)


@lru_cache(4096)
def parse_json(data: bytes) -> tuple[Any, list[tuple[Any, ...]]]:
    """The value of a JSON text, which is never changed, and all its places. Raises ValueError or RecursionError."""
    value = json.loads(data)
    places: list[tuple[Any, ...]] = [()]
    _find_places(value, (), places)
    return value, places


def change_json(rng: Random, data: bytes) -> bytes:
    """A value of a JSON text replaced, removed, repeated or nested; of JSON lines, in one of the lines."""
    lines = data.split(b"\n") if data.count(b"\n{") else [data]
    at = rng.randrange(len(lines))
    try:
        value, places = parse_json(lines[at])
    except (ValueError, RecursionError):
        return change_bytes(rng, data)
    if rng.random() < 0.001:
        lines[at] = b"[" * 100_000
    else:
        lines[at] = write_json(change_value(rng, value, places))
    return b"\n".join(lines)


def write_json(value: Any) -> bytes:
    """A JSON text; a value that is nested too deeply for that becomes an open bracket."""
    try:
        return json.dumps(value).encode()
    except RecursionError:
        return b"["


def change_value(rng: Random, value: Any, places: Sequence[tuple[Any, ...]]) -> Any:
    """The value with one place changed; containers on the way are copied."""
    place = rng.choice(places)
    root = [value]
    holder: Any = root
    for key in (0, *place)[:-1]:
        holder[key] = holder[key].copy()
        holder = holder[key]
    key = (0, *place)[-1]
    action = rng.randrange(7)
    if action == 0 and isinstance(holder, dict):
        del holder[key]
    elif action == 1 and isinstance(holder, list) and holder is not root:
        holder.insert(key, holder[key])
    elif action == 2:
        holder[key] = [holder[key]] if rng.random() < 0.5 else {"x": holder[key]}
    elif action == 3 and type(holder[key]) is int:
        holder[key] += rng.choice((-1, 1, 1000))
    elif action == 4 and place:
        holder[key] = _get(value, rng.choice(places))
    elif action == 5 and isinstance(holder[key], str) and holder[key]:
        text = holder[key]
        cut = rng.randrange(len(text) + 1)
        holder[key] = text[:cut] + rng.choice(TEXTS) + text[cut + rng.randrange(3) :]
    else:
        holder[key] = DEEP if rng.random() < 0.01 else rng.choice(VALUES)
    return root[0]


def _get(value: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        value = value[key]
    return value


def _find_places(value: Any, place: tuple[Any, ...], places: list[tuple[Any, ...]]) -> None:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        places.append((*place, key))
        if len(places) < 2000:
            _find_places(inner, (*place, key), places)


@lru_cache(1024)
def parse_arrays(data: bytes) -> tuple[dict[str, Any], list[tuple[Any, ...]], dict[str, np.ndarray[Any, Any]], bytes]:
    """The header of a safetensors file, its places, its arrays and its body. Raises ValueError if it is none."""
    try:
        (length,) = struct.unpack_from("<Q", data)
        text, body = data[8 : 8 + length], data[8 + length :]
        header, places = parse_json(text)
        arrays = {}
        for name, entry in header.items():
            if name != "__metadata__":
                start, stop = entry["data_offsets"]
                flat = np.frombuffer(body[start:stop], safetensors.DTYPES[entry["dtype"]])
                arrays[name] = flat.reshape(entry["shape"])
    except (RecursionError, struct.error, AttributeError, TypeError, KeyError, ValueError, OverflowError) as error:
        raise ValueError("not a safetensors file") from error
    return header, places, arrays, body


def change_arrays(rng: Random, data: bytes) -> bytes:
    """A safetensors file with a changed header, or with changed numbers, types or shapes of its arrays."""
    try:
        header, places, arrays, body = parse_arrays(data)
    except ValueError:
        return change_bytes(rng, data)
    if rng.random() < 0.25 or not arrays:
        changed = write_json(change_value(rng, header, places))
        return struct.pack("<Q", len(changed)) + changed + body
    arrays = dict(arrays)
    name = rng.choice(list(arrays))
    draw = rng.random()
    if draw < 0.03:
        del arrays[name]
    elif draw < 0.08:
        arrays[name] = arrays[rng.choice(list(arrays))]
    else:
        arrays[name] = change_array(rng, arrays[name].copy())
    return write_arrays(arrays)


def change_array(rng: Random, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array with another length, type or shape, or with other numbers."""
    action = rng.randrange(8)
    if action == 0:
        array = array[: rng.randrange(len(array) + 1)] if array.ndim else array
    elif action == 1:
        array = np.concatenate([array, array[-1:]]) if array.ndim else array
    elif action == 2:
        with np.errstate(all="ignore"):
            array = array.astype(rng.choice(KINDS))
    elif action == 3:
        shape = rng.choice(((-1,), (1, -1), (-1, 1), (1, 1, -1)))
        array = array.reshape(shape) if array.size else array
    elif array.size:
        flat = array.reshape(-1)
        for _ in range(rng.choice((1, 1, 5))):
            at = rng.randrange(len(flat))
            if array.dtype.kind == "f":
                with np.errstate(all="ignore"):
                    flat[at] = rng.choice((np.nan, np.inf, -np.inf, 1e30, -1e30, 0.0, 1.0))
            else:
                limits = np.iinfo(array.dtype) if array.dtype.kind in "iu" else None
                here = int(flat[at])
                small = (0, 1, 2, len(flat), len(flat) - 1, here + 1, here - 1, int(flat[at - 1]))
                choices = small if limits is None else (*small, limits.min, limits.max, limits.max // 2)
                number = rng.choice(choices)
                flat[at] = number if limits is None or limits.min <= number <= limits.max else 0
        if action == 5:
            order = list(range(len(flat)))
            rng.shuffle(order)
            flat[:] = flat[order]
    return array


def write_arrays(arrays: Mapping[str, np.ndarray[Any, Any]], metadata: Mapping[str, str] | None = None) -> bytes:
    """A safetensors file."""
    header: dict[str, Any] = {} if metadata is None else {"__metadata__": dict(metadata)}
    body, end = [], 0
    for name, array in sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0])):
        raw = array.tobytes()
        kind = safetensors.NAMES[array.dtype]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [end, end + len(raw)]}
        body.append(raw)
        end += len(raw)
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % 64)
    return b"".join((struct.pack("<Q", len(text)), text, *body))
