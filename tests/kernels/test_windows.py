"""The choice of words and windows, and sums over the rows of a context."""

from __future__ import annotations

import numpy as np
import pytest

from firth.kernels import random as random_kernel
from firth.kernels import windows as kernel
from firth.kernels.simd_float import matrix

STATE = np.uint64(77)


def test_windows_are_counted_in_the_words_that_remain():
    ids = np.array([0, 9, 1, 2, 1, 0, 9, 2], np.uint32)
    keep = np.array([random_kernel.SURE, random_kernel.SURE, 0], np.uint32)  # 2 is always dropped, 9 is unknown
    words, before, after = np.zeros(8, np.uint32), np.zeros(8, np.int32), np.zeros(8, np.int32)
    count = kernel.draw_windows(ids, np.array([5, 8]), keep, 2, False, STATE, words, before, after)
    assert words[:count].tolist() == [0, 1, 1, 0]
    assert before[:count].tolist() == [0, 1, 2, 0]
    assert after[:count].tolist() == [2, 1, 0, 0]


def test_a_dynamic_window_takes_every_size_equally_often():
    ids, keep = np.zeros(30_000, np.uint32), np.full(1, random_kernel.SURE, np.uint32)
    words, before, after = np.zeros(30_000, np.uint32), np.zeros(30_000, np.int32), np.zeros(30_000, np.int32)
    kernel.draw_windows(ids, np.array([30_000]), keep, 5, True, STATE, words, before, after)
    shares = np.bincount(before, minlength=6)[1:] / 30_000
    np.testing.assert_allclose(shares, 0.2, atol=0.02)


def test_subsampling_keeps_its_share():
    ids, keep = np.zeros(50_000, np.uint32), np.array([2**32 // 4], np.uint32)
    words, before, after = np.zeros(50_000, np.uint32), np.zeros(50_000, np.int32), np.zeros(50_000, np.int32)
    count = kernel.draw_windows(ids, np.array([50_000]), keep, 5, True, STATE, words, before, after)
    assert count / 50_000 == pytest.approx(0.25, abs=0.01)


def test_the_hidden_vector_of_the_textbook_example():
    """W holds 1 … 36 in nine rows of four; the context {this, sample, corpus} are the rows 0, 2 and 3."""
    inputs, hidden = matrix(9, 4), matrix(1, 4)
    inputs[:, :4] = np.arange(1, 37).reshape(9, 4)
    kernel.sum_rows(inputs, np.array([0, 2, 3], np.uint32), 3, np.float32(1 / 3), hidden)
    assert hidden[0, :4].round(2).tolist() == pytest.approx([7.67, 8.67, 9.67, 10.67])


def test_the_context_of_a_center_leaves_out_the_center_and_the_rate_falls_linearly():
    words, rows = np.array([5, 6, 7, 8, 9], np.uint32), np.zeros(10, np.uint32)
    windows = words, np.array([0, 1, 2, 2, 1], np.int32), np.array([2, 2, 1, 1, 0], np.int32), 2
    size, rate = kernel.open_window(*windows, 2, matrix(10, 4), (0.5, 0.0), rows)
    assert rows[:size].tolist() == [5, 6, 8]
    assert rate == pytest.approx(0.3)


def test_an_error_is_added_to_every_row_of_a_context():
    inputs, errors = matrix(4, 3), matrix(1, 3)
    errors[0, :3] = 1, 2, 3
    kernel.add_to_rows(inputs, np.array([1, 3, 0], np.uint32), 2, errors)
    assert inputs[:, :3].tolist() == [[0, 0, 0], [1, 2, 3], [0, 0, 0], [1, 2, 3]]
    kernel.clear(errors)
    assert not errors.any()
