"""Character n-grams of words and their hashes as in fastText, and vectors as means of rows.

A word is wrapped in `<` and `>`. An n-gram is n UTF-8 characters of the wrapped word: a character is a byte other than
10xxxxxx and all 10xxxxxx bytes that follow. `<` and `>` alone are not 1-grams. The hash is FNV-1a over the bytes, each
sign-extended to 32 bits, because `char` is signed on the platforms of fastText.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable

OPEN, CLOSE = np.uint8(60), np.uint8(62)
OFFSET, PRIME = np.uint32(2166136261), np.uint32(16777619)
SIGN = np.uint32(0xFFFFFF00)


@register_jitable(forceinline=True)
def hash_byte(hash, byte):
    """A 32-bit FNV-1a hash, continued with a sign-extended byte."""
    wide = np.uint32(byte)
    if wide >= np.uint32(128):
        wide |= SIGN
    return np.uint32(np.uint32(hash ^ wide) * PRIME)


@njit(cache=True, nogil=True)
def hash_words(blob, starts, ends, hashes):
    """hashes[i] = 32-bit FNV-1a hash of word i over sign-extended bytes, itself sign-extended to 64 bits."""
    for word in range(len(starts)):
        hash = OFFSET
        for i in range(starts[word], ends[word]):
            hash = hash_byte(hash, blob[i])
        hashes[word] = np.uint64(np.int64(np.int32(hash)))


@njit(cache=True, nogil=True)
def wrap(blob, start, end, wrapped, sentence_end):
    """Write `<`, blob[start:end], `>` into wrapped; returns the length, or 0 for `</s>` unless sentence_end is set."""
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
    """Write the start, end and hash of each n-gram of wrapped[:size]; returns the number of n-grams.

    Entries beyond the length of the arrays are not written, so empty arrays only count.
    """
    count = 0
    for i in range(size):
        if wrapped[i] & 0xC0 == 0x80:
            continue
        hash = OFFSET
        j = i
        n = 1
        while j < size and n <= maxn:
            more = True
            while more:
                hash = hash_byte(hash, wrapped[j])
                j += 1
                more = j < size and wrapped[j] & 0xC0 == 0x80
            if n >= minn and not (n == 1 and (i == 0 or j == size)):
                if count < len(starts):
                    starts[count] = i
                    ends[count] = j
                    hashes[count] = hash
                count += 1
            n += 1
    return count


@njit(cache=True, nogil=True)
def count_rows(blob, starts, ends, minn, maxn, sentence_end, counts):
    """counts[w] = number of n-grams of word w, including pruned ones."""
    wrapped = np.empty(np.max(ends - starts) + 2 if len(starts) > 0 else 2, np.uint8)
    nothing = np.empty(0, np.int64)
    no_hashes = np.empty(0, np.uint32)
    for word in range(len(starts)):
        size = wrap(blob, starts[word], ends[word], wrapped, sentence_end)
        counts[word] = cut(wrapped, size, minn, maxn, nothing, nothing, no_hashes)


@njit(cache=True, nogil=True)
def fill_rows(blob, starts, ends, first, minn, maxn, sentence_end, buckets, pruned, words, pointers, rows, lengths):
    """Write the rows of word k from rows[pointers[k]] on, and their number into lengths[k].

    Its own row, first + k, is the first. An n-gram in bucket b has row words + b or, if `pruned` is not empty,
    words + pruned[b]; a negative pruned[b] means no row.
    """
    wrapped = np.empty(np.max(ends - starts) + 2 if len(starts) > 0 else 2, np.uint8)
    for word in range(len(starts)):
        at = pointers[word]
        rows[at] = first + word
        size = wrap(blob, starts[word], ends[word], wrapped, sentence_end)
        room = pointers[word + 1] - at - 1
        spans = np.empty(room, np.int64)
        hashes = np.empty(room, np.uint32)
        count = cut(wrapped, size, minn, maxn, spans, spans, hashes)
        kept = 1
        for k in range(count):
            bucket = np.int64(hashes[k]) % buckets
            if len(pruned) > 0:
                bucket = pruned[bucket]
            if bucket >= 0:
                rows[at + kept] = words + bucket
                kept += 1
        lengths[word] = kept


@njit(cache=True, nogil=True)
def mean_rows(matrix, rows, pointers, lengths, means):
    """means[w] = the sum of matrix[rows[p : p + n]] in that order, times 1/n; p = pointers[w], n = lengths[w].

    The order and the roundings are those of fastText, so the results are bit-identical. Without rows the mean is zero.
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
