"""Write tokens as UTF-8, and split text at white space."""

from __future__ import annotations

import numpy as np
from numba import njit

TAB, NEWLINE, RETURN, BLANK = np.uint8(9), np.uint8(10), np.uint8(13), np.uint8(32)


@njit(cache=True, nogil=True)
def write_code(code, out, at):
    """Write one code point as UTF-8; returns the offset after it.

    A surrogate from DC80 to DCFF represents an invalid byte and is written as that byte.
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
    """Write the tokens codes[starts:ends] without separators; returns the number of bytes.

    `out` has room for at least 4 * len(codes) bytes. lengths[k] = the bytes of token k.
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
def split_whitespace(codes, wrapped, starts, ends, last):
    """Split at ASCII white space and zeros; a newline (in wrapped text, an empty line) ends a sentence.

    Returns the word count. `codes` are code points or UTF-8 bytes. The last word always ends a sentence.
    """
    count = 0
    needed = 2 if wrapped else 1
    lines = 0
    start = -1
    for at in range(len(codes)):
        code = codes[at]
        if code > BLANK or not (TAB <= code <= RETURN or code == BLANK or code == 0):
            if start < 0:
                if count and lines >= needed:
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
