"""Exact conversion between float32 and decimal text.

A decimal is an integer mantissa times a power of ten. Reading gives what NumPy gives: the nearest float64, rounded
to float32. If float64 arithmetic cannot decide it, the status is HARD and the caller converts the number exactly.
Writing gives the fewest digits that read back as the same float32.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from firth.kernels.text_to_ids import load8

GOOD, HARD, BAD = 0, 1, 2
NEWLINE, RETURN = np.uint8(10), np.uint8(13)
POWERS = np.array([float(f"1e{i}") for i in range(301)])
EXACT = np.int64(1 << 53)  # integers up to this are exact in float64
FULL = np.int64(10) ** np.int64(17)  # a smaller mantissa has room for another digit
EIGHT_LEFT = np.int64(10) ** np.int64(9)  # a smaller mantissa has room for eight more digits
ZEROS, SIXES, UPPER = np.uint64(0x3030303030303030), np.uint64(0x0606060606060606), np.uint64(0xF0F0F0F0F0F0F0F0)
BELOW, ABOVE = 1.0 - 2.0**-50, 1.0 + 2.0**-50  # a wider error bound than the two roundings of a product
LONGEST = 17  # most bytes of `write_number`: sign, nine digits, point, four zeros or an exponent


@njit(cache=True, nogil=True, forceinline=True)
def is_blank(byte):
    """Whether a byte separates the fields of a line: a blank or a tab."""
    return byte == 32 or byte == 9


@njit(cache=True, nogil=True)
def line_end(blob, at):
    """(end of the line at `at`, start of the next line); the end excludes trailing blanks and a carriage return."""
    stop = at
    while stop < len(blob) and blob[stop] != NEWLINE:
        stop += 1
    after = min(stop + 1, len(blob))
    while stop > at and (is_blank(blob[stop - 1]) or blob[stop - 1] == RETURN):
        stop -= 1
    return stop, after


@njit(cache=True, nogil=True, forceinline=True)
def are_digits(word):
    """Whether all eight bytes are ASCII digits: the upper half of each is 3, also after adding 6."""
    return word & UPPER == ZEROS and (word + SIXES) & UPPER == ZEROS


@njit(cache=True, nogil=True, forceinline=True)
def parse_eight_digits(word):
    """The value of eight ASCII digits, combined into pairs, then fours, then eight."""
    word = ((word & np.uint64(0x0F0F0F0F0F0F0F0F)) * np.uint64(10 * 256 + 1)) >> np.uint64(8)
    word = ((word & np.uint64(0x00FF00FF00FF00FF)) * np.uint64(100 * 65536 + 1)) >> np.uint64(16)
    word = ((word & np.uint64(0x0000FFFF0000FFFF)) * np.uint64(10000 * 4294967296 + 1)) >> np.uint64(32)
    return np.int64(word)


@njit(cache=True, nogil=True, forceinline=True)
def scale(mantissa, power):
    """mantissa * 10^power in float64 with at most two roundings; |power| <= 300."""
    if power < 0:
        return np.float64(mantissa) / POWERS[-power]
    return np.float64(mantissa) * POWERS[power]


@njit(cache=True, nogil=True, forceinline=True)
def to_float32(mantissa, power, cut):
    """float32(float64(mantissa * 10^power)) and GOOD or HARD; `cut` is set if digits after the mantissa were dropped.

    Exact factors round once. Otherwise the error bounds give a lower and an upper float64; if both round to the same
    float32, so does the exact value between them.
    """
    if mantissa == 0 and not cut:
        return np.float32(0), GOOD
    if mantissa <= EXACT and -22 <= power <= 22 and not cut:
        return np.float32(scale(mantissa, power)), GOOD
    if power < -300 or power > 290:
        return np.float32(0), HARD
    low = np.float32(scale(mantissa, power) * BELOW)
    high = np.float32(scale(mantissa + cut, power) * ABOVE)
    return low, GOOD if low == high else HARD


@njit(cache=True, nogil=True)
def read_special(blob, at, stop):
    """(value, offset after it) of `nan`, `inf` or `infinity`; the offset is -1 for anything else."""
    if stop - at < 3:
        return np.float32(0), -1
    first, second, third = blob[at] | 32, blob[at + 1] | 32, blob[at + 2] | 32
    if first == 110 and second == 97 and third == 110:
        return np.float32(np.nan), at + 3
    if first != 105 or second != 110 or third != 102:
        return np.float32(0), -1
    rest = (105, 110, 105, 116, 121)
    after = at + 3
    if stop - after >= 5:
        same = 0
        for i in range(5):
            same += (blob[after + i] | 32) == rest[i]
        if same == 5:
            after += 5
    return np.float32(np.inf), after


@njit(cache=True, nogil=True, forceinline=True)
def read_number(blob, at, stop):
    """Read the number at blob[at:stop] up to a blank: (float32, offset after it, GOOD, HARD or BAD)."""
    if at >= stop:
        return np.float32(0), at, BAD
    negative = blob[at] == 45
    if negative or blob[at] == 43:
        at += 1
    first = at
    mantissa, power, cut = np.int64(0), np.int64(0), False
    while at < stop and 48 <= blob[at] <= 57:
        if mantissa < FULL:
            mantissa = mantissa * 10 + (np.int64(blob[at]) - 48)
        else:
            power += 1
            cut |= blob[at] != 48
        at += 1
    digits = at - first
    if at < stop and blob[at] == 46:
        at += 1
        first = at
        if at + 8 <= stop and mantissa < EIGHT_LEFT:
            word = load8(blob, np.uint64(at))
            if are_digits(word):
                mantissa = mantissa * 100_000_000 + parse_eight_digits(word)
                power -= 8
                at += 8
        while at < stop and 48 <= blob[at] <= 57:
            if mantissa < FULL:
                mantissa = mantissa * 10 + (np.int64(blob[at]) - 48)
                power -= 1
            else:
                cut |= blob[at] != 48
            at += 1
        digits += at - first
    if digits == 0:
        value, after = read_special(blob, first, stop)
        if after < 0 or (after < stop and not is_blank(blob[after])):
            return np.float32(0), at, BAD
        return -value if negative else value, after, GOOD
    if at < stop and blob[at] | 32 == 101:
        at += 1
        is_negative = at < stop and blob[at] == 45
        if at < stop and (is_negative or blob[at] == 43):
            at += 1
        first = at
        exponent = np.int64(0)
        while at < stop and 48 <= blob[at] <= 57:
            exponent = min(exponent * 10 + (np.int64(blob[at]) - 48), np.int64(1) << 40)
            at += 1
        if at == first:
            return np.float32(0), at, BAD
        power += -exponent if is_negative else exponent
    if at < stop and not is_blank(blob[at]):
        return np.float32(0), at, BAD
    value, status = to_float32(mantissa, power, cut)
    return -value if negative else value, at, status


@njit(cache=True, nogil=True)
def reads_back_as(mantissa, power, value):
    """Whether mantissa * 10^power reads as this float32 for both error bounds of `scale`."""
    scaled = scale(mantissa, power)
    return np.float32(scaled * BELOW) == value and np.float32(scaled * ABOVE) == value


@njit(cache=True, nogil=True)
def shortest_digits(value):
    """The fewest digits that read back as a positive finite float32: (mantissa, power).

    If n digits suffice, so do n + 1. Nine always suffice: their relative error is 1e-8, and that of float32 is 3e-8. So
    digits are removed from nine downwards until the number no longer reads back.
    """
    wide = np.float64(value)
    leading = np.int64(np.floor(np.log10(wide)))  # the power of ten of the first digit
    if scale(1, leading + 1) <= wide:
        leading += 1
    best_power = leading - 8
    best = np.int64(np.floor(scale(wide, -best_power) + 0.5))
    for digits in range(8, 0, -1):
        power = leading + 1 - digits
        mantissa = np.int64(np.floor(scale(wide, -power) + 0.5))
        if not reads_back_as(mantissa, power, value):
            break
        best, best_power = mantissa, power
    while best % 10 == 0:
        best //= 10
        best_power += 1
    return best, best_power


@njit(cache=True, nogil=True)
def write_digits(number, count, out, at):
    """Write a number with exactly `count` digits; returns the offset after them."""
    for i in range(at + count - 1, at - 1, -1):
        out[i] = 48 + number % 10
        number //= 10
    return at + count


@njit(cache=True, nogil=True)
def write_bytes(values, out, at):
    """Write bytes; returns the offset after them."""
    for i in range(len(values)):
        out[at + i] = values[i]
    return at + len(values)


@njit(cache=True, nogil=True)
def write_number(value, out, at):
    """Write a float32 with a point, an exponent or a name (nan, inf); returns the offset after it."""
    if np.isnan(value):
        return write_bytes((110, 97, 110), out, at)
    if np.signbit(value):
        out[at] = 45
        at += 1
        value = -value
    if np.isinf(value):
        return write_bytes((105, 110, 102), out, at)
    if value == 0:
        return write_bytes((48, 46, 48), out, at)
    mantissa, power = shortest_digits(value)
    digits, room = 1, np.int64(10)
    while room <= mantissa:
        room *= 10
        digits += 1
    leading = power + digits - 1
    if leading < -5 or leading > 8:
        return write_scientific(mantissa, digits, leading, out, at)
    if leading < 0:
        at = write_bytes((48, 46), out, at)
        return write_digits(mantissa, -1 - leading + digits, out, at)
    if power >= 0:
        at = write_digits(mantissa * np.int64(POWERS[power]), leading + 1, out, at)
        return write_bytes((46, 48), out, at)
    part = np.int64(POWERS[-power])
    at = write_digits(mantissa // part, leading + 1, out, at)
    out[at] = 46
    return write_digits(mantissa % part, -power, out, at + 1)


@njit(cache=True, nogil=True)
def write_scientific(mantissa, digits, leading, out, at):
    """Write the mantissa as d.ddde±dd; its first digit is worth 10^leading."""
    part = np.int64(POWERS[digits - 1])
    out[at] = 48 + mantissa // part
    at += 1
    if digits > 1:
        out[at] = 46
        at = write_digits(mantissa % part, digits - 1, out, at + 1)
    out[at] = 101
    out[at + 1] = 45 if leading < 0 else 43
    return write_digits(abs(leading), 2, out, at + 2)
