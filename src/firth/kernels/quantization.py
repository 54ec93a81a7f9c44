"""Product quantization: k-means on subvectors, and the nearest centroid of each row's subvector.

A subvector is the columns first … first + width - 1. Its 256 centroids are the columns of a (width, 256) table, so the
distances of a point to all centroids are sums of rows.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable

from firth.kernels.random import STEP, below, mix
from firth.kernels.simd_float import LANES, choose, load, maximum, splat, store

CENTROIDS = 256
EPSILON = np.float32(1e-7)  # shift between the two halves of a split centroid


@register_jitable
def nearest(points, i, first, width, table, halves, numbers, scratch):
    """The index of the centroid c nearest to x = points[i, first : first + width]; ties go to the lower index.

    ‖x - c‖² / 2 = ‖x‖² / 2 + (‖c‖² / 2 - x·c), so x·c - ‖c‖² / 2 is maximized, in each of sixteen lanes.
    """
    best, best_index = splat(-3e38), splat(0.0)
    for k in range(0, CENTROIDS, LANES):
        score = splat(0.0) - load(halves, 0, k)
        for j in range(width):
            score = score + points[i, first + j] * load(table, j, k)
        best_index = choose(best - score, best_index, load(numbers, 0, k))
        best = maximum(best, score)
    store(scratch, 0, 0, best)
    store(scratch, 1, 0, best_index)
    lane = 0
    for other in range(1, LANES):
        higher = scratch[0, other] > scratch[0, lane]
        if higher or (scratch[0, other] == scratch[0, lane] and scratch[1, other] < scratch[1, lane]):
            lane = other
    return np.int64(scratch[1, lane])


@njit(cache=True, nogil=True)
def assign(points, first, width, table, codes):
    """codes[i] = nearest centroid of the subvector of point i; returns the number of changed codes."""
    halves, numbers = np.zeros((1, CENTROIDS), np.float32), np.zeros((1, CENTROIDS), np.float32)
    for k in range(CENTROIDS):
        numbers[0, k] = k
        for j in range(width):
            halves[0, k] += np.float32(0.5) * table[j, k] * table[j, k]
    scratch = np.zeros((2, LANES), np.float32)
    changed = 0
    for i in range(len(points)):
        code = nearest(points, i, first, width, table, halves, numbers, scratch)
        changed += codes[i] != code
        codes[i] = code
    return changed


@njit(cache=True, nogil=True)
def update_centroids(points, first, width, codes, table, sums, counts):
    """Set each centroid to the mean of its points; empty centroids are unchanged. Sums are float64."""
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
def split_centroids(width, table, counts, size, state):
    """Replace each empty centroid by half of another one, drawn with probability proportional to its points."""
    for k in range(CENTROIDS):
        if counts[k] > 0:
            continue
        state += STEP
        drawn = below(mix(state), max(1, size))
        other = 0
        while drawn >= counts[other]:
            drawn -= counts[other]
            other += 1
        if counts[other] < 2:
            continue  # a single point: the copy would stay empty
        for j in range(width):
            shift = EPSILON if j % 2 else -EPSILON
            table[j, k] = table[j, other] + shift
            table[j, other] -= shift
        counts[k] = counts[other] // 2
        counts[other] -= counts[k]
    return state


@njit(cache=True, nogil=True)
def draw_centroids(points, first, width, state, table):
    """Initialize the centroids with random distinct points; points repeat if there are fewer than centroids."""
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
    """Up to `rounds` iterations of Lloyd's algorithm; stops early when no code changes."""
    sums, counts = np.empty((width, CENTROIDS), np.float64), np.empty(CENTROIDS, np.int64)
    codes = np.zeros(len(points), np.uint8)
    for iteration in range(rounds):
        changed = assign(points, first, width, table, codes)
        if changed == 0 and iteration > 0:
            return
        update_centroids(points, first, width, codes, table, sums, counts)
        state = split_centroids(width, table, counts, len(points), state)


@njit(cache=True, nogil=True)
def compute_norms(rows, norms):
    """norms[i] = ‖rows[i]‖, summed in float64."""
    for i in range(len(rows)):
        square = 0.0
        for j in range(rows.shape[1]):
            square += np.float64(rows[i, j]) * np.float64(rows[i, j])
        norms[i] = np.float32(np.sqrt(square))


@njit(cache=True, nogil=True)
def normalize_rows(rows, norms):
    """Divide each row by its norm; zero rows are unchanged."""
    for i in range(len(rows)):
        if norms[i] > 0:
            for j in range(rows.shape[1]):
                rows[i, j] /= norms[i]
