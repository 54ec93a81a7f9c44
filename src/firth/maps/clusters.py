"""Clusters of vectors by direction: spherical k-means in the full space, each cluster named by its typical words.

A center is the mean direction of its members, and a vector belongs to the center with the largest cosine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.vectors.neighbors import unit_rows
from firth.vectors.rows import Floats, Ids

BLOCK = 8192  # rows per product with the centers
SAMPLE = 20_000  # rows from which the centers are learned
FREQUENT = 200  # members of a cluster from which its name is chosen


@dataclass(frozen=True, eq=False)
class Clusters:
    """The cluster of each row, the unit centers, and the cosine of each row with its center.

    >>> rows = np.array([[1, 0], [0.9, 0.1], [0, 1], [0.1, 0.9]])
    >>> clusters = Clusters.of(rows, 2)
    >>> bool(clusters.labels[0] == clusters.labels[1] != clusters.labels[2] == clusters.labels[3])
    True
    >>> sorted(clusters.names(["tea", "coffee", "rain", "snow"]))
    ['rain · snow', 'tea · coffee']
    """

    labels: Ids
    centers: Floats
    cosines: Floats

    @classmethod
    def of(cls, vectors: NDArray[Any], count: int | None = None, *, seed: int = 1, starts: int = 1) -> Clusters:
        """Clusters rows by direction; by default the number of clusters grows with the root of the number of rows.

        Of several `starts`, the one with the largest sum of cosines is kept. At most 20,000 rows are used for learning.
        """
        unit = unit_rows(np.asarray(vectors))
        count = choose_count(len(unit)) if count is None else count
        if not 1 <= count <= len(unit):
            raise OptionError(f"{len(unit)} vectors cannot form {count} clusters")
        rng = np.random.default_rng(seed)
        sample = unit if len(unit) <= SAMPLE else unit[np.sort(rng.choice(len(unit), SAMPLE, replace=False))]
        centers = [improve(sample, draw_centers(sample, count, rng)) for _ in range(starts)]
        best = max(centers, key=lambda some: float(assign(sample, some)[1].sum(dtype=np.float64)))
        labels, cosines = assign(unit, best)
        return cls(labels, best, cosines)

    def __len__(self) -> int:
        return len(self.centers)

    @property
    def sizes(self) -> Ids:
        """The number of members of each cluster."""
        return np.bincount(self.labels, minlength=len(self))

    def names(self, words: Sequence[str], count: int = 3) -> list[str]:
        """A name for each cluster: those of its most frequent words that are nearest to its center.

        Words are in the order of their frequency, as in a vocabulary. Words without a letter are used only where a
        cluster has no others.
        """
        named = []
        for cluster in range(len(self)):
            members = np.flatnonzero(self.labels == cluster)
            lettered = np.array([any(map(str.isalpha, words[i])) for i in members[: 4 * FREQUENT].tolist()], bool)
            pool = members[: len(lettered)][lettered] if lettered.any() else members
            pool = pool[:FREQUENT]
            typical = pool[np.argsort(-self.cosines[pool], kind="stable")[:count]]
            named.append(" · ".join(words[i] for i in typical.tolist()))
        return named


def choose_count(size: int) -> int:
    """The number of clusters for `size` rows: 2 to 20.

    >>> [choose_count(size) for size in (1, 100, 18_000, 400_000)]
    [1, 2, 19, 20]
    """
    return max(1, min(size, 20, max(2, round(math.sqrt(size / 50)))))


def draw_centers(unit: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Rows as first centers by k-means++: each is drawn in proportion to 1 - its largest cosine to those before."""
    chosen = [int(rng.integers(len(unit)))]
    distances = np.full(len(unit), np.inf)
    while len(chosen) < count:
        distances = np.minimum(distances, np.maximum(0, 1 - (unit @ unit[chosen[-1]]).astype(np.float64)))
        total = distances.sum()
        chances = distances / total if total > 0 else np.full(len(unit), 1 / len(unit))
        chosen.append(int(rng.choice(len(unit), p=chances)))
    return unit[chosen]


def assign(unit: Floats, centers: Floats) -> tuple[Ids, Floats]:
    """The nearest center of each row, and the cosine with it."""
    labels, cosines = np.empty(len(unit), np.int64), np.empty(len(unit), np.float32)
    for start in range(0, len(unit), BLOCK):
        products = unit[start : start + BLOCK] @ centers.T
        labels[start : start + BLOCK], cosines[start : start + BLOCK] = products.argmax(axis=1), products.max(axis=1)
    return labels, cosines


def improve(unit: Floats, centers: Floats, rounds: int = 30) -> Floats:
    """The centers after at most `rounds` rounds of spherical k-means; an empty cluster restarts at the worst row."""
    labels = np.full(len(unit), -1, np.int64)
    for _ in range(rounds):
        nearest, cosines = assign(unit, centers)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        order = np.argsort(labels, kind="stable")
        sizes = np.bincount(labels, minlength=len(centers))
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        sums = np.add.reduceat(unit[order], np.minimum(starts, len(unit) - 1), axis=0, dtype=np.float64)
        empty = np.flatnonzero(sizes == 0)
        sums[empty] = unit[np.argsort(cosines, kind="stable")[: len(empty)]]
        centers = unit_rows(sums)
    return centers
