"""The cells of a co-occurrence matrix: batches, tiles, and shuffled pieces that lose nothing."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from firth.errors import OptionError
from firth.kernels.glove import row_bytes
from firth.models import glove_cells
from firth.models.glove_cells import MatrixCells, ShuffledCells, count_tiles, shuffle_cells
from firth.progress import silent
from firth.runtime import Runtime


def random_counts(size: int, share: float = 0.3, seed: int = 0) -> csr_matrix:
    rng = np.random.default_rng(seed)
    counts = np.exp(rng.normal(1.0, 1.5, (size, size))) * (rng.random((size, size)) < share)
    return csr_matrix(counts + counts.T)


@given(st.integers(2, 40), st.integers(0, 5))
@settings(deadline=None, max_examples=20)
def test_shuffled_cells_hold_every_cell_once(size: int, seed: int):
    matrix = random_counts(size, 0.5, seed) + csr_matrix(np.eye(size))
    bits, tiles = count_tiles(MatrixCells(matrix), size, 1 << 18)
    assert tiles.sum() == matrix.nnz
    assert (size - 1) >> bits < len(tiles)


def test_cells_keep_their_counts_through_tiles_and_pieces(monkeypatch):
    monkeypatch.setattr(glove_cells, "BLOCK_BYTES", 1024)
    monkeypatch.setattr(glove_cells, "FEWEST_CELLS", 4)
    monkeypatch.setattr(glove_cells, "PIECE", 7)
    monkeypatch.setattr(glove_cells, "BATCH", 13)
    matrix = random_counts(50)
    chosen: dict[str, Any] = {"x_max": 10.0, "alpha": 0.5, "seed": 1, "memory_limit": 1 << 30, "folder": None}
    with ExitStack() as stack:
        cells = shuffle_cells(
            MatrixCells(matrix), 50, row_bytes(50), **chosen, stack=stack, runtime=Runtime(2), report=silent
        )
    rows, columns = cells.pairs.T.astype(np.int64)
    np.testing.assert_allclose(cells.targets[:, 0], np.log(np.asarray(matrix[rows, columns]).ravel()), atol=1e-6)
    weights = np.minimum(1.0, np.sqrt(np.exp(cells.targets[:, 0].astype(np.float64)) / 10))
    np.testing.assert_allclose(cells.targets[:, 1], weights, rtol=1e-5)
    assert len(cells) == matrix.nnz == len(set(zip(rows.tolist(), columns.tolist())))
    assert len(cells.starts) > 100
    expected = 0.5 * float((cells.targets[:, 1] * cells.targets[:, 0] ** 2).mean())
    assert cells.chance_loss == pytest.approx(expected, rel=1e-4)


def test_batches_cut_within_rows_and_keep_every_cell(monkeypatch):
    monkeypatch.setattr(glove_cells, "BATCH", 7)
    matrix = random_counts(12)
    batches = list(MatrixCells(matrix))
    assert [len(rows) for rows, _, _ in batches[:-1]] == [7] * (len(batches) - 1)
    rows, columns, values = (np.concatenate(parts) for parts in zip(*batches))
    np.testing.assert_array_equal(csr_matrix((values, (rows, columns)), matrix.shape).toarray(), matrix.toarray())


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_a_count_without_a_logarithm_is_an_error(value):
    with pytest.raises(OptionError, match="not above 0 and finite"):
        list(MatrixCells(csr_matrix(([1.0, value], ([0, 1], [1, 0])), (2, 2))))


def test_pieces_are_grouped_in_the_order_that_is_asked_for():
    cells = ShuffledCells(np.zeros((10, 2), np.uint32), np.zeros((10, 2), np.float32), np.array([0, 4, 7, 10]), 1.0)
    assert [group.tolist() for group in cells.shares(np.array([2, 0, 1]), 5)] == [[2], [0, 1]]


def test_the_checksum_changes_with_a_cell_and_with_the_order():
    pairs, targets = np.arange(8, dtype=np.uint32).reshape(4, 2), np.ones((4, 2), np.float32)
    starts = np.array([0, 4])
    checksums = {ShuffledCells(one, targets, starts, 1.0).checksum for one in (pairs, pairs[::-1].copy(), pairs + 1)}
    assert len(checksums) == 3
