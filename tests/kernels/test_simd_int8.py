"""Products of bytes against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from firth.kernels.simd_int8 import TILE, dots_of_1, dots_of_8


@njit
def multiply_one(codes, offset, steps, words, first, totals):
    dots_of_1(codes, offset, steps, words, first, totals)


@njit
def multiply_eight(codes, offset, steps, words, first, totals):
    dots_of_8(codes, offset, steps, words, first, totals)


@pytest.mark.parametrize("multiply, queries", [(multiply_one, 1), (multiply_eight, 8)])
def test_dot_products_of_a_tile_are_those_of_numpy(multiply, queries):
    rng = np.random.default_rng(0)
    steps = 5
    rows = rng.integers(0, 256, (TILE, steps, 4), np.uint8)
    vectors = rng.integers(-128, 128, (queries, 4 * steps), np.int8)
    rows[0], vectors[0] = 255, -128  # the largest sums
    tile = np.concatenate([np.zeros(64, np.uint8), rows.transpose(1, 0, 2).ravel()])  # it starts at byte 64
    words = np.concatenate([np.zeros(3, np.int32), vectors.view(np.int32).ravel()])
    totals = np.zeros(TILE * queries, np.int32)
    multiply(tile, 64, steps, words, 3, totals)
    expected = vectors.astype(np.int64) @ rows.reshape(TILE, -1).astype(np.int64).T
    assert totals.reshape(queries, TILE).tolist() == expected.tolist()
