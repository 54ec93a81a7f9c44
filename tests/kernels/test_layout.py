"""Weights against their definition, and descent against its plain body and against finite differences."""

from __future__ import annotations

import math

import numpy as np

from firth.kernels import layout as kernel
from firth.kernels.random import key


def test_the_weights_of_a_point_sum_to_the_logarithm_of_their_number() -> None:
    distances = np.sort(np.random.default_rng(1).random((20, 8)).astype(np.float32), axis=1)
    weights = np.empty_like(distances)
    kernel.smooth_weights(distances, weights)
    np.testing.assert_allclose(weights.sum(axis=1), math.log2(8), atol=1e-3)
    np.testing.assert_array_equal(weights[:, 0], 1)
    assert (np.diff(weights, axis=1) <= 0).all()


def test_equal_distances_give_equal_weights() -> None:
    weights = np.empty((1, 4), np.float32)
    kernel.smooth_weights(np.full((1, 4), 0.5, np.float32), weights)
    np.testing.assert_array_equal(weights, 1)


def descend(positions, edges, *, epochs=1, negatives=0, repulsion=1.0, function=kernel.descend):
    heads, tails = np.array(edges, np.int32).T.copy()
    every = np.ones(len(heads), np.float32)
    result = positions.copy()
    state = np.uint64(key(3, 0, 0))
    function(result, heads, tails, every, every * 0, 0, epochs, epochs, negatives, repulsion, state)
    return result


def test_an_edge_moves_along_the_gradient_of_the_log_similarity() -> None:
    positions = np.array([[0, 0], [0.5, -0.25]], np.float32)

    def log_similarity(x: float, y: float) -> float:
        return -math.log(1 + (x - 0.5) ** 2 + (y + 0.25) ** 2)

    step = 1e-5
    slope_x = (log_similarity(step, 0) - log_similarity(-step, 0)) / (2 * step)
    slope_y = (log_similarity(0, step) - log_similarity(0, -step)) / (2 * step)
    after = descend(positions, [(0, 1)])
    np.testing.assert_allclose(after[0], [slope_x, slope_y], rtol=1e-4)
    np.testing.assert_allclose(after[0] + after[1], positions[0] + positions[1], atol=1e-6)


def test_random_points_are_pushed_along_the_gradient_of_the_log_dissimilarity() -> None:
    positions = np.array([[0, 0], [1.0, 0.5]], np.float32)
    still = np.zeros((1, 2), np.int32)  # an edge of a point with itself pulls nothing
    after = descend(positions, still, negatives=1, repulsion=0.5)
    square = 1.25
    expected = 2 * 0.5 * (positions[0] - positions[1]) / ((0.001 + square) * (1 + square))
    moved = after[0] - positions[0]
    assert np.allclose(moved, expected, rtol=1e-4) or not moved.any()  # the draw may be the point itself
    pushed = descend(positions, np.repeat(still, 64, axis=0), negatives=1, repulsion=0.5)
    assert pushed[0, 0] < -0.1


def test_the_compiled_descent_is_its_plain_body() -> None:
    rng = np.random.default_rng(5)
    positions = rng.normal(size=(12, 2)).astype(np.float32)
    edges = [(i, (i + 1) % 12) for i in range(12)]
    fast = descend(positions, edges, epochs=4, negatives=2, repulsion=3.0)
    with np.errstate(over="ignore"):
        plain = descend(positions, edges, epochs=4, negatives=2, repulsion=3.0, function=kernel.descend.py_func)
    np.testing.assert_allclose(fast, plain, rtol=1e-3, atol=1e-4)


def test_an_edge_is_sampled_as_often_as_its_interval_says() -> None:
    positions = np.array([[0, 0], [9, 0], [0, 9], [9, 9]], np.float32)
    heads, tails = np.array([0, 2], np.int32), np.array([1, 3], np.int32)
    every = np.array([1, 4], np.float32)
    due = every.copy()
    kernel.descend(positions, heads, tails, every, due, 0, 8, 8, 0, 1.0, np.uint64(1))
    assert due.tolist() == [8.0, 8.0]
    gaps = np.linalg.norm(positions[heads] - positions[tails], axis=1)
    assert gaps[0] < gaps[1] < 9
