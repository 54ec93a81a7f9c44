"""Vectors as text: word2vec (a header `words dim`), GloVe (no header) and fastText's `.vec` (a space ends each line).

A line is a word and dim numbers. Words may be any bytes; GloVe's may contain spaces, so a line is split from the right.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from firth.errors import FormatError
from firth.files import COMPRESSIONS, Name, write_bytes
from firth.formats.reading import (
    BlockReader,
    Bytes,
    Ids,
    RowSelection,
    check_shape,
    iterate_line_blocks,
    open_blocks,
    read_head,
)
from firth.formats.vector_table import Floats, VectorTable
from firth.kernels import vector_files as kernel
from firth.kernels import words as words_kernel
from firth.runtime import Runtime
from firth.text.vocabulary import Vocabulary, to_word
from firth.vectors.rows import MOST_DIM
from firth.vectors.words import WordVectors

Kind = Literal["word2vec", "glove", "vec"]
HEADER = re.compile(rb"[ \t]*(\d{1,20})[ \t]+(\d{1,20})[ \t\r]*")
NUMBER = re.compile(rb"[+-]?((\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|nan|inf|infinity)", re.IGNORECASE)
CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f]")
UNKNOWN = b"<unk>"
LONGEST_LINE = 32 << 20  # a million numbers of thirty bytes


@dataclass(frozen=True)
class TextLayout:
    """The format, the dimension, and the number of rows in the header (None without a header)."""

    kind: Kind
    dim: int
    rows: int | None = None


def detect_layout(head: bytes, whole: bool) -> TextLayout | None:
    """Detects the layout from the first lines; None if they are not lines of a word and numbers.

    >>> detect_layout(b"2 3\\ntea 1 2 3\\nrain 4 5 6\\n", True)
    TextLayout(kind='word2vec', dim=3, rows=2)
    >>> detect_layout(b"tea 1 2 3\\nat home 4 5 6\\n", True)
    TextLayout(kind='glove', dim=3, rows=None)

    The header of GloVe has the dim of one vector, also where a line has two, or two with their biases.

    >>> detect_layout(b"1 2\\ntea 1 2 3 4 5 6\\n", True)
    TextLayout(kind='glove', dim=6, rows=1)
    """
    lines = head.split(b"\n")
    if not whole and len(lines) > 1:
        del lines[-1]  # it may be incomplete
    first, *rest = lines
    sample = [_split_fields(line) for line in rest[:16] if line.strip()]
    header = HEADER.fullmatch(first)
    if header is None:
        return _detect_without_header([_split_fields(line) for line in lines[:16] if line.strip()], head)
    rows, dim = int(header[1]), int(header[2])
    one_number = bool(sample) and all(len(fields) == 2 and NUMBER.fullmatch(fields[1]) for fields in sample)
    if one_number and dim != 1:
        return TextLayout("glove", 1)  # "400000 300" is the word 400000 with the number 300
    for longer in (2 * dim, 2 * dim + 2):
        if (
            dim > 0
            and sample
            and all(
                len(fields) == longer + 1 and all(NUMBER.fullmatch(field) for field in fields[1:]) for fields in sample
            )
        ):
            return TextLayout("glove", longer, rows)
    fits = bool(sample) and len(sample[0]) > dim and all(NUMBER.fullmatch(field) for field in sample[0][-dim:])
    if not fits and CONTROLS.search(head):
        return None
    space_at_end = bool(sample) and all(line.rstrip(b"\r").endswith(b" ") for line in rest[:16] if line.strip())
    return TextLayout("vec" if space_at_end else "word2vec", dim, rows)


def _detect_without_header(sample: list[list[bytes]], head: bytes) -> TextLayout | None:
    lengths: Counter[int] = Counter()
    for fields in sample:
        numbers = 0
        while numbers < min(len(fields) - 1, MOST_DIM) and NUMBER.fullmatch(fields[-1 - numbers]):
            numbers += 1
        lengths[numbers] += 1
    if not lengths:
        return None
    dim, count = max(lengths.items(), key=lambda item: (item[1], -item[0]))
    odd = count < len(sample) and CONTROLS.search(head)
    if dim == 0 or 2 * count < len(sample) or odd:
        return None
    return TextLayout("glove", dim)


def _split_fields(line: bytes) -> list[bytes]:
    return [field for field in line.rstrip(b"\r").replace(b"\t", b" ").split(b" ") if field]


def read(path: Name, part: RowSelection) -> WordVectors:
    """The vectors of a text file, parsed in threads."""
    layout = detect_layout(*read_head(path))
    if layout is None:
        raise FormatError(path, "expected lines of a word and numbers")
    with open_blocks(path) as source:
        room = None if source.compressed else source.size
        check_shape(path, layout.rows or 0, layout.dim, 2 * layout.dim + 2, None if room is None else room + 1)
        expected = 0 if layout.rows is None or room is None else min(layout.rows, part.limit or layout.rows)
        table = VectorTable(layout.dim, part, expected)
        line, last = 1, b""
        for parsed in Runtime.from_env().stream(
            lambda block: _parse(block, layout.dim), _iterate_blocks(source, layout.rows is not None)
        ):
            table.add(parsed.block, parsed.starts, parsed.ends, parsed.rows)
            if table.full:
                break
            if parsed.broken is not None:
                broken_line = line + parsed.lines + (layout.rows is not None)
                raise FormatError(path, _explain(parsed.broken, layout.dim), line=broken_line)
            line += parsed.lines
            if len(parsed.starts):
                last = parsed.block[parsed.starts[-1] : parsed.ends[-1]].tobytes()
    counted = table.seen - (last == UNKNOWN and table.seen - 1 == layout.rows)  # GloVe does not count its <unk>
    if not table.full and layout.rows is not None and counted != layout.rows:
        raise FormatError(path, f"the header promises {layout.rows:,} rows, but there are {table.seen:,}")
    return table.finish(layout.kind)


@dataclass(frozen=True)
class ParsedLines:
    """The words and rows of a block of whole lines; `broken` is the line at which parsing stopped."""

    block: Bytes
    starts: Ids
    ends: Ids
    rows: Floats
    lines: int
    broken: bytes | None


def _parse(block: Bytes, dim: int) -> ParsedLines:
    count = int(words_kernel.count_lines(block))
    most = min(count, len(block) // (2 * dim) + 1)  # each number takes two bytes
    rows = np.empty((most + 1, dim), np.float32)
    starts, ends = np.empty(most + 1, np.int64), np.empty(most + 1, np.int64)
    hard = np.empty((1024 + dim, 4), np.int64)
    at = row = line = 0
    broken = False
    while at < len(block) and not broken:
        at, row, line, unsure, broken = kernel.read_lines(block, at, row, line, rows, starts, ends, hard)
        for i, column, first, last in hard[:unsure].tolist():
            with np.errstate(over="ignore"):
                rows[i, column] = np.float64(float(block[first:last].tobytes()))
    text = None
    if broken:
        text = block[at : at + LONGEST_LINE].tobytes().split(b"\n", 1)[0]
    return ParsedLines(block, starts[:row], ends[:row], rows[:row], line, text)


def _iterate_blocks(source: BlockReader, header: bool) -> Iterator[Bytes]:
    """Blocks of whole lines, without the header line."""
    for number, lines in enumerate(iterate_line_blocks(source, LONGEST_LINE)):
        if header and number == 0:
            lines = lines[int(np.argmax(lines == 10)) + 1 if lines[-1] == 10 else len(lines) :]
        if len(lines):
            yield lines


def _explain(line: bytes, dim: int) -> str:
    """Explains why a line is not a word and dim numbers."""
    word, *fields = _split_fields(line)[:MOST_DIM] or [b""]
    odd = [field for field in fields if not NUMBER.fullmatch(field)]
    if odd and len(fields) == dim:
        return f"expected {dim} numbers after {_quote(word)}, but {_quote(odd[0])} is not a number"
    if odd and len(fields) > dim:
        tail = [field for field in fields[-dim:] if not NUMBER.fullmatch(field)]
        if tail:
            return f"expected a line to end in {dim} numbers, but {_quote(tail[-1])} is not a number"
    numbers = len(fields) - len(odd)
    hint = ". A word that contains spaces may not end in a number" if numbers > dim else ""
    return f"expected {dim} numbers after {_quote(word)}, found {numbers}{hint}"


def _quote(raw: bytes) -> str:
    word = to_word(raw[:60])
    return repr(word + "…" if len(raw) > 60 else word)


TAILS: dict[Kind, bytes] = {"word2vec": b"\n", "glove": b"\n", "vec": b" \n"}


def write(vectors: WordVectors, path: Name, kind: Kind = "word2vec") -> None:
    """Writes lines of a word and numbers, with the fewest digits that read back as the same float32."""
    check_words(vectors.vocabulary, path, kind)
    size, dim = len(vectors), vectors.dim
    step = max(1, (2 << 20) // (16 * dim))
    vocabulary, rows = vectors.vocabulary, vectors.known
    tail = np.frombuffer(TAILS[kind], np.uint8)

    def format_block(start: int) -> bytes:
        part = vocabulary.take(np.arange(start, min(start + step, size)))
        return _format_rows(part, rows.block(start, start + len(part)), tail)

    with write_bytes(path) as file:
        if kind != "glove":
            file.write(b"%d %d\n" % (size, dim))
        for text in Runtime.from_env().stream(format_block, range(0, size, step)):
            file.write(text)


def _format_rows(words: Vocabulary, rows: Floats, tail: NDArray[np.uint8]) -> bytes:
    rows = np.ascontiguousarray(rows)
    room = int(kernel.max_line_bytes(words.starts, words.ends, rows.shape[1], len(tail)))
    out = np.empty(room, np.uint8)
    size = int(kernel.write_lines(words.blob, words.starts, words.ends, rows, tail, out))
    return out[:size].tobytes()


def check_words(vocabulary: Vocabulary, path: Name, kind: str) -> None:
    """Refuses a word that is empty or holds a separator, and a GloVe file that would look like a compressed one."""
    separators = re.compile(rb"\n" if kind == "glove" else rb"[\n \t]" if kind != "word2vec-binary" else rb"[\n ]")
    blob = vocabulary.blob.data
    for start, end in zip(vocabulary.starts.tolist(), vocabulary.ends.tolist()):
        word = bytes(blob[start:end])
        reason = ""
        if not word or separators.search(word) or (kind == "glove" and _ends_in_number(word)):
            reason = "it is empty or contains a space or line end"
        elif kind == "glove" and start == vocabulary.starts[0] and word.startswith(tuple(COMPRESSIONS)):
            reason = "the file would begin like a compressed one"
        if reason:
            problem = f"the word {to_word(word)!r} cannot be written as {kind}: {reason}"
            raise FormatError(path, problem, cure="Save it in firth's own format, which can store any word")


def _ends_in_number(word: bytes) -> bool:
    """Whether splitting a line from the right would cut this word."""
    last = re.split(rb"[ \t]", word)[-1]
    return not last or (last != word and NUMBER.fullmatch(last) is not None)
