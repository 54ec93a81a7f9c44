"""An append-only HDF5 writer: one dataset per sentence.

The HDF5 library modifies its file in place, so that a killed program leaves a broken file, and it is slow for small
datasets. This writer needs a small subset of the format (version 0 of the superblock, groups as B-trees of symbol
tables, contiguous data) and writes it sequentially:

    superblock (reserved) · header, numbers · header, numbers · … · names · symbol tables · B-tree · root

The superblock is written last. The layout is that of the command `allennlp elmo`: datasets "0", "1", … and one JSON
text "sentence_to_index".
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from itertools import chain
from json.encoder import encode_basestring_ascii
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from firth.bulk.journal import Journal
from firth.bulk.lines import LineBlock
from firth.errors import OptionError

SUPERBLOCK = 96
UNDEFINED = (1 << 64) - 1
LEAF, INNER = 4, 16  # defaults of the library: up to 2·4 entries per symbol table, 2·16 children per tree node
LONGEST_TEXT = (1 << 32) - 1  # the length of a text has 32 bits
SENTENCES = "sentence_to_index"
TYPES = {
    "float32": bytes.fromhex("11201f000400000000002000170800177f000000"),
    "float16": bytes.fromhex("11200f0002000000000010000a05000a0f000000"),
    "text": bytes.fromhex("190101001000000010000000010000000000080000000000"),
}
ENTRY = np.dtype([("name", "<u8"), ("header", "<u8"), ("rest", "V24")])
TABLE = np.dtype([("signature", "S4"), ("version", "<u2"), ("used", "<u2"), ("entries", ENTRY, 2 * LEAF)])
NODE = np.dtype(
    [
        ("signature", "S4"),
        ("kind", "u1"),
        ("level", "u1"),
        ("used", "<u2"),
        ("left", "<u8"),
        ("right", "<u8"),
        ("links", [("key", "<u8"), ("child", "<u8")], 2 * INNER),
        ("last", "<u8"),
    ]
)
DATA, HEADERS, NAMES, TEXT = "embeddings.hdf5", "headers", "names", "text"
PIECE = 1 << 16  # names, symbol tables or nodes at a time
COPIED = 8 << 20  # bytes of text at a time
Numbers = NDArray[np.int64]
Entries = Iterator[tuple[Numbers, Numbers]]  # where names are, and the addresses of the headers that they name


class Hdf5Writer:
    """Writes arrays as datasets of one file, named by number or, with keys="sentence", by sentence."""

    def __init__(
        self, journal: Journal, dtype: str, *, keys: Literal["number", "sentence"] = "number", texts: bool = True
    ) -> None:
        self.journal, self.dtype, self.keys = journal, dtype, keys
        self.texts = texts and keys == "number"
        self.state: dict[str, Any] = {}
        self._seen = set(_names_in(journal)) if keys == "sentence" else set()
        if not journal.size(DATA):
            journal.append(DATA, bytes(SUPERBLOCK))

    def append(self, block: LineBlock, arrays: Sequence[NDArray[Any]]) -> None:
        """Appends a dataset for each line of the block."""
        first = self.journal.size(HEADERS) // 8
        self._append_names(block.lines, first)
        if not arrays:
            return
        sizes = np.array([array.nbytes for array in arrays])
        shapes = np.array([array.shape for array in arrays], np.int64)
        gaps = -sizes % 8
        length = header_length(shapes.shape[1])
        addresses = self.journal.size(DATA) + np.cumsum(length + sizes + gaps) - (length + sizes + gaps)
        headers = dataset_headers(shapes, TYPES[self.dtype], addresses, sizes)
        pieces: list[Any] = []
        for header, array, gap in zip(headers, arrays, gaps.tolist()):
            pieces += (header, array.reshape(-1), bytes(gap)) if gap else (header, array.reshape(-1))
        self.journal.append(DATA, *pieces)
        self.journal.append(HEADERS, addresses.astype("<u8"))

    def _append_names(self, lines: Sequence[str], first: int) -> None:
        if self.keys == "sentence":
            self.journal.append(NAMES, b"".join(self._check_name(line, i) for i, line in enumerate(lines, first + 1)))
        if not self.texts:
            return
        pairs = "".join([f', {quoted}: "{i}"' for i, quoted in enumerate(map(encode_basestring_ascii, lines), first)])
        self.journal.append(TEXT, pairs[0 if first else 2 :].encode())
        if self.journal.size(TEXT) + 2 > LONGEST_TEXT:
            raise OptionError("HDF5 stores at most 4 GiB of sentences in one text. Start over with --forget-sentences")

    def _check_name(self, line: str, number: int) -> bytes:
        if not line or "/" in line or "\0" in line or line == ".":
            problem = f"line {number}: {line[:60]!r} cannot be the name of a dataset"
            raise OptionError(f"{problem}. Leave out --use-sentence-keys")
        name = line.encode("utf-8", "surrogateescape")
        if name in self._seen:
            raise OptionError(f"line {number}: {line[:60]!r} is repeated. Leave out --use-sentence-keys")
        self._seen.add(name)
        return _pad(name + b"\0")

    def finish(self) -> str:
        """Appends the text of the sentences and the table of contents; returns the name of the finished file."""
        text = self._append_text() if self.texts else None
        heap, entries = self._append_heap(text)
        children, keys = self._append_tables(entries)
        level = 0
        while level == 0 or len(children) > 1:
            children, keys = self._append_nodes(children, keys, level)
            level += 1
        tree, root = int(children[0]), self.journal.size(DATA)
        message = struct.pack("<HHB3xQQ", 0x11, 16, 0, tree, heap)
        self.journal.append(DATA, struct.pack("<BxHII4x", 1, 1, 1, len(message)) + message)
        end = self.journal.size(DATA)
        superblock = b"\x89HDF\r\n\x1a\n" + struct.pack("<5x3B", 8, 8, 0) + struct.pack("<HHI", LEAF, INNER, 0)
        superblock += struct.pack("<QQQQ", 0, UNDEFINED, end, UNDEFINED)
        superblock += struct.pack("<QQIIQQ", 0, root, 1, 0, tree, heap)
        self.journal.patch(DATA, superblock)
        return DATA

    def _append_text(self) -> int:
        """Appends the JSON text in its own heap and a dataset that points to it; returns the address of the header."""
        length = self.journal.size(TEXT) + 2
        whole = max(4096, 32 + length + -length % 8)
        free = whole - 32 - length - -length % 8
        heap = self.journal.size(DATA)
        self.journal.append(DATA, b"GCOL" + struct.pack("<B3xQ", 1, whole) + struct.pack("<HHIQ", 1, 0, 0, length))
        self.journal.append(DATA, b"{")
        if length > 2:
            with open(self.journal.path(TEXT), "rb") as file:
                while piece := file.read(COPIED):
                    self.journal.append(DATA, piece)
        self.journal.append(DATA, b"}" + bytes(-length % 8))
        if free:
            self.journal.append(DATA, struct.pack("<HHIQ", 0, 0, 0, free) + bytes(free - 16))
        header = self.journal.size(DATA)
        place, shape, size = (np.array([one]) for one in (header, [1], 16))
        self.journal.append(DATA, dataset_headers(shape, TYPES["text"], place, size, fill=0)[0])
        self.journal.append(DATA, struct.pack("<IQI", length, heap, 1))
        return header

    def _append_heap(self, text: int | None) -> tuple[int, Entries]:
        """Appends the names in a local heap; returns its address and the sorted offsets of names with their headers."""
        count, place = self.journal.size(HEADERS) // 8, self.journal.size(DATA)
        width = 8 if count <= 10**7 else 16
        end = 8 + (self.journal.size(NAMES) if self.keys == "sentence" else width * count)
        last = b"" if text is None else _pad(SENTENCES.encode() + b"\0")
        self.journal.append(DATA, b"HEAP" + struct.pack("<B3xQQQ", 0, end + len(last), 1, place + 32) + bytes(8))
        if self.keys == "sentence":
            self.journal.append(DATA, self.journal.path(NAMES).read_bytes() if count else b"")
            return place, iter([self._named_entries()])
        for rows in _slices(count):
            self.journal.append(DATA, np.arange(rows.start, rows.stop).astype(f"S{width}").view(np.uint8))
        self.journal.append(DATA, last)
        entries = self._numbered_entries(count, width)
        if text is not None:  # a letter sorts behind every digit
            entries = chain(entries, [(np.array([end]), np.array([text]))])
        return place, entries

    def _named_entries(self) -> tuple[Numbers, Numbers]:
        """Entries named by sentence; sorting needs all names in memory."""
        names = list(_names_in(self.journal))
        sizes = np.array([len(name) + 8 - len(name) % 8 for name in names], np.int64)
        order = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
        return (8 + np.cumsum(sizes) - sizes)[order], self._headers(range(len(names)))[order]

    def _numbered_entries(self, count: int, width: int) -> Entries:
        """Entries named by number, in sorted chunks."""
        for ranges in name_order(count):
            numbers = np.concatenate([np.arange(part.start, part.stop) for part in ranges])
            order = np.argsort(numbers.astype(f"S{width}"), kind="stable")
            yield 8 + width * numbers[order], np.concatenate([self._headers(part) for part in ranges])[order]

    def _headers(self, part: range) -> Numbers:
        if not part:
            return np.zeros(0, np.int64)
        return np.fromfile(self.journal.path(HEADERS), "<i8", len(part), offset=8 * part.start)

    def _append_tables(self, entries: Entries) -> tuple[Numbers, Numbers]:
        """Appends symbol tables of eight names each; returns their addresses and the offsets of their last names."""
        start = self.journal.size(DATA)
        lasts: list[Numbers] = [np.zeros(0, np.int64)]
        for offsets, headers in round_to_tables(entries):
            tables = np.zeros(-(-len(offsets) // (2 * LEAF)), TABLE)
            rows = np.zeros(len(tables) * 2 * LEAF, ENTRY)
            rows["name"][: len(offsets)], rows["header"][: len(offsets)] = offsets, headers
            tables["signature"], tables["version"], tables["used"] = b"SNOD", 1, 2 * LEAF
            tables["used"][-1] = len(offsets) - 2 * LEAF * (len(tables) - 1)
            tables["entries"] = rows.reshape(-1, 2 * LEAF)
            self.journal.append(DATA, tables.tobytes())
            lasts.append(offsets[np.minimum(2 * LEAF * np.arange(1, len(tables) + 1), len(offsets)) - 1])
        keys = np.concatenate(lasts)
        return start + TABLE.itemsize * np.arange(len(keys)), keys

    def _append_nodes(self, children: Numbers, keys: Numbers, level: int) -> tuple[Numbers, Numbers]:
        """Appends one level of the B-tree; a key is the last name of the child to its left."""
        start, width = self.journal.size(DATA), 2 * INNER
        count = max(1, -(-len(children) // width))
        addresses = start + NODE.itemsize * np.arange(count)
        nodes = np.zeros(count, NODE)
        nodes["signature"], nodes["level"] = b"TREE", level
        nodes["left"], nodes["right"] = UNDEFINED, UNDEFINED
        nodes["left"][1:], nodes["right"][:-1] = addresses[:-1], addresses[1:]
        before = np.concatenate([[0], keys])  # before[i]: the key left of child i
        for place in range(width):
            some = np.arange(place, len(children), width)
            nodes["links"]["child"][: len(some), place] = children[some]
            nodes["used"][: len(some)] += 1
        for place in range(width + 1):
            some = np.arange(place, len(before), width)[:count]
            target = nodes["last"] if place == width else nodes["links"]["key"][:, place]
            target[: len(some)] = before[some]
        for rows in _slices(count):
            self.journal.append(DATA, nodes[rows].tobytes())
        lasts = np.minimum(width * np.arange(1, count + 1), len(children))
        return addresses, before[lasts]


def name_order(count: int) -> Iterator[list[range]]:
    """The numbers below `count` in the order in which their decimals sort as text: ranges, to be sorted within a group.

    A group begins with the same three digits, so that none is large.

    >>> [[number for part in ranges for number in part] for ranges in name_order(12)]
    [[0], [1], [10], [11], [2], [3], [4], [5], [6], [7], [8], [9]]
    """
    for name in sorted(map(str, range(min(count, 1000)))):
        first, ranges = int(name), [range(int(name), int(name) + 1)]
        while len(name) == 3 and 10 * ranges[-1].start < count:
            begin = 10 * ranges[-1].start
            ranges.append(range(begin, min(begin + begin // first, count)))
        yield ranges


def round_to_tables(entries: Entries) -> Entries:
    """Regroups entries into whole symbol tables; only the last table may be incomplete."""
    waiting: list[tuple[Numbers, Numbers]] = []
    size, most = 0, 2 * LEAF * PIECE
    for entry in entries:
        waiting.append(entry)
        size += len(entry[0])
        if size >= most:
            offsets, headers = map(np.concatenate, zip(*waiting))
            whole = size - size % (2 * LEAF)
            yield offsets[:whole], headers[:whole]
            waiting, size = [(offsets[whole:], headers[whole:])], size - whole
    if size:
        offsets, headers = map(np.concatenate, zip(*waiting))
        yield offsets, headers


def header_length(rank: int) -> int:
    """The size of a dataset header: four messages, the first with the shape."""
    return 16 + (8 + 8 + 8 * rank) + (8 + 24) + (8 + 8) + (8 + 24)


def dataset_headers(
    shapes: Numbers, kind: bytes, addresses: Numbers, sizes: Numbers, fill: int = 2
) -> NDArray[np.uint8]:
    """The headers of datasets of one rank, one per row. Each is written at its address, directly before its data.

    They differ only in shape, address and size.
    """
    rank, length = shapes.shape[1], header_length(shapes.shape[1])
    messages = [
        (1, struct.pack("<BBB5x", 1, rank, 0) + bytes(8 * rank)),
        (3, kind),
        (5, bytes([2, 2, fill, 1, 0, 0, 0, 0])),
        (8, struct.pack("<BBQQ", 3, 1, 0, 0)),
    ]
    padded = [(number, _pad(message)) for number, message in messages]
    body = b"".join(struct.pack("<HHB3x", number, len(message), number == 3) + message for number, message in padded)
    header = struct.pack("<BxHII4x", 1, len(messages), 1, len(body)) + body
    headers = np.tile(np.frombuffer(header, np.uint8), (len(shapes), 1))
    data = np.where(sizes > 0, addresses + length, -1).astype("<i8")  # -1 is the undefined address
    headers[:, 32 : 32 + 8 * rank] = shapes.astype("<i8").view(np.uint8).reshape(len(shapes), -1)
    headers[:, length - 22 : length - 6] = np.stack([data, sizes.astype("<i8")], 1).view(np.uint8)
    return headers


def _pad(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)


def _names_in(journal: Journal) -> Iterator[bytes]:
    """The stored names, each padded with one or more zero bytes."""
    if not journal.size(NAMES):
        return
    for name in journal.path(NAMES).read_bytes().split(b"\0"):
        if name:
            yield name


def _slices(count: int) -> Iterator[slice]:
    for start in range(0, count, PIECE):
        yield slice(start, min(start + PIECE, count))
