"""Sentences in rows of a training batch, without padding.

A sentence of n words fills n + 1 positions of a row. Forward, the inputs are <S> w1 … wn and the next words are
w1 … wn </S>; backward, the inputs are </S> wn … w1 and the next words are wn … w1 <S>.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def deal(order, edges, steps, until, filled, row_of):
    """Assigns sentences to rows: the first row that lacks positions for its next `steps` takes the next sentence.

    All sentences of `order` are dealt, and then again from the first, while a row has fewer than `until` positions.
    Returns the number of sentences dealt; `filled` are the positions of each row. Where `row_of` is too short, they are
    only counted.
    """
    rows, row, edge, dealt = len(filled), 0, steps, 0
    filled[:] = 0
    while True:
        while filled[row] >= edge:
            row += 1
            if row == rows:
                row = 0
                edge += steps
        if dealt >= len(order) and (edge > until or len(order) == 0):
            return dealt
        if dealt < len(row_of):
            row_of[dealt] = row
        sentence = order[dealt % len(order)]
        filled[row] += edges[sentence + 1] - edges[sentence] + 1
        dealt += 1


@njit(cache=True, nogil=True)
def sort_by_row(order, edges, row_of, row_starts, sentences, places):
    """The dealt sentences by row: those of row r are sentences[row_starts[r]:row_starts[r + 1]], in reading order.

    `places` has the position in its row at which each of them begins.
    """
    rows = len(row_starts) - 1
    row_starts[:] = 0
    for row in row_of:
        row_starts[row + 1] += 1
    for row in range(rows):
        row_starts[row + 1] += row_starts[row]
    following = row_starts[:rows].copy()
    filled = np.zeros(rows, np.int64)
    for dealt in range(len(row_of)):
        row = row_of[dealt]
        sentence = order[dealt % len(order)]
        sentences[following[row]] = sentence
        places[following[row]] = filled[row]
        filled[row] += edges[sentence + 1] - edges[sentence] + 1
        following[row] += 1


@njit(cache=True, nogil=True)
def fill(ids, edges, row_starts, sentences, places, first_row, place, marks, inputs, nexts, fresh):
    """The positions from `place` on of some rows: inputs, next words, and where sentences begin.

    `inputs` and `nexts` are (2, steps, rows): forward and backward. `marks` are the ids of <S> and </S>. After the end
    of a row the input is <S> and the next word is -1.
    """
    begin, end = marks
    _, steps, rows = inputs.shape
    for column in range(rows):
        first, last = row_starts[first_row + column], row_starts[first_row + column + 1]
        at = first + np.searchsorted(places[first:last], place, "right") - 1
        inside = place - places[at] if first < last else 0
        for step in range(steps):
            if first < last and at < last and inside > edges[sentences[at] + 1] - edges[sentences[at]]:
                at, inside = at + 1, 0
            fresh[step, column] = inside == 0
            if first == last or at == last:
                inputs[:, step, column] = begin
                nexts[:, step, column] = -1
                continue
            start = edges[sentences[at]]
            count = edges[sentences[at] + 1] - start
            inputs[0, step, column] = begin if inside == 0 else ids[start + inside - 1]
            nexts[0, step, column] = end if inside == count else ids[start + inside]
            inputs[1, step, column] = end if inside == 0 else ids[start + count - inside]
            nexts[1, step, column] = begin if inside == count else ids[start + count - 1 - inside]
            inside += 1


@njit(cache=True, nogil=True)
def number_distinct(words, place_of, distinct):
    """Replaces ids of words by their places among the distinct ones; returns the number of these.

    `place_of` is -1 for every word, before and after. `distinct` gets the distinct words, in order of appearance.
    """
    count = 0
    for i in range(len(words)):
        word = words[i]
        if place_of[word] < 0:
            place_of[word] = count
            distinct[count] = word
            count += 1
        words[i] = place_of[word]
    for i in range(count):
        place_of[distinct[i]] = -1
    return count
