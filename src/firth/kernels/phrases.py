"""Count bigrams and join them into phrases.

A text is an array of ids and the ends of its sentences. The bigrams to join are grouped by their first word: word w is
joined with each of seconds[starts[w]:starts[w + 1]], in ascending order; `joined` has the ids of these phrases.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from firth.kernels.ngram import NONE, find_child

BLANK, NEWLINE = np.uint8(32), np.uint8(10)


@njit(cache=True, nogil=True)
def pair_keys(ids, ends, numbers, size, keys):
    """Write the key numbers[a] · size + numbers[b] of each bigram a b within a sentence; returns their number.

    Words with negative numbers are skipped.
    """
    count, at = 0, 0
    for sentence in range(len(ends)):
        before = np.int64(-1)
        while at < ends[sentence]:
            number = np.int64(numbers[ids[at]])
            if before >= 0 and number >= 0:
                keys[count] = np.uint64(before * size + number)
                count += 1
            before = number
            at += 1
    return count


@njit(cache=True, nogil=True)
def join(ids, ends, starts, seconds, joined, out, out_ends):
    """Copy a text and join its bigrams from left to right; each word is joined at most once. Returns the length."""
    used, at = 0, 0
    for sentence in range(len(ends)):
        while at < ends[sentence]:
            word = np.int64(ids[at])
            match = NONE
            if at + 1 < ends[sentence] and starts[word] < starts[word + 1]:
                match = find_child(starts, seconds, word, ids[at + 1])
            if match != NONE:
                out[used] = joined[match]
                at += 2
            else:
                out[used] = ids[at]
                at += 1
            used += 1
        out_ends[sentence] = used
    return used


@njit(cache=True, nogil=True)
def write_words(ids, ends, blob, starts, stops, out):
    """Write each sentence as a line of words separated by blanks; returns the number of bytes.

    Bytes beyond len(out) are not written, so an empty `out` only counts.
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
