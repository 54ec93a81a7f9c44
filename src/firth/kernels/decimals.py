"""Numbers as decimal text, both ways, without ever being off by a bit.

A decimal is an integer mantissa times a power of ten. Reading gives what NumPy gives: the nearest float64, rounded to
float32; what cannot be decided in float64 is left to the caller (status HARD), so no result is ever a guess. Writing
gives the fewest digits that read back as the same float32.
"""

from __future__ import annotations

import numpy as np
from numba import njit

GOOD, HARD, BAD = 0, 1, 2
POWERS = np.array([float(f"1e{i}") for i in range(301)])
EXACT = np.int64(1 << 53)  # integers up to here are floats without rounding
FULL = np.int64(10) ** np.int64(17)  # a mantissa below this takes one more digit
EIGHT_LEFT = np.int64(10) ** np.int64(9)  # a mantissa below this takes eight more
ZEROS, SIXES, UPPER = np.uint64(0x3030303030303030), np.uint64(0x0606060606060606), np.uint64(0xF0F0F0F0F0F0F0F0)
BELOW, ABOVE = 1.0 - 2.0**-50, 1.0 + 2.0**-50  # wider than the two roundings of a product
LONGEST = 17  # bytes that `write_number` may take: sign, nine digits, a point, four zeros or an exponent


@njit(cache=True, nogil=True, forceinline=True)
def is_blank(byte):
    """Whether a byte parts the fields of a line: a blank or a tab."""
    return byte == 32 or byte == 9


@njit(cache=True, nogil=True, forceinline=True)
def eight_bytes(blob, at):
    """blob[at:at+8] as one number, the first byte lowest; the compiler makes it one load."""
    at = np.uint64(at)
    word = np.uint64(blob[at])
    for i in range(1, 8):
        word |= np.uint64(blob[at + np.uint64(i)]) << np.uint64(8 * i)
    return word


@njit(cache=True, nogil=True, forceinline=True)
def are_digits(word):
    """Whether all eight bytes of a number are ASCII digits: 3 in the upper half, and still so when 6 is added."""
    return word & UPPER == ZEROS and (word + SIXES) & UPPER == ZEROS


@njit(cache=True, nogil=True, forceinline=True)
def eight_digits(word):
    """The value of eight ASCII digits: neighbors are joined into pairs, the pairs into fours, the fours into eight."""
    word = ((word & np.uint64(0x0F0F0F0F0F0F0F0F)) * np.uint64(10 * 256 + 1)) >> np.uint64(8)
    word = ((word & np.uint64(0x00FF00FF00FF00FF)) * np.uint64(100 * 65536 + 1)) >> np.uint64(16)
    word = ((word & np.uint64(0x0000FFFF0000FFFF)) * np.uint64(10000 * 4294967296 + 1)) >> np.uint64(32)
    return np.int64(word)


@njit(cache=True, nogil=True, forceinline=True)
def scale(mantissa, power):
    """mantissa * 10^power in float64, off by two roundings at most; |power| <= 300."""
    if power < 0:
        return np.float64(mantissa) / POWERS[-power]
    return np.float64(mantissa) * POWERS[power]


@njit(cache=True, nogil=True, forceinline=True)
def to_float32(mantissa, power, cut):
    """float32(float64(mantissa * 10^power)) and GOOD or HARD; `cut` says that digits below the mantissa were dropped.

    Exact factors round once, as they should. Otherwise the true value lies between two floats, and where both round to
    the same float32, so does everything between them.
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
def read_name(blob, at, stop):
    """The value of `nan`, `inf` or `infinity`, and the place after it; the place is -1 where none of them stands."""
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
    """The number that stands at blob[at:stop] up to a blank: (float32, the place after it, GOOD, HARD or BAD)."""
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
            word = eight_bytes(blob, at)
            if are_digits(word):
                mantissa = mantissa * 100_000_000 + eight_digits(word)
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
        value, after = read_name(blob, first, stop)
        if after < 0 or (after < stop and not is_blank(blob[after])):
            return np.float32(0), at, BAD
        return -value if negative else value, after, GOOD
    if at < stop and blob[at] | 32 == 101:
        at += 1
        shrinks = at < stop and blob[at] == 45
        if at < stop and (shrinks or blob[at] == 43):
            at += 1
        first = at
        exponent = np.int64(0)
        while at < stop and 48 <= blob[at] <= 57:
            exponent = min(exponent * 10 + (np.int64(blob[at]) - 48), np.int64(1) << 40)
            at += 1
        if at == first:
            return np.float32(0), at, BAD
        power += -exponent if shrinks else exponent
    if at < stop and not is_blank(blob[at]):
        return np.float32(0), at, BAD
    value, status = to_float32(mantissa, power, cut)
    return -value if negative else value, at, status


@njit(cache=True, nogil=True)
def surely(mantissa, power, value):
    """Whether mantissa * 10^power reads as this float32 however a reader rounds on its way."""
    close = scale(mantissa, power)
    return np.float32(close * BELOW) == value and np.float32(close * ABOVE) == value


@njit(cache=True, nogil=True)
def shortest(value):
    """The fewest digits that read back as a positive finite float32: (mantissa, power).

    If n digits do, so do n + 1, and nine always do: they err by 1e-8 of the value, and float32 forgives 3e-8. So digits
    are dropped from nine downwards until one is missed.
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
        if not surely(mantissa, power, value):
            break
        best, best_power = mantissa, power
    while best % 10 == 0:
        best //= 10
        best_power += 1
    return best, best_power


@njit(cache=True, nogil=True)
def write_digits(number, count, out, at):
    """Writes a number with exactly `count` digits; returns the place after them."""
    for i in range(at + count - 1, at - 1, -1):
        out[i] = 48 + number % 10
        number //= 10
    return at + count


@njit(cache=True, nogil=True)
def write_name(name, out, at):
    """Writes a few bytes; returns the place after them."""
    for i in range(len(name)):
        out[at + i] = name[i]
    return at + len(name)


@njit(cache=True, nogil=True)
def write_number(value, out, at):
    """Writes a float32 as text, always with a point, an exponent or a name; returns the place after it."""
    if np.isnan(value):
        return write_name((110, 97, 110), out, at)
    if np.signbit(value):
        out[at] = 45
        at += 1
        value = -value
    if np.isinf(value):
        return write_name((105, 110, 102), out, at)
    if value == 0:
        return write_name((48, 46, 48), out, at)
    mantissa, power = shortest(value)
    digits, room = 1, np.int64(10)
    while room <= mantissa:
        room *= 10
        digits += 1
    leading = power + digits - 1
    if leading < -5 or leading > 8:
        return write_scientific(mantissa, digits, leading, out, at)
    if leading < 0:
        at = write_name((48, 46), out, at)
        return write_digits(mantissa, -1 - leading + digits, out, at)
    if power >= 0:
        at = write_digits(mantissa * np.int64(POWERS[power]), leading + 1, out, at)
        return write_name((46, 48), out, at)
    part = np.int64(POWERS[-power])
    at = write_digits(mantissa // part, leading + 1, out, at)
    out[at] = 46
    return write_digits(mantissa % part, -power, out, at + 1)


@njit(cache=True, nogil=True)
def write_scientific(mantissa, digits, leading, out, at):
    """Writes mantissa as d.ddde±dd, its first digit worth 10^leading."""
    part = np.int64(POWERS[digits - 1])
    out[at] = 48 + mantissa // part
    at += 1
    if digits > 1:
        out[at] = 46
        at = write_digits(mantissa % part, digits - 1, out, at + 1)
    out[at] = 101
    out[at + 1] = 45 if leading < 0 else 43
    return write_digits(abs(leading), 2, out, at + 2)
