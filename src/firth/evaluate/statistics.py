"""Statistics of tests: rank correlation, agreement of clusters with categories, and 95 % intervals.

All functions take arrays and return numbers or arrays.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Labels = NDArray[np.int64]
Interval = tuple[float, float]

Z = 1.959963984540054  # 95 % of a normal distribution are within Z standard deviations
CELLS = 1 << 21  # counts in memory at a time in the bootstrap


def ranks(values: Values) -> Values:
    """The rank of each value, from 1; equal values share the mean of their ranks.

    >>> ranks(np.array([10.0, 30.0, 20.0, 20.0]))
    array([1. , 4. , 2.5, 2.5])
    """
    _, groups, sizes = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(sizes)
    return np.asarray((last - (sizes - 1) / 2)[groups], np.float64)


def pearson(x: Values, y: Values) -> float | None:
    """The linear correlation of two lists, or None if one of them is constant.

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
    """The correlation of the ranks of two lists, or None if one of them is constant.

    >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([10.0, 100.0, 1000.0]))
    1.0
    """
    return pearson(ranks(x), ranks(y))


def area_under_curve(values: Values, is_positive: NDArray[np.bool_]) -> float | None:
    """The share of all pairs of a positive and a negative in which the positive has the larger value; a tie is half.

    >>> area_under_curve(np.array([0.9, 0.4, 0.6]), np.array([True, True, False]))
    0.5
    """
    positives = int(is_positive.sum())
    negatives = len(values) - positives
    if not positives or not negatives:
        return None
    above = float(ranks(values)[is_positive].sum()) - positives * (positives + 1) / 2
    return above / (positives * negatives)


def spearman_interval(x: Values, y: Values, *, resamples: int = 1000, seed: int = 0) -> Interval | None:
    """The 95 % percentile bootstrap interval of the rank correlation; pairs are drawn with replacement.

    A resample is stored as a count per pair. The values are sorted once, and the ranks of every resample follow from
    cumulative sums of its counts, without sorting again.
    """
    count = len(x)
    if count < 2:
        return None
    rng = np.random.default_rng(seed)
    groups = [np.unique(values, return_inverse=True)[1] for values in (x, y)]
    correlations = []
    for done in range(0, resamples, step := max(1, CELLS // count)):
        size = min(step, resamples - done)
        draws = rng.integers(0, count, (size, count)) + count * np.arange(size)[:, None]
        weights = np.bincount(draws.ravel(), minlength=size * count).reshape(size, count).astype(np.float64)
        x_ranks, y_ranks = (_weighted_ranks(group, weights) for group in groups)
        correlations.append(_correlations(x_ranks, y_ranks, weights))
    values = np.concatenate(correlations)
    return percentile_interval(values[np.isfinite(values)])


def _weighted_ranks(groups: Labels, weights: Values) -> Values:
    """Ranks within each resample, (resamples, items); equal values share the mean of the ranks first + 1 ... last."""
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups)) - 1
    last = np.cumsum(weights[:, order], axis=1)[:, ends]
    first = np.zeros_like(last)
    first[:, 1:] = last[:, :-1]
    return np.asarray(((first + last + 1) / 2)[:, groups], np.float64)


def _correlations(x: Values, y: Values, weights: Values) -> Values:
    """The weighted linear correlation of each row; NaN if a row is constant."""
    size = weights.shape[1]
    x = x - (np.einsum("ij,ij->i", x, weights) / size)[:, None]
    y = y - (np.einsum("ij,ij->i", y, weights) / size)[:, None]
    covariance = np.einsum("ij,ij,ij->i", x, y, weights)
    scale = np.sqrt(np.einsum("ij,ij,ij->i", x, x, weights) * np.einsum("ij,ij,ij->i", y, y, weights))
    correlations: Values = np.divide(covariance, scale, out=np.full_like(scale, np.nan), where=scale > 0)
    return correlations


def percentile_interval(values: Values) -> Interval | None:
    """The interval of the middle 95 % of the values, or None without values.

    >>> percentile_interval(np.arange(1001.0))
    (25.0, 975.0)
    """
    if len(values) == 0:
        return None
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def wilson(correct: int, count: int) -> Interval | None:
    """Wilson's 95 % interval of the share `correct` / `count`, or None if `count` is 0.

    >>> [round(edge, 4) for edge in wilson(8, 10)]
    [0.4902, 0.9433]
    """
    if count == 0:
        return None
    share, weight = correct / count, Z * Z / count
    center = (share + weight / 2) / (1 + weight)
    margin = Z * math.sqrt(share * (1 - share) / count + weight / (4 * count)) / (1 + weight)
    return max(0.0, center - margin), min(1.0, center + margin)


def ratio_interval(sums: Values, counts: Values) -> Interval | None:
    """The 95 % interval of sums.sum() / counts.sum(), where the items (such as sentences) are independent draws.

    >>> [round(edge, 3) for edge in ratio_interval(np.array([2.0, 4.0, 6.0]), np.array([1.0, 2.0, 2.0]))]
    [1.681, 3.119]
    """
    items, size = len(sums), counts.sum()
    if items < 2:
        return None
    ratio = sums.sum() / size
    margin = Z * math.sqrt(items / (items - 1) * float(((sums - ratio * counts) ** 2).sum())) / size
    return float(ratio - margin), float(ratio + margin)


def contingency(clusters: Labels, categories: Labels) -> Labels:
    """The number of items in each cluster and category, (clusters, categories).

    >>> contingency(np.array([0, 0, 1]), np.array([1, 1, 0]))
    array([[0, 2],
           [1, 0]])
    """
    shape = int(clusters.max()) + 1, int(categories.max()) + 1
    cells = np.bincount(clusters * shape[1] + categories, minlength=shape[0] * shape[1])
    return np.asarray(cells.reshape(shape), np.int64)


def majority_count(table: Labels) -> int:
    """The number of items in the most frequent category of their cluster; purity is its share of all items."""
    return int(table.max(axis=1).sum())


def mutual_information(table: Labels) -> float:
    """Normalized mutual information of clusters and categories: 1 if each determines the other, 0 if independent.

    It is normalized by the mean of both entropies. Two partitions with one part each have the value 1.

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
    positive = shares[shares > 0]
    return float(-(positive * np.log(positive)).sum())


def k_means(points: NDArray[np.float32], k: int, *, seed: int = 0, starts: int = 10, rounds: int = 100) -> Labels:
    """The cluster of each point: the best of `starts` runs of k-means, each from centers drawn by k-means++.

    >>> k_means(np.array([[0, 0], [0, 1], [9, 9], [9, 8]], np.float32), 2).tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True
    """
    rng = np.random.default_rng(seed)
    least = math.inf
    best = np.zeros(len(points), np.int64)
    for _ in range(starts):
        labels, distance = _run_k_means(points, _draw_centers(points, k, rng), rounds)
        if distance < least:
            least, best = distance, labels
    return best


def _draw_centers(points: NDArray[np.float32], k: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """k points, each drawn with a probability proportional to its squared distance from the points drawn before."""
    chosen = [int(rng.integers(len(points)))]
    distances = np.full(len(points), np.inf)
    while len(chosen) < k:
        distances = np.minimum(distances, ((points - points[chosen[-1]]) ** 2).sum(axis=1, dtype=np.float64))
        total = distances.sum()
        chances = distances / total if total > 0 else np.full(len(points), 1 / len(points))
        chosen.append(int(rng.choice(len(points), p=chances)))
    return points[chosen]


def _run_k_means(points: NDArray[np.float32], centers: NDArray[np.float32], rounds: int) -> tuple[Labels, float]:
    """The cluster of each point and the sum of squared distances after at most `rounds` rounds."""
    norms = (points**2).sum(axis=1)
    labels = np.full(len(points), -1, np.int64)
    for _ in range(rounds):
        distances = norms[:, None] - 2 * (points @ centers.T) + (centers**2).sum(axis=1)  # (points, centers), squared
        nearest = distances.argmin(axis=1)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        members = labels == np.arange(len(centers))[:, None]  # (centers, points)
        sizes = members.sum(axis=1)
        centers = (members.astype(np.float32) @ points) / np.maximum(sizes, 1)[:, None].astype(np.float32)
        empty = np.flatnonzero(sizes == 0)
        if len(empty):  # an empty cluster restarts at one of the points that are farthest from their centers
            farthest = np.argsort(-distances[np.arange(len(points)), labels], kind="stable")
            centers[empty] = points[farthest[: len(empty)]]
    distance = float(((points - centers[labels]) ** 2).sum(dtype=np.float64))
    return labels, distance
