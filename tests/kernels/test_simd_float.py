"""Compiled SIMD operations against their NumPy reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from firth.kernels import simd_float
from firth.kernels.simd_float import (
    LANES,
    choose,
    exp_negative,
    load,
    log_of_one_plus,
    maximum,
    power_of_two,
    prefetch,
    rint,
    splat,
    store,
    total,
    totals,
)


@njit
def run_operations(numbers, out):
    a, b, c = load(numbers, 0, 0), load(numbers, 1, 16), load(numbers, np.uint32(2), 0)
    store(out, 0, 0, a + b * c - a / (c * c + 1.0))
    store(out, 1, 0, maximum(a, b))
    store(out, 2, 0, choose(a, b, c))
    store(out, 3, 0, rint(a * np.float32(3.0)))
    store(out, 4, 0, power_of_two(rint(b)))
    store(out, 5, 0, totals(a, b, c, a + b, b + c, c + a, a - b, b - c, c - a, a * b, b * c, c * a))
    store(out, 6, 0, splat(7.0) - 2.0 * a)
    prefetch(numbers, 2)
    return total(a)


@njit
def compute_curves(values, out):
    store(out, 0, 0, exp_negative(load(values, 0, 0)))
    store(out, 1, 0, log_of_one_plus(load(out, 0, 0)))


def test_compiled_operations_equal_their_python_reference():
    numbers = simd_float.matrix(3, 20)
    numbers[:] = np.random.default_rng(0).normal(size=numbers.shape)
    fast, plain = simd_float.matrix(7, 16), simd_float.matrix(7, 16)
    assert run_operations(numbers, fast) == pytest.approx(float(run_operations.py_func(numbers, plain)), rel=1e-5)
    np.testing.assert_allclose(fast, plain, rtol=1e-5, atol=1e-6)


def test_totals_leaves_the_lanes_between_the_two_halves_empty():
    numbers, out = simd_float.matrix(3, 32), simd_float.matrix(7, 16)
    numbers[:] = 1
    run_operations(numbers, out)
    assert out[5].tolist() == [16, 16, 16, 32, 32, 32, 0, 0, 0, 0, 0, 16, 16, 16, 0, 0]


@settings(deadline=None)
@given(st.lists(st.floats(0, 80, width=32), min_size=LANES, max_size=LANES))
def test_the_curves_follow_exp_and_log(values):
    x, out = simd_float.matrix(1, 16), simd_float.matrix(2, 16)
    x[0] = values
    compute_curves(x, out)
    exact = np.exp(-x[0].astype(np.float64))
    np.testing.assert_allclose(out[0], exact, rtol=2e-5)
    np.testing.assert_allclose(out[1], np.log1p(exact), rtol=3e-5)


def test_nan_stays_nan_and_a_large_number_gives_no_infinity():
    x, out = simd_float.matrix(1, 16), simd_float.matrix(2, 16)
    x[0, 0], x[0, 1] = np.nan, 1e30
    compute_curves(x, out)
    assert 0 <= out[0, 1] < 1e-30
    numbers, found = simd_float.matrix(3, 32), simd_float.matrix(7, 16)
    numbers[0, 0] = np.nan
    assert np.isnan(run_operations(numbers, found))


@pytest.mark.parametrize("dim", [1, 16, 17, 100, 300])
def test_rows_are_padded_and_begin_at_cache_lines(dim):
    table = simd_float.matrix(5, dim)
    assert table.shape == (5, simd_float.stride(dim))
    assert simd_float.stride(dim) % LANES == 0
    assert simd_float.stride(dim) - dim < LANES
    assert all(row.ctypes.data % 64 == 0 for row in table)
