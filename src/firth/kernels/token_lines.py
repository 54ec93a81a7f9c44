"""Tokens to UTF-8, and tokens between blanks."""

from __future__ import annotations

import numpy as np
from numba import njit

TAB, NEWLINE, RETURN, BLANK = np.uint8(9), np.uint8(10), np.uint8(13), np.uint8(32)


@njit(cache=True, nogil=True)
def write_code(code, out, at):
    """Writes one code point as UTF-8; returns the place behind it.

    A surrogate from DC80 to DCFF stands for a byte that was no UTF-8, and is written as that byte.
    """
    if code < 0x80:
        out[at] = code
        return at + 1
    if code < 0x800:
        out[at] = 0xC0 | (code >> 6)
        out[at + 1] = 0x80 | (code & 0x3F)
        return at + 2
    if 0xDC80 <= code <= 0xDCFF:
        out[at] = code & 0xFF
        return at + 1
    if code < 0x10000:
        out[at] = 0xE0 | (code >> 12)
        out[at + 1] = 0x80 | ((code >> 6) & 0x3F)
        out[at + 2] = 0x80 | (code & 0x3F)
        return at + 3
    out[at] = 0xF0 | (code >> 18)
    out[at + 1] = 0x80 | ((code >> 12) & 0x3F)
    out[at + 2] = 0x80 | ((code >> 6) & 0x3F)
    out[at + 3] = 0x80 | (code & 0x3F)
    return at + 4


@njit(cache=True, nogil=True)
def write_tokens(codes, starts, ends, out, lengths):
    """Writes the tokens codes[starts:ends] one after another, with nothing between them; returns the number of bytes.

    `out` holds at least 4 * len(codes) bytes; `lengths` receives the bytes of each token.
    """
    at = 0
    for token in range(len(starts)):
        first = at
        for i in range(starts[token], ends[token]):
            code = codes[i]
            if code < 0x80:
                out[at] = code
                at += 1
            else:
                at = write_code(code, out, at)
        lengths[token] = at - first
    return at


@njit(cache=True, nogil=True)
def split_blanks(codes, wrapped, starts, ends, last):
    """Words between ASCII white space; a newline (an empty line, in wrapped text) ends a sentence. Returns how many.

    `codes` may be code points or the bytes of UTF-8; the last word of all ends a sentence.
    """
    count = 0
    need = 2 if wrapped else 1
    lines = 0
    start = -1
    for at in range(len(codes)):
        code = codes[at]
        if code > BLANK or not (TAB <= code <= RETURN or code == BLANK):
            if start < 0:
                if count and lines >= need:
                    last[count - 1] = 1
                lines = 0
                start = at
            continue
        if start >= 0:
            starts[count], ends[count] = start, at
            count += 1
            start = -1
        lines += code == NEWLINE
    if start >= 0:
        starts[count], ends[count] = start, len(codes)
        count += 1
    if count:
        last[count - 1] = 1
    return count
