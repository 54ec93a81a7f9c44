"""Sparse rows larger than memory: built in threads, stored in memory or on disk, summed, gathered in one matrix.

A block is some consecutive rows with integer values. A run is a sequence of blocks that contains every row once.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from firth.files import name_in_errors
from firth.kernels import counts as kernel
from firth.runtime import Runtime
from firth.temporary import TemporaryFolder

Numbers = NDArray[np.int64]

ENTRY = 12  # bytes of one entry of a row: a column and a value
BLOCK_ENTRIES = 1 << 20  # entries of a block


class RowBlock(NamedTuple):
    """Consecutive rows: the length of each row, then the columns, ascending in each row, and the values."""

    lengths: Numbers
    columns: NDArray[np.int32]
    values: Numbers


class RowBuilder:
    """Buffers in which a thread builds rows: a dense row with its bitmaps, and at most `most` entries."""

    def __init__(self, size: int, rows: int, most: int) -> None:
        bitmap = (size + 63) // 64
        self.lengths = np.zeros(rows, np.int64)
        self.columns, self.values = np.empty(most + 1, np.int32), np.empty(most, np.int64)
        cells = np.zeros(size, np.int64), np.zeros(bitmap, np.uint64), np.zeros((bitmap + 63) // 64, np.uint64)
        self.arrays: tuple[NDArray[Any], ...] = (*cells, self.lengths, self.columns, self.values)

    def block(self, filled: int) -> RowBlock:
        """The rows, with the first `filled` entries of the buffers."""
        return RowBlock(self.lengths, self.columns[:filled].copy(), self.values[:filled].copy())


def split_rows(most: Numbers, memory_limit: int, runtime: Runtime) -> list[slice]:
    """Slices of rows with at most BLOCK_ENTRIES entries, fewer if memory is short, and at least one row."""
    capacity = max(1, min(BLOCK_ENTRIES, memory_limit // 4 // (3 * runtime.threads + 1) // ENTRY))
    ends = np.cumsum(most)
    cuts = [0]
    while cuts[-1] < len(most):
        done = int(ends[cuts[-1] - 1]) if cuts[-1] else 0
        cuts.append(max(cuts[-1] + 1, int(np.searchsorted(ends, done + capacity, side="right"))))
    return [slice(a, b) for a, b in itertools.pairwise(cuts)]


@dataclass(frozen=True)
class OnDisk:
    """An array in a file, read by slices. (A memory map would keep the pages in memory.)"""

    path: str
    dtype: type[np.int32] | type[np.int64]

    def __getitem__(self, span: slice) -> NDArray[Any]:
        size = np.dtype(self.dtype).itemsize
        return np.fromfile(self.path, self.dtype, span.stop - span.start, offset=span.start * size)


@dataclass(frozen=True)
class SortedRun:
    """All rows once: row w is columns[starts[w]:starts[w + 1]] with its values, in memory or on disk."""

    starts: Numbers
    columns: NDArray[np.int32] | OnDisk
    values: Numbers | OnDisk


class RunStore:
    """Stores runs in memory up to a limit, then in a temporary directory that is deleted when the stack closes."""

    def __init__(self, stack: ExitStack, limit: int, folder: str | None) -> None:
        self.stack, self.left, self.folder = stack, limit, folder
        self.directory: Path | None = None
        self.files = 0

    def keep(self, blocks: Iterable[RowBlock]) -> SortedRun:
        """Stores one run from its blocks, in memory if it fits."""
        lengths = [np.zeros(1, np.int64)]
        pending: list[RowBlock] = []
        files: list[IO[bytes]] = []
        for block in blocks:
            lengths.append(block.lengths)
            pending.append(block)
            self.left -= ENTRY * len(block.columns)
            if self.left < 0 or files:
                files = files or [self._new_file() for _ in range(3)]
                self._write(pending, files)
        starts = np.cumsum(np.concatenate(lengths))
        if not files:
            columns = np.concatenate([np.empty(0, np.int32), *(block.columns for block in pending)])
            values = np.concatenate([np.empty(0, np.int64), *(block.values for block in pending)])
            return SortedRun(starts, columns, values)
        with name_in_errors(files[0].name):
            files[0].write(starts.data)
            for file in files:
                file.close()
        names = [file.name for file in files]
        return SortedRun(np.memmap(names[0], np.int64, "r"), OnDisk(names[1], np.int32), OnDisk(names[2], np.int64))

    def _write(self, pending: list[RowBlock], files: list[IO[bytes]]) -> None:
        with name_in_errors(files[1].name):
            for block in pending:
                files[1].write(block.columns.data)
                files[2].write(block.values.data)
                self.left += ENTRY * len(block.columns)
        pending.clear()

    def _new_file(self) -> IO[bytes]:
        if self.directory is None:
            self.directory = self.stack.enter_context(TemporaryFolder("counts", self.folder)).path
        self.files += 1
        file = open(self.directory / str(self.files), "wb")
        self.stack.callback(_close, file)
        return file


def _close(file: IO[bytes]) -> None:
    with suppress(OSError):  # a full disk has raised an error already
        file.close()


def sum_runs(runs: list[SortedRun], size: int, memory_limit: int, runtime: Runtime) -> Iterator[RowBlock]:
    """The sum of all runs, in order, block by block. `size` is the number of columns."""
    lengths = sum((np.diff(run.starts) for run in runs[1:]), np.diff(runs[0].starts))

    def sum_block(rows: slice) -> RowBlock:
        spans = [slice(int(run.starts[rows.start]), int(run.starts[rows.stop])) for run in runs]
        edges = np.cumsum([0] + [span.stop - span.start for span in spans])
        starts = [run.starts[rows.start : rows.stop + 1] - run.starts[rows.start] for run in runs]
        builder = RowBuilder(size, rows.stop - rows.start, int(np.minimum(lengths[rows], size).sum()))
        filled = kernel.merge_rows(
            np.concatenate([start + edge for start, edge in zip(starts, edges)]),
            np.concatenate([run.columns[span] for run, span in zip(runs, spans)]),
            np.concatenate([run.values[span] for run, span in zip(runs, spans)]),
            rows.stop - rows.start,
            *builder.arrays,
        )
        return builder.block(filled)

    return runtime.stream(sum_block, split_rows(lengths, memory_limit, runtime))


def gather(rows: Iterable[RowBlock], width: int, scale: int) -> csr_matrix:
    """Rows of integers as one sparse matrix of float64, divided by `scale`.

    Below 2^53 the division rounds once, so the value is the nearest float64 to the true sum.
    """
    lengths, filled = [np.zeros(1, np.int64)], 0
    columns, values = np.empty(0, np.int32), np.empty(0, np.float64)
    for block in rows:  # each is copied before the next is asked for, so that only one is in memory beside the matrix
        lengths.append(block.lengths.copy())
        span = slice(filled, filled + len(block.columns))
        if span.stop > len(columns):
            for array in (columns, values):  # in place: the system moves pages, not bytes
                array.resize(max(span.stop, len(array) * 5 // 4), refcheck=False)
        columns[span] = block.columns
        np.divide(block.values, scale, out=values[span])
        filled = span.stop
    columns.resize(filled, refcheck=False)
    values.resize(filled, refcheck=False)
    starts = np.cumsum(np.concatenate(lengths))
    return sparse_rows(starts, columns, values, width)


def sparse_rows(starts: Numbers, columns: NDArray[np.int32], values: NDArray[Any], width: int) -> csr_matrix:
    """A sparse matrix over these arrays, without scipy's checks and copies."""
    matrix = csr_matrix((len(starts) - 1, width), dtype=values.dtype)
    dtype = np.int32 if len(columns) <= np.iinfo(np.int32).max else np.int64
    matrix.indptr, matrix.indices, matrix.data = starts.astype(dtype), columns.astype(dtype, copy=False), values
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix
