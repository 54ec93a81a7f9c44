"""Character n-grams of words as fastText cuts and hashes them, and vectors as means of rows.

A word is wrapped in `<` and `>`. An n-gram is n characters of the wrapped word, a character being a byte that is not
10xxxxxx with all following bytes that are; a lone bracket is no 1-gram. Its hash is FNV-1a over its bytes, each byte
sign-extended to 32 bits, as `char` is on the machines where fastText grew up.
"""

from __future__ import annotations

import numpy as np
from numba import njit

OPEN, CLOSE = np.uint8(60), np.uint8(62)
OFFSET, PRIME = np.uint32(2166136261), np.uint32(16777619)
SIGN = np.uint32(0xFFFFFF00)


@njit(cache=True, nogil=True)
def wrap(blob, start, end, wrapped, sentence_end):
    """Writes `<`, blob[start:end], `>` into wrapped; returns the length, or 0 for `</s>` unless sentence_end is set."""
    size = end - start
    for i in range(size):
        wrapped[i + 1] = blob[start + i]
    wrapped[0] = OPEN
    wrapped[size + 1] = CLOSE
    if (
        not sentence_end
        and size == 4
        and wrapped[1] == 60
        and wrapped[2] == 47
        and wrapped[3] == 115
        and wrapped[4] == 62
    ):
        return 0
    return size + 2


@njit(cache=True, nogil=True)
def cut(wrapped, size, minn, maxn, starts, ends, hashes):
    """The n-grams of wrapped[:size]: where each starts and ends, and its hash. Returns how many there are.

    The arrays are filled as far as they reach, so that empty arrays only count.
    """
    found = 0
    for i in range(size):
        if wrapped[i] & 0xC0 == 0x80:
            continue
        hash = OFFSET
        j = i
        n = 1
        while j < size and n <= maxn:
            more = True
            while more:
                byte = np.uint32(wrapped[j])
                if byte >= np.uint32(128):
                    byte |= SIGN
                hash = np.uint32(np.uint32(hash ^ byte) * PRIME)
                j += 1
                more = j < size and wrapped[j] & 0xC0 == 0x80
            if n >= minn and not (n == 1 and (i == 0 or j == size)):
                if found < len(starts):
                    starts[found] = i
                    ends[found] = j
                    hashes[found] = hash
                found += 1
            n += 1
    return found


@njit(cache=True, nogil=True)
def count_rows(blob, starts, ends, minn, maxn, sentence_end, counts):
    """counts[w] becomes the number of n-grams of word w; what pruning drops is counted too."""
    widest = np.int64(0)
    for word in range(len(starts)):
        widest = max(widest, ends[word] - starts[word])
    wrapped = np.empty(widest + 2, np.uint8)
    nothing = np.empty(0, np.int64)
    no_hashes = np.empty(0, np.uint32)
    for word in range(len(starts)):
        size = wrap(blob, starts[word], ends[word], wrapped, sentence_end)
        counts[word] = cut(wrapped, size, minn, maxn, nothing, nothing, no_hashes)


@njit(cache=True, nogil=True)
def fill_rows(blob, starts, ends, first, minn, maxn, sentence_end, buckets, pruned, words, pointers, rows, lengths):
    """Writes the rows of the k-th word from rows[pointers[k]] on, and how many they are into lengths[k].

    Its own row, first + k, stands first. An n-gram in bucket b has row words + b, or words + pruned[b] where that array
    is not empty; where pruned[b] is negative it is left out.
    """
    widest = np.int64(0)
    for word in range(len(starts)):
        widest = max(widest, ends[word] - starts[word])
    wrapped = np.empty(widest + 2, np.uint8)
    for word in range(len(starts)):
        at = pointers[word]
        rows[at] = first + word
        size = wrap(blob, starts[word], ends[word], wrapped, sentence_end)
        room = pointers[word + 1] - at - 1
        spans = np.empty(room, np.int64)
        hashes = np.empty(room, np.uint32)
        found = cut(wrapped, size, minn, maxn, spans, spans, hashes)
        kept = 1
        for k in range(found):
            bucket = np.int64(hashes[k]) % buckets
            place = bucket if len(pruned) == 0 else pruned[bucket]
            if place >= 0:
                rows[at + kept] = words + place
                kept += 1
        lengths[word] = kept


@njit(cache=True, nogil=True)
def mean_rows(matrix, rows, pointers, lengths, means):
    """means[w] = the sum of matrix[rows[p : p + n]] in that order, times 1/n; p = pointers[w], n = lengths[w].

    Order and roundings are fastText's, so that the bits are too. No rows give zeros.
    """
    dim = matrix.shape[1]
    for word in range(len(lengths)):
        start = pointers[word]
        size = lengths[word]
        for d in range(dim):
            means[word, d] = np.float32(0)
        for k in range(start, start + size):
            row = rows[k]
            for d in range(dim):
                means[word, d] += matrix[row, d]
        if size > 0:
            share = np.float32(1.0 / size)
            for d in range(dim):
                means[word, d] *= share
