"""Orthogonal Procrustes: the rotation that brings one set of points nearest to another (Schönemann, 1966)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError

Doubles = NDArray[np.float64]


def procrustes(source: NDArray[Any], target: NDArray[Any]) -> tuple[Doubles, Doubles]:
    """The rotation or reflection R for which source · R is nearest to target by least squares, and singular values.

    The dimensions may differ: R then keeps lengths as far as the smaller dimension allows. The sum of the singular
    values is the sum of the inner products of target rows with the turned source rows.

    >>> turn, values = procrustes(np.array([[1.0, 0], [0, 2]]), np.array([[0, 1.0], [-2, 0]]))
    >>> turn.round(6).tolist(), values.tolist()
    ([[0.0, 1.0], [-1.0, 0.0]], [4.0, 1.0])
    """
    if len(source) != len(target) or not len(source):
        raise OptionError(f"an alignment needs two equal lists of points, not {source.shape} and {target.shape}")
    cross = np.asarray(source, np.float64).T @ np.asarray(target, np.float64)
    left, values, right = np.linalg.svd(cross, full_matrices=False)
    return left @ right, values
