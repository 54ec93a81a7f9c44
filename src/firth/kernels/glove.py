"""GloVe's hot loop: shuffled AdaGrad over the cells of a co-occurrence matrix.

A cell X(w, c) has the cost ½ f(X) (w·w̃ + b + b̃ - log X)², where f(X) = (X / x_max)^alpha, at most 1. A number p with
the gradient g and the squared sum G takes the step t = rate · clip(g):  p ← p - t / √G,  then  G ← G + t².

A row holds everything that belongs to a word, so that one trip to memory brings it all:

    words:     w₁ … w_dim   b   1   (zeros up to whole lanes)   and then their squared sums
    contexts:  w̃₁ … w̃_dim   1   b̃   (zeros up to whole lanes)   and then their squared sums

So one product of two rows is w·w̃ + b + b̃. The ones must stay ones: their squared sums are FROZEN, so large that no step
moves them. Padding stays zero because its gradient is zero.
"""

from __future__ import annotations

import math

import numpy as np
from llvmlite import binding, ir
from numba import njit
from numba.core import config
from numpy.typing import NDArray

from firth.kernels.random import STEP, below, fill_uniform, key, mix
from firth.kernels.simd_float import (
    LANES,
    call,
    compiles,
    constant,
    lanes,
    load,
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
AHEAD = 6  # cells between asking for a row and using it


def inverse_root(value):
    """1 / √value, to about four digits: the length of a step needs no more."""
    return (1 / np.sqrt(value)).astype(np.float32)


def has_estimate() -> bool:
    """Whether the code that numba makes may use AVX-512: the CPU has it and nobody asked for another CPU."""
    return config.CPU_NAME is None and bool(binding.get_host_cpu_features().get("avx512f", False))


@compiles(inverse_root, "v", lanes)
def _inverse_root(context, builder, kinds, arguments):
    (value,) = arguments
    if has_estimate():
        everywhere = ir.Constant(ir.IntType(16), -1)
        nothing = ir.Constant(vector, [0.0] * LANES)
        return call(builder, "llvm.x86.avx512.rsqrt14.ps.512", vector, value, nothing, everywhere)
    # Half of the exponent, taken from the bits, is a first guess; each of Newton's steps doubles its digits.
    bits = builder.lshr(builder.bitcast(value, whole_numbers), constant([1] * LANES))
    guess = builder.bitcast(builder.sub(constant([0x5F3759DF] * LANES), bits), vector)
    half = builder.fmul(value, constant([0.5] * LANES, vector))
    for _ in range(2):
        square = builder.fmul(half, builder.fmul(guess, guess))
        guess = builder.fmul(guess, builder.fsub(constant([1.5] * LANES, vector), square))
    return guess


def smaller(left, right):
    """The smaller number of each pair."""
    return np.minimum(left, right)


@compiles(smaller, "vv", lanes)
def _smaller(context, builder, kinds, arguments):
    left, right = arguments
    return builder.select(builder.fcmp_ordered("<", left, right), left, right)


@njit(cache=True, nogil=True)
def train(pairs, targets, starts, pieces, words, contexts, rate):
    """One step for each cell of these pieces, in this order; piece p is the cells from starts[p] to starts[p + 1].

    A cell is its row and column in `pairs`, and log X and f(X) in `targets`. Returns (the sum of the costs before each
    step, -1), or in place of -1 the cell at which the product was no finite number; training ends there.
    """
    half = words.shape[1] // 2
    low, high = splat(-CLIP), splat(CLIP)
    cost = 0.0
    for p in range(len(pieces)):
        first, last = starts[pieces[p]], starts[pieces[p] + 1]
        for k in range(first, last):
            ahead = min(k + AHEAD, last - 1)
            prefetch(words, pairs[ahead, 0])
            prefetch(contexts, pairs[ahead, 1])
            row, column = pairs[k, 0], pairs[k, 1]
            sums = splat(0.0)
            for d in range(0, half, LANES):
                sums = sums + load(words, row, d) * load(contexts, column, d)
            difference = total(sums) - targets[k, 0]
            if not math.isfinite(difference):
                return cost, k
            slope = targets[k, 1] * difference
            cost += 0.5 * np.float64(slope) * np.float64(difference)
            for d in range(0, half, LANES):
                x, y = load(words, row, d), load(contexts, column, d)
                x_squares, y_squares = load(words, row, half + d), load(contexts, column, half + d)
                x_step = maximum(low, smaller(high, slope * y)) * rate
                y_step = maximum(low, smaller(high, slope * x)) * rate
                store(words, row, d, x - x_step * inverse_root(x_squares))
                store(contexts, column, d, y - y_step * inverse_root(y_squares))
                store(words, row, half + d, x_squares + x_step * x_step)
                store(contexts, column, half + d, y_squares + y_step * y_step)
    return cost, np.int64(-1)


def row_bytes(dim: int) -> int:
    """The size of a row."""
    return 2 * 4 * int(stride(dim + 2))


def make_rows(count: int, dim: int, seed: int, one: int) -> NDArray[np.float32]:
    """Fresh rows: numbers and bias uniform in ±0.5/dim, squared sums 1, and at place `one` the 1 that stays."""
    half = stride(dim + 2)
    rows: NDArray[np.float32] = matrix(count, 2 * half)
    fill_uniform(rows, dim + 2, 0, 0.5 / dim, np.uint64(key(seed, 0, one)))
    rows[:, half:] = 1.0
    rows[:, one], rows[:, half + one] = 1.0, FROZEN
    return rows


# Cells in an order that is both random and kind to the cache. Rows and columns are cut into blocks of words; a tile is
# a block of rows by a block of columns, few enough words that their rows stay near while the tile's cells are trained.
# A tile's cells are dealt, like cards, into pieces; pieces are shuffled within, and trained in a random order.


@njit(cache=True, nogil=True)
def count_cells(rows, columns, bits, tiles):
    """tiles[i, j] += 1 for each cell in tile (i, j), where a block is 2^bits words."""
    for k in range(len(rows)):
        tiles[rows[k] >> bits, columns[k] >> bits] += 1


@njit(cache=True, nogil=True)
def cut_pieces(tiles, size, firsts, starts):
    """Cuts each tile into pieces of at most about `size` cells, equal to one cell; returns how many pieces there are.

    firsts[t] is the first piece of tile t, with the number of all pieces at the end; starts[p] the first cell of piece
    p. A tile of n cells has n // size pieces, but one if it has any cells.
    """
    count, cell = 0, 0
    for t in range(len(tiles)):
        firsts[t] = count
        inside = tiles[t]
        cuts = max(inside // size, min(inside, 1))
        for c in range(cuts):
            starts[count] = cell
            cell += (inside - c + cuts - 1) // cuts
            count += 1
    firsts[len(tiles)] = count
    starts[count] = cell
    return count


@njit(cache=True, nogil=True)
def deal(rows, columns, values, bits, across, dealt, firsts, starts, x_max, alpha, pairs, targets):
    """Gives each cell its place: the n-th of a tile goes to the tile's piece n mod (number of its pieces).

    `across` is how many tiles lie side by side, dealt[t] how many cells of tile t have been dealt. Pairs become (row,
    column) and targets (log X, f(X)). Returns the sum of ½ f(X) (log X)², the cost of rows that are all zero.
    """
    log_of_most = math.log(x_max)
    cost = 0.0
    for k in range(len(rows)):
        tile = (np.int64(rows[k]) >> bits) * across + (columns[k] >> bits)
        turn = dealt[tile]
        dealt[tile] = turn + 1
        cuts = firsts[tile + 1] - firsts[tile]
        at = starts[firsts[tile] + turn % cuts] + turn // cuts
        log = math.log(values[k])
        weight = math.exp(min(0.0, alpha * (log - log_of_most)))
        pairs[at, 0], pairs[at, 1] = rows[k], columns[k]
        targets[at, 0], targets[at, 1] = log, weight
        cost += 0.5 * weight * log * log
    return cost


@njit(cache=True, nogil=True)
def shuffle_pieces(pairs, targets, starts, first, last, seed):
    """Shuffles the cells within each of the pieces first … last - 1, each by a stream of its own."""
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
    """The numbers 0 … count - 1 in the random order of an epoch."""
    order = np.arange(count)
    state = key(seed, epoch, 0)
    for i in range(count - 1, 0, -1):
        state += STEP
        j = below(mix(state), i + 1)
        order[i], order[j] = order[j], order[i]
    return order
