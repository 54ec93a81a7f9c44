"""Rows give the same numbers by id and by range, however they are kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from firth.errors import OptionError
from firth.vectors.rows import CENTROIDS, DenseRows, Int8Rows, ProductRows, Rows, rows_from, rows_of, rows_to

TABLE = np.array([[1, 2, 3], [-4, 5, 0.5], [0, 0, 0]], np.float32)


def product_rows(seed: int = 0, size: int = 20, dim: int = 7, dsub: int = 3, norms: bool = True) -> ProductRows:
    rng = np.random.default_rng(seed)
    pieces = -(-dim // dsub)
    return ProductRows(
        rng.integers(0, 256, (size, pieces)).astype(np.uint8),
        rng.standard_normal(CENTROIDS * dim).astype(np.float32),
        dim,
        dsub,
        rng.integers(0, 256, size).astype(np.uint8) if norms else None,
        rng.random(CENTROIDS).astype(np.float32) if norms else None,
    )


ALL: list[Rows] = [
    DenseRows(TABLE),
    DenseRows(TABLE.astype(np.float64)),
    DenseRows(TABLE.astype(np.float16)),
    DenseRows(np.asfortranarray(TABLE)),
    Int8Rows.from_rows(DenseRows(TABLE)),
    product_rows(),
    product_rows(norms=False),
]


@pytest.mark.parametrize("rows", ALL, ids=lambda rows: rows.dtype_name)
def test_taking_all_ids_gives_the_whole_block_as_float32(rows: Rows) -> None:
    whole = rows.block(0, rows.shape[0])
    assert whole.dtype == np.float32
    assert whole.shape == rows.shape
    np.testing.assert_array_equal(rows.take(range(rows.shape[0])), whole)
    np.testing.assert_array_equal(rows.take([2, 0]), whole[[2, 0]])
    np.testing.assert_array_equal(rows.pick([2, 0]).block(0, 2), whole[[2, 0]])


@pytest.mark.parametrize("rows", ALL, ids=lambda rows: rows.dtype_name)
def test_rows_taken_apart_and_put_together_are_the_same(rows: Rows) -> None:
    again = rows_from(*rows_to(rows, "input."), "input.")
    assert type(again) is type(rows)
    assert again.nbytes == rows.nbytes
    np.testing.assert_array_equal(again.block(0, rows.shape[0]), rows.block(0, rows.shape[0]))


def test_float32_rows_are_not_copied() -> None:
    assert np.shares_memory(rows_of(TABLE).block(0, 3), TABLE)


def test_rows_of_a_memory_map_at_an_odd_place_are_readable(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(b"x" + TABLE.tobytes())
    rows = DenseRows(np.memmap(path, np.float32, "r", offset=1, shape=(3, 3)))
    np.testing.assert_array_equal(rows.block(1, 3), TABLE[1:])
    np.testing.assert_array_equal(rows.take([1]), TABLE[1:2])


@settings(deadline=None, max_examples=50)
@given(arrays(np.float32, (4, 5), elements=st.floats(-1e6, 1e6, width=32)))
def test_a_byte_is_off_by_at_most_half_a_step(table: np.ndarray) -> None:
    rows = Int8Rows.from_rows(DenseRows(table))
    steps = np.abs(table).max(axis=1, keepdims=True) / 127
    assert (np.abs(rows.block(0, 4) - table) <= 0.501 * steps + 1e-38).all()


def test_a_row_of_zeros_stays_zero_in_bytes() -> None:
    assert not Int8Rows.from_rows(DenseRows(TABLE)).take([2]).any()


def test_product_rows_follow_their_definition_with_a_short_last_piece_and_norms() -> None:
    rows = product_rows(dim=7, dsub=3)
    for i in range(rows.shape[0]):
        row = []
        for m, width in ((0, 3), (1, 3), (2, 1)):
            start = CENTROIDS * 3 * m + int(rows.codes[i, m]) * width
            row += [*rows.centroids[start : start + width]]
        norm = rows.norm_centroids[rows.norm_codes[i]]  # type: ignore[index]
        np.testing.assert_array_equal(rows.take([i])[0], np.array(row, np.float32) * norm)


@pytest.mark.parametrize(
    "make",
    [
        lambda: DenseRows(np.zeros(3, np.float32)),
        lambda: DenseRows(np.zeros((3, 2), np.int64)),
        lambda: Int8Rows(np.zeros((3, 2), np.int8), np.zeros(2, np.float32)),
        lambda: ProductRows(
            np.zeros((3, 2), np.uint8), np.zeros(CENTROIDS * 4, np.float32), 4, 3, np.zeros(3, np.uint8)
        ),
        lambda: ProductRows(np.zeros((3, 3), np.uint8), np.zeros(CENTROIDS * 4, np.float32), 4, 3),
        lambda: ProductRows(np.zeros((3, 2), np.uint8), np.zeros(CENTROIDS * 3, np.float32), 4, 3),
        lambda: rows_from({"kind": "int8"}, {"codes": np.zeros((3, 2), np.int8)}),
        lambda: rows_from({"kind": "sparse"}, {}),
    ],
)
def test_parts_that_do_not_fit_each_other_are_refused(make: object) -> None:
    with pytest.raises(OptionError):
        make()  # type: ignore[operator]


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_scales_of_any_type_give_rows_of_float32(dtype: type) -> None:
    rows = Int8Rows(np.array([[127, -64]], np.int8), np.array([0.5], dtype))
    assert rows.take([0]).dtype == np.float32
