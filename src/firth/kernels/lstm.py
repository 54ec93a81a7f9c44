"""An LSTM with projection reads many sentences at once, one direction of one layer.

Sentences are sorted, the longest first, and cut into steps: the first words of all, the second words of all that have
one, and so on. At every step

    i, f, g, o = table[word] + recurrent · h
    c ← clip(sigmoid(f) · c + sigmoid(i) · tanh(g))
    h ← clip(projection · (sigmoid(o) · tanh(c)))

for the rows that are not at their end. `table` holds the products of inputs and the bias. The columns of `table` and
`recurrent` stand in blocks of 64: sixteen cells' i, then their f, g and o. So the sums of a block are turned into
sixteen new cells while they are near, and the gates are never stored.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from firth.kernels.matmul import BLOCK, ROWS, multiply, scaled, tile, write_down
from firth.kernels.simd_float import LANES, choose, exp_negative, inlined, load, maximum, prefetch, splat, store


def interleave(gates: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of i, f, g, o one after another, as rows of 16 of each in turn; cells that are missing to 16 are zero."""
    cells = len(gates) // 4
    groups = -(-cells // LANES)
    padded = np.zeros((4, groups * LANES, *gates.shape[1:]), np.float32)
    padded[:, :cells] = gates.reshape(4, cells, *gates.shape[1:])
    return padded.reshape(4, groups, LANES, -1).transpose(1, 0, 2, 3).reshape(groups * BLOCK, *gates.shape[1:])


@inlined
def magnitude(x):
    return maximum(x, 0.0 - x)


@inlined
def by_sign(x, positive, negative):
    """One or the other by the sign of x; x itself, where it is not a number."""
    return choose(x, positive, choose(0.0 - x, negative, x))


@inlined
def clip(x, most):
    """x, kept between -most and most; not-a-number stays."""
    above = maximum(0.0 - most, x)
    return 0.0 - maximum(0.0 - most, 0.0 - above)


@inlined
def sigmoid(x):
    e = exp_negative(magnitude(x))
    return by_sign(x, splat(1.0), e) / (e + 1.0)


@inlined
def tanh(x):
    e = exp_negative(magnitude(x) * 2.0)
    t = (1.0 - e) / (e + 1.0)
    return by_sign(x, t, 0.0 - t)


@njit(cache=True, nogil=True)
def advance(words, table, recurrent, heard, cell_clip, cells, let_out):
    """One step: new `cells`, and sigmoid(o) · tanh(c) into `let_out`, for as many rows as there are words.

    Word w has the rows w, w + n, w + 2n, … of the table, one a block, where n is the number of words it knows.
    """
    packed, scales = recurrent
    written, row_scales, excess = heard
    sums = np.empty((ROWS, BLOCK), np.float32)
    most = splat(cell_clip)
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
            tile(rows, packed, block, 0, packed.shape[1], written, row, sums)
            for r in range(rows):
                at = block * known + words[row + r]
                scale, more = row_scales[row + r], excess[row + r]
                i = load(table, at, 0) + scaled(sums, r, 0, scales, block, scale, more)
                f = load(table, at, LANES) + scaled(sums, r, 1, scales, block, scale, more)
                g = load(table, at, 2 * LANES) + scaled(sums, r, 2, scales, block, scale, more)
                o = load(table, at, 3 * LANES) + scaled(sums, r, 3, scales, block, scale, more)
                c = clip(sigmoid(f) * load(cells, row + r, unit) + sigmoid(i) * tanh(g), most)
                store(cells, row + r, unit, c)
                store(let_out, row + r, unit, sigmoid(o) * tanh(c))


@njit(cache=True, nogil=True)
def read(sizes, words, table, recurrent, heard, projection, shown, clips, cells, let_out, said, outputs):
    """Reads steps of sizes[0], sizes[1], … words; `cells` and `said` are the state before, and then after.

    What is said goes to `outputs`, step by step. `heard` and `shown` are room for the rows that are multiplied with
    `recurrent` and `projection`; the latter may have no columns, and then what the cells let out is said.
    """
    cell_clip, said_clip = clips
    blocks = projection[0].shape[0]
    bias = np.zeros((blocks, BLOCK), np.float32)
    most = splat(said_clip)
    at = 0
    for size in sizes:
        write_down(said, size, heard)
        advance(words[at : at + size], table, recurrent, heard, cell_clip, cells, let_out)
        if blocks == 0:
            said[:size] = let_out[:size]
        else:
            write_down(let_out, size, shown)
            multiply(projection, bias, (0, blocks), shown, size, said.reshape(-1, BLOCK), blocks, 1)
            for row in range(size):
                for column in range(0, said.shape[1], LANES):
                    store(said, row, column, clip(load(said, row, column), most))
        outputs[at : at + size] = said[:size, : outputs.shape[1]]
        at += size
