"""The filters of a character CNN, and the highways behind them.

There are only a few hundred characters, so the product of each with each place of each filter is a table. What a filter
answers at a window is then a sum of one row of the table for each place, and nothing is multiplied.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from firth.kernels.lstm import sigmoid
from firth.kernels.matmul import BLOCK
from firth.kernels.simd_float import LANES, inlined, load, maximum, splat, store


@njit(cache=True, nogil=True)
def answers(ids, lengths, table, width, out):
    """out[n, f] = max over windows p of Σ_j table[j · characters + ids[n, p + j], f], for filters of one width.

    A word's windows are those that begin within its length, and one beyond, where there is one: of filling alone.
    """
    characters = table.shape[0] // width
    for n in range(ids.shape[0]):
        last = min(ids.shape[1] - width, lengths[n])
        for column in range(0, table.shape[1], LANES):
            best = splat(-np.inf)
            for p in range(last + 1):
                answer = load(table, ids[n, p], column)
                for j in range(1, width):
                    answer += load(table, j * characters + ids[n, p + j], column)
                best = maximum(answer, best)
            store(out, n, column, best)


@inlined
def positive(x):
    return maximum(x, splat(0.0))


@njit(cache=True, nogil=True)
def highway(sums, x):
    """x ← g · relu(t) + (1 − g) · x with g = sigmoid of the gate's sum: 16 of t and 16 of the gate lie in turn."""
    half = BLOCK // 2
    blocks = sums.shape[1] // BLOCK
    for row in range(x.shape[0]):
        for block in range(blocks):
            for side in range(2):
                at, column = block * BLOCK + side * half, block * half + side * LANES
                transformed = positive(load(sums, row, at))
                gate = sigmoid(load(sums, row, at + LANES))
                old = load(x, row, column)
                store(x, row, column, old + gate * (transformed - old))
