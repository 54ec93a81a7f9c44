"""Sentences in rows of a batch: each kernel by hand.

Whole streams are compared with a plain loop in tests/neural/training/test_streams.py.
"""

from __future__ import annotations

import numpy as np

from firth.kernels import streams as kernel

EDGES = np.array([0, 3, 5, 6])  # sentences of 3, 2 and 1 words
IDS = np.array([10, 11, 12, 20, 21, 30])
ORDER = np.arange(3)


def test_the_first_row_that_lacks_positions_takes_the_next_sentence():
    filled, row_of = np.zeros(2, np.int64), np.full(9, -1)
    dealt = kernel.deal(ORDER, EDGES, 3, 3, filled, row_of)
    assert row_of[:dealt].tolist() == [0, 1, 0]
    assert filled.tolist() == [4 + 2, 3]


def test_sentences_are_dealt_again_until_every_row_is_long_enough():
    filled, row_of = np.zeros(2, np.int64), np.full(9, -1)
    dealt = kernel.deal(ORDER, EDGES, 3, 6, filled, row_of)
    assert row_of[:dealt].tolist() == [0, 1, 0, 1]
    assert filled.min() >= 6
    assert kernel.deal(ORDER, EDGES, 3, 6, filled, row_of[:0]) == dealt  # counted only


def fill_two_rows(place, steps):
    row_of, row_starts = np.array([0, 1, 0]), np.zeros(3, np.int64)
    sentences, places = np.zeros(3, np.int64), np.zeros(3, np.int64)
    kernel.sort_by_row(ORDER, EDGES, row_of, row_starts, sentences, places)
    inputs, nexts = np.zeros((2, steps, 2), np.int64), np.zeros((2, steps, 2), np.int64)
    fresh = np.zeros((steps, 2), np.bool_)
    kernel.fill(IDS, EDGES, row_starts, sentences, places, 0, place, (1, 2), inputs, nexts, fresh)
    return row_starts, sentences, places, inputs, nexts, fresh


def test_sentences_are_sorted_by_row_with_their_first_positions():
    row_starts, sentences, places, *_ = fill_two_rows(0, 1)
    assert (row_starts.tolist(), sentences.tolist(), places.tolist()) == ([0, 2, 3], [0, 2, 1], [0, 4, 0])


def test_inputs_and_next_words_of_both_directions():
    *_, inputs, nexts, fresh = fill_two_rows(0, 6)
    assert inputs[0, :, 0].tolist() == [1, 10, 11, 12, 1, 30]
    assert nexts[0, :, 0].tolist() == [10, 11, 12, 2, 30, 2]
    assert inputs[1, :, 0].tolist() == [2, 12, 11, 10, 2, 30]
    assert nexts[1, :, 0].tolist() == [12, 11, 10, 1, 30, 1]
    assert fresh[:, 0].tolist() == [True, False, False, False, True, False]
    assert nexts[:, 3:, 1].tolist() == [[-1, -1, -1]] * 2  # after the end of the row


def test_a_batch_may_begin_inside_a_sentence():
    *_, whole, _, _ = fill_two_rows(0, 6)
    *_, rest, _, _ = fill_two_rows(2, 4)
    assert rest.tolist() == whole[:, 2:].tolist()


def test_words_become_places_among_the_distinct_ones():
    words, place_of, found = np.array([7, 3, 7, 0, 3]), np.full(8, -1), np.zeros(5, np.int64)
    count = kernel.number_distinct(words, place_of, found)
    assert words.tolist() == [0, 1, 0, 2, 1]
    assert found[:count].tolist() == [7, 3, 0]
    assert (place_of == -1).all()
