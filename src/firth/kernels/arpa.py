"""Read and write lines of ARPA files: `log10 TAB word ... word TAB backoff`, with blanks between fields.

A buffer is a uint8 array that ends with a whole line. Readers stop at an empty line, at a line that starts with a
backslash, at the end of the buffer or at an error. They return (offset, row, problem).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from firth.kernels.decimals import GOOD, HARD, LONGEST, NEWLINE, is_blank, line_end, read_number, write_number
from firth.kernels.ngram import NONE, find_child
from firth.kernels.words import find

FINE, FEW_FIELDS, MANY_FIELDS, NO_NUMBER, POSITIVE, NO_WORD, NO_PREFIX, NO_BACKOFF, HARD_NUMBER = range(9)
BACKSLASH, TAB, BLANK = np.uint8(92), np.uint8(9), np.uint8(32)


@njit(cache=True, nogil=True)
def next_field(blob, at, stop):
    """(start, end) of the next field; both are `stop` if there is none."""
    while at < stop and is_blank(blob[at]):
        at += 1
    end = at
    while end < stop and not is_blank(blob[end]):
        end += 1
    return at, end


@njit(cache=True, nogil=True)
def read_log(blob, start, end, problem):
    """(value of a field, status); the status is FINE, HARD_NUMBER, or `problem` if the field is not a number."""
    value, _, status = read_number(blob, start, end)
    if status == HARD:
        return value, HARD_NUMBER
    if status != GOOD or np.isnan(value):
        return value, problem
    return value, FINE


@njit(cache=True, nogil=True)
def read_probability(blob, at, stop):
    """(log10 probability, end of its field, problem) of the line blob[at:stop]."""
    start, end = next_field(blob, at, stop)
    value, problem = read_log(blob, start, end, NO_NUMBER)
    if problem == FINE and value > 0:
        problem = POSITIVE
    return value, end, problem


@njit(cache=True, nogil=True)
def read_backoff(blob, at, stop):
    """(log10 backoff, problem) of the last field of a line; the backoff is 0 if the field is absent."""
    start, end = next_field(blob, at, stop)
    if start == stop:
        return np.float32(0), FINE
    value, problem = read_log(blob, start, end, NO_BACKOFF)
    if problem == FINE and end < stop:
        problem = MANY_FIELDS
    return value, problem


@njit(cache=True, nogil=True)
def read_words(blob, at, row, starts, ends, log10, backoffs):
    """Read lines of 1-grams from offset `at`. Word i is blob[starts[i]:ends[i]]."""
    while at < len(blob) and row < len(log10):
        stop, after = line_end(blob, at)
        if stop == at or blob[at] == BACKSLASH:
            break
        log10[row], end, problem = read_probability(blob, at, stop)
        if problem != FINE:
            return at, row, problem
        starts[row], ends[row] = next_field(blob, end, stop)
        if starts[row] == stop:
            return at, row, FEW_FIELDS
        backoffs[row], problem = read_backoff(blob, ends[row], stop)
        if problem != FINE:
            return at, row, problem
        row += 1
        at = after
    return at, row, FINE


@njit(cache=True, nogil=True)
def read_ngrams(blob, at, row, order, vocabulary, starts, words, base, keys, log10, backoffs):
    """Read lines of n-grams from offset `at`. keys[row] = (prefix node - base) * vocabulary size + last word.

    `vocabulary` is (blob, starts, ends, slots). The trie must contain all shorter n-grams; `base` is the first node of
    the prefixes.
    """
    names, name_starts, name_ends, slots = vocabulary
    size = np.uint64(len(name_starts))
    while at < len(blob) and row < len(keys):
        stop, after = line_end(blob, at)
        if stop == at or blob[at] == BACKSLASH:
            break
        log10[row], end, problem = read_probability(blob, at, stop)
        if problem != FINE:
            return at, row, problem
        node = NONE
        for k in range(order):
            start, end = next_field(blob, end, stop)
            if start == stop:
                return at, row, FEW_FIELDS
            word = find(blob, start, end, names, name_starts, name_ends, slots)
            if word < 0:
                return at, row, NO_WORD
            if k == 0:
                node = word
            elif k < order - 1:
                node = find_child(starts, words, node, word)
                if node == NONE:
                    return at, row, NO_PREFIX
            else:
                keys[row] = np.uint64(node - base) * size + np.uint64(word)
        backoffs[row], problem = read_backoff(blob, end, stop)
        if problem != FINE:
            return at, row, problem
        row += 1
        at = after
    return at, row, FINE


@njit(cache=True, nogil=True)
def write_log(value, out, at):
    """Write a number without a trailing `.0`; return the offset after it."""
    after = write_number(value, out, at)
    if after >= 2 and out[after - 1] == 48 and out[after - 2] == 46:
        return after - 2
    return after


@njit(cache=True, nogil=True)
def write_ngrams(node, last, path, edges, names, name_starts, name_ends, starts, words, log10, backoffs, out):
    """Write the n-grams from `node` up to `last` as lines while `out` has room: (next node, bytes).

    path[k] is the node of the first k + 1 words of the current n-gram; it is updated. edges[k] is the first node of
    length k + 1, so len(edges) is the length of these n-grams.
    """
    order = len(edges)
    at = 0
    while node < last:
        path[order - 1] = node
        for k in range(order - 2, -1, -1):
            while np.int64(starts[path[k] + 1]) <= path[k + 1]:
                path[k] += 1
        room = 2 * LONGEST + 3 + order
        for k in range(order):
            room += name_ends[words[path[k]]] - name_starts[words[path[k]]]
        if at + room > len(out):
            return node, at
        at = write_log(log10[node], out, at)
        for k in range(order):
            out[at] = BLANK if k else TAB
            at += 1
            for i in range(name_starts[words[path[k]]], name_ends[words[path[k]]]):
                out[at] = names[i]
                at += 1
        if node < len(backoffs):
            out[at] = TAB
            at = write_log(backoffs[node], out, at + 1)
        out[at] = NEWLINE
        at += 1
        node += 1
    return node, at
