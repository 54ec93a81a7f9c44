"""Text to ids in one pass: bytes are checked, split at blanks, hashed and counted eight at a time.

The text is a uint8 array of `end` bytes and at least PADDING blanks after them, so that eight bytes can be loaded from
any place and every word ends. Blanks are the ASCII ones: space, tab, newline, carriage return, vertical tab, form feed.

A table of words is `slots` (as in `kernels/words.py`: the upper half of a hash above id + 1), `entries` (n, 4) with a
word's first eight bytes, its next eight bytes, its length and its count, `starts` (where in `blob` it lies) and `blob`.
Ids are given in the order of first sight, so the entries of frequent words lie together and stay in the cache, and a
word of up to 16 bytes is compared by two numbers. `state` holds what a pass leaves behind (AT, ... below).
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
    """The eight bytes from `at` on as one little-endian number; LLVM makes one load of it."""
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
def low_bytes(eight):
    """The top bit of every byte that is at most 32, all other bits zero."""
    return ~(((eight & SEVENS) + ABOVE_SPACE) | eight) & TOPS


@njit(cache=True, inline="always")
def first_byte(marks):
    """Which byte (0 to 7) holds the lowest of these top bits; there must be one."""
    return ((((marks - U1) & ~marks) & ONES) * ONES >> U56) - U1


@njit(cache=True, inline="always")
def is_blank(byte):
    """Whether a byte is ASCII white space."""
    return byte == 32 or (byte >= 9 and byte <= 13)


@njit(cache=True, inline="always")
def spread_bits(first, second, length):
    """The hash of a word from its first sixteen bytes and its length."""
    state = (first ^ (length * LENGTH)) * FIRST
    state ^= state >> U29
    state = (state ^ second) * SECOND
    return state ^ (state >> U32)


@njit(cache=True, nogil=True)
def hash_tail(text, start, length, state):
    """Folds the bytes after the first sixteen into a hash."""
    for i in range(16, np.int64(length)):
        state = (state ^ np.uint64(text[start + np.uint64(i)])) * FIRST
        state ^= state >> U29
    return state


@njit(cache=True, nogil=True)
def same_tail(text, start, blob, other, length):
    """Whether two words of this length are equal after their first sixteen bytes."""
    for i in range(16, np.int64(length)):  # noqa: SIM110 (numba has no all())
        if text[start + np.uint64(i)] != blob[other + np.uint64(i)]:
            return False
    return True


@njit(cache=True, nogil=True)
def long_word(text, start):
    """The length of the word at `start`, by looking at every byte: for words with control characters in them."""
    stop = start
    while not is_blank(text[stop]):
        stop += U1
    return stop - start


@njit(cache=True, inline="always")
def part(text, at, length):
    """The first min(length, 8) bytes from `at` on, as a number; zero where length is none."""
    if length == U0:
        return U0
    if length >= U8:
        return load8(text, at)
    return load8(text, at) & (FULL >> (U64 - U8 * length))


@njit(cache=True, inline="always")
def word_at(text, at):
    """The word that starts at `at`: its first eight bytes, its next eight bytes and its length."""
    first, second = load8(text, at), U0
    marks = low_bytes(first)
    if marks != U0:
        length = first_byte(marks)
        first = part(text, at, length)
    else:
        length = U8
        marks = low_bytes(load8(text, at + U8))
        while marks == U0:
            length += U8
            marks = low_bytes(load8(text, at + length))
        length += first_byte(marks)
        second = part(text, at + U8, length - U8)
    if not is_blank(text[at + length]):  # a control character, which is part of the word
        length = long_word(text, at)
        first = part(text, at, length)
        second = part(text, at + U8, length - U8) if length > U8 else U0
    return first, second, length


@njit(cache=True, inline="always")
def hash_word(text, at, first, second, length):
    """The hash of the word that starts at `at`, most often from two numbers alone."""
    key = spread_bits(first, second, length)
    return key if length <= U16 else hash_tail(text, at, length, key)


@njit(cache=True, inline="always")
def is_entry(id, text, at, first, second, length, entries, starts, blob):
    """Whether the word that starts at `at` is the word with this id."""
    if entries[id, 0] != first or entries[id, 1] != second or entries[id, 2] != length:
        return False
    return length <= U16 or same_tail(text, at, blob, np.uint64(starts[id]), length)


@njit(cache=True, nogil=True)
def seek(text, at, first, second, length, key, slots, entries, starts, blob):
    """The place in `slots` of the word that starts at `at`, or the free place where it belongs."""
    mask = np.uint64(len(slots) - 1)
    place = key & mask
    while slots[place] != U0:
        id = (slots[place] & LOW) - U1
        if (slots[place] ^ key) & HIGH == U0 and is_entry(id, text, at, first, second, length, entries, starts, blob):
            break
        place = (place + U1) & mask
    return place


@njit(cache=True, nogil=True)
def add(text, at, first, second, length, id, entries, starts, blob, used):
    """Writes a new word into a table that has room for it."""
    entries[id, 0], entries[id, 1], entries[id, 2], entries[id, 3] = first, second, length, U0
    starts[id] = used
    for i in range(np.int64(length)):
        blob[used + i] = text[at + np.uint64(i)]


@njit(cache=True, nogil=True)
def scan(text, end, lengths, last, slots, entries, starts, blob, state, ids, ends):
    """Ids of the tokens in text[state[AT]:end], and the number of ids before each sentence's end; counts go up.

    With `lengths`, the bytes of each token, tokens follow each other without blanks, and `last` says which of them end
    a sentence. Without, tokens stand between blanks, and a line with a token in it is a sentence. The pass goes on
    until the text ends or the table has no room for one more word: then state[AT] < end, and the caller makes room
    and calls again. (Both are one loop because a shared inner function takes half as long again.)
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
            first = part(text, at, length)
            second = part(text, at + U8, length - U8) if length > U8 else U0
        else:
            byte = text[at]
            if is_blank(byte):
                if byte == NEWLINE and open_line:
                    ends[sentences] = tokens
                    sentences += 1
                    open_line = False
                at += U1
                continue
            first, second, length = word_at(text, at)
        key = hash_word(text, at, first, second, length)
        place = key & mask
        while True:  # written out: through `seek` it takes twice the time
            slot = slots[place]
            id = (slot & LOW) - U1
            if slot == U0:
                if words >= room or used + np.int64(length) > len(blob):
                    state[AT], state[TOKENS], state[SENTENCES], state[OPEN] = at, tokens, sentences, open_line
                    state[WORDS], state[USED] = words, used
                    return
                id = np.uint64(words)
                add(text, at, first, second, length, id, entries, starts, blob, used)
                used += np.int64(length)
                words += 1
                slots[place] = (key & HIGH) | np.uint64(words)
                break
            if (
                (slot ^ key) & HIGH == U0
                and entries[id, 0] == first
                and entries[id, 1] == second
                and entries[id, 2] == length
                and (length <= U16 or same_tail(text, at, blob, np.uint64(starts[id]), length))
            ):
                break
            place = (place + U1) & mask
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
def place_words(entries, starts, blob, words, slots):
    """Fills empty slots with the words of a table, all of which are different."""
    mask = np.uint64(len(slots) - 1)
    for id in range(words):
        key = hash_word(blob, np.uint64(starts[id]), entries[id, 0], entries[id, 1], entries[id, 2])
        place = key & mask
        while slots[place] != U0:
            place = (place + U1) & mask
        slots[place] = (key & HIGH) | np.uint64(id + 1)


@njit(cache=True, nogil=True)
def absorb(from_entries, from_starts, from_blob, from_words, slots, entries, starts, blob, state, renamed):
    """Adds the words and counts of one table to another that has room; renamed[id there] becomes the id here."""
    words, used = state[WORDS], state[USED]
    for other in range(from_words):
        first, second, length = from_entries[other, 0], from_entries[other, 1], from_entries[other, 2]
        at = np.uint64(from_starts[other])
        key = hash_word(from_blob, at, first, second, length)
        place = seek(from_blob, at, first, second, length, key, slots, entries, starts, blob)
        if slots[place] == U0:
            add(from_blob, at, first, second, length, words, entries, starts, blob, used)
            used += np.int64(length)
            words += 1
            slots[place] = (key & HIGH) | np.uint64(words)
        id = (slots[place] & LOW) - U1
        entries[id, 3] += from_entries[other, 3]
        renamed[other] = id
    state[WORDS], state[USED] = words, used


@njit(cache=True, nogil=True)
def renumber(ids, numbers):
    """ids[i] becomes numbers[ids[i]]."""
    for i in range(len(ids)):
        ids[i] = numbers[ids[i]]


@njit(cache=True, nogil=True)
def find_invalid_utf8(text, end):
    """The place of the first byte in text[:end] that is not UTF-8 (RFC 3629), or -1."""
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
                low = np.uint8(0xA0)  # a shorter form exists
            elif byte == 0xED:
                high = np.uint8(0x9F)  # surrogates
        elif byte >= 0xF0 and byte <= 0xF4:
            more = U3
            if byte == 0xF0:
                low = np.uint8(0x90)
            elif byte == 0xF4:
                high = np.uint8(0x8F)  # beyond U+10FFFF
        else:
            return np.int64(at)
        if at + more >= stop or text[at + U1] < low or text[at + U1] > high:
            return np.int64(at)
        for i in range(2, np.int64(more) + 1):
            if text[at + np.uint64(i)] & 0xC0 != 0x80:
                return np.int64(at)
        at += more + U1
    return np.int64(-1)
