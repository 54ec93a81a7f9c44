"""Replace each code point by zero, one or several code points."""

from __future__ import annotations

import numpy as np
from numba import njit

SEVERAL = 0x80000000  # a table value v >= SEVERAL is an offset v - SEVERAL of a length and code points in `several`


@njit(cache=True, nogil=True)
def first_change(codes, table):
    """The offset of the first code point that the table changes, or the length."""
    for at in range(len(codes)):
        if table[codes[at]] != codes[at]:
            return at
    return len(codes)


@njit(cache=True, nogil=True)
def is_latin(code):
    """Whether a code point is a Latin letter."""
    return 65 <= code <= 90 or 97 <= code <= 122 or (0xC0 <= code <= 0x24F and code != 0xD7 and code != 0xF7)


@njit(cache=True, nogil=True)
def is_latin_part(code):
    """Whether a character may stand in a word or address with Latin letters: MP3, x3.com/a_1?b=2, j.doe+1@x.org."""
    if 48 <= code <= 57 or is_latin(code):
        return True
    return code in (0x2E, 0x2D, 0x5F, 0x40, 0x2F, 0x3A, 0x25, 0x2B, 0x23, 0x3F, 0x3D, 0x26, 0x7E)


@njit(cache=True, nogil=True)
def latin_digits(codes):
    """A mask of the ASCII digits in words and addresses that have a Latin letter."""
    mask = np.zeros(len(codes), np.bool_)
    at = 0
    while at < len(codes):
        start = at
        has_letter = has_digit = False
        while at < len(codes) and is_latin_part(codes[at]):
            has_letter |= is_latin(codes[at])
            has_digit |= 48 <= codes[at] <= 57
            at += 1
        if has_letter and has_digit:
            for place in range(start, at):
                mask[place] = 48 <= codes[place] <= 57
        at += 1
    return mask


@njit(cache=True, nogil=True)
def replace(codes, table, several, kept, out):
    """Write the replacement of each code point; returns the full length, which may exceed len(out).

    Code points whose mask `kept` is on stay as they are; an empty mask keeps none.
    """
    size = 0
    for at in range(len(codes)):
        value = codes[at] if len(kept) and kept[at] else table[codes[at]]
        if value < SEVERAL:
            if size < len(out):
                out[size] = value
            size += 1
            continue
        offset = value - SEVERAL
        for i in range(several[offset]):
            if size < len(out):
                out[size] = several[offset + 1 + i]
            size += 1
    return size
