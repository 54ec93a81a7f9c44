"""The binary format of word2vec.c (`-binary 1`): a header line, then word, space, raw float32, optionally a newline."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firth.errors import FormatError
from firth.files import Name, write_bytes
from firth.formats.reading import BLOCK, BlockReader, Bytes, RowSelection, check_shape, open_blocks
from firth.formats.vector_table import VectorTable
from firth.formats.word2vec_text import HEADER, check_words
from firth.kernels import vector_files as kernel
from firth.text.vocabulary import to_bytes
from firth.vectors.words import WordVectors

LONGEST_HEADER = 100


def read(path: Name, part: RowSelection) -> WordVectors:
    """The vectors of a binary file, with or without a newline after each row."""
    with open_blocks(path) as source:
        block = source.read(np.empty(0, np.uint8))
        header = HEADER.match(b"" if block is None else block[:LONGEST_HEADER].tobytes())
        if block is None or header is None or block[header.end() : header.end() + 1].tobytes() != b"\n":
            raise FormatError(
                path, "expected a first line of two numbers: the number of words and the dimension", line=1
            )
        rows, dim = int(header[1]), int(header[2])
        check_shape(path, rows, dim, 4 * dim + 1, None if source.compressed else source.size - header.end() - 1)
        wanted = rows if part.limit is None else min(rows, part.limit)
        table = VectorTable(dim, part, 0 if source.compressed else wanted)
        left: Bytes | None = block[header.end() + 1 :]
        while left is not None and table.seen < wanted:
            left = _read_rows(source, left, dim, wanted - table.seen, table)
        if wanted == rows:
            _check_end(source, left, rows)
    return table.finish("word2vec-binary")


def _read_rows(source: BlockReader, block: Bytes, dim: int, most: int, table: VectorTable) -> Bytes | None:
    """Moves the whole rows of a block into the table; returns the rest of the block, followed by the next block."""
    most = min(most, len(block) // (4 * dim + 1) + 1)
    starts, ends = np.empty(most, np.int64), np.empty(most, np.int64)
    count = int(kernel.scan_binary(block, 0, dim, starts, ends))
    table.add_raw(block, starts[:count], ends[:count])
    left = block[int(ends[count - 1]) + 1 + 4 * dim :] if count else block
    if count == most:
        return left
    if len(left) > BLOCK + 4 * dim:
        raise FormatError(source.path, "no space ends the word", offset=source.seen - len(left))
    fresh = source.read(left)
    if fresh is None:
        problem = f"the file ends inside row {table.seen + 1:,} of those that the header promises"
        raise FormatError(
            source.path, problem, offset=source.seen, cure="The file is cut short, or its header is wrong"
        )
    return fresh


def _check_end(source: BlockReader, left: Bytes | None, rows: int) -> None:
    while left is not None:
        if left.tobytes().strip(b"\n"):
            place = source.seen - len(left)
            raise FormatError(source.path, f"more follows after the {rows:,} rows of the header", offset=place)
        left = source.read(left[:0])


def is_word2vec_binary(head: bytes) -> bool:
    """Whether the file starts with a header line; `word2vec_text.detect_layout` has already ruled out text.

    >>> is_word2vec_binary(b"2747 10\\nthe \\xb9\\xc8")
    True
    """
    line, end, _ = head[:LONGEST_HEADER].partition(b"\n")
    return bool(end) and HEADER.fullmatch(line) is not None


def write(vectors: WordVectors, path: Name) -> None:
    """Writes raw rows, each followed by a newline as in word2vec.c."""
    check_words(vectors.vocabulary, path, "word2vec-binary")
    size, dim, known = len(vectors), vectors.dim, vectors.known
    with write_bytes(path) as file:
        file.write(b"%d %d\n" % (size, dim))
        for start in range(0, size, 4096):
            rows: NDArray[np.float32] = known.block(start, min(start + 4096, size)).astype("<f4", copy=False)
            for i in range(len(rows)):
                file.write(b"%b %b\n" % (to_bytes(vectors.vocabulary[start + i]), rows[i].tobytes()))
