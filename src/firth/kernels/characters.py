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

# Rules, one bit each. CONTRACTIONS: English do|n't. SCRIPTS: what the script of a word decides. ELISION: l'|eau, for
# the words of the table. APOSTROPHES: every apostrophe inside a word ends a token, dell'|arte. CLITICS: dit|-il.
# ORDINALS: the period of 3. belongs to the number. HYPHENS: a hyphen between letters, or between digits, is a token.
# SMALL_STARTS: a sentence may begin with a small letter, since the abbreviations of the language are known.
# HYPHEN_ELISION: elided words end at a hyphen, s-|a. YEARS: ORDINALS, also of four digits and Roman: 2000. and II.
# ITEMS: the number of an item is a sentence of its own: 2. | Title.
CONTRACTIONS, SCRIPTS, ELISION, APOSTROPHES, CLITICS, ORDINALS, HYPHENS, SMALL_STARTS = 1, 2, 4, 8, 16, 32, 64, 128
HYPHEN_ELISION, YEARS, ITEMS = 256, 512, 1024


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
def is_hebrew(code):
    """Whether a code point is a Hebrew letter."""
    return 0x5D0 <= code <= 0x5EA


@njit(cache=True, nogil=True)
def is_armenian(code):
    """Whether a code point is an Armenian letter."""
    return 0x531 <= code <= 0x556 or 0x561 <= code <= 0x587


@njit(cache=True, nogil=True)
def is_greek(code):
    """Whether a code point is of the Greek blocks."""
    return 0x370 <= code <= 0x3FF or 0x1F00 <= code <= 0x1FFF


@njit(cache=True, nogil=True)
def is_hangul(code):
    """Whether a code point is a syllable or a letter of Hangul."""
    return 0xAC00 <= code <= 0xD7FF or 0x1100 <= code <= 0x11FF or 0x3130 <= code <= 0x318F


@njit(cache=True, nogil=True)
def has_initials(code):
    """Whether a letter without case may be an initial, as in Arabic, Hebrew and Georgian script; و is a word."""
    return (0x620 <= code <= 0x6FF and code != 0x648) or is_hebrew(code) or 0x10D0 <= code <= 0x10FF


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
def extend_hash(state, codes, start, end):
    """The state of an FNV-1a hash after codes[start:end]."""
    for i in range(start, end):
        state = (state ^ np.uint64(codes[i])) * PRIME
    return state


@njit(cache=True, nogil=True)
def hash_codes(codes, start, end):
    """The 64-bit FNV-1a hash of codes[start:end], never 0."""
    return extend_hash(OFFSET, codes, start, end) | np.uint64(1)


@njit(cache=True, nogil=True)
def look_up(codes, start, end, keys, values):
    """The value of codes[start:end] in an open-addressing hash table, or 0. The size of the table is a power of two."""
    return find_key(hash_codes(codes, start, end), keys, values)


@njit(cache=True, nogil=True)
def fill_table(codes, ends, numbers, keys, values):
    """Enter words with their numbers; word k ends at codes[ends[k]]. Keys and values are zero and large enough."""
    mask = np.uint64(len(keys) - 1)
    start = 0
    for word in range(len(ends)):
        key = hash_codes(codes, start, ends[word])
        slot = (key >> np.uint64(20)) & mask
        while keys[slot] != 0:
            slot = (slot + np.uint64(1)) & mask
        keys[slot], values[slot] = key, numbers[word]
        start = ends[word]


@njit(cache=True, nogil=True)
def find_key(key, keys, values):
    """The value of a hash in the table, or 0."""
    mask = np.uint64(len(keys) - 1)
    slot = (key >> np.uint64(20)) & mask
    while keys[slot] != 0:
        if keys[slot] == key:
            return np.int64(values[slot])
        slot = (slot + np.uint64(1)) & mask
    return np.int64(0)
