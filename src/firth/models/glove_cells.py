"""The cells of a co-occurrence matrix, shuffled for training, with cells of nearby rows kept together.

Cells are read in batches, from a matrix or a file, twice: first to count them, then to distribute them to pieces (see
`kernels/glove.py`). A shuffled cell takes 16 bytes; beyond the memory limit they are in memory-mapped files.
"""

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from firth.errors import OptionError
from firth.files import name_in_errors
from firth.kernels import glove as kernel
from firth.progress import Progress, Report
from firth.runtime import Runtime
from firth.temporary import TemporaryFolder

BLOCK_BYTES = 1 << 19  # rows of a block: two blocks fit into a cache of a megabyte
MOST_BLOCKS = 2048
FEWEST_CELLS = 256  # per tile on average; below, loading its rows does not pay
PIECE = 4096  # cells
BATCH = 1 << 20  # cells
CELL_BYTES = 16

Ids = NDArray[np.int32]
Floats = NDArray[np.float64]
Batch = tuple[Ids, Ids, Floats]


class Cells(Protocol):
    """Cells (row, column, X) with ids from 0, in batches of any size. Can be iterated repeatedly."""

    def __iter__(self) -> Iterator[Batch]: ...


@dataclass(frozen=True, eq=False)
class MatrixCells:
    """The cells of a sparse matrix.

    >>> [tuple(part.tolist() for part in batch) for batch in MatrixCells(csr_matrix([[0.0, 2.0], [0.5, 0.0]]))]
    [([0, 1], [1, 0], [2.0, 0.5])]
    """

    matrix: csr_matrix

    def __iter__(self) -> Iterator[Batch]:
        matrix = self.matrix
        for first in range(0, matrix.nnz, BATCH):
            last = min(first + BATCH, matrix.nnz)
            top, bottom = np.searchsorted(matrix.indptr, [first, last - 1], side="right") - 1
            edges = np.clip(matrix.indptr[top : bottom + 2], first, last)
            rows = np.repeat(np.arange(top, bottom + 1, dtype=np.int32), np.diff(edges))
            values = matrix.data[first:last].astype(np.float64, copy=False)
            if not (values > 0).all() or not np.isfinite(values).all():
                raise OptionError(
                    "GloVe takes the logarithm of counts, but this matrix has counts that are not above 0 and finite"
                )
            yield rows, matrix.indices[first:last].astype(np.int32, copy=False), values


@dataclass(frozen=True, eq=False)
class ShuffledCells:
    """Cells in pieces: piece p is the cells from starts[p] to starts[p + 1].

    `pairs` are (row, column), `targets` (log X, f(X)); `chance_loss` is the mean loss of a cell if all rows are zero.
    """

    pairs: NDArray[np.uint32]
    targets: NDArray[np.float32]
    starts: NDArray[np.int64]
    chance_loss: float

    def __len__(self) -> int:
        return len(self.pairs)

    def shares(self, order: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
        """Pieces in this order, grouped to about `size` cells each."""
        ends = np.cumsum(np.diff(self.starts)[order])
        return np.split(order, np.searchsorted(ends, np.arange(size, len(self), size)))

    def take(
        self, pieces: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint32], NDArray[np.float32], NDArray[np.int64], NDArray[np.int64]]:
        """The cells of some pieces: pairs, targets, the starts of these pieces, and the number of each cell."""
        sizes = self.starts[pieces + 1] - self.starts[pieces]
        starts = np.append(0, np.cumsum(sizes))
        numbers = np.repeat(self.starts[pieces] - starts[:-1], sizes) + np.arange(starts[-1])
        return self.pairs[numbers], self.targets[numbers], starts, numbers

    @property
    def checksum(self) -> int:
        """A checksum of the cells and their order."""
        checksum = 0
        for array in (self.pairs, self.targets):
            for start in range(0, len(array), BATCH):
                checksum = zlib.crc32(array[start : start + BATCH].data, checksum)
        return checksum


def shuffle_cells(
    cells: Cells,
    words: int,
    row_bytes: int,
    *,
    x_max: float,
    alpha: float,
    seed: int,
    memory_limit: int,
    stack: ExitStack,
    folder: str | None,
    runtime: Runtime,
    report: Report,
) -> ShuffledCells:
    """The cells of a matrix of `words` words in shuffled pieces. Temporary files are deleted when the stack closes."""
    bits, tiles = count_tiles(cells, words, row_bytes)
    total = int(tiles.sum())
    if not total:
        raise OptionError("no two words co-occur, so there is nothing to train on. Use a longer text")
    firsts = np.empty(tiles.size + 1, np.int64)
    starts = np.empty(int(np.maximum(tiles // PIECE, tiles > 0).sum()) + 1, np.int64)
    pieces = int(kernel.split_tiles(tiles.ravel(), PIECE, firsts, starts))
    pairs, targets = _allocate(total, memory_limit, stack, folder)
    counts = np.zeros(tiles.size, np.int64)
    loss, done = 0.0, 0
    for rows, columns, values in cells:
        loss += float(
            kernel.place_cells(
                rows, columns, values, bits, len(tiles), counts, firsts, starts, x_max, alpha, pairs, targets
            )
        )
        done += len(rows)
        report(Progress("shuffling", done, total, "pairs"))

    def shuffle(share: slice) -> None:
        kernel.shuffle_chunks(pairs, targets, starts, share.start, share.stop, seed)

    runtime.map(shuffle, runtime.shares(pieces))
    return ShuffledCells(pairs, targets, starts, loss / total)


def count_tiles(cells: Cells, words: int, row_bytes: int) -> tuple[int, NDArray[np.int64]]:
    """The size of a block of words, as a power of two, and the number of cells in each tile (pair of blocks).

    Blocks are as large as the cache allows, and larger if tiles would be almost empty.
    """
    bits = max(0, math.floor(math.log2(BLOCK_BYTES / row_bytes)))
    while words > MOST_BLOCKS << bits:
        bits += 1
    blocks = ((words - 1) >> bits) + 1
    tiles = np.zeros((blocks, blocks), np.int64)
    for rows, columns, _ in cells:
        kernel.count_cells(rows, columns, bits, tiles)
    while len(tiles) > 1 and tiles.sum() < FEWEST_CELLS * tiles.size:
        even = np.pad(tiles, (0, len(tiles) % 2))
        tiles = even.reshape(len(even) // 2, 2, len(even) // 2, 2).sum(axis=(1, 3))
        bits += 1
    return bits, tiles


def _allocate(
    total: int, memory_limit: int, stack: ExitStack, folder: str | None
) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
    """Arrays for `total` cells, in memory or, beyond the limit, in memory-mapped files."""
    if total * CELL_BYTES <= memory_limit:
        return np.empty((total, 2), np.uint32), np.empty((total, 2), np.float32)
    temporary = stack.enter_context(TemporaryFolder("glove", folder)).path
    kinds: tuple[Any, Any] = (np.uint32, np.float32)
    pairs, targets = (_map_file(temporary / np.dtype(kind).name, total, kind) for kind in kinds)
    return pairs, targets


def _map_file(path: Path, total: int, kind: Any) -> NDArray[Any]:
    """An array in a file. The disk space is allocated at once: a full disk is an error here, and a crash later."""
    with name_in_errors(path), open(path, "wb+") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, total * 2 * np.dtype(kind).itemsize)
        return np.asarray(np.memmap(file, kind, "w+", shape=(total, 2)))
