"""An LSTM with projection over many sentences at once: one direction of one layer.

Sentences are sorted, the longest first, and run step by step: the first words of all, the second words of all that have
one, and so on. At every step

    i, f, g, o = table[word] + recurrent · hidden
    cell ← clip(sigmoid(f) · cell + sigmoid(i) · tanh(g))
    hidden ← clip(projection · (sigmoid(o) · tanh(cell)))

for the rows that have a word. `table` holds the products of the inputs, with the bias. The columns of `table` and
`recurrent` come in blocks of 64: i of sixteen cells, then their f, g and o. So the gates of a block become sixteen new
cells while they are in registers, and are never stored.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from firth.kernels.matmul import BLOCK, ROWS, convert_rows, multiply, multiply_tile, rescale
from firth.kernels.simd_float import (
    LANES,
    choose,
    exp_negative,
    inlined_with_runtime,
    load,
    maximum,
    prefetch,
    splat,
    store,
)


def interleave(gates: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of i, f, g, o reordered: 16 rows of each in turn, filled with zeros to a multiple of 16 cells."""
    cells = len(gates) // 4
    groups = -(-cells // LANES)
    padded = np.zeros((4, groups * LANES, *gates.shape[1:]), np.float32)
    padded[:, :cells] = gates.reshape(4, cells, *gates.shape[1:])
    return padded.reshape(4, groups, LANES, -1).transpose(1, 0, 2, 3).reshape(groups * BLOCK, *gates.shape[1:])


@inlined_with_runtime
def magnitude(x):
    return maximum(x, 0.0 - x)


@inlined_with_runtime
def by_sign(x, positive, negative):
    """`positive` or `negative` by the sign of x; NaN stays."""
    return choose(x, positive, choose(0.0 - x, negative, x))


@inlined_with_runtime
def clip(x, limit):
    """x clipped to ±limit; NaN stays."""
    above = maximum(0.0 - limit, x)
    return 0.0 - maximum(0.0 - limit, 0.0 - above)


@inlined_with_runtime
def sigmoid(x):
    e = exp_negative(magnitude(x))
    return by_sign(x, splat(1.0), e) / (e + 1.0)


@inlined_with_runtime
def tanh(x):
    e = exp_negative(magnitude(x) * 2.0)
    t = (1.0 - e) / (e + 1.0)
    return by_sign(x, t, 0.0 - t)


@njit(cache=True, nogil=True)
def step(words, table, recurrent, hidden_rows, cell_clip, cell, gated):
    """One step: the new `cell`, and sigmoid(o) · tanh(cell) into `gated`, for as many rows as there are words.

    Word w has the rows w, w + n, w + 2n, … of the table, one for each block, where n is the number of words in it.
    """
    packed, scales = recurrent
    converted, row_scales, excess = hidden_rows
    sums = np.empty((ROWS, BLOCK), np.float32)
    limit = splat(cell_clip)
    count, blocks = len(words), packed.shape[0]
    known = table.shape[0] // blocks
    tiles = (count + ROWS - 1) // ROWS
    for block in range(blocks):
        unit = block * LANES
        for k in range(tiles):
            row = count * k // tiles
            rows = count * (k + 1) // tiles - row
            for r in range(rows):
                prefetch(table, block * known + words[row + r])
            multiply_tile(rows, packed, block, 0, packed.shape[1], converted, row, sums)
            for r in range(rows):
                at = block * known + words[row + r]
                scale, more = row_scales[row + r], excess[row + r]
                i = load(table, at, 0) + rescale(sums, r, 0, scales, block, scale, more)
                f = load(table, at, LANES) + rescale(sums, r, 1, scales, block, scale, more)
                g = load(table, at, 2 * LANES) + rescale(sums, r, 2, scales, block, scale, more)
                o = load(table, at, 3 * LANES) + rescale(sums, r, 3, scales, block, scale, more)
                c = clip(sigmoid(f) * load(cell, row + r, unit) + sigmoid(i) * tanh(g), limit)
                store(cell, row + r, unit, c)
                store(gated, row + r, unit, sigmoid(o) * tanh(c))


@njit(cache=True, nogil=True)
def run(sizes, words, table, recurrent, hidden_rows, projection, gated_rows, clips, cell, gated, hidden, outputs):
    """Steps of sizes[0], sizes[1], … words; `cell` and `hidden` are the state before, and then after.

    Each step writes its hidden states to `outputs`. `hidden_rows` and `gated_rows` are buffers for the rows that are
    multiplied with `recurrent` and `projection`. A projection without columns is none: hidden is then the gated cell.
    """
    cell_clip, projection_clip = clips
    blocks = projection[0].shape[0]
    bias = np.zeros((blocks, BLOCK), np.float32)
    limit = splat(projection_clip)
    at = 0
    for size in sizes:
        convert_rows(hidden, size, hidden_rows)
        step(words[at : at + size], table, recurrent, hidden_rows, cell_clip, cell, gated)
        if blocks == 0:
            hidden[:size] = gated[:size]
        else:
            convert_rows(gated, size, gated_rows)
            multiply(projection, bias, (0, blocks), gated_rows, size, hidden.reshape(-1, BLOCK), blocks, 1)
            for row in range(size):
                for column in range(0, hidden.shape[1], LANES):
                    store(hidden, row, column, clip(load(hidden, row, column), limit))
        outputs[at : at + size] = hidden[:size, : outputs.shape[1]]
        at += size
