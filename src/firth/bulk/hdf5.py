"""An HDF5 file that only grows: every sentence a dataset, laid down one behind the other.

The HDF5 library changes its file here and there as it goes, so that a killed program leaves a broken one, and it spends
more time on a small dataset than the disk does. What is needed here is little of the format (version 0 of the
superblock, groups as B-trees of symbol tables, contiguous data), and it can be written front to back:

    superblock (room for it) · header, numbers · header, numbers · … · names · symbol tables · B-tree · root

The superblock is filled in last. Layout as of the command `allennlp elmo`: datasets "0", "1", … and one JSON text
"sentence_to_index".
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from firth.bulk.ledger import Ledger
from firth.bulk.lines import Block
from firth.errors import OptionError

SUPERBLOCK = 96
UNDEFINED = (1 << 64) - 1
LEAF, INNER = 4, 16  # a symbol table has up to 2·4 entries, a node of the tree up to 2·16 children: the usual numbers
LONGEST_TEXT = (1 << 32) - 1  # a text's length is kept in 32 bits
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
PIECE = 1 << 16  # symbol tables or nodes at a time
Numbers = NDArray[np.int64]


class Hdf5Writer:
    """Arrays as datasets of one file, called by their number, or by the sentence where `keys` says so."""

    def __init__(
        self, ledger: Ledger, dtype: str, *, keys: Literal["number", "sentence"] = "number", texts: bool = True
    ) -> None:
        self.ledger, self.dtype, self.keys = ledger, dtype, keys
        self.texts = texts and keys == "number"
        self.state: dict[str, Any] = {}
        self._seen = set(_names_in(ledger)) if keys == "sentence" else set()
        if not ledger.size(DATA):
            ledger.append(DATA, bytes(SUPERBLOCK))

    def append(self, block: Block, arrays: Sequence[NDArray[Any]]) -> None:
        """Adds a dataset for each line of the block."""
        first = self.ledger.size(HEADERS) // 8
        self._append_names(block.lines, first)
        address = self.ledger.size(DATA)
        headers: list[int] = []
        pieces: list[Any] = []
        for array in arrays:
            header = dataset_header(array.shape, TYPES[self.dtype], address, array.nbytes)
            headers.append(address)
            pieces += [header, array.reshape(-1), bytes(-array.nbytes % 8)]
            address += len(header) + array.nbytes + -array.nbytes % 8
        self.ledger.append(DATA, *pieces)
        self.ledger.append(HEADERS, np.array(headers, "<u8"))

    def _append_names(self, lines: Sequence[str], first: int) -> None:
        if self.keys == "sentence":
            self.ledger.append(NAMES, b"".join(self._checked_name(line, i) for i, line in enumerate(lines, first + 1)))
        if not self.texts:
            return
        pairs = "".join(f', {json.dumps(line)}: "{i}"' for i, line in enumerate(lines, first))
        self.ledger.append(TEXT, pairs[0 if first else 2 :].encode())
        if self.ledger.size(TEXT) + 2 > LONGEST_TEXT:
            raise OptionError("HDF5 holds at most 4 GiB of sentences in one text. Start over with --forget-sentences")

    def _checked_name(self, line: str, number: int) -> bytes:
        if not line or "/" in line or "\0" in line or line == ".":
            problem = f"line {number}: {line[:60]!r} cannot be the name of a dataset"
            raise OptionError(f"{problem}. Leave out --use-sentence-keys")
        name = line.encode("utf-8", "surrogateescape")
        if name in self._seen:
            raise OptionError(f"line {number}: {line[:60]!r} comes twice. Leave out --use-sentence-keys")
        self._seen.add(name)
        return _padded(name + b"\0")

    def finish(self) -> str:
        """Adds the text of the sentences and the table of contents. The name of the finished file."""
        text = self._append_text() if self.texts else None
        offsets, headers, heap = self._append_heap(text)
        children, keys = self._append_tables(offsets, headers)
        level = 0
        while level == 0 or len(children) > 1:
            children, keys = self._append_nodes(children, keys, level)
            level += 1
        tree, root = int(children[0]), self.ledger.size(DATA)
        message = struct.pack("<HHB3xQQ", 0x11, 16, 0, tree, heap)
        self.ledger.append(DATA, struct.pack("<BxHII4x", 1, 1, 1, len(message)) + message)
        end = self.ledger.size(DATA)
        superblock = b"\x89HDF\r\n\x1a\n" + struct.pack("<5x3B", 8, 8, 0) + struct.pack("<HHI", LEAF, INNER, 0)
        superblock += struct.pack("<QQQQ", 0, UNDEFINED, end, UNDEFINED)
        superblock += struct.pack("<QQIIQQ", 0, root, 1, 0, tree, heap)
        self.ledger.patch(DATA, superblock)
        return DATA

    def _append_text(self) -> int:
        """The JSON text in a heap of its own, and the dataset that points to it. The address of its header."""
        length = self.ledger.size(TEXT) + 2
        whole = max(4096, 32 + length + -length % 8)
        free = whole - 32 - length - -length % 8
        heap = self.ledger.size(DATA)
        self.ledger.append(DATA, b"GCOL" + struct.pack("<B3xQ", 1, whole) + struct.pack("<HHIQ", 1, 0, 0, length))
        self.ledger.append(DATA, b"{")
        if length > 2:
            with open(self.ledger.path(TEXT), "rb") as file:
                while piece := file.read(8 << 20):
                    self.ledger.append(DATA, piece)
        self.ledger.append(DATA, b"}" + bytes(-length % 8))
        if free:
            self.ledger.append(DATA, struct.pack("<HHIQ", 0, 0, 0, free) + bytes(free - 16))
        header = self.ledger.size(DATA)
        self.ledger.append(DATA, dataset_header((1,), TYPES["text"], header, 16, fill=0))
        self.ledger.append(DATA, struct.pack("<IQI", length, heap, 1))
        return header

    def _append_heap(self, text: int | None) -> tuple[Numbers, Numbers, int]:
        """The names in a local heap. Where each is and the header it names, in the order of names; and the heap."""
        headers = np.frombuffer(self._read(HEADERS), "<i8")
        if self.keys == "sentence":
            names = list(_names_in(self.ledger))
            sizes = np.array([len(name) + 8 - len(name) % 8 for name in names], np.int64)
            starts = 8 + np.cumsum(sizes) - sizes
            order = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
            end = 8 + int(sizes.sum())
        else:
            width = 8 if len(headers) <= 10**7 else 16
            numbers = np.arange(len(headers)).astype(f"S{width}")
            starts = 8 + width * np.arange(len(headers))
            order = np.argsort(numbers, kind="stable")
            end = 8 + width * len(headers)
        offsets, headers = starts[order], headers[order]
        last = b"" if text is None else _padded(SENTENCES.encode() + b"\0")
        place = self.ledger.size(DATA)
        self.ledger.append(DATA, b"HEAP" + struct.pack("<B3xQQQ", 0, end + len(last), 1, place + 32) + bytes(8))
        if self.keys == "sentence":
            self.ledger.append(DATA, self._read(NAMES))
        else:
            self.ledger.append(DATA, numbers.tobytes())
        self.ledger.append(DATA, last)
        if text is not None:  # a letter sorts behind every digit
            offsets, headers = np.append(offsets, end), np.append(headers, text)
        return offsets, headers, place

    def _read(self, name: str) -> bytes:
        return self.ledger.path(name).read_bytes() if self.ledger.size(name) else b""

    def _append_tables(self, offsets: Numbers, headers: Numbers) -> tuple[Numbers, Numbers]:
        """Symbol tables of eight names each: their addresses, and where the last name of each is."""
        start = self.ledger.size(DATA)
        count = -(-len(offsets) // (2 * LEAF))
        for rows in _slices(count):
            part = slice(2 * LEAF * rows.start, min(2 * LEAF * rows.stop, len(offsets)))
            entries = np.zeros((rows.stop - rows.start) * 2 * LEAF, ENTRY)
            entries["name"][: part.stop - part.start] = offsets[part]
            entries["header"][: part.stop - part.start] = headers[part]
            tables = np.zeros(rows.stop - rows.start, TABLE)
            tables["signature"], tables["version"], tables["used"] = b"SNOD", 1, 2 * LEAF
            tables["used"][-1] = part.stop - part.start - 2 * LEAF * (len(tables) - 1)
            tables["entries"] = entries.reshape(-1, 2 * LEAF)
            self.ledger.append(DATA, tables.tobytes())
        lasts = np.minimum(2 * LEAF * np.arange(1, count + 1), len(offsets)) - 1
        return start + TABLE.itemsize * np.arange(count), offsets[lasts]

    def _append_nodes(self, children: Numbers, keys: Numbers, level: int) -> tuple[Numbers, Numbers]:
        """One level of the tree over the level below: a key is the last name of what lies left of it."""
        start, width = self.ledger.size(DATA), 2 * INNER
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
            self.ledger.append(DATA, nodes[rows].tobytes())
        lasts = np.minimum(width * np.arange(1, count + 1), len(children))
        return addresses, before[lasts]


def dataset_header(shape: Sequence[int], kind: bytes, address: int, size: int, fill: int = 2) -> bytes:
    """The header of a dataset that stands at an address, with its numbers right behind it."""
    space = struct.pack("<BBB5x", 1, len(shape), 0) + struct.pack(f"<{len(shape)}Q", *shape)
    length = 16 + 8 + len(space) + 8 + 24 + 8 + 8 + 8 + 24
    data = address + length if size else UNDEFINED
    messages = [
        (1, space),
        (3, kind),
        (5, bytes([2, 2, fill, 1, 0, 0, 0, 0])),
        (8, struct.pack("<BBQQ", 3, 1, data, size)),
    ]
    padded = [(number, _padded(message)) for number, message in messages]
    body = b"".join(struct.pack("<HHB3x", number, len(message), number == 3) + message for number, message in padded)
    return struct.pack("<BxHII4x", 1, len(messages), 1, len(body)) + body


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)


def _names_in(ledger: Ledger) -> Iterator[bytes]:
    """The names that were kept: each ends with a zero byte and is padded with more of them."""
    if not ledger.size(NAMES):
        return
    for name in ledger.path(NAMES).read_bytes().split(b"\0"):
        if name:
            yield name


def _slices(count: int) -> Iterator[slice]:
    for start in range(0, count, PIECE):
        yield slice(start, min(start + PIECE, count))
