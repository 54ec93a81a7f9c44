"""The files of the original GloVe programs: co-occurrence records, vocabulary, and raw parameters.

A record is a row, a column (both int32, from 1) and X (float64), 16 bytes, little-endian; a file is a sequence of
records in any order. The vocabulary has a line `word count` for each id. A file of parameters (`vectors.bin`,
`-init-param-file`) or of squared gradients (`gradsq.bin`, `-init-gradsq-file`) is float64 without a header: dim numbers
and a bias for each word, then the same for each word as a context.
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
from firth.formats.word2vec_text import check_words
from firth.models.count_matrix import CountMatrix
from firth.models.glove import GloveParameters
from firth.models.glove_cells import Batch, MatrixCells
from firth.text.vocabulary import Vocabulary, to_bytes, to_word
from firth.vectors.words import WordVectors

RECORD = np.dtype([("row", "<i4"), ("column", "<i4"), ("value", "<f8")])
BLOCK = RECORD.itemsize << 18  # bytes read at a time
LONGEST_LINE = 1 << 20


class Records:
    """The checked records of a file, compressed or not, in blocks; can be iterated repeatedly.

    Ids start from 0. `Glove.fit_counts` accepts it; only one block is in memory at a time.
    """

    def __init__(self, path: Name, vocabulary: Vocabulary) -> None:
        if os.fspath(path) == STDIN:
            raise OptionError(
                "co-occurrence records are read twice, which is not possible for standard input. Save them to a file"
            )
        self.path, self.vocabulary = path, vocabulary
        size = os.path.getsize(path)
        if compression(path) is None and size % RECORD.itemsize:
            raise _cut_short(path, size)

    def __iter__(self) -> Iterator[Batch]:
        with open_blocks(self.path) as source:
            left = np.empty(0, np.uint8)
            while (block := source.read(left, BLOCK - len(left))) is not None:
                whole = len(block) - len(block) % RECORD.itemsize
                records = block[:whole].view(RECORD)
                self._check(records, source.seen - len(block))
                yield records["row"] - 1, records["column"] - 1, records["value"].astype(np.float64)
                left = block[whole:]
            if len(left):
                raise _cut_short(self.path, source.seen)

    def _check(self, records: NDArray[np.void], place: int) -> None:
        """Refuses invalid records; `place` is the offset of the first one in the file."""
        rows, columns, values = (records[name] for name in ("row", "column", "value"))
        size = len(self.vocabulary)
        an_id = f"an id from 1 to {size:,}, the number of words", "Use the vocabulary that belongs to the file"
        for name, numbers, right, (expected, cure) in (
            ("row", rows, (rows >= 1) & (rows <= size), an_id),
            ("column", columns, (columns >= 1) & (columns <= size), an_id),
            ("count", values, np.isfinite(values) & (values > 0), ("a number above 0", "")),
        ):
            if not right.all():
                at = int(np.argmin(right))
                problem = f"the {name} {numbers[at]} is not {expected}"
                raise FormatError(self.path, problem, offset=place + RECORD.itemsize * at, cure=cure)


def _cut_short(path: Name, size: int) -> FormatError:
    problem = f"{size:,} bytes are not a whole number of records of {RECORD.itemsize} bytes"
    return FormatError(path, problem, cure="The file is cut short, or has another format")


def read(path: Name, vocabulary: Vocabulary) -> CountMatrix:
    """All records as one matrix in memory; repeated cells are summed. Training on `Records` needs no matrix."""
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
        distinct, firsts, counts = np.unique(ranked, return_index=True, return_counts=True)
        places = filled[ranked] + np.arange(len(ranked)) - np.repeat(firsts, counts)
        columns[places], values[places] = some_columns[order], some_values[order]
        filled[distinct] += counts
    matrix = csr_matrix((values, columns, starts), shape=(size, size), copy=False)
    matrix.sum_duplicates()
    return CountMatrix(matrix, vocabulary, vocabulary, {"recipe": {"kind": "co-occurrence"}})


def write(counts: CountMatrix, path: Name) -> None:
    """Writes the cells of a square matrix as records, row by row, compressed by the ending of the name."""
    rows, columns = counts.shape
    if rows != columns:
        raise OptionError(f"GloVe's records need a square matrix, but this one is {rows:,} × {columns:,}")
    matrix = counts.matrix
    if not matrix.data.all():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    with write_bytes(path) as file:
        for some_rows, some_columns, values in MatrixCells(matrix):
            records = np.empty(len(values), RECORD)
            records["row"], records["column"], records["value"] = some_rows + 1, some_columns + 1, values
            file.write(records.tobytes())


def read_parameters(path: Name, vocabulary: Vocabulary) -> GloveParameters:
    """Reads a raw file of parameters or squared gradients; the vocabulary says how many words it has."""
    with open_bytes(path) as file:
        raw = file.read()
    rows = 2 * len(vocabulary)
    if not rows:
        raise FormatError(
            path, "the vocabulary of this file has no words", cure="Use the vocabulary that belongs to it"
        )
    if len(raw) % (8 * rows) or len(raw) // (8 * rows) < 2:
        problem = f"{len(raw):,} bytes are not two rows of float64 for each of {len(vocabulary):,} words"
        raise FormatError(path, problem, cure="Use the vocabulary that belongs to the file")
    numbers = np.frombuffer(raw, "<f8").astype(np.float64).reshape(rows, -1)
    if not np.isfinite(numbers).all():
        raise FormatError(path, "has numbers that are not finite", cure="The file is not one of raw parameters")
    return GloveParameters(numbers[: len(vocabulary)], numbers[len(vocabulary) :])


def write_parameters(parameters: GloveParameters, path: Name) -> None:
    """Writes a raw file of parameters or squared gradients, as the original program does with `-binary 1`."""
    with write_bytes(path) as file:
        for part in (parameters.words, parameters.contexts):
            file.write(np.ascontiguousarray(part, "<f8").tobytes())


def read_vectors(path: Name, vocabulary: Vocabulary) -> WordVectors:
    """The vectors in a raw file of parameters: the sums of word and context vectors."""
    parameters = read_parameters(path, vocabulary)
    rows = (parameters.words + parameters.contexts)[:, : parameters.dim]
    return WordVectors(vocabulary, rows.astype(np.float32), metadata={"format": "glove-parameters"})


def read_words(path: Name) -> Vocabulary:
    """Reads the vocab.txt of GloVe: lines `word count`, by falling count."""
    words: list[str] = []
    counts: list[int] = []
    with open_bytes(path) as file:
        while line := file.readline(LONGEST_LINE):
            word, _, count = line.rstrip(b"\r\n").rpartition(b" ")
            if not word or not count.isdigit() or len(count) > 18:
                raise FormatError(path, "expected a word, a space and a count", line=len(words) + 1)
            words.append(to_word(word))
            counts.append(int(count))
    if len(set(words)) != len(words):
        twice, _ = Counter(words).most_common(1)[0]
        raise FormatError(path, f"the word {twice!r} is listed twice")
    return Vocabulary(words, counts)


def write_words(vocabulary: Vocabulary, path: Name) -> None:
    """Writes a vocabulary as the vocab.txt of GloVe; unknown counts become 0."""
    check_words(vocabulary, path, "vocab.txt of GloVe")
    with write_bytes(path) as file:
        for word, count in vocabulary.most_common(len(vocabulary)):
            file.write(b"%b %d\n" % (to_bytes(word), count))
