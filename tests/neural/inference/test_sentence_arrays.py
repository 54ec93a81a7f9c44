"""The rows of a batch as an array for each sentence."""

from __future__ import annotations

import numpy as np
import pytest

from firth.errors import OptionError
from firth.neural.inference import sentence_arrays


def test_large_results_are_copied_in_pieces_that_are_views_of_no_batch() -> None:
    rows, lengths = np.arange(2 * 60 * 4, dtype=np.float32).reshape(-1, 4), np.array([9, 0, 30, 1, 20, 0])
    wanted = sentence_arrays.split_arrays(rows, lengths, 2)
    found = sentence_arrays.copy_arrays(rows, lengths, 2, 40 * 8)
    assert [array.shape for array in found] == [array.shape for array in wanted]
    assert all(np.array_equal(a, b) for a, b in zip(found, wanted))
    assert not any(np.shares_memory(array, rows) for array in found)
    assert sentence_arrays.copy_arrays(rows[:0], lengths[:0], None, 40 * 8) == []


def test_the_rows_of_words_leave_out_the_marks_in_every_layer() -> None:
    tokens = np.array([["<S>", "a", "b", "</S>", "<S>", "</S>", "<S>", "c", "</S>"]])
    layers = np.char.add(tokens, [["0"], ["1"]]).reshape(-1)
    rows = sentence_arrays.word_rows(np.array([4, 2, 3]), 2)
    assert layers[rows].tolist() == ["a0", "b0", "a1", "b1", "c0", "c1"]


@pytest.mark.parametrize(
    "pooling, expected", [("mean", [2, 3, 4, 5]), ("max", [4, 5, 6, 7]), ("first-last", [4, 5, 2, 3])]
)
def test_pooling_by_hand(pooling: sentence_arrays.Pooling, expected: list[float]) -> None:
    rows = np.array([[0, 1, 2, 3], [4, 5, 6, 7]], np.float32)
    found, empty = sentence_arrays.pool_arrays(rows, np.array([2, 0]), None, pooling, "float32")
    assert (found.tolist(), empty.tolist()) == (expected, [0, 0, 0, 0])


def test_an_overflow_of_float16_is_an_error() -> None:
    assert sentence_arrays.convert(np.array([65504.0], np.float32), "float16").tolist() == [65504]
    with pytest.raises(OptionError, match="too large for float16"):
        sentence_arrays.convert(np.array([1e6], np.float32), "float16")
