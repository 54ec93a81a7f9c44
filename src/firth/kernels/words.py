"""Words as byte strings in one buffer, and an open-addressing hash table of words.

A list of n words is three arrays: `blob` (all bytes), `starts` and `ends` (int64, word i is blob[starts[i]:ends[i]]).
The hash table `slots` is a uint64 array whose length is a power of two. A free slot is 0; a used one has the upper half
of the word's hash in its upper half and id + 1 in its lower half.
"""

from __future__ import annotations

import numpy as np
from numba import njit

OFFSET = np.uint64(14695981039346656037)
PRIME = np.uint64(1099511628211)
MIX = np.uint64(0xFF51AFD7ED558CCD)
HIGH = np.uint64(0xFFFFFFFF00000000)
LOW = np.uint64(0x00000000FFFFFFFF)
TAB, NEWLINE, BACKSLASH, LETTER_N = np.uint8(9), np.uint8(10), np.uint8(92), np.uint8(110)


@njit(cache=True, inline="always")
def mix_hash(state):
    """Mix the bits of an FNV-1a hash: its upper half alone is too regular for short words."""
    state ^= state >> np.uint64(33)
    state *= MIX
    return state ^ (state >> np.uint64(29))


@njit(cache=True, nogil=True)
def hash_bytes(blob, start, end):
    """The 64-bit hash of blob[start:end]: FNV-1a with a final mix."""
    state = OFFSET
    for i in range(start, end):
        state = (state ^ np.uint64(blob[i])) * PRIME
    return mix_hash(state)


@njit(cache=True, nogil=True)
def same_bytes(a, a_start, a_end, b, b_start, b_end):
    """Whether two byte strings are equal."""
    if a_end - a_start != b_end - b_start:
        return False
    for i in range(a_end - a_start):  # noqa: SIM110 (numba has no all())
        if a[a_start + i] != b[b_start + i]:
            return False
    return True


@njit(cache=True, nogil=True)
def find(query, query_start, query_end, blob, starts, ends, slots):
    """The id of query[query_start:query_end], or -1."""
    key = hash_bytes(query, query_start, query_end)
    mask = np.uint64(len(slots) - 1)
    at = key & mask
    while slots[at] != 0:
        if (slots[at] ^ key) & HIGH == 0:
            id = np.int64(slots[at] & LOW) - 1
            if same_bytes(query, query_start, query_end, blob, starts[id], ends[id]):
                return id
        at = (at + np.uint64(1)) & mask
    return np.int64(-1)


@njit(cache=True, nogil=True)
def find_all(query, query_starts, query_ends, blob, starts, ends, slots, ids):
    """ids[k] = id of query word k, or -1."""
    for k in range(len(query_starts)):
        ids[k] = find(query, query_starts[k], query_ends[k], blob, starts, ends, slots)


@njit(cache=True, nogil=True)
def index(blob, starts, ends, slots):
    """Insert all words into an empty hash table; repeated words are skipped. Returns the number of repeats."""
    mask = np.uint64(len(slots) - 1)
    repeats = 0
    for id in range(len(starts)):
        key = hash_bytes(blob, starts[id], ends[id])
        at = key & mask
        fresh = True
        while slots[at] != 0:
            if (slots[at] ^ key) & HIGH == 0:
                other = np.int64(slots[at] & LOW) - 1
                if same_bytes(blob, starts[id], ends[id], blob, starts[other], ends[other]):
                    fresh = False
                    break
            at = (at + np.uint64(1)) & mask
        if fresh:
            slots[at] = (key & HIGH) | np.uint64(id + 1)
        else:
            repeats += 1
    return repeats


@njit(cache=True, nogil=True)
def count_lines(blob):
    """The number of lines, including a last line without a newline."""
    lines = 0
    for i in range(len(blob)):
        lines += blob[i] == NEWLINE
    if len(blob) and blob[len(blob) - 1] != NEWLINE:
        lines += 1
    return lines


@njit(cache=True, nogil=True)
def scan_counts(blob, starts, ends, counts):
    """Read lines `word TAB count`; returns -1, or the index of the first line without a count."""
    line = 0
    start = 0
    size = len(blob)
    while start < size:
        stop = start
        tab = -1
        while stop < size and blob[stop] != NEWLINE:
            if blob[stop] == TAB:
                tab = stop
            stop += 1
        if tab < 0 or tab + 1 == stop or stop - tab > 19:
            return line
        number = np.int64(0)
        for i in range(tab + 1, stop):
            digit = np.int64(blob[i]) - 48
            if digit < 0 or digit > 9:
                return line
            number = number * 10 + digit
        starts[line] = start
        ends[line] = tab
        counts[line] = number
        line += 1
        start = stop + 1
    return -1


@njit(cache=True, nogil=True)
def unescape(blob, starts, ends, out):
    """Copy the words to `out`, \\n as a newline and \\\\ as a backslash; starts and ends become offsets in `out`."""
    used = 0
    for word in range(len(starts)):
        at, stop = starts[word], ends[word]
        starts[word] = used
        while at < stop:
            byte = blob[at]
            if byte == BACKSLASH and at + 1 < stop:
                at += 1
                byte = NEWLINE if blob[at] == LETTER_N else blob[at]
            out[used] = byte
            used += 1
            at += 1
        ends[word] = used
    return used


@njit(cache=True, nogil=True)
def write_counts(blob, starts, ends, counts, out):
    """Write lines `word TAB count`, escaped for `unescape`, of at most 2 * length + 22 bytes; returns the bytes."""
    used = 0
    digits = np.empty(20, np.uint8)
    for word in range(len(starts)):
        for i in range(starts[word], ends[word]):
            byte = blob[i]
            if byte in (NEWLINE, BACKSLASH):
                out[used] = BACKSLASH
                used += 1
                byte = LETTER_N if byte == NEWLINE else byte
            out[used] = byte
            used += 1
        out[used] = TAB
        used += 1
        number = counts[word]
        size = 0
        while size == 0 or number > 0:
            digits[size] = 48 + number % 10
            number //= 10
            size += 1
        for i in range(size):
            out[used + i] = digits[size - 1 - i]
        out[used + size] = NEWLINE
        used += size + 1
    return used


@njit(cache=True, nogil=True)
def load_prefixes(blob, starts, ends, numbers):
    """numbers[i] = the first eight bytes of word i as one big-endian integer; shorter words are padded with zeros."""
    for word in range(len(starts)):
        number = np.uint64(0)
        for i in range(8):
            number <<= np.uint64(8)
            if starts[word] + i < ends[word]:
                number |= np.uint64(blob[starts[word] + i])
        numbers[word] = number


@njit(cache=True, nogil=True)
def is_before(blob, a_start, a_end, b_start, b_end):
    """Whether one byte string precedes another in lexicographic order."""
    for i in range(min(a_end - a_start, b_end - b_start)):
        if blob[a_start + i] != blob[b_start + i]:
            return blob[a_start + i] < blob[b_start + i]
    return a_end - a_start < b_end - b_start


@njit(cache=True, nogil=True)
def sort_runs(blob, starts, ends, order, firsts, lasts):
    """Insertion sort of each short run order[first:last] by the bytes of the words."""
    for run in range(len(firsts)):
        for i in range(firsts[run] + 1, lasts[run]):
            word = order[i]
            j = i
            while j > firsts[run] and is_before(
                blob, starts[word], ends[word], starts[order[j - 1]], ends[order[j - 1]]
            ):
                order[j] = order[j - 1]
                j -= 1
            order[j] = word


@njit(cache=True, nogil=True)
def edit_distances(query, blob, starts, ends, most, distances):
    """distances[i] = Levenshtein distance in bytes between the query and word i, at most most + 1."""
    size = len(query)
    row = np.empty(size + 1, np.int64)
    for word in range(len(starts)):
        length = ends[word] - starts[word]
        distances[word] = most + 1
        if abs(length - size) > most:
            continue
        for j in range(size + 1):
            row[j] = j
        exceeded = False
        for i in range(1, length + 1):
            byte = blob[starts[word] + i - 1]
            diagonal = row[0]
            row[0] = i
            best = np.int64(i)
            for j in range(1, size + 1):
                above = row[j]
                change = diagonal + (byte != query[j - 1])
                row[j] = min(change, above + 1, row[j - 1] + 1)
                diagonal = above
                best = min(best, row[j])
            if best > most:
                exceeded = True
                break
        if not exceeded and row[size] <= most:
            distances[word] = row[size]
