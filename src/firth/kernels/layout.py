"""Layout of points in the plane: UMAP's weights and its stochastic gradient descent (McInnes et al., 2018).

The weight of neighbor j of point i falls with the distance beyond the nearest neighbor,

    w(i, j) = exp(-(d(i, j) - min_k d(i, k)) / σ_i),        σ_i such that  Σ_j w(i, j) = log₂ k.

In the plane, two points at the squared distance D are similar by q = 1 / (1 + D), Student's t with one degree of
freedom. Gradient descent pulls the ends of an edge together along the gradient of log q, and pushes random points apart
along the gradient of log (1 - q), times the repulsion r:

    pull  -2 (y_i - y_j) / (1 + D)        push  2 r (y_i - y_j) / ((ε + D) (1 + D))

UMAP's own curve, 1 / (1 + a D^b), needs two powers for each pair, which take two thirds of the time. More repulsion
keeps more neighbors (Böhm, Berens and Kobak, 2022).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from firth.kernels.random import STEP, below, mix

CLIP = np.float32(4)  # largest step of one coordinate, before the learning rate
EPSILON = np.float32(1e-3)
ROUNDS = 40  # of bisection


@njit(cache=True, nogil=True)
def smooth_weights(distances, weights):
    """weights[i, j] = w(i, j); distances ascend in each row. σ_i is found by bisection."""
    count = distances.shape[1]
    target = math.log2(count)
    for i in range(len(distances)):
        nearest = distances[i, 0]
        low, high, sigma = 0.0, np.inf, 1.0
        for _ in range(ROUNDS):
            total = 0.0
            for j in range(count):
                total += math.exp(-(distances[i, j] - nearest) / sigma)
            if abs(total - target) < 1e-4:
                break
            if total > target:
                high = sigma
                sigma = (low + high) / 2
            else:
                low = sigma
                sigma = 2 * sigma if high == np.inf else (low + high) / 2
        for j in range(count):
            weights[i, j] = math.exp(-(distances[i, j] - nearest) / sigma)


@njit(cache=True, nogil=True)
def clip(value):
    """The value within ±CLIP."""
    return min(CLIP, max(-CLIP, value))


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def descend(positions, heads, tails, every, due, first, last, total, negatives, repulsion, state):
    """Epochs first … last - 1 of `total`: each edge that is due pulls its ends together and pushes `negatives` points.

    Edge e is due every every[e] epochs; due[e] is its next epoch. The learning rate falls linearly from 1 to 0. `state`
    keys the random points. Positions change in place; returns the next state.
    """
    size = len(positions)
    one, two, strength = np.float32(1), np.float32(2), np.float32(2 * repulsion)
    for epoch in range(first, last):
        rate = np.float32(1.0 - epoch / total)
        for e in range(len(heads)):
            if due[e] > epoch:
                continue
            due[e] += every[e]
            i, j = heads[e], tails[e]
            x, y = positions[i, 0], positions[i, 1]
            dx, dy = x - positions[j, 0], y - positions[j, 1]
            pull = -two / (one + dx * dx + dy * dy)
            step_x, step_y = rate * clip(pull * dx), rate * clip(pull * dy)
            x += step_x
            y += step_y
            positions[j, 0] -= step_x
            positions[j, 1] -= step_y
            for _ in range(negatives):
                state += STEP
                k = below(mix(state), size)
                dx, dy = x - positions[k, 0], y - positions[k, 1]
                square = dx * dx + dy * dy
                push = strength / ((EPSILON + square) * (one + square))
                if k == i:
                    push = np.float32(0)
                x += rate * clip(push * dx)
                y += rate * clip(push * dy)
            positions[i, 0] = x
            positions[i, 1] = y
    return state
