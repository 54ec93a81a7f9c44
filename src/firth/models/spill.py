"""Rows of a large sparse matrix on their way: made in threads, kept in memory or on disk, added up, gathered.

Rows travel as blocks: some consecutive rows, in whole units. A run is a set of blocks that holds every row once.
"""

from __future__ import annotations

import itertools
import tempfile
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

Numbers = NDArray[np.int64]

ENTRY = 12  # bytes of one entry of a row: a column and a value
SEVERAL = 1 << 20  # entries a thread writes before it hands them over


class RowBlock(NamedTuple):
    """Some consecutive rows: how many entries each has, and the entries, columns rising in each row."""

    lengths: Numbers
    columns: NDArray[np.int32]
    values: Numbers


class RowBuilder:
    """What a thread needs to fill some rows: zeroed cells with their marks, and room for at most `most` entries."""

    def __init__(self, size: int, rows: int, most: int) -> None:
        low = (size + 63) // 64
        self.lengths = np.zeros(rows, np.int64)
        self.columns, self.values = np.empty(most + 1, np.int32), np.empty(most, np.int64)
        cells = np.zeros(size, np.int64), np.zeros(low, np.uint64), np.zeros((low + 63) // 64, np.uint64)
        self.arrays: tuple[NDArray[Any], ...] = (*cells, self.lengths, self.columns, self.values)

    def block(self, filled: int) -> RowBlock:
        """The rows that were filled, without the room that was not needed."""
        return RowBlock(self.lengths, self.columns[:filled].copy(), self.values[:filled].copy())


def split_rows(most: Numbers, memory_limit: int, runtime: Runtime) -> list[slice]:
    """Rows cut into runs of at most some million entries, fewer where memory is short; a run has at least one row."""
    room = max(1, min(SEVERAL, memory_limit // 4 // (3 * runtime.threads + 1) // ENTRY))
    ends = np.cumsum(most)
    cuts = [0]
    while cuts[-1] < len(most):
        done = int(ends[cuts[-1] - 1]) if cuts[-1] else 0
        cuts.append(max(cuts[-1] + 1, int(np.searchsorted(ends, done + room, side="right"))))
    return [slice(a, b) for a, b in itertools.pairwise(cuts)]


@dataclass(frozen=True)
class OnDisk:
    """Numbers in a file, read a slice at a time. (A memory map would keep in memory what was read.)"""

    path: str
    kind: type[np.int32] | type[np.int64]

    def __getitem__(self, span: slice) -> NDArray[Any]:
        size = np.dtype(self.kind).itemsize
        return np.fromfile(self.path, self.kind, span.stop - span.start, offset=span.start * size)


@dataclass(frozen=True)
class SortedRun:
    """All rows once: row w is columns[starts[w]:starts[w + 1]] with its values, in memory or on disk."""

    starts: Numbers
    columns: NDArray[np.int32] | OnDisk
    values: Numbers | OnDisk


class RunStore:
    """Keeps runs in memory up to a limit, and from there on disk in a folder that is gone when the stack closes."""

    def __init__(self, stack: ExitStack, limit: int, folder: str | None) -> None:
        self.stack, self.left, self.folder = stack, limit, folder
        self.place: Path | None = None
        self.files = 0

    def keep(self, blocks: Iterable[RowBlock]) -> SortedRun:
        """One run, as its blocks come in: in memory if all of it fits."""
        lengths = [np.zeros(1, np.int64)]
        held: list[RowBlock] = []
        files: list[IO[bytes]] = []
        for block in blocks:
            lengths.append(block.lengths)
            held.append(block)
            self.left -= ENTRY * len(block.columns)
            if self.left < 0 or files:
                files = files or [self._new_file() for _ in range(3)]
                self._write(held, files)
        starts = np.cumsum(np.concatenate(lengths))
        if not files:
            nothing = RowBlock(lengths[0], np.empty(0, np.int32), np.empty(0, np.int64))
            held.append(nothing)
            return SortedRun(
                starts, np.concatenate([b.columns for b in held]), np.concatenate([b.values for b in held])
            )
        with name_in_errors(files[0].name):
            files[0].write(starts.data)
            for file in files:
                file.close()
        numbers, columns, values = (file.name for file in files)
        return SortedRun(np.memmap(numbers, np.int64, "r"), OnDisk(columns, np.int32), OnDisk(values, np.int64))

    def _write(self, held: list[RowBlock], files: list[IO[bytes]]) -> None:
        with name_in_errors(files[1].name):
            for block in held:
                files[1].write(block.columns.data)
                files[2].write(block.values.data)
                self.left += ENTRY * len(block.columns)
        held.clear()

    def _new_file(self) -> IO[bytes]:
        if self.place is None:
            made = tempfile.TemporaryDirectory(prefix="firth-counts-", dir=self.folder)
            self.place = Path(self.stack.enter_context(made))
        self.files += 1
        file = open(self.place / str(self.files), "wb")
        self.stack.callback(_close, file)
        return file


def _close(file: IO[bytes]) -> None:
    with suppress(OSError):  # of a disk that is full, which has been told already
        file.close()


def sum_runs(runs: list[SortedRun], size: int, memory_limit: int, runtime: Runtime) -> Iterator[RowBlock]:
    """The sum of all runs, in order, some rows at a time."""
    lengths = sum((np.diff(run.starts) for run in runs), np.zeros(size, np.int64))

    def some_rows(rows: slice) -> RowBlock:
        spans = [slice(int(run.starts[rows.start]), int(run.starts[rows.stop])) for run in runs]
        edges = np.cumsum([0] + [span.stop - span.start for span in spans])
        starts = [run.starts[rows.start : rows.stop + 1] - run.starts[rows.start] for run in runs]
        desk = RowBuilder(size, rows.stop - rows.start, int(np.minimum(lengths[rows], size).sum()))
        filled = kernel.merge_rows(
            np.concatenate([start + edge for start, edge in zip(starts, edges)]),
            np.concatenate([run.columns[span] for run, span in zip(runs, spans)]),
            np.concatenate([run.values[span] for run, span in zip(runs, spans)]),
            rows.stop - rows.start,
            *desk.arrays,
        )
        return desk.block(filled)

    return runtime.stream(some_rows, split_rows(lengths, memory_limit, runtime))


def gather(rows: Iterable[RowBlock], width: int, one: int) -> csr_matrix:
    """Rows of whole units as one sparse matrix of float64, divided by how many units are one.

    Below 2^53 units the division rounds once, so the value is the nearest float64 to the true sum.
    """
    blocks = list(rows)
    starts = np.cumsum(np.concatenate([np.zeros(1, np.int64), *(block.lengths for block in blocks)]))
    columns, values = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float64)
    filled = int(starts[-1])
    while blocks:  # from the end, so that each block's memory is free again before the next is copied
        _, some_columns, some_values = blocks.pop()
        span = slice(filled - len(some_columns), filled)
        columns[span] = some_columns
        np.divide(some_values, one, out=values[span])
        filled = span.start
    return sparse_rows(starts, columns, values, width)


def sparse_rows(starts: Numbers, columns: NDArray[np.int32], values: NDArray[Any], width: int) -> csr_matrix:
    """A sparse matrix over these arrays, without scipy's checks and copies."""
    made = csr_matrix((len(starts) - 1, width), dtype=values.dtype)
    kind = np.int32 if len(columns) <= np.iinfo(np.int32).max else np.int64
    made.indptr, made.indices, made.data = starts.astype(kind), columns.astype(kind, copy=False), values
    made.has_sorted_indices = made.has_canonical_format = True
    return made
