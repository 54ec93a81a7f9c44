"""Convert text to word ids in one pass: validate, split, hash and count, eight bytes at a time.

The text is a uint8 array of `end` bytes followed by at least PADDING blanks, so that eight bytes can be loaded at any
offset and every word ends. Blanks are ASCII white space (space, tab, newline, carriage return, vertical tab, form feed)
and the zero byte.

A hash table of words is `slots` (as in `kernels/words.py`), `entries` (n, 4) with the first eight bytes, the next eight
bytes, the length and the count of each word, and its bytes at starts[id] in `blob`. Ids are assigned in order of first
occurrence, so the entries of frequent words are adjacent and stay in the cache; a word of up to 16 bytes is compared as
two integers. `state` is carried from one call to the next (fields AT … USED).
"""

from __future__ import annotations

import numpy as np
from numba import njit

PADDING = 32
AT, TOKENS, SENTENCES, OPEN, WORDS, USED = range(6)  # the fields of `state`
NEWLINE, SPACE = np.uint8(10), np.uint8(32)

HIGH, LOW = np.uint64(0xFFFFFFFF00000000), np.uint64(0x00000000FFFFFFFF)
ONES, TOPS, SEVENS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080), np.uint64(0x7F7F7F7F7F7F7F7F)
ABOVE_SPACE = np.uint64(0x5F5F5F5F5F5F5F5F)  # 0x80 - 0x21 in every byte
FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
U0, U1, U3, U8, U16 = np.uint64(0), np.uint64(1), np.uint64(3), np.uint64(8), np.uint64(16)
U29, U32, U56, U64 = np.uint64(29), np.uint64(32), np.uint64(56), np.uint64(64)
FIRST, SECOND, LENGTH = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)


@njit(cache=True, inline="always")
def load8(text, at):
    """text[at : at + 8] as one little-endian integer; `at` is uint64. LLVM compiles it to one load."""
    return (
        np.uint64(text[at])
        | (np.uint64(text[at + np.uint64(1)]) << np.uint64(8))
        | (np.uint64(text[at + np.uint64(2)]) << np.uint64(16))
        | (np.uint64(text[at + np.uint64(3)]) << np.uint64(24))
        | (np.uint64(text[at + np.uint64(4)]) << np.uint64(32))
        | (np.uint64(text[at + np.uint64(5)]) << np.uint64(40))
        | (np.uint64(text[at + np.uint64(6)]) << np.uint64(48))
        | (np.uint64(text[at + np.uint64(7)]) << np.uint64(56))
    )


@njit(cache=True, inline="always")
def mark_low_bytes(eight):
    """The top bit of every byte that is at most 32; all other bits are zero."""
    return ~(((eight & SEVENS) + ABOVE_SPACE) | eight) & TOPS


@njit(cache=True, inline="always")
def first_byte(marks):
    """The index (0 to 7) of the first marked byte; marks is nonzero."""
    return ((((marks - U1) & ~marks) & ONES) * ONES >> U56) - U1


@njit(cache=True, inline="always")
def is_blank(byte):
    """Whether a byte is ASCII white space or zero."""
    return byte == 32 or (byte >= 9 and byte <= 13) or byte == 0


@njit(cache=True, inline="always")
def hash_prefix(first, second, length):
    """The hash of the first sixteen bytes and the length of a word."""
    state = (first ^ (length * LENGTH)) * FIRST
    state ^= state >> U29
    state = (state ^ second) * SECOND
    return state ^ (state >> U32)


@njit(cache=True, nogil=True)
def hash_tail(text, start, length, state):
    """Add the bytes after the first sixteen to a hash."""
    for i in range(16, np.int64(length)):
        state = (state ^ np.uint64(text[start + np.uint64(i)])) * FIRST
        state ^= state >> U29
    return state


@njit(cache=True, nogil=True)
def same_tail(text, start, blob, other, length):
    """Whether two words of equal length are the same after their first sixteen bytes."""
    for i in range(16, np.int64(length)):  # noqa: SIM110 (numba has no all())
        if text[start + np.uint64(i)] != blob[other + np.uint64(i)]:
            return False
    return True


@njit(cache=True, nogil=True)
def measure_word(text, start):
    """The length of the word at `start`, byte by byte, for words that contain control characters."""
    stop = start
    while not is_blank(text[stop]):
        stop += U1
    return stop - start


@njit(cache=True, inline="always")
def load_prefix(text, at, length):
    """The first min(length, 8) bytes at `at` as one integer; 0 if length is 0."""
    if length == U0:
        return U0
    if length >= U8:
        return load8(text, at)
    return load8(text, at) & (FULL >> (U64 - U8 * length))


@njit(cache=True, inline="always")
def load_word(text, at):
    """(first eight bytes, next eight bytes, length) of the word at `at`."""
    first, second = load8(text, at), U0
    marks = mark_low_bytes(first)
    if marks != U0:
        length = first_byte(marks)
        first = load_prefix(text, at, length)
    else:
        length = U8
        marks = mark_low_bytes(load8(text, at + U8))
        while marks == U0:
            length += U8
            marks = mark_low_bytes(load8(text, at + length))
        length += first_byte(marks)
        second = load_prefix(text, at + U8, length - U8)
    if not is_blank(text[at + length]):  # a control character, which is part of the word
        length = measure_word(text, at)
        first = load_prefix(text, at, length)
        second = load_prefix(text, at + U8, length - U8) if length > U8 else U0
    return first, second, length


@njit(cache=True, inline="always")
def hash_word(text, at, first, second, length):
    """The hash of the word at `at`; only words longer than sixteen bytes are read again."""
    key = hash_prefix(first, second, length)
    return key if length <= U16 else hash_tail(text, at, length, key)


@njit(cache=True, inline="always")
def is_entry(id, text, at, first, second, length, entries, starts, blob):
    """Whether the word at `at` is the word with this id."""
    if entries[id, 0] != first or entries[id, 1] != second or entries[id, 2] != length:
        return False
    return length <= U16 or same_tail(text, at, blob, np.uint64(starts[id]), length)


@njit(cache=True, nogil=True)
def find_slot(text, at, first, second, length, key, slots, entries, starts, blob):
    """The slot of the word at `at`, or the free slot for it."""
    mask = np.uint64(len(slots) - 1)
    slot_index = key & mask
    while slots[slot_index] != U0:
        id = (slots[slot_index] & LOW) - U1
        if (slots[slot_index] ^ key) & HIGH == U0 and is_entry(
            id, text, at, first, second, length, entries, starts, blob
        ):
            break
        slot_index = (slot_index + U1) & mask
    return slot_index


@njit(cache=True, nogil=True)
def add_word(text, at, first, second, length, id, entries, starts, blob, used):
    """Append a new word to a table that has room for it."""
    entries[id, 0], entries[id, 1], entries[id, 2], entries[id, 3] = first, second, length, U0
    starts[id] = used
    for i in range(np.int64(length)):
        blob[used + i] = text[at + np.uint64(i)]


@njit(cache=True, nogil=True)
def scan(text, end, lengths, last, slots, entries, starts, blob, state, ids, ends):
    """Write the ids of the tokens in text[state[AT]:end] and the end of each sentence, and count the words.

    If `lengths` (bytes of each token) is not empty, tokens are adjacent without blanks, and `last` marks those that end
    a sentence. Otherwise tokens are separated by blanks, and a line with a token is a sentence. The scan stops early if
    the table has no room for another word: then state[AT] < end, and the caller enlarges the table and calls again.
    (Both modes share one loop: with a shared inner function it takes 50% longer.)
    """
    at, stop = np.uint64(state[AT]), np.uint64(end)
    tokens, sentences, words, used = state[TOKENS], state[SENTENCES], state[WORDS], state[USED]
    open_line = state[OPEN] != 0
    known = len(lengths) > 0
    mask = np.uint64(len(slots) - 1)
    room = min(len(entries), len(slots) // 2)
    while at < stop:
        if known:
            length = np.uint64(lengths[tokens])
            first = load_prefix(text, at, length)
            second = load_prefix(text, at + U8, length - U8) if length > U8 else U0
        else:
            byte = text[at]
            if is_blank(byte):
                if byte == NEWLINE and open_line:
                    ends[sentences] = tokens
                    sentences += 1
                    open_line = False
                at += U1
                continue
            first, second, length = load_word(text, at)
        key = hash_word(text, at, first, second, length)
        slot_index = key & mask
        while True:  # inlined: with `find_slot` it takes twice the time
            slot = slots[slot_index]
            id = (slot & LOW) - U1
            if slot == U0:
                if words >= room or used + np.int64(length) > len(blob):
                    state[AT], state[TOKENS], state[SENTENCES], state[OPEN] = at, tokens, sentences, open_line
                    state[WORDS], state[USED] = words, used
                    return
                id = np.uint64(words)
                add_word(text, at, first, second, length, id, entries, starts, blob, used)
                used += np.int64(length)
                words += 1
                slots[slot_index] = (key & HIGH) | np.uint64(words)
                break
            if (
                (slot ^ key) & HIGH == U0
                and entries[id, 0] == first
                and entries[id, 1] == second
                and entries[id, 2] == length
                and (length <= U16 or same_tail(text, at, blob, np.uint64(starts[id]), length))
            ):
                break
            slot_index = (slot_index + U1) & mask
        entries[id, 3] += U1
        ids[tokens] = id
        tokens += 1
        open_line = True
        at += length
        if known and last[tokens - 1]:
            ends[sentences] = tokens
            sentences += 1
    state[AT], state[TOKENS], state[SENTENCES], state[OPEN] = at, tokens, sentences, open_line
    state[WORDS], state[USED] = words, used


@njit(cache=True, nogil=True)
def fill_slots(entries, starts, blob, words, slots):
    """Fill empty slots with the distinct words of a table."""
    mask = np.uint64(len(slots) - 1)
    for id in range(words):
        key = hash_word(blob, np.uint64(starts[id]), entries[id, 0], entries[id, 1], entries[id, 2])
        slot_index = key & mask
        while slots[slot_index] != U0:
            slot_index = (slot_index + U1) & mask
        slots[slot_index] = (key & HIGH) | np.uint64(id + 1)


@njit(cache=True, nogil=True)
def merge_words(from_entries, from_starts, from_blob, from_words, slots, entries, starts, blob, state, new_ids):
    """Add the words and counts of one table to another that has room; new_ids[old id] = id in the other table."""
    words, used = state[WORDS], state[USED]
    for other in range(from_words):
        first, second, length = from_entries[other, 0], from_entries[other, 1], from_entries[other, 2]
        at = np.uint64(from_starts[other])
        key = hash_word(from_blob, at, first, second, length)
        slot_index = find_slot(from_blob, at, first, second, length, key, slots, entries, starts, blob)
        if slots[slot_index] == U0:
            add_word(from_blob, at, first, second, length, words, entries, starts, blob, used)
            used += np.int64(length)
            words += 1
            slots[slot_index] = (key & HIGH) | np.uint64(words)
        id = (slots[slot_index] & LOW) - U1
        entries[id, 3] += from_entries[other, 3]
        new_ids[other] = id
    state[WORDS], state[USED] = words, used


@njit(cache=True, nogil=True)
def renumber(ids, numbers):
    """ids[i] = numbers[ids[i]]."""
    for i in range(len(ids)):
        ids[i] = numbers[ids[i]]


@njit(cache=True, nogil=True)
def find_invalid_utf8(text, end):
    """The offset of the first byte in text[:end] that is not UTF-8 (RFC 3629), or -1."""
    at, stop = np.uint64(0), np.uint64(end)
    while at < stop:
        if load8(text, at) & TOPS == U0:
            at += U8
            continue
        byte = text[at]
        if byte < 0x80:
            at += U1
            continue
        low, high, more = np.uint8(0x80), np.uint8(0xBF), U0
        if byte >= 0xC2 and byte <= 0xDF:
            more = U1
        elif byte >= 0xE0 and byte <= 0xEF:
            more = np.uint64(2)
            if byte == 0xE0:
                low = np.uint8(0xA0)  # overlong encodings
            elif byte == 0xED:
                high = np.uint8(0x9F)  # surrogates
        elif byte >= 0xF0 and byte <= 0xF4:
            more = U3
            if byte == 0xF0:
                low = np.uint8(0x90)
            elif byte == 0xF4:
                high = np.uint8(0x8F)  # above U+10FFFF
        else:
            return np.int64(at)
        if at + more >= stop or text[at + U1] < low or text[at + U1] > high:
            return np.int64(at)
        for i in range(2, np.int64(more) + 1):
            if text[at + np.uint64(i)] & 0xC0 != 0x80:
                return np.int64(at)
        at += more + U1
    return np.int64(-1)
