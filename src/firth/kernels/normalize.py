"""Single characters replaced by others, by none, or by several."""

from __future__ import annotations

from numba import njit

SEVERAL = 0x80000000  # table values from here on are places in `several`, where a length and its code points stand


@njit(cache=True, nogil=True)
def first_change(codes, table):
    """The first place whose code point the table changes, or the length."""
    for at in range(len(codes)):
        if table[codes[at]] != codes[at]:
            return at
    return len(codes)


@njit(cache=True, nogil=True)
def replace(codes, table, several, out):
    """Writes each code point's replacement into out; returns how many were written, or would be if out is too short."""
    size = 0
    for at in range(len(codes)):
        value = table[codes[at]]
        if value < SEVERAL:
            if size < len(out):
                out[size] = value
            size += 1
            continue
        place = value - SEVERAL
        for i in range(several[place]):
            if size < len(out):
                out[size] = several[place + 1 + i]
            size += 1
    return size
