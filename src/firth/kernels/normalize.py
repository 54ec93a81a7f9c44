"""Replace each code point by zero, one or several code points."""

from __future__ import annotations

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
def replace(codes, table, several, out):
    """Write the replacement of each code point; returns the full length, which may exceed len(out)."""
    size = 0
    for at in range(len(codes)):
        value = table[codes[at]]
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
