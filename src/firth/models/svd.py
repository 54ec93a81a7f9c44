"""The largest singular values of a sparse matrix and their vectors, by random projection.

Halko, Martinsson and Tropp (2011): multiply the matrix by a few random vectors, and the products soon span the space
that matters; a few rounds of multiplying by the matrix and its transpose sharpen it. All that is dense is as narrow as
the number of dimensions asked for.
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

NEARLY_DEPENDENT = 1e-5  # Cholesky squares this, and float64 has sixteen digits


@dataclass(frozen=True, eq=False)
class Svd:
    """matrix ≈ left · diag(values) · rightᵀ, values falling. The largest entry of every left vector is positive."""

    left: Floats
    values: Floats
    right: Floats

    def rows(self, power: float) -> Floats:
        """A vector for each row, left · diag(values^power): 1 keeps the matrix's geometry, 0 forgets the values."""
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
    """The `dim` largest singular values with their vectors; more rounds and extra dimensions make them more exact.

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
    inner, values, turned = np.linalg.svd(rest @ triangle)
    left, right = basis @ turned.T, outer @ inner
    report(Progress("decomposing", rounds + 1, rounds + 1, unit="rounds"))
    return fix_signs(left[:, :dim], values[:dim], right[:, :dim])


def fix_signs(left: Floats, values: Floats, right: Floats) -> Svd:
    """Singular vectors come in pairs whose sign is free; here the largest entry of the left one is positive."""
    largest = np.argmax(np.abs(left), axis=0)
    signs = np.where(left[largest, np.arange(left.shape[1])] < 0, -1.0, 1.0)
    return Svd(left * signs, values, right * signs)


def qr(columns: Floats) -> tuple[Floats, Floats]:
    """columns = basis · triangle, the basis orthonormal: the QR decomposition, by way of Cholesky's.

    This takes a seventh of Householder's time and loses digits only where columns are almost dependent: then it is
    Householder's after all. Once is enough on the way; twice makes the basis orthonormal to the last digit.
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
    """matrix · dense, rows in threads; each row is summed in order, so threads do not change a bit."""
    dense = np.ascontiguousarray(dense)
    product = np.empty((matrix.shape[0], dense.shape[1]), np.float64)
    count = 4 * runtime.threads
    edges = np.searchsorted(matrix.indptr, np.linspace(0, matrix.nnz, count + 1))
    edges[0], edges[-1] = 0, matrix.shape[0]

    def some_rows(i: int) -> None:
        first, last = int(edges[i]), int(edges[i + 1])
        kernel.multiply_rows(matrix.indptr, matrix.indices, matrix.data, dense, first, last, product)

    runtime.map(some_rows, range(count))
    return product
