"""Numbers about numbers: rank correlation, agreement of clusters with categories, and how far chance could move them.

Everything here is arrays in and numbers out; `evaluate.py` knows what they mean.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Labels = NDArray[np.int64]
Interval = tuple[float, float]

Z = 1.959963984540054  # a normal variable lies within Z standard deviations 95 times in 100
CELLS = 1 << 21  # draws held at once by the bootstrap


def ranks(values: Values) -> Values:
    """The rank of each value, from 1; equal values share the mean of their ranks.

    >>> ranks(np.array([10.0, 30.0, 20.0, 20.0]))
    array([1. , 4. , 2.5, 2.5])
    """
    _, groups, sizes = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(sizes)
    return np.asarray((last - (sizes - 1) / 2)[groups], np.float64)


def pearson(x: Values, y: Values) -> float | None:
    """The linear correlation of two lists, or None where one of them does not vary.

    >>> round(pearson(np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 3.0])), 4)
    0.982
    """
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    x, y = x - x.mean(), y - y.mean()
    scale = math.sqrt(float(x @ x) * float(y @ y))
    if scale == 0:
        return None
    return max(-1.0, min(1.0, float(x @ y) / scale))


def spearman(x: Values, y: Values) -> float | None:
    """The correlation of the ranks of two lists, or None where one of them does not vary.

    >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([10.0, 100.0, 1000.0]))
    1.0
    """
    return pearson(ranks(x), ranks(y))


def spearman_interval(x: Values, y: Values, *, resamples: int = 1000, seed: int = 0) -> Interval | None:
    """Where 95 in 100 rank correlations lie when the pairs are drawn anew, with replacement (percentile bootstrap).

    A draw is kept as a count for each pair. Values are sorted once, and the ranks of every draw follow from running
    sums of its counts, so that nothing is sorted again.
    """
    count = len(x)
    if count < 2:
        return None
    rng = np.random.default_rng(seed)
    groups = [np.unique(values, return_inverse=True)[1] for values in (x, y)]
    found = []
    for done in range(0, resamples, step := max(1, CELLS // count)):
        size = min(step, resamples - done)
        draws = rng.integers(0, count, (size, count)) + count * np.arange(size)[:, None]
        weights = np.bincount(draws.ravel(), minlength=size * count).reshape(size, count).astype(np.float64)
        found.append(_correlations(_drawn_ranks(groups[0], weights), _drawn_ranks(groups[1], weights), weights))
    correlations = np.concatenate(found)
    return percentile_interval(correlations[np.isfinite(correlations)])


def _drawn_ranks(groups: Labels, weights: Values) -> Values:
    """Ranks within each draw, (draws, items): equal values share the mean of the ranks first + 1 ... last they span."""
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups)) - 1
    last = np.cumsum(weights[:, order], axis=1)[:, ends]
    first = np.zeros_like(last)
    first[:, 1:] = last[:, :-1]
    return np.asarray(((first + last + 1) / 2)[:, groups], np.float64)


def _correlations(x: Values, y: Values, weights: Values) -> Values:
    """The weighted linear correlation of each row; not a number where a row does not vary."""
    size = weights.shape[1]
    x = x - (np.einsum("ij,ij->i", x, weights) / size)[:, None]
    y = y - (np.einsum("ij,ij->i", y, weights) / size)[:, None]
    together = np.einsum("ij,ij,ij->i", x, y, weights)
    scale = np.sqrt(np.einsum("ij,ij,ij->i", x, x, weights) * np.einsum("ij,ij,ij->i", y, y, weights))
    found: Values = np.divide(together, scale, out=np.full_like(together, np.nan), where=scale > 0)
    return found


def percentile_interval(values: Values) -> Interval | None:
    """The middle 95 % of many results.

    >>> percentile_interval(np.arange(1001.0))
    (25.0, 975.0)
    """
    if len(values) == 0:
        return None
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def wilson(right: int, count: int) -> Interval | None:
    """Wilson's 95 % interval for a share: the chances of success that `right` out of `count` does not rule out.

    >>> [round(edge, 4) for edge in wilson(8, 10)]
    [0.4902, 0.9433]
    """
    if count == 0:
        return None
    share, weight = right / count, Z * Z / count
    middle = (share + weight / 2) / (1 + weight)
    reach = Z * math.sqrt(share * (1 - share) / count + weight / (4 * count)) / (1 + weight)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def ratio_interval(sums: Values, counts: Values) -> Interval | None:
    """The 95 % interval of sums.sum() / counts.sum(), where chance draws whole items (as sentences of a text).

    >>> [round(edge, 3) for edge in ratio_interval(np.array([2.0, 4.0, 6.0]), np.array([1.0, 2.0, 2.0]))]
    [1.681, 3.119]
    """
    items, size = len(sums), counts.sum()
    if items < 2:
        return None
    ratio = sums.sum() / size
    reach = Z * math.sqrt(items / (items - 1) * float(((sums - ratio * counts) ** 2).sum())) / size
    return float(ratio - reach), float(ratio + reach)


def contingency(clusters: Labels, categories: Labels) -> Labels:
    """How often each cluster meets each category.

    >>> contingency(np.array([0, 0, 1]), np.array([1, 1, 0]))
    array([[0, 2],
           [1, 0]])
    """
    shape = int(clusters.max()) + 1, int(categories.max()) + 1
    cells = np.bincount(clusters * shape[1] + categories, minlength=shape[0] * shape[1])
    return np.asarray(cells.reshape(shape), np.int64)


def majority_count(table: Labels) -> int:
    """How many items belong to the commonest category of their cluster; purity is this over the number of items."""
    return int(table.max(axis=1).sum())


def mutual_information(table: Labels) -> float:
    """Normalized mutual information of clusters and categories: 1 if each tells the other, 0 if it tells nothing.

    It is divided by the mean of both entropies. Two partitions with one part each agree fully.

    >>> mutual_information(np.array([[2, 0], [0, 2]])), mutual_information(np.array([[1, 1], [1, 1]]))
    (1.0, 0.0)
    """
    joint = table / table.sum()
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    both = _entropy(rows) + _entropy(columns)
    if both == 0:
        return 1.0
    return max(0.0, 2 * (both - _entropy(joint.ravel())) / both)


def _entropy(shares: Values) -> float:
    some = shares[shares > 0]
    return float(-(some * np.log(some)).sum())


def k_means(points: NDArray[np.float32], k: int, *, seed: int = 0, starts: int = 10, rounds: int = 100) -> Labels:
    """The cluster of each point: the tightest of several runs of k-means, each from centers spread by k-means++.

    >>> k_means(np.array([[0, 0], [0, 1], [9, 9], [9, 8]], np.float32), 2).tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True
    """
    rng = np.random.default_rng(seed)
    tightest = math.inf
    best = np.zeros(len(points), np.int64)
    for _ in range(starts):
        labels, spread = _one_k_means(points, _spread_centers(points, k, rng), rounds)
        if spread < tightest:
            tightest, best = spread, labels
    return best


def _spread_centers(points: NDArray[np.float32], k: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """k points, each drawn with a chance that grows with its squared distance from those before it."""
    chosen = [int(rng.integers(len(points)))]
    distances = np.full(len(points), np.inf)
    while len(chosen) < k:
        distances = np.minimum(distances, ((points - points[chosen[-1]]) ** 2).sum(axis=1, dtype=np.float64))
        total = distances.sum()
        chances = distances / total if total > 0 else np.full(len(points), 1 / len(points))
        chosen.append(int(rng.choice(len(points), p=chances)))
    return points[chosen]


def _one_k_means(points: NDArray[np.float32], centers: NDArray[np.float32], rounds: int) -> tuple[Labels, float]:
    """Points move to their nearest center and centers to the mean of their points, until no point moves."""
    norms = (points**2).sum(axis=1)
    labels = np.full(len(points), -1, np.int64)
    for _ in range(rounds):
        gaps = norms[:, None] - 2 * (points @ centers.T) + (centers**2).sum(axis=1)  # (points, centers), squared
        nearest = gaps.argmin(axis=1)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        members = labels == np.arange(len(centers))[:, None]  # (centers, points)
        sizes = members.sum(axis=1)
        centers = (members.astype(np.float32) @ points) / np.maximum(sizes, 1)[:, None].astype(np.float32)
        lost = np.flatnonzero(sizes == 0)
        if len(lost):  # a center without points starts again at one of the points that fit worst
            worst = np.argsort(-gaps[np.arange(len(points)), labels], kind="stable")
            centers[lost] = points[worst[: len(lost)]]
    spread = float(((points - centers[labels]) ** 2).sum(dtype=np.float64))
    return labels, spread
