"""GloVe's hot loop: shuffled AdaGrad over the cells of a co-occurrence matrix.

A cell X(w, c) has the cost ½ f(X) (w·w̃ + b + b̃ - log X)², where f(X) = min(1, (X / x_max)^alpha). A parameter p with
gradient g and sum of squares G takes the step t = rate · clip(g):  p ← p - t / √G,  then  G ← G + t².

A row contains all parameters of a word, so that they are adjacent in memory:

    words:     w₁ … w_dim   b   1   (zeros up to whole lanes)   followed by their sums of squares
    contexts:  w̃₁ … w̃_dim   1   b̃   (zeros up to whole lanes)   followed by their sums of squares

So the dot product of two rows is w·w̃ + b + b̃. The ones are constant: their sums of squares are FROZEN, which makes
every step negligible. Padding stays zero because its gradient is zero.
"""

from __future__ import annotations

import math

import numpy as np
from llvmlite import ir
from numba import njit
from numpy.typing import NDArray

from firth.kernels.random import STEP, below, fill_uniform, key, mix
from firth.kernels.simd_float import (
    LANES,
    call,
    constant,
    has_feature,
    lanes,
    load,
    lowering,
    matrix,
    maximum,
    prefetch,
    splat,
    store,
    stride,
    total,
    vector,
    whole_numbers,
)

CLIP = 100.0
FROZEN = 1e30
AHEAD = 6  # cells between the prefetch of a row and its use


def inverse_sqrt(value):
    """1 / √value to about four digits, which is enough for the size of a step."""
    return (1 / np.sqrt(value)).astype(np.float32)


@lowering(inverse_sqrt, "v", lanes)
def _inverse_sqrt(context, builder, kinds, arguments):
    (value,) = arguments
    if has_feature("avx512f"):
        all_lanes = ir.Constant(ir.IntType(16), -1)
        zero = ir.Constant(vector, [0.0] * LANES)
        return call(builder, "llvm.x86.avx512.rsqrt14.ps.512", vector, value, zero, all_lanes)
    # Halving the exponent bits gives a first guess; each Newton step doubles its digits.
    bits = builder.lshr(builder.bitcast(value, whole_numbers), constant([1] * LANES))
    guess = builder.bitcast(builder.sub(constant([0x5F3759DF] * LANES), bits), vector)
    half = builder.fmul(value, constant([0.5] * LANES, vector))
    for _ in range(2):
        square = builder.fmul(half, builder.fmul(guess, guess))
        guess = builder.fmul(guess, builder.fsub(constant([1.5] * LANES, vector), square))
    return guess


def minimum(left, right):
    """The elementwise minimum."""
    return np.minimum(left, right)


@lowering(minimum, "vv", lanes)
def _minimum(context, builder, kinds, arguments):
    left, right = arguments
    return builder.select(builder.fcmp_ordered("<", left, right), left, right)


@njit(cache=True, nogil=True)
def train(pairs, targets, starts, chunks, words, contexts, rate):
    """One step for each cell of these chunks, in this order; chunk p is the cells starts[p] … starts[p + 1] - 1.

    Cell k has its row and column in pairs[k] and log X and f(X) in targets[k]. Returns (sum of the costs before each
    step, -1). Training stops at the first cell whose score is not finite and returns it instead of -1.
    """
    half = words.shape[1] // 2
    low, high = splat(-CLIP), splat(CLIP)
    cost = 0.0
    for p in range(len(chunks)):
        first, last = starts[chunks[p]], starts[chunks[p] + 1]
        for k in range(first, last):
            ahead = min(k + AHEAD, last - 1)
            prefetch(words, pairs[ahead, 0])
            prefetch(contexts, pairs[ahead, 1])
            row, column = pairs[k, 0], pairs[k, 1]
            sums = splat(0.0)
            for d in range(0, half, LANES):
                sums = sums + load(words, row, d) * load(contexts, column, d)
            error = total(sums) - targets[k, 0]
            if not math.isfinite(error):
                return cost, k
            weighted_error = targets[k, 1] * error
            cost += 0.5 * np.float64(weighted_error) * np.float64(error)
            for d in range(0, half, LANES):
                x, y = load(words, row, d), load(contexts, column, d)
                x_squares, y_squares = load(words, row, half + d), load(contexts, column, half + d)
                x_step = maximum(low, minimum(high, weighted_error * y)) * rate
                y_step = maximum(low, minimum(high, weighted_error * x)) * rate
                store(words, row, d, x - x_step * inverse_sqrt(x_squares))
                store(contexts, column, d, y - y_step * inverse_sqrt(y_squares))
                store(words, row, half + d, x_squares + x_step * x_step)
                store(contexts, column, half + d, y_squares + y_step * y_step)
    return cost, np.int64(-1)


def row_bytes(dim: int) -> int:
    """The size of a row in bytes."""
    return 2 * 4 * int(stride(dim + 2))


def make_rows(count: int, dim: int, seed: int, one: int) -> NDArray[np.float32]:
    """Initial rows: weights and bias uniform in ±0.5/dim, sums of squares 1, and a constant 1 in column `one`."""
    half = stride(dim + 2)
    rows: NDArray[np.float32] = matrix(count, 2 * half)
    fill_uniform(rows, dim + 2, 0, 0.5 / dim, np.uint64(key(seed, 0, one)))
    rows[:, half:] = 1.0
    rows[:, one], rows[:, half + one] = 1.0, FROZEN
    return rows


# A random order of cells that is cache-friendly. Rows and columns are divided into blocks of words. A tile is a block
# of rows by a block of columns, small enough that its rows stay in the cache while its cells are trained. The cells of
# a tile are distributed round robin over chunks. Each chunk is shuffled, and chunks are trained in random order.


@njit(cache=True, nogil=True)
def count_cells(rows, columns, bits, tiles):
    """tiles[i, j] += 1 for each cell in tile (i, j); a block is 2^bits words."""
    for k in range(len(rows)):
        tiles[rows[k] >> bits, columns[k] >> bits] += 1


@njit(cache=True, nogil=True)
def split_tiles(tiles, size, firsts, starts):
    """Divide each tile into chunks of about `size` cells, whose sizes differ by at most one; returns their number.

    firsts[t] is the first chunk of tile t, followed by the number of all chunks; starts[p] is the first cell of chunk
    p. A tile of n > 0 cells has max(1, n // size) chunks.
    """
    count, cell = 0, 0
    for t in range(len(tiles)):
        firsts[t] = count
        cells = tiles[t]
        chunk_count = max(cells // size, min(cells, 1))
        for c in range(chunk_count):
            starts[count] = cell
            cell += (cells - c + chunk_count - 1) // chunk_count
            count += 1
    firsts[len(tiles)] = count
    starts[count] = cell
    return count


@njit(cache=True, nogil=True)
def place_cells(rows, columns, values, bits, across, placed, firsts, starts, x_max, alpha, pairs, targets):
    """Place each cell: cell n of a tile goes to chunk n mod (number of chunks of the tile).

    `across` is the number of tiles in a row of tiles, placed[t] the number of cells of tile t placed so far. pairs are
    (row, column), targets are (log X, f(X)). Returns Σ ½ f(X) (log X)², the cost of zero vectors.
    """
    log_x_max = math.log(x_max)
    cost = 0.0
    for k in range(len(rows)):
        tile = (np.int64(rows[k]) >> bits) * across + (columns[k] >> bits)
        n = placed[tile]
        placed[tile] = n + 1
        chunk_count = firsts[tile + 1] - firsts[tile]
        at = starts[firsts[tile] + n % chunk_count] + n // chunk_count
        log = math.log(values[k])
        weight = math.exp(min(0.0, alpha * (log - log_x_max)))
        pairs[at, 0], pairs[at, 1] = rows[k], columns[k]
        targets[at, 0], targets[at, 1] = log, weight
        cost += 0.5 * weight * log * log
    return cost


@njit(cache=True, nogil=True)
def shuffle_chunks(pairs, targets, starts, first, last, seed):
    """Shuffle the cells within each of the chunks first … last - 1; each chunk has its own random stream."""
    for p in range(first, last):
        state = key(seed, 0, p)
        begin = starts[p]
        for i in range(starts[p + 1] - begin - 1, 0, -1):
            state += STEP
            here, there = begin + i, begin + below(mix(state), i + 1)
            for j in range(2):
                pairs[here, j], pairs[there, j] = pairs[there, j], pairs[here, j]
                targets[here, j], targets[there, j] = targets[there, j], targets[here, j]


@njit(cache=True, nogil=True)
def shuffle_order(count, seed, epoch):
    """A random permutation of 0 … count - 1 for an epoch."""
    order = np.arange(count)
    state = key(seed, epoch, 0)
    for i in range(count - 1, 0, -1):
        state += STEP
        j = below(mix(state), i + 1)
        order[i], order[j] = order[j], order[i]
    return order
