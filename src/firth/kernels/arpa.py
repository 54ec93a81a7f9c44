"""Lines of ARPA files, read and written: `log10 TAB word ... word TAB backoff`, fields parted by blanks.

A block is a uint8 array that ends with a whole line. Readers stop at an empty line, at a line that begins with a
backslash, at the end, or where something is wrong; they say where, how many lines they took, and what the matter is.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from firth.kernels.decimals import GOOD, HARD, LONGEST, is_blank, read_number, write_number
from firth.kernels.ngram import NONE, child
from firth.kernels.words import find

FINE, FEW_FIELDS, MANY_FIELDS, NO_NUMBER, POSITIVE, NO_WORD, NO_PREFIX, NO_BACKOFF, HARD_NUMBER = range(9)
NEWLINE, RETURN, BACKSLASH, TAB, BLANK = np.uint8(10), np.uint8(13), np.uint8(92), np.uint8(9), np.uint8(32)


@njit(cache=True, nogil=True)
def line_end(blob, at):
    """(the end of the line at a place, the start of the next one); blanks and a carriage return at the end are cut."""
    stop = at
    while stop < len(blob) and blob[stop] != NEWLINE:
        stop += 1
    after = min(stop + 1, len(blob))
    while stop > at and (is_blank(blob[stop - 1]) or blob[stop - 1] == RETURN):
        stop -= 1
    return stop, after


@njit(cache=True, nogil=True)
def field(blob, at, stop):
    """(start, end) of the next field; both are `stop` where there is none."""
    while at < stop and is_blank(blob[at]):
        at += 1
    end = at
    while end < stop and not is_blank(blob[end]):
        end += 1
    return at, end


@njit(cache=True, nogil=True)
def log_number(blob, start, end, problem):
    """(the number of a field, FINE, HARD_NUMBER or, where it is none, the problem)."""
    value, _, status = read_number(blob, start, end)
    if status == HARD:
        return value, HARD_NUMBER
    if status != GOOD or np.isnan(value):
        return value, problem
    return value, FINE


@njit(cache=True, nogil=True)
def read_words(blob, at, row, starts, ends, log10, backoffs):
    """Reads lines of single words from a place on: (place, row, problem). Words are places in the block."""
    while at < len(blob) and row < len(log10):
        stop, after = line_end(blob, at)
        if stop == at or blob[at] == BACKSLASH:
            break
        start, end = field(blob, at, stop)
        value, problem = log_number(blob, start, end, NO_NUMBER)
        if problem == FINE and value > 0:
            problem = POSITIVE
        if problem != FINE:
            return at, row, problem
        starts[row], ends[row] = field(blob, end, stop)
        if starts[row] == stop:
            return at, row, FEW_FIELDS
        log10[row], backoffs[row] = value, 0.0
        start, end = field(blob, ends[row], stop)
        if start < stop:
            backoffs[row], problem = log_number(blob, start, end, NO_BACKOFF)
            if problem != FINE:
                return at, row, problem
            if end < stop:
                return at, row, MANY_FIELDS
        row += 1
        at = after
    return at, row, FINE


@njit(cache=True, nogil=True)
def read_ngrams(blob, at, row, order, vocabulary, starts, words, base, keys, log10, backoffs):
    """Reads lines of n-grams from a place on: (place, row, problem). keys[row] = (prefix - base) * size + last word.

    `vocabulary` is (blob, starts, ends, slots) of the words; the trie must hold all shorter n-grams, `base` is the
    first node of the prefixes.
    """
    names, name_starts, name_ends, slots = vocabulary
    size = np.uint64(len(name_starts))
    while at < len(blob) and row < len(keys):
        stop, after = line_end(blob, at)
        if stop == at or blob[at] == BACKSLASH:
            break
        start, end = field(blob, at, stop)
        value, problem = log_number(blob, start, end, NO_NUMBER)
        if problem == FINE and value > 0:
            problem = POSITIVE
        if problem != FINE:
            return at, row, problem
        node = NONE
        for k in range(order):
            start, end = field(blob, end, stop)
            if start == stop:
                return at, row, FEW_FIELDS
            word = find(blob, start, end, names, name_starts, name_ends, slots)
            if word < 0:
                return at, row, NO_WORD
            if k == 0:
                node = word
            elif k < order - 1:
                node = child(starts, words, node, word)
                if node == NONE:
                    return at, row, NO_PREFIX
            else:
                keys[row] = np.uint64(node - base) * size + np.uint64(word)
        log10[row], backoffs[row] = value, 0.0
        start, end = field(blob, end, stop)
        if start < stop:
            backoffs[row], problem = log_number(blob, start, end, NO_BACKOFF)
            if problem != FINE:
                return at, row, problem
            if end < stop:
                return at, row, MANY_FIELDS
        row += 1
        at = after
    return at, row, FINE


@njit(cache=True, nogil=True)
def write_log(value, out, at):
    """Writes a number without a needless `.0` at its end; -1 where its digits are unsure."""
    after = write_number(value, out, at)
    if after >= 2 and out[after - 1] == 48 and out[after - 2] == 46:
        return after - 2
    return after


@njit(cache=True, nogil=True)
def write_ngrams(node, last, path, edges, names, name_starts, name_ends, starts, words, log10, backoffs, out):
    """Writes the n-grams from a node up to `last` as lines, as long as out has room: (node, bytes, is it too hard).

    path[k] is the node of the first k + 1 words of the n-gram at hand; it is moved along. edges[k] is the first node of
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
            return node, at, False
        line = at
        at = write_log(log10[node], out, at)
        if at < 0:
            return node, line, True
        for k in range(order):
            out[at] = BLANK if k else TAB
            at += 1
            for i in range(name_starts[words[path[k]]], name_ends[words[path[k]]]):
                out[at] = names[i]
                at += 1
        if node < len(backoffs):
            out[at] = TAB
            at = write_log(backoffs[node], out, at + 1)
            if at < 0:
                return node, line, True
        out[at] = NEWLINE
        at += 1
        node += 1
    return node, at, False
