"""safetensors output: one table split into shards, and the first row of each sentence.

    OUT/index.json                        the shape, and the rows of each shard
    OUT/starts.safetensors                starts: int64, one more than there are sentences
    OUT/embeddings-00001.safetensors …    vectors: (rows, dim), or (rows, layers, dim) for all layers

A row is a word or, with pooling, a sentence (then there are no starts).
"""

from __future__ import annotations

import json
import re
import struct
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.bulk.journal import JOURNAL, MOST, Journal
from firth.bulk.lines import LineBlock
from firth.errors import FormatError, OptionError
from firth.files import Name, read_json, refuse_outer_link
from firth.formats import safetensors
from firth.serialization import check_array, check_number, check_pointers

RESULT, INDEX, STARTS = "result", "index.json", "starts.safetensors"
HEADER = 512  # reserved for the header of a shard, which is known when the shard is full
SHARD = 2 << 30  # bytes
LENGTHS = "lengths"
GROUP = 16 << 20  # bytes transposed and written at a time
PIECE = 1 << 20  # starts computed at a time
SHARD_NAME = re.compile(r"embeddings-\d{1,9}\.safetensors")
LONGEST_INDEX = 64 << 20  # bytes


class ShardWriter:
    """Writes the rows of all sentences; a shard ends with the block that reaches the shard size."""

    def __init__(self, journal: Journal, dtype: str, shape: tuple[int, ...], *, pooled: bool = False) -> None:
        self.journal, self.dtype, self.pooled = journal, dtype, pooled
        self.row = shape  # (dim,) or (layers, dim)
        self.row_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
        self.state: dict[str, Any] = {"shards": journal.state.get("shards", [])}
        with name_file(journal.path(JOURNAL)):
            check_shards(self.state["shards"])

    def append(self, block: LineBlock, arrays: Sequence[NDArray[Any]]) -> None:
        """Appends the rows of each sentence."""
        shards = self.state["shards"]
        if not shards or shards[-1]["rows"] * self.row_bytes >= SHARD:
            if shards:
                self.journal.close_file(f"{RESULT}/{shards[-1]['file']}")
            name = f"embeddings-{len(shards) + 1:05}.safetensors"
            shards.append({"file": name, "first": sum(one["rows"] for one in shards), "rows": 0})
            self.journal.append(f"{RESULT}/{name}", bytes(HEADER))
        rows = [self._rows(array) for array in arrays]
        for some in _groups(rows):  # layers are transposed; a copy of the whole block would be large
            pieces = [np.ascontiguousarray(one).reshape(-1) for one in some]
            self.journal.append(f"{RESULT}/{shards[-1]['file']}", *pieces)
        self.journal.append(LENGTHS, np.array([len(one) for one in rows], "<i8"))
        shards[-1]["rows"] += sum(map(len, rows))

    def _rows(self, array: NDArray[Any]) -> NDArray[Any]:
        if self.pooled:
            return array[None]
        return array.transpose(1, 0, 2) if array.ndim == 3 else array

    def finish(self) -> str:
        """Writes the headers, the starts and the index; returns the name of the finished folder."""
        for shard in self.state["shards"]:
            self.journal.patch(f"{RESULT}/{shard['file']}", header("vectors", self.dtype, (shard["rows"], *self.row)))
        size = self.journal.size(LENGTHS) // 8
        if not self.pooled:
            self._append_starts(size)
        index = {
            "library": "firth",
            "sentences": size,
            "rows": sum(shard["rows"] for shard in self.state["shards"]),
            "shape": list(self.row),
            "dtype": self.dtype,
            "pooled": self.pooled,
            "shards": self.state["shards"],
        }
        self.journal.append(f"{RESULT}/{INDEX}", (json.dumps(index, indent=1) + "\n").encode())
        return RESULT

    def _append_starts(self, size: int) -> None:
        """Appends the first row of each sentence and the end of the last one, in chunks."""
        self.journal.append(f"{RESULT}/{STARTS}", header("starts", "int64", (size + 1,)), bytes(8))
        end = 0
        for first in range(0, size, PIECE):
            lengths = np.fromfile(self.journal.path(LENGTHS), "<i8", min(PIECE, size - first), offset=8 * first)
            starts = end + np.cumsum(lengths)
            self.journal.append(f"{RESULT}/{STARTS}", starts.astype("<i8"))
            end = int(starts[-1])


def _groups(rows: Sequence[NDArray[Any]]) -> Iterator[Sequence[NDArray[Any]]]:
    """Groups arrays into chunks of some megabytes."""
    start = size = 0
    for place, one in enumerate(rows):
        size += one.nbytes
        if size >= GROUP:
            yield rows[start : place + 1]
            start, size = place + 1, 0
    if start < len(rows):
        yield rows[start:]


def header(name: str, dtype: str, shape: tuple[int, ...]) -> bytes:
    """The first HEADER bytes of a safetensors file with one array."""
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    entry = {name: {"dtype": safetensors.NAMES[np.dtype(dtype)], "shape": list(shape), "data_offsets": [0, size]}}
    text = json.dumps(entry, separators=(",", ":")).encode()
    return struct.pack("<Q", HEADER - 8) + text.ljust(HEADER - 8)


class Shards(Sequence[NDArray[Any]]):
    """The arrays of sentences in a folder of shards, by number; memory-mapped."""

    def __init__(self, folder: Name) -> None:
        self.folder = Path(folder)
        self.about = _read_index(self.folder)
        self.firsts: list[int] = [shard["first"] for shard in self.about["shards"]]
        self.starts: NDArray[np.int64] | None = None  # of pooled vectors, a row is a sentence
        if not self.about["pooled"]:
            self.starts = self._read(STARTS, "starts")
            with name_file(self.folder / STARTS):
                check_array("starts", self.starts, "iu", len(self) + 1)
                check_pointers("starts", self.starts, 0, self.about["rows"])
        self._opened: dict[int, NDArray[Any]] = {}

    def __len__(self) -> int:
        return int(self.about["sentences"])

    def __getitem__(self, number: int) -> NDArray[Any]:  # type: ignore[override]
        if not -len(self) <= number < len(self):
            raise IndexError(f"there are {len(self)} sentences, but the index is {number}")
        start = number % len(self)
        stop = start + 1
        if self.starts is not None:
            start, stop = int(self.starts[start]), int(self.starts[start + 1])
        *layers, dim = self.about["shape"]
        if start == stop:
            return np.zeros((*layers, 0, dim), self.about["dtype"])
        place = bisect_right(self.firsts, start) - 1
        rows = self._vectors(place)
        rows = rows[start - self.firsts[place] : stop - self.firsts[place]]
        if self.about["pooled"]:
            return np.asarray(rows[0])
        return rows.transpose(1, 0, 2) if layers else rows

    def _vectors(self, place: int) -> NDArray[Any]:
        if place not in self._opened:
            shard = self.about["shards"][place]
            vectors = self._read(shard["file"], "vectors")
            with name_file(self.folder / shard["file"]):
                check_array("vectors", vectors, "f", shard["rows"], *self.about["shape"])
            self._opened[place] = vectors
        return self._opened[place]

    def _read(self, file: str, name: str) -> NDArray[Any]:
        arrays = safetensors.read(refuse_outer_link(self.folder / file))
        if name not in arrays:
            raise FormatError(self.folder / file, f"the array {name!r} is missing")
        return arrays[name]


def _read_index(folder: Path) -> dict[str, Any]:
    """The index of a folder, checked: names of shards inside the folder, and rows that follow each other."""
    path = folder / INDEX
    if not path.is_file():
        raise FormatError(folder, f"is not a folder of embeddings: it has no {INDEX}")
    index = read_json(path, LONGEST_INDEX)
    if not isinstance(index, dict) or index.get("library") != "firth" or "shards" not in index:
        raise FormatError(path, "is not the index of a folder of embeddings")
    with name_file(path):
        sentences = check_number("sentences", index.get("sentences"), 0, MOST)
        rows = check_number("rows", index.get("rows"), 0, MOST)
        shape = index.get("shape")
        if not isinstance(shape, list) or len(shape) not in (1, 2):
            raise OptionError(f"shape is {shape!r:.60}, but must be the sizes of a vector")
        for size in shape:
            check_number("a size in shape", size, 1, MOST)
        if index.get("dtype") not in ("float32", "float16") or not isinstance(index.get("pooled"), bool):
            raise OptionError("dtype must be float32 or float16, and pooled true or false")
        end = check_shards(index["shards"])
        if end != rows or (index["pooled"] and rows != sentences):
            raise OptionError(f"the shards have {end:,} rows, but the index names {rows:,} and {sentences:,} sentences")
    return index


def check_shards(shards: Any) -> int:
    """The number of rows of all shards; names that lead elsewhere, and rows that do not follow, are errors.

    >>> check_shards([{"file": "../../secret.safetensors", "first": 0, "rows": 3}])
    Traceback (most recent call last):
    firth.errors.OptionError: '../../secret.safetensors' is not the name of a shard
    """
    if not isinstance(shards, list):
        raise OptionError(f"shards is {shards!r:.60}, but must be a list")
    end = 0
    for shard in shards:
        name = shard.get("file") if isinstance(shard, dict) else None
        if not isinstance(name, str) or not SHARD_NAME.fullmatch(name):
            raise OptionError(f"{name!r:.60} is not the name of a shard")
        check_number("first", shard.get("first"), end, end)
        end += check_number("rows", shard.get("rows"), 0, MOST)
    return end


@contextmanager
def name_file(path: Path) -> Iterator[None]:
    """Turns the error of a check into one of a file."""
    try:
        yield
    except FormatError:
        raise
    except OptionError as error:
        raise FormatError(path, str(error)) from error
