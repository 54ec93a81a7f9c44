"""Each kernel against a plain reference."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse import random as random_matrix

from firth.kernels import counts as kernel

END, HOLE = int(kernel.END), int(kernel.HOLE)


def desk(size: int, rows: int, room: int) -> tuple[np.ndarray, ...]:
    low = (size + 63) // 64
    marks = np.zeros(size, np.int64), np.zeros(low, np.uint64), np.zeros((low + 63) // 64, np.uint64)
    return (*marks, np.zeros(rows, np.int64), np.zeros(room + 1, np.int32), np.zeros(room, np.int64))


def as_pairs(lengths, columns, values, filled) -> dict[tuple[int, int], int]:
    rows = np.repeat(np.arange(len(lengths)), lengths)
    return {(int(r), int(c)): int(v) for r, c, v in zip(rows, columns[:filled], values[:filled])}


def near_pairs(text: list[int], before: int, after: int, weights: list[int]) -> Counter[tuple[int, int]]:
    """Every pair of words that stand near each other, the slow way."""
    found: Counter[tuple[int, int]] = Counter()
    for i, row in enumerate(text):
        for j, column in enumerate(text):
            if row < 0 or column < 0 or i == j or END in text[min(i, j) : max(i, j)]:
                continue
            if (j < i and i - j <= before) or (j > i and j - i <= after):
                found[row, column] += weights[abs(i - j)]
    return found


def rows_of(text: np.ndarray, own: int, size: int, before: int, after: int, weights: np.ndarray, count=None):
    starts = np.zeros(size + 1, np.int64)
    kernel.count_words(text, starts[1:])
    np.cumsum(starts, out=starts)
    positions = np.empty(starts[-1], np.int32)
    kernel.sort_positions(text, starts[:-1].copy(), positions)
    arrays = desk(size, size, len(positions) * (before + after))
    count = count or kernel.count_rows
    filled = count(text, own, positions, starts, 0, size, before, after, weights, *arrays)
    assert not any(array.any() for array in arrays[:3]), "cells and marks must be zero between rows"
    return as_pairs(*arrays[3:], filled)


words = st.lists(st.integers(-2, 9), max_size=30)


@settings(deadline=None)
@given(words, st.integers(0, 3), st.integers(1, 4))
def test_rows_hold_every_pair_that_the_slow_way_finds(text, before, after):
    whole = [END, *text, END]
    weights = np.arange(5) * 7
    found = rows_of(np.array(whole, np.int32), 1, 10, before, after, weights)
    assert found == near_pairs(whole, before, after, weights.tolist())


def test_the_python_body_of_the_counting_kernel_is_its_own_reference():
    text = np.array([END, 3, 1, HOLE, 3, END, 2, 2, END], np.int32)
    weights = np.array([0, 6, 3, 2])
    assert rows_of(text, 1, 4, 3, 3, weights) == rows_of(text, 1, 4, 3, 3, weights, kernel.count_rows.py_func)


@settings(deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=20), st.integers(0, 20), st.integers(1, 4))
def test_a_text_cut_anywhere_gives_the_pairs_of_the_whole(text, cut, window):
    cut = min(cut, len(text))
    weights = np.arange(window + 1)
    halo = text[max(0, cut - window) : cut]
    pieces = [([END, *text[:cut], END], 1), ([END, *halo, *text[cut:], END], 1 + len(halo))]
    total: Counter[tuple[int, int]] = Counter()
    for piece, own in pieces:
        total.update(rows_of(np.array(piece, np.int32), own, 10, window, window, weights))
    assert total == near_pairs([END, *text, END], window, window, weights.tolist())


@settings(deadline=None)
@given(st.sets(st.integers(0, 9000), max_size=200))
def test_used_columns_come_back_sorted_with_their_cells(used):
    size = 9001
    cells, low, high, _, columns, values = desk(size, 1, len(used))
    for k, column in enumerate(sorted(used, key=lambda n: n * 7919 % 9973)):
        columns[k] = column
        cells[column] = column + 1
    kernel.flush_row(cells, low, high, columns, values, 0, len(used))
    assert columns[: len(used)].tolist() == sorted(used)
    assert values.tolist() == [column + 1 for column in sorted(used)]
    assert not cells.any()
    assert not low.any()
    assert not high.any()


def closed_up(start: int, stop: int, sentence: int, keep_places: bool) -> tuple[list[int], int]:
    ids = np.array([0, 1, 2, 0, 3], np.uint32)
    sentences = np.array([0, 2, 2, 5], np.uint64)  # the second sentence is empty
    kept = np.array([10, -1, 12, 13], np.int32)
    text = np.zeros(10, np.int32)
    filled, sentence = kernel.filter_text(ids, start, stop, sentences, sentence, kept, keep_places, text, 0)
    return text[:filled].tolist(), sentence


def test_dropped_words_leave_nothing_or_a_hole_and_sentences_leave_an_end():
    assert closed_up(0, 5, 0, False) == ([10, END, END, 12, 10, 13, END], 3)
    assert closed_up(0, 5, 0, True) == ([10, HOLE, END, END, 12, 10, 13, END], 3)


def test_a_text_that_is_closed_up_in_two_steps_is_the_same_text():
    for cut in range(6):
        first, sentence = closed_up(0, cut, 0, False)
        second, sentence = closed_up(cut, 5, sentence, False)
        assert first + second == closed_up(0, 5, 0, False)[0]
        assert sentence == 3


def test_merged_runs_are_their_sum():
    rng = np.random.default_rng(5)
    runs = [csr_matrix(rng.integers(0, 3, (4, 70)) * rng.integers(0, 2, (4, 70))) for _ in range(3)]
    edges = np.cumsum([0] + [run.nnz for run in runs])
    starts = np.concatenate([run.indptr + edge for run, edge in zip(runs, edges)]).astype(np.int64)
    columns = np.concatenate([run.indices for run in runs]).astype(np.int32)
    values = np.concatenate([run.data for run in runs]).astype(np.int64)
    arrays = desk(70, 4, len(columns))
    filled = kernel.merge_rows(starts, columns, values, 4, *arrays)
    expected = np.asarray(sum(run.toarray() for run in runs))
    assert as_pairs(*arrays[3:], filled) == {(r, c): v for (r, c), v in np.ndenumerate(expected) if v}


def test_documents_are_counted_word_by_word():
    ids, kept = np.array([0, 1, 0, 2, 2, 2], np.uint32), np.array([1, 0, -1], np.int32)
    arrays = desk(2, 3, 6)
    filled = kernel.count_documents(ids, np.array([0, 3, 3, 6]), kept, *arrays)
    assert as_pairs(*arrays[3:], filled) == {(0, 0): 1, (0, 1): 2}


def test_rows_times_a_dense_matrix_agree_with_scipy():
    matrix = csr_matrix(random_matrix(20, 15, density=0.2, random_state=np.random.default_rng(3)))
    dense = np.random.default_rng(4).standard_normal((15, 4))
    product = np.full((20, 4), np.nan)
    kernel.multiply_rows(matrix.indptr, matrix.indices, matrix.data, dense, 0, 20, product)
    np.testing.assert_allclose(product, matrix @ dense, atol=1e-14)


def test_the_lowest_bit_of_every_power_of_two_is_its_place():
    assert [kernel.lowest_bit(np.uint64(1 << bit)) for bit in range(64)] == list(range(64))
    assert kernel.lowest_bit(np.uint64(0b101000)) == 3
