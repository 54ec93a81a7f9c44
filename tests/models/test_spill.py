"""Rows of sparse matrices: builders, runs in memory and on disk, and their sum."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
import pytest

from firth.models.spill import RowBlock, RunStore, gather, split_rows, sum_runs
from firth.runtime import Runtime


def cut_blocks(table: np.ndarray, rows: int) -> list[RowBlock]:
    """The rows of a dense table as blocks of at most `rows` rows."""
    blocks = []
    for first in range(0, len(table), rows):
        block = table[first : first + rows]
        columns = np.nonzero(block)[1].astype(np.int32)
        blocks.append(RowBlock(np.count_nonzero(block, axis=1), columns, block[block != 0]))
    return blocks


@pytest.mark.parametrize("limit", [0, 60, 10**6])
def test_the_sum_of_runs_is_the_same_in_memory_and_on_disk(limit, tmp_path):
    tables = np.random.default_rng(3).integers(0, 3, (3, 7, 7)) * np.int64(5)
    with ExitStack() as stack:
        store = RunStore(stack, limit, str(tmp_path))
        runs = [store.keep(cut_blocks(table, 2)) for table in tables]
        total = gather(sum_runs(runs, 7, 10**6, Runtime(2)), 7, 10)
        assert any(tmp_path.iterdir()) == (limit < 10**6)
    np.testing.assert_array_equal(total.toarray(), tables.sum(axis=0) / 10)
    assert not any(tmp_path.iterdir())  # the directory of the runs is deleted with the stack


def test_slices_of_rows_cover_every_row_and_shrink_with_the_memory():
    most = np.array([5, 0, 900, 3, 3, 3])
    for limit in (1, 10**3, 10**9):
        slices = split_rows(most, limit, Runtime(2))
        assert [row for rows in slices for row in range(rows.start, rows.stop)] == list(range(6))
    assert len(split_rows(most, 1, Runtime(2))) > len(split_rows(most, 10**9, Runtime(2))) == 1


def test_gathered_rows_are_sorted_sparse_rows():
    table = np.array([[0, 4, 2], [0, 0, 0], [6, 0, 0]])
    found = gather(cut_blocks(table, 1), 3, 2)
    np.testing.assert_array_equal(found.toarray(), table / 2)
    assert found.has_canonical_format
