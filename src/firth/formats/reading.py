"""Reads files in blocks, compressed or not, and selects rows: shared by all readers of vectors."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

import numpy as np
from numpy.typing import NDArray

from firth.errors import FormatError, OptionError
from firth.files import Name, compression, fill, is_file, map_file, open_bytes
from firth.kernels import words as words_kernel
from firth.text.vocabulary import Vocabulary, read_word_list
from firth.vectors.rows import MOST_DIM

Bytes = NDArray[np.uint8]
Ids = NDArray[np.int64]
BLOCK = 4 << 20


@dataclass(frozen=True)
class RowSelection:
    """The rows to load: the first `limit`, and of these only the words in `wanted`; None means all."""

    limit: int | None = None
    wanted: Vocabulary | None = None

    @classmethod
    def of(cls, limit: int | None, vocabulary: Vocabulary | Iterable[str] | Name | None) -> RowSelection:
        """The selection for a limit and words; a string or path is a file of words.

        >>> RowSelection.of(10, ["tea", "tea"]).wanted.words
        ('tea',)
        """
        if limit is not None and limit < 1:
            raise OptionError(f"limit is {limit}, but must be at least 1")
        if isinstance(vocabulary, (str, os.PathLike)):
            if not is_file(vocabulary):
                raise OptionError(f"{os.fspath(vocabulary)}: no such file of words. Pass words themselves as a list")
            vocabulary = read_word_list(vocabulary)
        if vocabulary is not None and not isinstance(vocabulary, Vocabulary):
            vocabulary = Vocabulary(dict.fromkeys(vocabulary))
        return cls(limit, vocabulary)

    @property
    def whole(self) -> bool:
        """Whether all rows are selected."""
        return self.limit is None and self.wanted is None

    def find_wanted(self, blob: Bytes, starts: Ids, ends: Ids) -> NDArray[np.bool_] | None:
        """A mask of the words that are wanted, or None for all."""
        if self.wanted is None:
            return None
        wanted, ids = self.wanted, np.empty(len(starts), np.int64)
        words_kernel.find_all(blob, starts, ends, wanted.blob, wanted.starts, wanted.ends, wanted.slots, ids)
        return ids >= 0


class BlockReader:
    """Reads a file in blocks and decompresses it; the unused rest of a block starts the next one."""

    def __init__(self, path: Name, file: IO[bytes]) -> None:
        self.path, self.file = path, file
        self.compressed = compression(path) is not None
        self.size = os.path.getsize(path)
        self.seen = 0

    def read(self, left: Bytes, size: int = BLOCK) -> Bytes | None:
        """The bytes in `left`, followed by `size` new ones; None at the end of the file."""
        block = np.empty(len(left) + size, np.uint8)
        block[: len(left)] = left
        filled = len(left) + fill(self.file, block[len(left) :].data)
        self.seen += filled - len(left)
        return block[:filled] if filled > len(left) else None


@contextmanager
def open_blocks(path: Name) -> Iterator[BlockReader]:
    """Opens a file for reading in blocks."""
    with open_bytes(path) as file:
        yield BlockReader(path, file)


def iterate_line_blocks(source: BlockReader, longest: int) -> Iterator[Bytes]:
    """Blocks of whole lines of at most `longest` bytes; the last line may lack its end."""
    left = np.empty(0, np.uint8)
    while (block := source.read(left)) is not None:
        end = block.tobytes().rfind(b"\n") + 1
        if len(block) - end > longest:
            raise FormatError(source.path, f"a line is longer than {longest:,} bytes")
        left = block[end:].copy()
        if end:
            yield block[:end]
    if len(left):
        yield left


def read_head(path: Name, lines: int = 17, most: int = 8 << 20) -> tuple[bytes, bool]:
    """The first decompressed lines of a file, at most `most` bytes, and whether they are the whole file."""
    head = np.empty(0, np.uint8)
    with open_blocks(path) as source:
        size = 1 << 16
        while (block := source.read(head, size)) is not None:
            head = block
            if len(head) >= most or np.count_nonzero(head == 10) >= lines or not head.all():
                break  # a zero byte: not text, so there are no lines to count
            size = min(len(head), most - len(head))
        whole = source.read(head[:0], 1) is None
    return head.tobytes(), whole


def read_whole(path: Name) -> Bytes:
    """All bytes of a file: memory-mapped, or decompressed into memory."""
    if compression(path) is None:
        return np.frombuffer(map_file(path), np.uint8)
    everything = np.empty(BLOCK, np.uint8)
    filled = 0
    with open_blocks(path) as source:
        while (block := source.read(everything[:0])) is not None:
            if filled + len(block) > len(everything):
                everything.resize(len(everything) * 3 // 2 + len(block), refcheck=False)  # grows in place
            everything[filled : filled + len(block)] = block
            filled += len(block)
    everything.resize(filled, refcheck=False)
    everything.setflags(write=False)
    return everything


def check_shape(path: Name, rows: int, dim: int, row_bytes: int, room: int | None) -> None:
    """Refuses an impossible header: rows of at least row_bytes each must fit into the `room` bytes that follow."""
    if not 1 <= dim <= MOST_DIM:
        raise FormatError(path, f"the vectors have {dim:,} dimensions, but must have 1 to {MOST_DIM:,}")
    if rows < 0:
        raise FormatError(path, f"the header promises {rows:,} rows")
    if room is not None and rows * row_bytes > room:
        raise FormatError(
            path,
            f"the header promises {rows:,} rows of {dim:,} numbers, which need at least {rows * row_bytes:,} bytes, "
            f"but only {room:,} follow",
            cure="The file is cut short, or its header is wrong",
        )
