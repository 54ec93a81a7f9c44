"""Read and write rows of vector files: text lines, binary rows and the dictionary of a fastText file.

A buffer is a uint8 array. Word i is blob[starts[i]:ends[i]]; numbers are float32 rows.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from firth.kernels.decimals import BAD, HARD, LONGEST, NEWLINE, is_blank, line_end, read_number, write_number

BLANK = np.uint8(32)


@njit(cache=True, nogil=True)
def read_fields(blob, at, stop, row, numbers, hard, hard_count):
    """Read exactly len(numbers) numbers from blob[at:stop]: the new number of hard ones, or -1."""
    column = 0
    while True:
        while at < stop and is_blank(blob[at]):
            at += 1
        if at >= stop:
            return hard_count if column == len(numbers) else -1
        if column == len(numbers):
            return -1
        first = at
        value, at, status = read_number(blob, at, stop)
        if status == BAD:
            return -1
        numbers[column] = value
        if status == HARD:
            if hard_count < len(hard):
                hard[hard_count, 0], hard[hard_count, 1] = row, column
                hard[hard_count, 2], hard[hard_count, 3] = first, at
            hard_count += 1
        column += 1


@njit(cache=True, nogil=True)
def split_right(blob, start, stop, dim):
    """The start of the last dim fields of blob[start:stop], or -1 if nothing precedes them."""
    at = stop
    for _ in range(dim):
        while at > start and is_blank(blob[at - 1]):
            at -= 1
        if at == start:
            return -1
        while at > start and not is_blank(blob[at - 1]):
            at -= 1
    return at if at > start else -1


@njit(cache=True, nogil=True)
def word_end(blob, start, stop):
    """The end of a word without trailing blanks, or -1 if its last of several fields is a number (one too many)."""
    while stop > start and is_blank(blob[stop - 1]):
        stop -= 1
    last = stop
    while last > start and not is_blank(blob[last - 1]):
        last -= 1
    if last > start and read_number(blob, last, stop)[2] != BAD:
        return -1
    return stop


@njit(cache=True, nogil=True)
def read_lines(blob, at, row, line, rows, starts, ends, hard):
    """Read lines `word x1 ... xd` into rows[row:] up to the end, a broken line, or more hard numbers than fit.

    Returns (offset, row, line, number of hard numbers, broken). The word ends at the first blank. If the rest is not
    d numbers, the last d fields are the numbers and everything before them is the word. Empty lines are skipped.
    """
    dim = rows.shape[1]
    hard_count = 0
    size = len(blob)
    while at < size:
        stop, after = line_end(blob, at)
        if stop > at:
            end = at
            while end < stop and not is_blank(blob[end]):
                end += 1
            hard_now = -1
            if end > at:
                hard_now = read_fields(blob, end, stop, row, rows[row], hard, hard_count)
            if hard_now < 0:
                numbers = split_right(blob, at, stop, dim)
                end = -1 if numbers < 0 else word_end(blob, at, numbers)
                if end >= 0:
                    hard_now = read_fields(blob, numbers, stop, row, rows[row], hard, hard_count)
            if hard_now < 0:
                return at, row, line, hard_count, True
            if hard_now > len(hard):
                return at, row, line, hard_count, False
            hard_count = hard_now
            starts[row], ends[row] = at, end
            row += 1
        line += 1
        at = after
    return size, row, line, hard_count, False


@njit(cache=True, nogil=True)
def scan_binary(blob, at, dim, starts, ends):
    """Find rows `word BLANK 4*dim bytes` and skip newlines before a word; returns the number of complete rows."""
    width = 4 * dim
    size = len(blob)
    row = 0
    while row < len(starts):
        while at < size and blob[at] == NEWLINE:
            at += 1
        end = at
        while end < size and blob[end] != BLANK:
            end += 1
        if end + 1 + width > size:
            break
        starts[row], ends[row] = at, end
        at = end + 1 + width
        row += 1
    return row


@njit(cache=True, nogil=True)
def copy_binary(blob, ends, rows):
    """rows[i] (uint8) = the bytes after the blank at ends[i]."""
    width = rows.shape[1]
    for i in range(len(ends)):
        source, target = blob[ends[i] + 1 : ends[i] + 1 + width], rows[i]
        for j in range(width):  # the compiler makes a memory copy of it
            target[j] = source[j]


@njit(cache=True, nogil=True)
def copy_words(blob, starts, ends, out):
    """Concatenate the words of a buffer."""
    at = 0
    for i in range(len(starts)):
        for j in range(starts[i], ends[i]):
            out[at] = blob[j]
            at += 1


@njit(cache=True, nogil=True)
def scan_dictionary(blob, at, starts, ends, counts, kinds):
    """Read entries `bytes 0, int64 count, int8 kind`: the offset after the last, or -1 if the buffer is too short."""
    size = len(blob)
    for entry in range(len(starts)):
        starts[entry] = at
        while at < size and blob[at] != 0:
            at += 1
        ends[entry] = at
        if at + 10 > size:
            return -1
        count = np.uint64(0)
        for i in range(8):
            count |= np.uint64(blob[at + 1 + i]) << np.uint64(8 * i)
        counts[entry] = np.int64(count)
        kinds[entry] = blob[at + 9]
        at += 10
    return at


@njit(cache=True, nogil=True)
def write_lines(words, starts, ends, rows, tail, out):
    """Write rows as lines `word x1 ... xd`, each followed by the tail bytes; returns the number of bytes."""
    at = 0
    for i in range(len(rows)):
        for j in range(starts[i], ends[i]):
            out[at] = words[j]
            at += 1
        for column in range(rows.shape[1]):
            out[at] = BLANK
            at = write_number(rows[i, column], out, at + 1)
        for byte in tail:
            out[at] = byte
            at += 1
    return at


@njit(cache=True, nogil=True)
def max_line_bytes(starts, ends, dim, tail):
    """An upper bound of the bytes that `write_lines` writes."""
    return np.sum(ends - starts) + len(starts) * (dim * (LONGEST + 1) + tail)
