"""Products in three precisions against NumPy, and the law that a row does not feel its neighbors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firth.kernels import matmul as kernel
from firth.kernels.matmul import BLOCK, DTYPES, allocate_rows, decode, pack, round_to_bfloat16

PRECISIONS = list(DTYPES)


def multiply_rows(weights, rows, precision, bias=None, *, multiply=kernel.multiply, convert_rows=kernel.convert_rows):
    """rows · weightsᵀ + bias, in row-major order, as the kernels compute it."""
    matrix = pack(weights, precision)
    blocks, count = len(matrix[0]), len(rows)
    biases = np.zeros((blocks, BLOCK), np.float32)
    if bias is not None:
        biases.reshape(-1)[: len(bias)] = bias
    converted = allocate_rows(count, matrix[0])
    convert_rows(rows, count, converted)
    out = np.full((count * blocks, BLOCK), np.nan, np.float32)
    multiply(matrix, biases, (0, blocks), converted, count, out, blocks, 1)
    return out.reshape(count, -1)[:, : len(weights)]


def draw(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def test_bfloat16_keeps_eight_binary_digits_and_rounds_ties_to_even():
    values = np.array([1.0, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20, -2.5, 0.0], np.float32)
    expected = [1.0, 1.0, 1 + 2**-6, 1 + 2**-7, -2.5, 0.0]
    assert decode(round_to_bfloat16(values)).tolist() == expected


@pytest.mark.parametrize("precision", PRECISIONS)
def test_small_whole_numbers_multiply_exactly_in_every_precision(precision):
    weights = np.array([[127, 0, -1], [1, 2, -127]], np.float32)  # the scales of bytes are 1
    rows = np.array([[127, 1, 2], [-3, 127, 0], [0, 0, 127]], np.float32)
    assert np.array_equal(multiply_rows(weights, rows, precision), rows @ weights.T)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 7, 13])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_products_are_those_of_numpy_within_the_precision(precision, count):
    weights, rows, bias = draw(1, 100, 37), draw(2, count, 37), draw(3, 100)
    expected = rows.astype(np.float64) @ weights.T.astype(np.float64) + bias
    unit = {"float32": 2**-24, "bfloat16": 2**-9, "int8": 0.5 / 127}[precision]
    largest = {"int8": np.abs(rows).max() * np.abs(weights).max()}.get(precision, 1)
    bound = 4 * unit * largest * (np.abs(rows) @ np.abs(weights).T + 37)
    assert np.all(np.abs(multiply_rows(weights, rows, precision, bias) - expected) < bound)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_compiled_products_are_those_of_the_readable_ones(precision):
    weights, rows = draw(4, 70, 21), draw(5, 8, 21)
    plain = multiply_rows(
        weights, rows, precision, multiply=kernel.multiply.py_func, convert_rows=kernel.convert_rows.py_func
    )
    assert np.allclose(multiply_rows(weights, rows, precision), plain, atol=2e-6)


def test_long_sums_are_taken_piece_by_piece_and_lose_no_digit():
    weights, rows = draw(6, 64, 1500), draw(7, 7, 1500)
    expected = rows.astype(np.float64) @ weights.T.astype(np.float64)
    assert np.abs(multiply_rows(weights, rows, "float32") - expected).max() < 4e-5  # the values are near 40
    chained = np.zeros_like(expected, np.float32)
    for k in range(1500):
        chained += rows[:, k, None] * weights[:, k]
    ours, chain = (np.square(x - expected).mean() for x in (multiply_rows(weights, rows, "float32"), chained))
    assert ours < chain / 4


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 20), st.integers(0, 19), st.sampled_from(PRECISIONS))
def test_a_row_has_the_same_bits_alone_and_among_others(count, chosen, precision):
    weights, rows = draw(8, 64, 19), draw(9, count, 19)
    chosen %= count
    together = multiply_rows(weights, rows, precision)
    alone = multiply_rows(weights, rows[chosen : chosen + 1].copy(), precision)
    assert np.array_equal(together[chosen], alone[0])


@pytest.mark.parametrize("precision", PRECISIONS)
def test_rows_of_zeros_give_the_bias(precision):
    weights, bias = draw(10, 64, 16), draw(11, 64)
    assert np.array_equal(multiply_rows(weights, np.zeros((2, 16), np.float32), precision, bias), [bias, bias])


@pytest.mark.parametrize("precision", PRECISIONS)
def test_what_is_not_a_number_stays_so(precision):
    weights, rows = draw(12, 64, 16), draw(13, 2, 16)
    rows[1, 3] = np.nan
    found = multiply_rows(weights, rows, precision)
    assert np.isfinite(found[0]).all()
    assert np.isnan(found[1]).all()
