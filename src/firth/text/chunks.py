"""Reads files in chunks and converts chunks to ids; the workers of `text/corpus.py` use it.

A chunk ends at the end of a line, so that sentences and multi-byte characters are never split. A longer line makes its
chunk longer, up to LONGEST_LINE. In whitespace mode a chunk may also end at a blank; its last sentence then continues
in the next chunk. If only an empty line ends a sentence, chunks end at empty lines.
"""

from __future__ import annotations

import io
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import IO, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from firth.errors import FormatError
from firth.files import LONGEST_LINE, Name, fill, open_with_position
from firth.kernels import text_to_ids as kernel
from firth.text.tokenize import EncodedTokens
from firth.text.vocabulary import Vocabulary, rank, to_bytes

CHUNK = 1 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
PADDING = b" " * 32  # as kernels/text_to_ids.py needs
NO_LENGTHS, NO_MARKS = np.empty(0, np.int32), np.empty(0, np.uint8)
NO_IDS = np.empty(0, np.uint32)

Ids = NDArray[np.uint32]
Bytes = NDArray[np.uint8]
Cuts = tuple[tuple[bytes, ...], ...]  # separators that may end a chunk; the second group only if the first is absent
AT_LINES: Cuts = ((b"\n",),)
AT_BLANKS: Cuts = ((b"\n",), (b" ", b"\t", b"\r", b"\v", b"\f"))
AT_PARAGRAPHS: Cuts = ((b"\n\n", b"\n\r\n"),)


@dataclass(frozen=True)
class Chunk:
    """Bytes of a file: data[start:size], padded with blanks. `offset` and `line` count from the start of the file."""

    path: str
    data: bytearray
    start: int
    size: int
    offset: int = 0
    line: int = 0
    is_continued: bool = False
    is_last: bool = True
    read: int = 0  # bytes read from disk

    @property
    def text(self) -> bytes:
        """The chunk without its padding."""
        return bytes(memoryview(self.data)[self.start : self.size])


@dataclass(frozen=True)
class Scan:
    """A chunk as ids of a worker's table; `ends` has the number of ids before the end of each sentence."""

    table: int
    ids: Ids
    ends: Ids
    documents: NDArray[np.int64] | None = None  # sentences per document, if documents are shorter than files
    size: int = 0
    is_last: bool = True


class ByteRange(NamedTuple):
    """Bytes `start` to `stop` of a file that is not compressed, which begin and end between two lines."""

    start: int
    stop: int


def chunks(
    path: Name,
    cuts: Cuts = AT_LINES,
    *,
    size: int = CHUNK,
    count_lines: bool = False,
    part: ByteRange | None = None,
) -> Iterator[Chunk]:
    """Splits a file, or a part of it, after the last separator within `size` bytes.

    The last chunk of the file has `is_last` and may be empty.
    """
    offset, line, is_continued, read = 0, 0, False, 0
    rest = b""
    with open_with_position(path) as (whole, position):
        file, ends_file = whole, True
        if part is not None:
            whole.seek(part.start)
            ends_file = part.stop >= os.fstat(whole.fileno()).st_size
            file = cast(IO[bytes], io.BufferedReader(_Part(whole, part.stop - part.start)))
            offset = read = part.start
        while True:
            data = bytearray(len(rest) + size + len(PADDING))
            data[: len(rest)] = rest
            filled = _fill(file, data, len(rest))
            is_last = filled < len(data) - len(PADDING)
            cut = filled if is_last else _cut(data, filled, cuts)
            while cut == 0 and not is_last:
                if filled > LONGEST_LINE:
                    problem = f"{LONGEST_LINE >> 20} MiB without a place to cut the text"
                    raise FormatError(path, problem, offset=offset, cure="Break the text into lines")
                data += bytes(filled)
                filled = _fill(file, data, filled)
                is_last = filled < len(data) - len(PADDING)
                cut = filled if is_last else _cut(data, filled, cuts)
            rest = bytes(memoryview(data)[cut:filled])
            data[cut : cut + len(PADDING)] = PADDING
            start = 3 if offset == 0 and data.startswith(BYTE_ORDER_MARK) else 0
            data[:start] = b" " * start
            place = position()
            taken = cut if place is None else place - read
            yield Chunk(str(path), data, start, cut, offset, line, is_continued, is_last and ends_file, taken)
            if is_last:
                return
            line += data.count(b"\n", 0, cut) if count_lines else 0
            offset, is_continued, read = offset + cut, data[cut - 1] != ord("\n"), read + taken


class _Part(io.RawIOBase):
    """The next `size` bytes of a file."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file, self._left = file, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(min(len(buffer), self._left))
        buffer[: len(data)] = data
        self._left -= len(data)
        return len(data)


def split_file(path: Name, cuts: Cuts, size: int) -> list[ByteRange]:
    """A file that is not compressed in parts of about `size` bytes; each ends after a separator of the first group.

    Where a part would have no end within LONGEST_LINE bytes, it is the rest of the file.
    """
    total, starts = os.path.getsize(path), [0]
    marks = cuts[0]
    with open(path, "rb") as file:
        while starts[-1] + size < total:
            place = starts[-1] + max(0, size - max(map(len, marks)))
            file.seek(place)
            data, end = b"", -1
            while end < 0 and len(data) < LONGEST_LINE:
                piece = file.read(CHUNK)
                if not piece:
                    break
                data += piece
                ends = [found + len(mark) for mark in marks if (found := data.find(mark)) >= 0]
                end = min(ends, default=-1)
            if end < 0 or place + end >= total:
                break
            starts.append(place + end)
    return [ByteRange(*edges) for edges in itertools.pairwise([*starts, total])]


def _fill(file: IO[bytes], data: bytearray, filled: int) -> int:
    with memoryview(data)[filled : len(data) - len(PADDING)] as view:
        return filled + fill(file, view)


def _cut(data: bytearray, filled: int, cuts: Cuts) -> int:
    for marks in cuts:
        cut = max(_find_end(data, filled, mark) for mark in marks)
        if cut:
            return cut
    return 0


def _find_end(data: bytearray, filled: int, mark: bytes) -> int:
    place = data.rfind(mark, 0, filled)
    return place + len(mark) if place >= 0 else 0


class WordTable:
    """The vocabulary and counts of one worker; see `kernels/text_to_ids.py` for the arrays.

    >>> table = WordTable(0)
    >>> ids, ends = table.scan(bytearray(b"to be or\\nnot to be" + PADDING), 18)
    >>> ids.tolist(), ends.tolist()
    ([0, 1, 2, 3, 0, 1], [3])
    >>> table.rank_words()[0]
    Vocabulary(4 words, 6 tokens: be, to, not, …)
    """

    def __init__(self, number: int, room: int = 1 << 14) -> None:
        self.number = number
        self.slots = np.zeros(2 * room, np.uint64)
        self.entries = np.empty((room, 4), np.uint64)
        self.starts = np.empty(room, np.int64)
        self.blob = np.empty(16 * room, np.uint8)
        self.state = np.zeros(6, np.int64)

    def __len__(self) -> int:
        return int(self.state[kernel.WORDS])

    def scan(self, data: bytearray | bytes, size: int, is_continued: bool = False) -> tuple[Ids, Ids]:
        """The ids of the words in data[:size], before PADDING, and the number of ids before the end of each line."""
        self.state[kernel.OPEN] = is_continued
        return self._scan(np.frombuffer(data, np.uint8), size, size // 2 + 1, NO_LENGTHS, NO_MARKS)

    def count(self, blocks: Iterable[EncodedTokens]) -> tuple[Ids, Ids]:
        """The ids of tokens, and the number of ids before the end of each sentence."""
        ids, ends, tokens = [NO_IDS], [NO_IDS], 0
        for data, lengths, last in blocks:
            padded = np.concatenate([data, np.frombuffer(PADDING, np.uint8)])
            some_ids, edges = self._scan(padded, len(data), len(lengths), lengths, last)
            ids.append(some_ids)
            ends.append(edges + np.uint32(tokens))
            tokens += len(some_ids)
        return np.concatenate(ids), np.concatenate(ends)

    def _scan(self, text: Bytes, size: int, most: int, lengths: NDArray[np.int32], last: Bytes) -> tuple[Ids, Ids]:
        ids, ends = np.empty(most, np.uint32), np.empty(most + 1, np.uint32)
        self.state[[kernel.AT, kernel.TOKENS, kernel.SENTENCES]] = 0
        while True:
            table = self.slots, self.entries, self.starts, self.blob, self.state
            kernel.scan(text, size, lengths, last, *table, ids, ends)
            at = int(self.state[kernel.AT])
            if at >= size:
                return ids[: self.state[kernel.TOKENS]], ends[: self.state[kernel.SENTENCES]]
            self.make_room(len(self) + 1, int(self.state[kernel.USED]) + size - at)

    def make_room(self, words: int, used: int) -> None:
        """Grows the table to hold this many words and bytes."""
        if used > len(self.blob):
            self.blob = np.concatenate([self.blob, np.empty(max(used - len(self.blob), len(self.blob)), np.uint8)])
        room = len(self.entries)
        if words <= room:
            return
        while room < words:
            room *= 2
        grown = room - len(self.entries)
        self.entries = np.concatenate([self.entries, np.empty((grown, 4), np.uint64)])
        self.starts = np.concatenate([self.starts, np.empty(grown, np.int64)])
        self.slots = np.zeros(2 * room, np.uint64)
        kernel.fill_slots(self.entries, self.starts, self.blob, len(self), self.slots)

    def absorb(self, other: WordTable) -> Ids:
        """Adds the words and counts of another table; returns the id here of each of its words."""
        self.make_room(len(self) + len(other), int(self.state[kernel.USED] + other.state[kernel.USED]))
        new_ids = np.empty(len(other), np.uint32)
        theirs = other.entries, other.starts, other.blob, len(other)
        kernel.merge_words(*theirs, self.slots, self.entries, self.starts, self.blob, self.state, new_ids)
        return new_ids

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The words and counts of the table, as `from_arrays` takes them."""
        words, used = len(self), int(self.state[kernel.USED])
        return {"entries": self.entries[:words], "starts": self.starts[:words], "blob": self.blob[:used]}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> WordTable:
        """A table to `absorb`: it has no slots, so that no word can be looked up or added."""
        table = cls(0, 1)
        table.entries, table.starts, table.blob = arrays["entries"], arrays["starts"], arrays["blob"]
        table.state[kernel.WORDS], table.state[kernel.USED] = len(table.starts), len(table.blob)
        return table

    def fold(self, change: Callable[[str], str]) -> tuple[WordTable, Ids]:
        """A table of the words after `change`, with the counts of equal words added, and the id there of each word.

        >>> table = WordTable(0)
        >>> _ = table.scan(b"The tea of the day" + PADDING, 18)
        >>> folded, ids = table.fold(str.lower)
        >>> len(folded), ids.tolist()
        (4, [0, 1, 2, 0, 3])
        """
        starts, ends, _ = self._words()
        text = to_bytes(change("\n".join(Vocabulary.from_arrays(self.blob, starts, ends))))
        folded = WordTable(self.number, len(self.entries))
        ids, _ = folded.scan(text + PADDING, len(text))
        folded.entries[: len(folded), 3] = 0
        np.add.at(folded.entries[:, 3], ids, self.entries[: len(self), 3])
        return folded, ids

    def rank_words(self) -> tuple[Vocabulary, Ids]:
        """The vocabulary by decreasing count, and the rank of each id."""
        starts, ends, counts = self._words()
        blob = self.blob[: self.state[kernel.USED]]
        order = rank(blob, starts, ends, counts)
        ranks = np.empty(len(order), np.uint32)
        ranks[order] = np.arange(len(order), dtype=np.uint32)
        return Vocabulary.from_arrays(blob, starts[order], ends[order], counts[order]), ranks

    def _words(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The start and end of each word in the blob, and its count."""
        starts, (lengths, counts) = self.starts[: len(self)], self.entries[: len(self), 2:].astype(np.int64).T
        return starts, starts + lengths, counts


class Tables:
    """One table per worker, created when no other is free."""

    def __init__(self) -> None:
        self.all: list[WordTable] = []
        self._free: list[WordTable] = []
        self._lock = Lock()

    @contextmanager
    def borrow(self) -> Iterator[WordTable]:
        """A table that no other worker uses at the same time."""
        with self._lock:
            if not self._free:
                self._free.append(WordTable(len(self.all)))
                self.all.append(self._free[-1])
            table = self._free.pop()
        yield table
        with self._lock:
            self._free.append(table)

    def merge(self, fold: Callable[[str], str] | None = None) -> tuple[Vocabulary, dict[int, Ids]]:
        """The vocabulary of all tables, and for each table the final id of each of its words.

        The result does not depend on which worker read which chunk. Words that are equal after `fold` are one word.
        """
        base, *others = sorted(self.all, key=len, reverse=True) or [WordTable(0)]
        new_ids = {table.number: base.absorb(table) for table in others}
        if fold is None:
            vocabulary, ranks = base.rank_words()
        else:
            folded, ids = base.fold(fold)
            vocabulary, ranks = folded.rank_words()
            ranks = ranks[ids]
        return vocabulary, {base.number: ranks} | {number: ranks[ids] for number, ids in new_ids.items()}


def pack_scans(scans: Sequence[Scan], table: WordTable) -> dict[str, NDArray[Any]]:
    """Scans of one table and the table itself as arrays, for `unpack_scans` in another process."""
    documents = [scan.documents for scan in scans]
    return {
        **table.to_arrays(),
        "ids": np.concatenate([NO_IDS, *(scan.ids for scan in scans)]),
        "ends": np.concatenate([NO_IDS, *(scan.ends for scan in scans)]),
        "documents": np.concatenate([np.empty(0, np.int64), *(one for one in documents if one is not None)]),
        # of each scan: ids, ends, documents (-1: none are counted), bytes, whether it ends a file
        "scans": np.array(
            [
                (len(scan.ids), len(scan.ends), -1 if one is None else len(one), scan.size, scan.is_last)
                for scan, one in zip(scans, documents)
            ],
            np.int64,
        ).reshape(len(scans), 5),
    }


def unpack_scans(arrays: Mapping[str, NDArray[Any]], table: WordTable) -> Iterator[Scan]:
    """The scans in arrays, with the ids of `table`, which absorbs the words.

    >>> there, here = WordTable(0), WordTable(0)
    >>> scans = [Scan(0, *there.scan(b"hot tea" + PADDING, 7), size=7)]
    >>> _ = here.scan(b"tea" + PADDING, 3)
    >>> [scan.ids.tolist() for scan in unpack_scans(pack_scans(scans, there), here)]
    [[1, 0]]
    """
    ids = table.absorb(WordTable.from_arrays(arrays))[arrays["ids"]]
    at = [0, 0, 0]
    for numbers, ends, documents, size, is_last in arrays["scans"].tolist():
        counted = None
        if documents >= 0:
            counted = arrays["documents"][at[2] : at[2] + documents]
        part, edges = ids[at[0] : at[0] + numbers], arrays["ends"][at[1] : at[1] + ends]
        yield Scan(table.number, part, edges, counted, size, bool(is_last))
        at = [at[0] + numbers, at[1] + ends, at[2] + max(documents, 0)]
