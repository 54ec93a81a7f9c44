"""The filters of a character CNN, and the highway layers after them.

There are only a few hundred characters, so a table holds the product of each with each position of each filter. The
output of a filter at a window is then the sum of one row of the table for each position, without any product.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from firth.kernels.lstm import sigmoid
from firth.kernels.matmul import BLOCK
from firth.kernels.simd_float import LANES, inlined_with_runtime, load, maximum, splat, store


@njit(cache=True, nogil=True)
def max_pool(ids, lengths, table, width, out):
    """out[n, f] = max over windows p of Σ_j table[j · characters + ids[n, p + j], f], for filters of one width.

    The windows of a word start within its length, and one starts after it, where it fits: of padding alone.
    """
    characters = table.shape[0] // width
    for n in range(ids.shape[0]):
        last = min(ids.shape[1] - width, lengths[n])
        for column in range(0, table.shape[1], LANES):
            best = splat(-np.inf)
            for p in range(last + 1):
                total = load(table, ids[n, p], column)
                for j in range(1, width):
                    total += load(table, j * characters + ids[n, p + j], column)
                best = maximum(total, best)
            store(out, n, column, best)


@inlined_with_runtime
def positive(x):
    return maximum(x, splat(0.0))


@njit(cache=True, nogil=True)
def highway(sums, x):
    """x ← g · relu(t) + (1 − g) · x with g = sigmoid(gate); `sums` has 16 columns of t and 16 of the gate in turn."""
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
