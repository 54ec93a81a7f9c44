"""K-means and codes against plain NumPy."""

from __future__ import annotations

import numpy as np

from firth.kernels import quantization as kernel


def random_points(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((rows, columns)).astype(np.float32)


def nearest(points: np.ndarray, table: np.ndarray) -> np.ndarray:
    return ((points[:, :, None].astype(np.float64) - table) ** 2).sum(axis=1).argmin(axis=1)


def test_a_code_names_the_nearest_centroid() -> None:
    points, table = random_points(500, 5), random_points(2, 256, seed=1)
    codes = np.zeros(500, np.uint8)
    kernel.assign(points, 3, 2, table, codes)
    assert np.array_equal(codes, nearest(points[:, 3:], table))


def test_the_compiled_kernel_agrees_with_its_python_body() -> None:
    points, table = random_points(40, 3), random_points(3, 256, seed=1)
    compiled, plain = np.zeros(40, np.uint8), np.zeros(40, np.uint8)
    changed = kernel.assign(points, 0, 3, table, compiled)
    assert kernel.assign.py_func(points, 0, 3, table, plain) == changed == np.count_nonzero(compiled)
    assert np.array_equal(compiled, plain)


def test_centroids_move_to_the_mean_of_their_points() -> None:
    points, codes = random_points(1000, 4), (np.arange(1000) % 200).astype(np.uint8)
    table = np.full((2, 256), 7, np.float32)
    kernel.update_centroids(points, 1, 2, codes, table, np.empty((2, 256)), np.empty(256, np.int64))
    for code in range(200):
        np.testing.assert_allclose(table[:, code], points[codes == code, 1:3].mean(axis=0), rtol=1e-5, atol=1e-6)
    assert np.all(table[:, 200:] == 7)


def test_an_empty_centroid_takes_half_of_a_full_one() -> None:
    table, counts = np.zeros((1, 256), np.float32), np.zeros(256, np.int64)
    table[0, 0], counts[0] = 5, 100_000
    kernel.split_centroids(1, table, counts, 100_000, np.uint64(1))
    assert counts.sum() == 100_000
    assert counts.min() >= 1
    np.testing.assert_allclose(table, 5, atol=1e-4)


def test_every_round_of_k_means_brings_points_nearer() -> None:
    points = random_points(4000, 2)
    errors = []
    for rounds in (1, 3, 10):
        table = np.empty((2, 256), np.float32)
        state = np.uint64(kernel.draw_centroids(points, 0, 2, np.uint64(5), table))
        kernel.k_means(points, 0, 2, rounds, state, table)
        errors.append(((points - table[:, nearest(points, table)].T) ** 2).sum())
    assert errors[0] > errors[1] > errors[2]


def test_few_different_points_are_kept_as_they_are() -> None:
    points = np.repeat(random_points(100, 2), 30, axis=0)
    table, codes = np.empty((2, 256), np.float32), np.empty(3000, np.uint8)
    kernel.draw_centroids(points, 0, 2, np.uint64(5), table)
    kernel.k_means(points, 0, 2, 25, np.uint64(5), table)
    kernel.assign(points, 0, 2, table, codes)
    np.testing.assert_allclose(table[:, codes].T, points, atol=1e-5)


def test_a_row_of_zeros_has_no_direction_and_stays() -> None:
    rows, norms = np.array([[3, 4], [0, 0]], np.float32), np.empty(2, np.float32)
    kernel.compute_norms(rows, norms)
    kernel.normalize_rows(rows, norms)
    assert norms.tolist() == [5, 0]
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0, 0]])
