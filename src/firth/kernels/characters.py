"""The 32 character classes of the tokenizer, and functions of single characters.

`classes` is a uint8 table with the class of every code point; `text/character_classes.py` builds it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from firth.kernels.words import OFFSET, PRIME

SPACE, LINE, UPPER, LOWER, LETTER, DIGIT, MARK, CONNECTOR = range(8)
HAN, HIRAGANA, KATAKANA, UNSPACED, EMOJI, FLAG = range(8, 14)
APOSTROPHE, DOT, TERMINAL, STOP, ELLIPSIS, OPEN, CLOSE, QUOTE = range(14, 22)
HYPHEN, DASH, COMMA, SLASH, CURRENCY, MIDDLE, AT, HASH, AMPERSAND, SYMBOL = range(22, 32)

CARRIAGE_RETURN, NEWLINE, PARAGRAPH = 0x0D, 0x0A, 0x2029


@njit(cache=True, nogil=True)
def is_word(kind):
    """Whether characters of a class are allowed anywhere in a word: letters, digits, marks and the underscore."""
    return UPPER <= kind <= CONNECTOR


@njit(cache=True, nogil=True)
def is_letter(kind):
    """Whether a class is letters of a script that separates words by spaces."""
    return UPPER <= kind <= LETTER


@njit(cache=True, nogil=True)
def lower(code):
    """The lower case of an ASCII letter; other code points are returned unchanged."""
    return code + 32 if 65 <= code <= 90 else np.int64(code)


@njit(cache=True, nogil=True)
def kind_at(codes, classes, at, stop):
    """The class of codes[at], or SPACE if at >= stop."""
    return np.int64(classes[codes[at]]) if at < stop else np.int64(SPACE)


@njit(cache=True, nogil=True)
def skip_space(codes, classes, at, wrapped):
    """(offset of the next character that is not white space, whether a break precedes it).

    A break is the end of a line or, in wrapped text, an empty line. The end of the text is a break.
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
    """The value of codes[start:end] in an open-addressing hash table, or 0. The size of the table is a power of two."""
    key = hash_codes(codes, start, end)
    mask = np.uint64(len(keys) - 1)
    slot = (key >> np.uint64(20)) & mask
    while keys[slot] != 0:
        if keys[slot] == key:
            return np.int64(values[slot])
        slot = (slot + np.uint64(1)) & mask
    return np.int64(0)
