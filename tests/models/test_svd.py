"""Randomized SVD against the exact one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse import random as random_matrix
from scipy.sparse.linalg import svds

from firth.errors import OptionError
from firth.models.svd import multiply, qr, truncated_svd
from firth.runtime import Runtime


def make_sparse(rows: int, columns: int, seed: int) -> csr_matrix:
    return csr_matrix(random_matrix(rows, columns, density=0.1, random_state=np.random.default_rng(seed)))


@pytest.mark.parametrize("shape", [(120, 90), (60, 150)])
def test_it_agrees_with_the_exact_decomposition_to_six_digits(shape):
    matrix = make_sparse(*shape, seed=1)
    found = truncated_svd(matrix, 8, rounds=60, runtime=Runtime(2))
    left, values, right = svds(matrix, 8)
    order = np.argsort(-values)
    np.testing.assert_allclose(found.values, values[order], rtol=1e-6)
    exact = (left[:, order] * values[order]) @ right[order]
    np.testing.assert_allclose((found.left * found.values) @ found.right.T, exact, atol=1e-6)
    np.testing.assert_allclose(np.abs(found.left), np.abs(left[:, order]), atol=1e-6)


def test_vectors_are_orthonormal_and_values_fall():
    found = truncated_svd(make_sparse(80, 70, seed=2), 10)
    np.testing.assert_allclose(found.left.T @ found.left, np.eye(10), atol=1e-12)
    np.testing.assert_allclose(found.right.T @ found.right, np.eye(10), atol=1e-12)
    assert (np.diff(found.values) <= 0).all()


def test_all_dimensions_give_the_matrix_back():
    matrix = make_sparse(12, 9, seed=3)
    found = truncated_svd(matrix, 9)
    np.testing.assert_allclose((found.left * found.values) @ found.right.T, matrix.toarray(), atol=1e-12)


def test_the_largest_entry_of_every_left_vector_is_positive():
    found = truncated_svd(make_sparse(50, 40, seed=4), 6)
    largest = np.argmax(np.abs(found.left), axis=0)
    assert (found.left[largest, range(6)] > 0).all()


def test_signs_do_not_depend_on_the_seed():
    matrix = make_sparse(50, 40, seed=5)
    first, second = (truncated_svd(matrix, 3, rounds=80, seed=seed).left for seed in (1, 2))
    np.testing.assert_allclose(first, second, atol=1e-6)


def test_one_seed_gives_one_answer_for_any_number_of_threads():
    matrix = make_sparse(50, 40, seed=6)
    one, two = (truncated_svd(matrix, 5, runtime=Runtime(threads)).left for threads in (1, 3))
    np.testing.assert_array_equal(one, two)


def test_eigenvalue_power_weighs_the_dimensions():
    found = truncated_svd(make_sparse(30, 30, seed=7), 4)
    np.testing.assert_array_equal(found.rows(0), found.left)
    np.testing.assert_allclose(found.rows(0.5) ** 2, found.left**2 * found.values)


def test_a_matrix_of_low_rank_gives_zeros_and_no_noise():
    low = csr_matrix(np.outer(np.arange(20.0), np.ones(15)) + np.outer(np.ones(20), np.arange(15.0)))
    found = truncated_svd(low, 5)
    np.testing.assert_allclose(found.values[2:], 0, atol=1e-10)
    np.testing.assert_allclose((found.left * found.values) @ found.right.T, low.toarray(), atol=1e-10)
    np.testing.assert_allclose(found.left.T @ found.left, np.eye(5), atol=1e-12)


def test_factors_are_orthonormal_times_triangular_even_for_dependent_columns():
    rng = np.random.default_rng(3)
    free = rng.standard_normal((40, 4))
    for columns in (free, np.hstack([free, free[:, :1]]), np.hstack([free, free[:, :1] + 1e-9]), np.zeros((40, 3))):
        basis, triangle = qr(columns)
        np.testing.assert_allclose(basis @ triangle, columns, atol=1e-12)
        np.testing.assert_allclose(basis.T @ basis, np.eye(columns.shape[1]), atol=1e-12)


def test_more_dimensions_than_the_matrix_has_are_refused():
    with pytest.raises(OptionError, match="9 singular values"):
        truncated_svd(make_sparse(12, 9, seed=8), 10)


def test_products_in_threads_agree_with_scipy():
    matrix = make_sparse(33, 21, seed=9)
    dense = np.random.default_rng(1).standard_normal((21, 5))
    np.testing.assert_allclose(multiply(matrix, dense, Runtime(3)), matrix @ dense, atol=1e-14)
