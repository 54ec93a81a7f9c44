"""Find the blanks inside Persian words that are typed instead of half-spaces (U+200C).

A text is a uint32 array of code points. A gap is white space, with or without half-spaces, between two words of Arabic
letters on one line. A small hash table has the words that decide, as bits: a PREFIX (می) joins a VERB of the large
table, a SUFFIX (ها) joins any word before it, a COMPARATIVE (تر) any but a WET noun (چشم تر), and an ENDING (اند)
joins a word with a silent final heh (خانه ای). A PART (سازی) is the second part of compounds. No suffix follows a word
that is NEVER (و). A FIRST word begins compounds, which are in the large table with their half-spaces, each a PAIR.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from firth.kernels.characters import extend_hash, find_key, look_up
from firth.kernels.words import OFFSET, PRIME

PREFIX, FIRST, SUFFIX, COMPARATIVE, WET, ENDING, PART, NEVER = 1, 2, 4, 8, 16, 32, 64, 128
VERB, PAIR = 1, 2  # values of the table of forms
KEEP, DELETE, JOIN = 0, 1, 2  # what becomes of a character
ZWNJ, BLANK, NO_BREAK = 0x200C, 0x20, 0xA0
ALEF, HEH, WAW, YEH, HAMZA = 0x627, 0x647, 0x648, 0x6CC, 0x654


@njit(cache=True, nogil=True)
def is_arabic_letter(code):
    """Whether a code point is a letter or a mark of Arabic script."""
    if not 0x620 <= code <= 0x6D3:
        return False
    return not (0x660 <= code <= 0x66D or code == 0x640)


@njit(cache=True, nogil=True)
def has_silent_heh(codes, start, end):
    """Whether codes[start:end] ends in a silent heh: خانه, but not راه or گروه."""
    if end - start < 3 or codes[end - 1] != HEH:
        return False
    before = codes[end - 2]
    return before != ALEF and before != WAW and before != YEH


@njit(cache=True, nogil=True)
def is_pair(codes, keys, values, start, end, first, last):
    """Whether codes[start:end], a half-space and codes[first:last] are in the table of forms."""
    state = extend_hash(OFFSET, codes, start, end)
    state = extend_hash((state ^ np.uint64(ZWNJ)) * PRIME, codes, first, last)
    return find_key(state | np.uint64(1), keys, values) == PAIR


@njit(cache=True, nogil=True)
def joins_words(codes, keys, values, left, right, start, end, first, last):
    """Whether codes[start:end] and codes[first:last], with the values left and right, are parts of one word."""
    if left & PREFIX:
        return look_up(codes, first, last, keys, values) == VERB
    if left & FIRST and is_pair(codes, keys, values, start, end, first, last):
        return True
    if right == 0 or left & NEVER or end - start < 2:
        return False
    if right & SUFFIX:
        return left & SUFFIX == 0
    if right & COMPARATIVE:
        return left & (WET | COMPARATIVE | SUFFIX) == 0
    if right & ENDING:
        yeh = codes[end - 1] == YEH and codes[first] == ALEF and (last - first != 2 or codes[first + 1] != YEH)
        return yeh or has_silent_heh(codes, start, end)
    return right & PART != 0 and left & (SUFFIX | COMPARATIVE) == 0 and codes[end - 1] != YEH


@njit(cache=True, nogil=True)
def find_joins(codes, word_keys, word_values, form_keys, form_values, actions):
    """Write what becomes of each character; returns the number of gaps that are closed."""
    count = 0
    start = end = -1  # the word before the gap
    left = 0
    at = 0
    while at < len(codes):
        code = codes[at]
        if is_arabic_letter(code):
            first = at
            while at < len(codes):
                inside = codes[at] == ZWNJ and at + 1 < len(codes) and is_arabic_letter(codes[at + 1])
                if not inside and not is_arabic_letter(codes[at]):
                    break
                at += 1
            right = look_up(codes, first, at, word_keys, word_values)
            if start >= 0 and joins_words(codes, form_keys, form_values, left, right, start, end, first, at):
                actions[end] = JOIN
                actions[end + 1 : first] = DELETE
                count += 1
            start, end, left = first, at, right
        elif code in (BLANK, NO_BREAK, ZWNJ):
            at += 1
        else:
            start = -1
            at += 1
    return count


@njit(cache=True, nogil=True)
def apply_joins(codes, actions, out):
    """Write the text with its gaps closed; returns its length."""
    size = 0
    for at in range(len(codes)):
        if actions[at] != DELETE:
            out[size] = np.uint32(ZWNJ) if actions[at] == JOIN else codes[at]
            size += 1
    return size
