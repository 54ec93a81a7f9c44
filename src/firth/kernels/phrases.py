"""Two words that stand side by side: counted as keys, and joined into one.

A text is an array of ids with the ends of its sentences. The pairs that are joined lie by their first word: word w is
joined with seconds[starts[w]:starts[w + 1]], which rise, and becomes the id at the same place of `joined`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

BLANK, NEWLINE = np.uint8(32), np.uint8(10)


@njit(cache=True, nogil=True)
def pair_keys(ids, ends, numbers, size, keys):
    """Writes numbers[a] · size + numbers[b] for each pair a b within a sentence; returns how many.

    A word whose number is negative is in no pair.
    """
    found, at = 0, 0
    for sentence in range(len(ends)):
        before = np.int64(-1)
        while at < ends[sentence]:
            number = np.int64(numbers[ids[at]])
            if before >= 0 and number >= 0:
                keys[found] = np.uint64(before * size + number)
                found += 1
            before = number
            at += 1
    return found


@njit(cache=True, nogil=True)
def place_of(second, seconds, first, last):
    """The place of a number among seconds[first:last], which rise, or -1."""
    while first < last:
        middle = (first + last) // 2
        if seconds[middle] < second:
            first = middle + 1
        elif seconds[middle] > second:
            last = middle
        else:
            return middle
    return np.int64(-1)


@njit(cache=True, nogil=True)
def join(ids, ends, starts, seconds, joined, out, out_ends):
    """Copies a text with its pairs joined, from left to right: a word that was joined begins no other pair.

    Returns how many ids were written.
    """
    used, at = 0, 0
    for sentence in range(len(ends)):
        while at < ends[sentence]:
            word = np.int64(ids[at])
            place = np.int64(-1)
            if at + 1 < ends[sentence] and starts[word] < starts[word + 1]:
                place = place_of(ids[at + 1], seconds, starts[word], starts[word + 1])
            if place >= 0:
                out[used] = joined[place]
                at += 2
            else:
                out[used] = ids[at]
                at += 1
            used += 1
        out_ends[sentence] = used
    return used


@njit(cache=True, nogil=True)
def print_words(ids, ends, blob, starts, stops, out):
    """Writes each sentence as a line of words with blanks between them; returns how many bytes that takes.

    The array is filled as far as it reaches, so that an empty one only counts.
    """
    used, at = 0, 0
    for sentence in range(len(ends)):
        begin = at
        while at < ends[sentence]:
            if at > begin:
                if used < len(out):
                    out[used] = BLANK
                used += 1
            for i in range(starts[ids[at]], stops[ids[at]]):
                if used < len(out):
                    out[used] = blob[i]
                used += 1
            at += 1
        if used < len(out):
            out[used] = NEWLINE
        used += 1
    return used
