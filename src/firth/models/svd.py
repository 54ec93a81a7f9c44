"""Truncated SVD of a sparse matrix by random projection (Halko, Martinsson and Tropp, 2011).

The products of the matrix with random vectors approximate the span of its leading singular vectors; power iterations
make the approximation more accurate. Dense matrices are only `dim` + `extra` columns wide.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.sparse import csr_matrix

from firth.errors import OptionError
from firth.kernels import counts as kernel
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime

Floats = NDArray[np.float64]

NEARLY_DEPENDENT = 1e-5  # Cholesky works with the square, and float64 has sixteen digits


@dataclass(frozen=True, eq=False)
class Svd:
    """matrix ≈ left · diag(values) · rightᵀ, values descending; the largest entry of every left vector is positive."""

    left: Floats
    values: Floats
    right: Floats

    def rows(self, power: float) -> Floats:
        """A vector for each row, left · diag(values^power): 1 keeps the matrix geometry, 0 ignores the values."""
        return self.left * self.values**power


def truncated_svd(
    matrix: csr_matrix,
    dim: int,
    *,
    seed: int = 1,
    rounds: int = 5,
    extra: int = 10,
    runtime: Runtime | None = None,
    report: Report = silent,
) -> Svd:
    """The `dim` largest singular values with their vectors; more rounds and extra dimensions are more accurate.

    >>> truncated_svd(csr_matrix([[3.0, 0.0], [0.0, 2.0]]), 1).values.round(6)
    array([3.])
    """
    runtime = runtime or Runtime.from_env()
    smaller = min(matrix.shape)
    if not 1 <= dim <= smaller:
        shape = f"{matrix.shape[0]:,} × {matrix.shape[1]:,}"
        raise OptionError(
            f"dim is {dim}, but a matrix of {shape} has only {smaller} singular values. Choose a smaller dim"
        )
    width = min(dim + extra, smaller)
    transposed = matrix.T.tocsr()
    start = np.random.default_rng(seed).standard_normal((matrix.shape[1], width))
    basis, _ = qr(multiply(matrix, start, runtime))  # (rows, width)
    for done in range(rounds):
        report(Progress("decomposing", done, rounds + 1, unit="rounds"))
        basis, _ = qr(multiply(transposed, basis, runtime))
        basis, _ = qr(multiply(matrix, basis, runtime))
    basis, _ = qr(basis)
    small = multiply(transposed, basis, runtime)  # (columns, width): the transpose of basisᵀ · matrix
    outer, triangle = qr(small)
    outer, rest = qr(outer)
    inner, values, rotation = np.linalg.svd(rest @ triangle)
    left, right = basis @ rotation.T, outer @ inner
    report(Progress("decomposing", rounds + 1, rounds + 1, unit="rounds"))
    return fix_signs(left[:, :dim], values[:dim], right[:, :dim])


def fix_signs(left: Floats, values: Floats, right: Floats) -> Svd:
    """The SVD with the signs of vector pairs chosen such that the largest entry of each left vector is positive."""
    largest = np.argmax(np.abs(left), axis=0)
    signs = np.where(left[largest, np.arange(left.shape[1])] < 0, -1.0, 1.0)
    return Svd(left * signs, values, right * signs)


def qr(columns: Floats) -> tuple[Floats, Floats]:
    """columns = basis · triangle, the basis orthonormal: the QR decomposition by Cholesky factorization.

    It needs a seventh of the time of Householder's method, which is the fallback for nearly dependent columns. Once
    suffices between power iterations; twice makes the basis orthonormal to machine precision.
    """
    try:
        lower = np.linalg.cholesky(columns.T @ columns)
    except np.linalg.LinAlgError:  # dependent columns
        return np.linalg.qr(columns)
    size = lower.diagonal()
    if size.min() < NEARLY_DEPENDENT * size.max():
        return np.linalg.qr(columns)
    return solve_triangular(lower, columns.T, lower=True, check_finite=False).T, np.asarray(lower.T, np.float64)


def multiply(matrix: csr_matrix, dense: Floats, runtime: Runtime) -> Floats:
    """matrix · dense, in threads over rows; each row is summed in order, so threads do not change the result."""
    dense = np.ascontiguousarray(dense)
    product = np.empty((matrix.shape[0], dense.shape[1]), np.float64)
    count = 4 * runtime.threads
    edges = np.searchsorted(matrix.indptr, np.linspace(0, matrix.nnz, count + 1))
    edges[0], edges[-1] = 0, matrix.shape[0]

    def multiply_block(i: int) -> None:
        first, last = int(edges[i]), int(edges[i + 1])
        kernel.multiply_rows(matrix.indptr, matrix.indices, matrix.data, dense, first, last, product)

    runtime.map(multiply_block, range(count))
    return product
