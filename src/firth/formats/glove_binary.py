"""What the original GloVe programs pass to each other: co-occurrence records, and the list of words beside them.

A record is a row, a column (both int32, from 1) and X (float64), 16 bytes, little-endian; a file is nothing but
records, in any order. The list of words has a line `word count` for each id.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from firth.errors import FormatError, OptionError
from firth.files import STDIN, Name, compression, open_bytes, write_bytes
from firth.formats.reading import open_blocks
from firth.models.count_matrix import CountMatrix
from firth.models.glove_cells import Batch, MatrixCells
from firth.text.vocabulary import Vocabulary, to_bytes, to_word

RECORD = np.dtype([("row", "<i4"), ("column", "<i4"), ("value", "<f8")])
BLOCK = RECORD.itemsize << 18  # bytes that are read at a time
LONGEST_LINE = 1 << 20


class Records:
    """The records of a file, packed or not, block by block and checked; it can be gone through again and again.

    Ids come from 0. It is what `Glove.fit_counts` takes, and never holds more than a block.
    """

    def __init__(self, path: Name, vocabulary: Vocabulary) -> None:
        if os.fspath(path) == STDIN:
            raise OptionError("co-occurrence records are read twice, which standard input cannot be. Save it first")
        self.path, self.vocabulary = path, vocabulary
        size = os.path.getsize(path)
        if compression(path) is None and size % RECORD.itemsize:
            raise _cut_short(path, size)

    def __iter__(self) -> Iterator[Batch]:
        with open_blocks(self.path) as source:
            left = np.empty(0, np.uint8)
            while (block := source.more(left, BLOCK - len(left))) is not None:
                whole = len(block) - len(block) % RECORD.itemsize
                records = block[:whole].view(RECORD)
                self._check(records, source.seen - len(block))
                yield records["row"] - 1, records["column"] - 1, records["value"].astype(np.float64)
                left = block[whole:]
            if len(left):
                raise _cut_short(self.path, source.seen)

    def _check(self, records: NDArray[np.void], place: int) -> None:
        """Refuses records that cannot be: the place is that of the first one in the file."""
        size = len(self.vocabulary)
        for name in ("row", "column"):
            wrong = (records[name] < 1) | (records[name] > size)
            if wrong.any():
                at = int(np.argmax(wrong))
                raise FormatError(
                    self.path,
                    f"the {name} {records[name][at]} is no id from 1 to {size:,}, the number of words",
                    offset=place + RECORD.itemsize * at,
                    cure="Give the list of words that belongs to it",
                )
        wrong = ~(np.isfinite(records["value"]) & (records["value"] > 0))
        if wrong.any():
            at = int(np.argmax(wrong))
            raise FormatError(
                self.path,
                f"the count {records['value'][at]} is no number above 0",
                offset=place + RECORD.itemsize * at,
            )


def _cut_short(path: Name, size: int) -> FormatError:
    problem = f"{size:,} bytes are no whole number of records of {RECORD.itemsize} bytes"
    return FormatError(path, problem, cure="The file is cut short, or it is something else")


def read(path: Name, vocabulary: Vocabulary) -> CountMatrix:
    """All records as one matrix in memory; what is there twice is added up. To train, `Records` needs no matrix."""
    records, size = Records(path, vocabulary), len(vocabulary)
    starts = np.zeros(size + 1, np.int64)
    for rows, _, _ in records:
        starts[1:] += np.bincount(rows, minlength=size)
    np.cumsum(starts, out=starts)
    columns, values = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float64)
    filled = starts[:-1].copy()
    for rows, some_columns, some_values in records:
        order = np.argsort(rows, kind="stable")
        ranked = rows[order]
        found, firsts, counts = np.unique(ranked, return_index=True, return_counts=True)
        places = filled[ranked] + np.arange(len(ranked)) - np.repeat(firsts, counts)
        columns[places], values[places] = some_columns[order], some_values[order]
        filled[found] += counts
    matrix = csr_matrix((values, columns, starts), shape=(size, size), copy=False)
    matrix.sum_duplicates()
    return CountMatrix(matrix, vocabulary, vocabulary, {"recipe": {"kind": "co-occurrence"}})


def write(counts: CountMatrix, path: Name) -> None:
    """Writes the cells of a square matrix as records, row by row; packed as the name ends. Zeros are left out."""
    rows, columns = counts.shape
    if rows != columns:
        raise OptionError(f"GloVe's records are about one list of words, but the matrix is {rows:,} × {columns:,}")
    matrix = counts.matrix
    if not matrix.data.all():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    with write_bytes(path) as file:
        for some_rows, some_columns, values in MatrixCells(matrix):
            records = np.empty(len(values), RECORD)
            records["row"], records["column"], records["value"] = some_rows + 1, some_columns + 1, values
            file.write(records.tobytes())


def read_words(path: Name) -> Vocabulary:
    """The list of words that GloVe writes as vocab.txt: lines `word count`, by falling count."""
    words: list[str] = []
    counts: list[int] = []
    with open_bytes(path) as file:
        while line := file.readline(LONGEST_LINE):
            word, _, count = line.rstrip(b"\r\n").rpartition(b" ")
            if not word or not count.isdigit() or len(count) > 18:
                raise FormatError(path, "expected a word, a blank and a count", line=len(words) + 1)
            words.append(to_word(word))
            counts.append(int(count))
    if len(set(words)) != len(words):
        twice, _ = Counter(words).most_common(1)[0]
        raise FormatError(path, f"the word {twice!r} stands there twice, but a word has one id")
    return Vocabulary(words, counts)


def write_words(vocabulary: Vocabulary, path: Name) -> None:
    """Writes a vocabulary as GloVe's vocab.txt; a count that is not known becomes 0."""
    counts = np.zeros(len(vocabulary), np.int64) if vocabulary.counts is None else vocabulary.counts
    with write_bytes(path) as file:
        for word, count in zip(vocabulary, counts.tolist()):
            raw = to_bytes(word)
            if not raw or b"\n" in raw or b" " in raw or b"\t" in raw:
                raise OptionError(
                    f"{word!r} cannot stand in GloVe's list of words, where a blank or a line end ends it"
                )
            file.write(b"%b %d\n" % (raw, count))
