"""The 32 classes of characters that the tokenizer's kernels tell apart, and what they ask of single characters.

`classes` is everywhere the uint8 table that gives every code point its class; `text/characters.py` builds it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

SPACE, LINE, UPPER, LOWER, LETTER, DIGIT, MARK, CONNECTOR = range(8)
HAN, HIRAGANA, KATAKANA, UNSPACED, EMOJI, FLAG = range(8, 14)
APOSTROPHE, DOT, TERMINAL, STOP, ELLIPSIS, OPEN, CLOSE, QUOTE = range(14, 22)
HYPHEN, DASH, COMMA, SLASH, CURRENCY, MIDDLE, AT, HASH, AMPERSAND, SYMBOL = range(22, 32)

CARRIAGE_RETURN, NEWLINE, PARAGRAPH = 0x0D, 0x0A, 0x2029
OFFSET = np.uint64(14695981039346656037)
PRIME = np.uint64(1099511628211)


@njit(cache=True, nogil=True)
def is_word(kind):
    """Whether a class can stand anywhere in a word: letters, digits, marks and the underscore."""
    return UPPER <= kind <= CONNECTOR


@njit(cache=True, nogil=True)
def is_letter(kind):
    """Whether a class is a letter of a script that writes words with spaces between them."""
    return UPPER <= kind <= LETTER


@njit(cache=True, nogil=True)
def lower(code):
    """An ASCII letter in lower case; every other code point as it is."""
    return code + 32 if 65 <= code <= 90 else np.int64(code)


@njit(cache=True, nogil=True)
def kind_at(codes, classes, at, stop):
    """The class of codes[at], or SPACE from stop on."""
    return np.int64(classes[codes[at]]) if at < stop else np.int64(SPACE)


@njit(cache=True, nogil=True)
def skip_space(codes, classes, at, wrapped):
    """(the next place that is not white space, whether a break lies before it).

    A break is a line end, or, in wrapped text, an empty line; the end of the text is a break.
    """
    lines = 0
    while at < len(codes):
        kind = classes[codes[at]]
        if kind > LINE:
            return at, lines > (1 if wrapped else 0)
        if kind == LINE:
            code = codes[at]
            lines += 2 if code == PARAGRAPH else 1
            if code == CARRIAGE_RETURN and at + 1 < len(codes) and codes[at + 1] == NEWLINE:
                at += 1
        at += 1
    return at, True


@njit(cache=True, nogil=True)
def hash_codes(codes, start, end):
    """The 64-bit FNV-1a hash of codes[start:end], never 0."""
    state = OFFSET
    for i in range(start, end):
        state = (state ^ np.uint64(codes[i])) * PRIME
    return state | np.uint64(1)


@njit(cache=True, nogil=True)
def look_up(codes, start, end, keys, values):
    """The value of codes[start:end] in an open-addressing table of hashes (a power of two long), or 0."""
    key = hash_codes(codes, start, end)
    mask = np.uint64(len(keys) - 1)
    at = (key >> np.uint64(20)) & mask
    while keys[at] != 0:
        if keys[at] == key:
            return np.int64(values[at])
        at = (at + np.uint64(1)) & mask
    return np.int64(0)
