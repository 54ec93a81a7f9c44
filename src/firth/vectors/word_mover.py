"""The word mover's distance of two texts (Kusner et al. 2015): the least cost of moving the words of one to the other.

Each text has a mass of 1, spread over its words by their counts. Moving a mass from one word to another costs the mass
times the Euclidean distance of their vectors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

Floats = NDArray[np.float64]


def earth_movers_distance(first: Floats, second: Floats, costs: Floats) -> float:
    """The least cost of a transport from masses `first` to masses `second`, where moving from i to j costs costs[i, j].

    >>> earth_movers_distance(np.array([0.5, 0.5]), np.array([1.0]), np.array([[2.0], [4.0]]))
    3.0
    """
    rows, columns = costs.shape
    flows = np.arange(rows * columns)
    ones = np.ones(len(flows))
    sums = coo_matrix(  # (rows + columns, flows): the flows that leave i, then those that reach j
        (np.tile(ones, 2), (np.concatenate([flows // columns, rows + flows % columns]), np.tile(flows, 2)))
    )
    result = linprog(costs.ravel(), A_eq=sums.tocsr(), b_eq=np.concatenate([first, second]), method="highs")
    return float(result.fun)


def word_mover_distance(first: list[str], second: list[str], vectors: dict[str, NDArray[np.float32]]) -> float:
    """The distance of two lists of words; words without a vector do not count, and a text without words is at infinity.

    >>> vectors = {"tea": np.array([0.0, 0.0]), "coffee": np.array([3.0, 4.0])}
    >>> word_mover_distance(["tea"], ["coffee", "milk"], vectors)
    5.0
    """
    masses, tables = [], []
    for words in (first, second):
        known = [word for word in words if word in vectors]
        if not known:
            return float("inf")
        unique, counts = np.unique(known, return_counts=True)
        masses.append(counts / counts.sum())
        tables.append(np.stack([vectors[str(word)] for word in unique]).astype(np.float64))
    costs = np.linalg.norm(tables[0][:, None] - tables[1][None], axis=2)
    return earth_movers_distance(masses[0], masses[1], costs)
