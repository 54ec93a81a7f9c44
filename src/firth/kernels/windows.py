"""Windows of text: the words that are trained, the context of each, and sums over the rows of a context."""

from __future__ import annotations

import numpy as np
from numba import njit

from firth.kernels.random import STEP, below, happens, mix
from firth.kernels.simd_float import LANES, inlined, load, prefetch, splat, store


@njit(cache=True, nogil=True)
def draw_windows(ids, ends, keep, window, dynamic, state, words, before, after, kept_ends=None):
    """Chooses the words that are trained and the size of their windows; returns the number of words.

    `ids` is a block of text whose sentences end at `ends`. Ids without a place in `keep` are unknown words and are left
    out. Subsampling keeps a word with probability keep / 2³². Windows are counted in the words that remain: the context
    of words[i] is the before[i] words to its left and the after[i] words to its right. `kept_ends` gets the ends of the
    sentences in `words`.
    """
    count, at = 0, 0
    for s in range(len(ends)):
        first = count
        while at < ends[s]:
            id = ids[at]
            at += 1
            if id < len(keep):
                state += STEP
                if happens(mix(state), keep[id]):
                    words[count] = id
                    count += 1
        for i in range(first, count):
            size = window
            if dynamic:
                state += STEP
                size = 1 + below(mix(state), window)
            before[i] = min(size, i - first)
            after[i] = min(size, count - 1 - i)
        if kept_ends is not None:
            kept_ends[s] = count
    return count


@inlined
def open_window(words, before, after, window, center, inputs, rates, rows):
    """Writes the context of a center to `rows`; returns (its size, the learning rate).

    The rate falls linearly from rates[0] to rates[1] over the words. The input row that only the next window has is
    prefetched.
    """
    if center + window + 1 < len(words):
        prefetch(inputs, words[center + window + 1])
    size = 0
    for i in range(center - before[center], center):
        rows[size] = words[i]
        size += 1
    for i in range(center + 1, center + after[center] + 1):
        rows[size] = words[i]
        size += 1
    return size, rate_at(center, len(words), rates)


@inlined
def rate_at(center, count, rates):
    """The learning rate at one of `count` words."""
    return np.float32(rates[0] + (rates[1] - rates[0]) * center / count)


@inlined
def sum_rows(inputs, rows, count, scale, hidden):
    """hidden[0] = scale · the sum of the rows."""
    for d in range(0, inputs.shape[1], LANES):
        x = splat(0.0)
        for i in range(count):
            x = x + load(inputs, rows[i], d)
        store(hidden, 0, d, x * scale)


@inlined
def add_to_rows(inputs, rows, count, errors):
    """Adds errors[0] to each of the rows."""
    for d in range(0, inputs.shape[1], LANES):
        error = load(errors, 0, d)
        for i in range(count):
            store(inputs, rows[i], d, load(inputs, rows[i], d) + error)


@inlined
def clear(errors):
    """errors[0] = 0."""
    for d in range(0, errors.shape[1], LANES):
        store(errors, 0, d, splat(0.0))
