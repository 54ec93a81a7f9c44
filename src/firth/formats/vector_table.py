"""Gathers blocks of words and rows into one vocabulary and one matrix, without a second copy of the matrix."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from firth.formats.reading import Bytes, Ids, RowSelection
from firth.kernels import vector_files as kernel
from firth.text.vocabulary import Vocabulary
from firth.vectors.rows import DenseRows
from firth.vectors.subwords import SubwordVectors
from firth.vectors.words import WordVectors

Floats = NDArray[np.float32]


class VectorTable:
    """A matrix that grows in place: reserved memory costs nothing until rows are written to it."""

    def __init__(self, dim: int, part: RowSelection, expected: int = 0) -> None:
        self.part = part
        self.matrix = np.empty((max(1, expected if part.wanted is None else 0), dim), np.float32)
        self.size = 0  # rows kept
        self.seen = 0  # rows offered
        self._words: list[Bytes] = [np.empty(0, np.uint8)]
        self._lengths: list[Ids] = [np.empty(0, np.int64)]

    @property
    def full(self) -> bool:
        """Whether the limit is reached."""
        return self.part.limit is not None and self.seen >= self.part.limit

    def add(self, block: Bytes, starts: Ids, ends: Ids, rows: Floats) -> None:
        """Adds the selected words of a block and their rows."""
        chosen = self._choose(block, starts, ends)
        self._reserve(block, starts[chosen], ends[chosen])[:] = rows[chosen]

    def add_raw(self, block: Bytes, starts: Ids, ends: Ids) -> None:
        """As `add`, for rows stored in the block as raw float32, one byte after each word."""
        chosen = self._choose(block, starts, ends)
        room = self._reserve(block, starts[chosen], ends[chosen])
        kernel.copy_binary(block, ends[chosen], room.view(np.uint8))
        if sys.byteorder == "big":
            room.byteswap(inplace=True)

    def _choose(self, block: Bytes, starts: Ids, ends: Ids) -> slice | NDArray[np.bool_]:
        """Which of these rows are selected, given the number of rows seen before."""
        count = len(starts) if self.part.limit is None else max(0, min(len(starts), self.part.limit - self.seen))
        self.seen += count
        keep = self.part.find_wanted(block, starts, ends)
        if keep is None:
            return slice(count)
        keep[count:] = False
        return keep

    def _reserve(self, block: Bytes, starts: Ids, ends: Ids) -> Floats:
        """Stores the words and returns the uninitialized rows for them."""
        words = np.empty(int((ends - starts).sum()), np.uint8)
        kernel.copy_words(block, starts, ends, words)
        self._words.append(words)
        self._lengths.append(ends - starts)
        first, self.size = self.size, self.size + len(starts)
        if self.size > len(self.matrix):
            self._resize(max(self.size, len(self.matrix) * 3 // 2))
        return self.matrix[first : self.size]

    def finish(self, format: str) -> WordVectors:
        """The vectors; the first row of a repeated word is kept, and the others are counted."""
        blob = np.concatenate(self._words)
        blob.setflags(write=False)
        ends = np.cumsum(np.concatenate(self._lengths))
        vocabulary = Vocabulary.from_arrays(blob, np.concatenate([[0], ends[:-1]]).astype(np.int64)[: len(ends)], ends)
        duplicates = len(vocabulary) - int(np.count_nonzero(vocabulary.slots))
        if duplicates:
            first = vocabulary.ids(vocabulary) == np.arange(len(vocabulary))
            vocabulary = vocabulary.take(np.flatnonzero(first))
            self._compact(first)
        self._resize(self.size)
        return WordVectors(vocabulary, self.matrix, metadata={"format": format, "duplicates": duplicates})

    def _compact(self, keep: NDArray[np.bool_]) -> None:
        at = 0
        for start in range(0, self.size, 4096):
            rows = self.matrix[start : min(start + 4096, self.size)]
            kept = rows[keep[start : start + len(rows)]]
            self.matrix[at : at + len(kept)] = kept
            at += len(kept)
        self.size = at

    def _resize(self, rows: int) -> None:
        # No view of the matrix outlives a call of `add` or `add_raw`, so it may move.
        self.matrix.resize((rows, self.matrix.shape[1]), refcheck=False)


def select(vectors: WordVectors, part: RowSelection) -> WordVectors:
    """The selected words of open vectors, as plain vectors; a prefix is a view, not a copy."""
    vocabulary = vectors.vocabulary.top(min(part.limit or len(vectors), len(vectors)))
    keep = part.find_wanted(vocabulary.blob, vocabulary.starts, vocabulary.ends)
    plain = not isinstance(vectors, SubwordVectors)
    metadata = {name: value for name, value in vectors.metadata.items() if name != "fasttext"}
    if keep is None and plain and isinstance(vectors.rows, DenseRows):
        return WordVectors(vocabulary, vectors.rows.array[: len(vocabulary)], metadata=metadata)
    ids = np.arange(len(vocabulary)) if keep is None else np.flatnonzero(keep)
    rows = vectors.rows.pick(ids) if plain else vectors.take(ids)
    return WordVectors(vocabulary.take(ids), rows, metadata=metadata)
