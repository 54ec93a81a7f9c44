"""Count co-occurrences one row of the matrix at a time, in a dense array of cells.

A text is an int32 array of word ids. END separates sentences and is at both ends. HOLE is a word that is not
counted but keeps its position. A row is computed from all positions of its word, so it is complete before the next one
starts and threads share nothing. All sums are integers, so they do not depend on the order of additions.

A row is written as (columns, values), with columns in ascending order; `columns` needs room for one extra entry. `low`
has one bit for each cell and `high` one bit for each word of `low`; cells and bits are zero between rows.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable

END = np.int32(-1)
HOLE = np.int32(-2)
ONE = np.uint64(1)
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
BIT_OF = np.array(sorted(range(64), key=lambda bit: (0x03F79D71B4CB0A89 << bit) % 2**64 >> 58))


@njit(cache=True, nogil=True)
def lowest_bit(word):
    """The index of the lowest set bit of a nonzero word."""
    return BIT_OF[((word & (~word + ONE)) * DE_BRUIJN) >> np.uint64(58)]


@njit(cache=True, nogil=True)
def flush_row(cells, low, high, columns, values, begin, end):
    """Sort columns[begin:end], move their cells to values[begin:end] and clear the cells.

    The sort uses a two-level bit set: each column sets its bit in `low` and the bit of that word in `high`, and the
    bits are read back in order.
    """
    for k in range(begin, end):
        column = columns[k]
        low[column >> 6] |= ONE << np.uint64(column & 63)
        high[column >> 12] |= ONE << np.uint64((column >> 6) & 63)
    k = begin
    for top in range(len(high)):
        upper = high[top]
        if upper == 0:
            continue
        high[top] = 0
        while upper != 0:
            middle = (top << 6) + lowest_bit(upper)
            upper &= upper - ONE
            lower = low[middle]
            low[middle] = 0
            while lower != 0:
                column = (middle << 6) + lowest_bit(lower)
                lower &= lower - ONE
                columns[k] = column
                values[k] = cells[column]
                cells[column] = 0
                k += 1


@register_jitable(forceinline=True)
def add_to_cell(cells, columns, filled, column, value):
    """Adds a value to a cell of a row and its column to the columns; returns whether the cell was 0 before."""
    cell = cells[column]
    columns[filled] = column  # always written, counted only if new: a branch would be slower
    cells[column] = cell + value
    return cell == 0


@njit(cache=True, nogil=True)
def filter_text(ids, start, stop, sentences, sentence, kept, keep_places, text, filled):
    """Write kept[id] for ids[start:stop] into the text from offset `filled`, with an END after each sentence.

    `sentence` is the first sentence that ends after `start` (or at `start`, if it is empty). A dropped word
    (kept[id] < 0) becomes a HOLE if `keep_places`; else it is removed and its neighbors become adjacent.
    Returns (end of the text, first sentence that has not ended).
    """
    at = start
    count = len(sentences) - 1
    while at < stop or (sentence < count and np.int64(sentences[sentence + 1]) <= stop):
        end = np.int64(sentences[sentence + 1]) if sentence < count else stop
        for i in range(at, min(end, stop)):
            word = kept[ids[i]]
            if word >= 0:
                text[filled] = word
                filled += 1
            elif keep_places:
                text[filled] = HOLE
                filled += 1
        at = max(at, min(end, stop))
        if end <= stop and sentence < count:
            text[filled] = END
            filled += 1
            sentence += 1
    return filled, sentence


@njit(cache=True, nogil=True)
def count_words(text, occurrences):
    """occurrences[id] += 1 for every word of the text."""
    for i in range(len(text)):
        if text[i] >= 0:
            occurrences[text[i]] += 1


@njit(cache=True, nogil=True)
def sort_positions(text, places, positions):
    """Group positions by word, in ascending order; places[id] is the offset of the next position of the word."""
    for i in range(len(text)):
        word = text[i]
        if word >= 0:
            positions[places[word]] = i
            places[word] += 1


@njit(cache=True, nogil=True)
def count_rows(
    text, own, positions, starts, first, last, before, after, weights, cells, low, high, lengths, columns, values
):
    """Rows first … last - 1 of X(w, c) = Σ weights[distance] over all c up to `before` left and `after` right of a w.

    positions[starts[w]:starts[w + 1]] are the positions of w. The right word of a pair must be at `own` or later:
    earlier pairs were counted with the previous chunk of text. There is no END between such a position and `own`.
    Returns the number of entries.
    """
    filled = 0
    for row in range(first, last):
        begin = filled
        for k in range(starts[row], starts[row + 1]):
            position = np.int64(positions[k])
            if position >= own:
                for distance in range(1, before + 1):
                    column = text[position - distance]
                    if column < 0:
                        if column == END:
                            break
                        continue
                    filled += add_to_cell(cells, columns, filled, column, weights[distance])
            for distance in range(max(1, own - position), after + 1):
                column = text[position + distance]
                if column < 0:
                    if column == END:
                        break
                    continue
                filled += add_to_cell(cells, columns, filled, column, weights[distance])
        flush_row(cells, low, high, columns, values, begin, filled)
        lengths[row - first] = filled - begin
    return filled


@njit(cache=True, nogil=True)
def merge_rows(run_starts, run_columns, run_values, rows, cells, low, high, lengths, columns, values):
    """The sum of concatenated runs of the same rows; row i of run r starts at run_starts[r * (rows + 1) + i]."""
    runs = len(run_starts) // (rows + 1)
    filled = 0
    for row in range(rows):
        begin = filled
        for run in range(runs):
            at = run * (rows + 1) + row
            for k in range(run_starts[at], run_starts[at + 1]):
                filled += add_to_cell(cells, columns, filled, run_columns[k], run_values[k])
        flush_row(cells, low, high, columns, values, begin, filled)
        lengths[row] = filled - begin
    return filled


@njit(cache=True, nogil=True)
def count_documents(ids, edges, kept, cells, low, high, lengths, columns, values):
    """Count each kept word in each document; document d is ids[edges[d]:edges[d + 1]]."""
    filled = 0
    for document in range(len(edges) - 1):
        begin = filled
        for i in range(edges[document], edges[document + 1]):
            column = kept[ids[i]]
            if column >= 0:
                filled += add_to_cell(cells, columns, filled, column, 1)
        flush_row(cells, low, high, columns, values, begin, filled)
        lengths[document] = filled - begin
    return filled


@njit(cache=True, nogil=True)
def multiply_rows(starts, columns, values, dense, first, last, product):
    """product[i] = Σ values[k] * dense[columns[k]] over the entries k of row i, for rows first … last - 1."""
    width = dense.shape[1]
    for row in range(first, last):
        for j in range(width):
            product[row, j] = 0.0
        for k in range(starts[row], starts[row + 1]):
            value = values[k]
            other = columns[k]
            for j in range(width):
                product[row, j] += value * dense[other, j]
