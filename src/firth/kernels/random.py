"""Keyed random numbers, and sampling from a distribution in constant time.

The generator is SplitMix64: the state is a counter that grows by a fixed odd step, and `mix` turns it into 64 random
bits. A key of (seed, epoch, block) gives each block of a text its own stream, independent of threads and order.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable

STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S27, S30, S31, S32, S40 = (np.uint64(bits) for bits in (27, 30, 31, 32, 40))
LOW = np.uint64(0xFFFFFFFF)
SURE = 0xFFFFFFFF  # the threshold of probability 1


@register_jitable
def mix(state):
    """64 random bits from a counter."""
    state = (state ^ (state >> S30)) * FIRST
    state = (state ^ (state >> S27)) * SECOND
    return state ^ (state >> S31)


@register_jitable
def below(bits, size):
    """An integer from 0 to size - 1, from the upper half of 64 random bits."""
    return np.int64(((bits >> S32) * np.uint64(size)) >> S32)


@register_jitable
def happens(bits, threshold):
    """A Bernoulli draw of probability threshold / 2³², from the lower half of 64 random bits."""
    return (bits & LOW) <= np.uint64(threshold)


@register_jitable
def draw(bits, noise):
    """A sample from an alias table (see `alias_table`): the upper bits draw a row, the lower bits decide."""
    row = below(bits, noise.shape[0])
    return noise[row, 1] if (bits & LOW) > np.uint64(noise[row, 0]) else np.uint32(row)


@njit(cache=True, nogil=True)
def key(seed, epoch, block):
    """The initial state of the stream of a block in an epoch."""
    state = mix(np.uint64(seed) + STEP)
    state = mix((state ^ np.uint64(epoch)) + STEP)
    return mix((state ^ np.uint64(block)) + STEP)


@njit(cache=True, nogil=True)
def fill_uniform(matrix, dim, first, reach, start):
    """matrix[i, :dim] uniform in ±reach; row i has its own stream, number first + i."""
    for i in range(matrix.shape[0]):
        state = mix(start ^ mix(np.uint64(first + i) + STEP))
        for d in range(dim):
            state += STEP
            share = np.float64(mix(state) >> S40) / 16777216.0  # 24 bits, the precision of float32
            matrix[i, d] = np.float32((2.0 * share - 1.0) * reach)


@njit(cache=True, nogil=True)
def alias_table(weights):
    """Alias table of Walker's method, (n, 2) uint32: row i yields i up to the threshold in column 0, else column 1.

    Each row has probability 1/n; the part that a value of lower probability leaves goes to one of higher probability.
    """
    size = len(weights)
    table = np.empty((size, 2), np.uint32)
    shares = weights * (size / weights.sum())
    light, heavy = np.empty(size, np.int64), np.empty(size, np.int64)
    lights, heavies = 0, 0
    for i in range(size):
        table[i, 0], table[i, 1] = SURE, i
        if shares[i] < 1.0:
            light[lights] = i
            lights += 1
        else:
            heavy[heavies] = i
            heavies += 1
    while lights > 0 and heavies > 0:
        lights -= 1
        small, large = light[lights], heavy[heavies - 1]
        table[small, 0], table[small, 1] = np.uint32(shares[small] * 4294967295.0), large
        shares[large] -= 1.0 - shares[small]
        if shares[large] < 1.0:
            heavies -= 1
            light[lights] = large
            lights += 1
    return table
