"""Product quantization: k-means on a few columns of a matrix, and the nearest centroid of each row there.

A piece is the columns first … first + width - 1. Its 256 centroids are a table of shape (width, 256): a column is a
centroid, so that the distances of a point to all of them are sums of rows.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable

from firth.kernels.random import STEP, below, mix
from firth.kernels.simd_float import LANES, choose, load, maximum, splat, store

CENTROIDS = 256
NUDGE = np.float32(1e-7)  # how far apart the halves of a split centroid start


@register_jitable
def nearest(points, i, first, width, table, halves, numbers, desk):
    """The number of the centroid c that is nearest to x = points[i, first : first + width]; of equals the first.

    ‖x - c‖² / 2 = ‖x‖² / 2 + (‖c‖² / 2 - x·c), so the bracket is to be smallest. Each of sixteen lanes keeps its best.
    """
    best, where = splat(-3e38), splat(0.0)
    for k in range(0, CENTROIDS, LANES):
        score = splat(0.0) - load(halves, 0, k)
        for j in range(width):
            score = score + points[i, first + j] * load(table, j, k)
        where = choose(best - score, where, load(numbers, 0, k))
        best = maximum(best, score)
    store(desk, 0, 0, best)
    store(desk, 1, 0, where)
    lane = 0
    for other in range(1, LANES):
        higher = desk[0, other] > desk[0, lane]
        if higher or (desk[0, other] == desk[0, lane] and desk[1, other] < desk[1, lane]):
            lane = other
    return np.int64(desk[1, lane])


@njit(cache=True, nogil=True)
def assign(points, first, width, table, codes):
    """codes[i] becomes the centroid that is nearest to point i in this piece; returns how many codes changed."""
    halves, numbers = np.zeros((1, CENTROIDS), np.float32), np.zeros((1, CENTROIDS), np.float32)
    for k in range(CENTROIDS):
        numbers[0, k] = k
        for j in range(width):
            halves[0, k] += np.float32(0.5) * table[j, k] * table[j, k]
    desk = np.zeros((2, LANES), np.float32)
    changed = 0
    for i in range(len(points)):
        code = nearest(points, i, first, width, table, halves, numbers, desk)
        changed += codes[i] != code
        codes[i] = code
    return changed


@njit(cache=True, nogil=True)
def move(points, first, width, codes, table, sums, counts):
    """Moves each centroid to the mean of its points; one that has none keeps its place. Sums are float64."""
    sums[:] = 0.0
    counts[:] = 0
    for i in range(len(points)):
        code = codes[i]
        counts[code] += 1
        for j in range(width):
            sums[j, code] += points[i, first + j]
    for k in range(CENTROIDS):
        if counts[k] > 0:
            for j in range(width):
                table[j, k] = np.float32(sums[j, k] / counts[k])


@njit(cache=True, nogil=True)
def split(width, table, counts, size, state):
    """Gives each centroid without points half of another one's: a large one is chosen more often than a small one."""
    for k in range(CENTROIDS):
        if counts[k] > 0:
            continue
        state += STEP
        place = below(mix(state), max(1, size))
        other = 0
        while place >= counts[other]:
            place -= counts[other]
            other += 1
        if counts[other] < 2:
            continue  # all its points are one, so the copy would stay empty
        for j in range(width):
            shift = NUDGE if j % 2 else -NUDGE
            table[j, k] = table[j, other] + shift
            table[j, other] -= shift
        counts[k] = counts[other] // 2
        counts[other] -= counts[k]
    return state


@njit(cache=True, nogil=True)
def draw_centroids(points, first, width, state, table):
    """Fills a table with points drawn at random, all different ones; with fewer points than places they repeat."""
    size = len(points)
    order = np.arange(size)
    for k in range(CENTROIDS):
        if k < size - 1:
            state += STEP
            other = k + below(mix(state), size - k)
            order[k], order[other] = order[other], order[k]
        for j in range(width):
            table[j, k] = points[order[k % size], first + j]
    return state


@njit(cache=True, nogil=True)
def k_means(points, first, width, rounds, state, table):
    """Improves the centroids of a piece by Lloyd's rounds; ends early when no point changes its centroid."""
    sums, counts = np.empty((width, CENTROIDS), np.float64), np.empty(CENTROIDS, np.int64)
    codes = np.zeros(len(points), np.uint8)
    for turn in range(rounds):
        changed = assign(points, first, width, table, codes)
        if changed == 0 and turn > 0:
            return
        move(points, first, width, codes, table, sums, counts)
        state = split(width, table, counts, len(points), state)


@njit(cache=True, nogil=True)
def norms_of(rows, norms):
    """norms[i] = ‖rows[i]‖, summed in float64."""
    for i in range(len(rows)):
        square = 0.0
        for j in range(rows.shape[1]):
            square += np.float64(rows[i, j]) * np.float64(rows[i, j])
        norms[i] = np.float32(np.sqrt(square))


@njit(cache=True, nogil=True)
def scale_down(rows, norms):
    """Divides each row by its norm; a row of zeros stays."""
    for i in range(len(rows)):
        if norms[i] > 0:
            for j in range(rows.shape[1]):
                rows[i, j] /= norms[i]
