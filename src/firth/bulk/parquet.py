"""Parquet output: a folder with one file per block of sentences, which readers of Parquet open as one table.

One row per word: `sentence` and `position` (both from 0), `word`, and `vector`, or `layer_0`, … for all layers.
An empty sentence has no row. With pooling, one row per sentence: `sentence`, `text` and `vector`.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.bulk.journal import Journal
from firth.bulk.lines import LineBlock
from firth.lazy import import_name
from firth.text.vocabulary import make_printable

RESULT = "result"
MARK = f"{RESULT}/_firth.json"


class ParquetWriter:
    """Writes one file per block, so that a finished block is a finished file."""

    def __init__(
        self, journal: Journal, dtype: str, shape: tuple[int, ...], *, pooled: bool = False, texts: bool = True
    ) -> None:
        names = "pyarrow", "pyarrow.parquet"
        self.arrow, self.parquet = (import_name(name, "writing Parquet", "arrow") for name in names)
        self.journal, self.dtype, self.pooled, self.texts = journal, dtype, pooled, texts
        self.layers = shape[0] if len(shape) == 2 else None
        self.dim = shape[-1]
        self.state = {name: journal.number(name) for name in ("parts", "written")}

    def append(self, block: LineBlock, arrays: Sequence[NDArray[Any]]) -> None:
        """Appends a file with the rows of the block."""
        first, name = self.state["written"], f"{RESULT}/part-{self.state['parts']:05}.parquet"
        columns = self._sentences(block, first) if self.pooled else self._words(block, first)
        columns |= self._vectors(arrays)
        # Numbers hardly compress, and words repeat.
        packing = {column: "ZSTD" if column in ("text", "word") else "NONE" for column in columns}
        repeated = [column for column in columns if column == "word"]
        self.parquet.write_table(
            self.arrow.table(columns),
            Sink(self.journal, name),
            compression=packing,
            use_dictionary=repeated,
            write_statistics=False,
        )
        self.journal.close_file(name)
        self.state = {"parts": self.state["parts"] + 1, "written": first + len(block.lines)}

    def _sentences(self, block: LineBlock, first: int) -> dict[str, Any]:
        columns = {"sentence": self.arrow.array(np.arange(first, first + len(block.lines)))}
        if self.texts:
            columns["text"] = self.arrow.array([make_printable(line) for line in block.lines], self.arrow.string())
        return columns

    def _words(self, block: LineBlock, first: int) -> dict[str, Any]:
        lengths = np.array([len(sentence) for sentence in block.sentences], np.int64)
        numbers = np.repeat(np.arange(first, first + len(lengths)), lengths)
        positions = np.arange(len(numbers)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        columns = {"sentence": self.arrow.array(numbers), "position": self.arrow.array(positions.astype(np.int32))}
        if self.texts:
            words = [make_printable(word) for sentence in block.sentences for word in sentence]
            columns["word"] = self.arrow.array(words, self.arrow.string())
        return columns

    def _vectors(self, arrays: Sequence[NDArray[Any]]) -> dict[str, Any]:
        """The columns of vectors."""
        if self.layers is None:
            return {"vector": self._column(arrays)}
        return {f"layer_{i}": self._column([array[i] for array in arrays]) for i in range(self.layers)}

    def _column(self, arrays: Sequence[NDArray[Any]]) -> Any:
        rows = [array.reshape(-1, self.dim) for array in arrays]
        flat = np.concatenate([np.empty((0, self.dim), self.dtype), *rows]).ravel()
        return self.arrow.FixedSizeListArray.from_arrays(self.arrow.array(flat), self.dim)

    def finish(self) -> str:
        """Appends a file that marks the folder as ours; readers of Parquet ignore names that start with _."""
        if not self.state["parts"]:
            self.append(LineBlock([], [], "", 0), [])  # an empty text gives an empty table
        self.journal.append(MARK, b'{"library": "firth"}\n')
        return RESULT


class Sink(io.RawIOBase):
    """A writable file object that appends to a file of a journal, without a copy in memory."""

    def __init__(self, journal: Journal, name: str) -> None:
        self.journal, self.file = journal, name

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        before = self.tell()
        self.journal.append(self.file, data)
        return self.tell() - before

    def tell(self) -> int:
        return self.journal.size(self.file)
