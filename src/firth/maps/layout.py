"""Layout of vectors in the plane: near vectors come to lie near each other, frame by frame.

The first frame is the projection on the two principal components. Then the exact neighbors of every vector are searched
and gradient descent moves the points (see `kernels/layout.py`). To cancel, stop iterating.

Of very many vectors only the first are laid out: the landmarks. Every other point is placed among those of its nearest
landmarks that lie together in the plane.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree

from firth.errors import MissingExtra, OptionError
from firth.kernels import layout as kernel
from firth.kernels.random import key
from firth.options import Recipe, option
from firth.runtime import Runtime
from firth.vectors.neighbors import unit_rows
from firth.vectors.rows import DenseRows, Floats, Ids
from firth.vectors.search import NeighborIndex

KEPT = 10  # neighbors per point whose presence in the plane is counted
NEGATIVES = 5  # random points that an edge pushes away
RADIUS = 10.0  # of the first frame
QUERIES = 4096  # searched between two frames
PLACED = 50_000  # points placed between two frames


@dataclass(frozen=True, eq=False)
class Frame:
    """Positions (points, 2) after a step ("pca", "neighbors", "layout", "placing"), and the neighbors once known.

    If only the first points are landmarks, neighbors are landmarks.
    """

    step: str
    done: int
    total: int
    positions: Floats
    neighbors: Ids
    landmarks: int | None = None


@dataclass(frozen=True, eq=False)
class PointMap:
    """A finished layout: positions (points, 2), and for each point the share of its ten neighbors that it kept.

    If only the first points were landmarks, these are its ten nearest landmarks, in the full space and in the plane.
    """

    positions: Floats
    kept: Floats

    @classmethod
    def of(cls, frame: Frame) -> PointMap:
        """A frame as a map: counts the neighbors that it kept."""
        return cls(frame.positions, neighbors_kept(frame.positions, frame.neighbors, frame.landmarks))

    @property
    def quality(self) -> float:
        """The share of neighbors kept, over all points.

        >>> PointMap(np.zeros((2, 2), np.float32), np.array([0.2, 0.4], np.float32)).quality
        0.3
        """
        return round(float(self.kept.mean(dtype=np.float64)), 4) if len(self.kept) else 1.0


@dataclass(frozen=True)
class Layout(Recipe):
    """A layout of vectors in the plane that keeps neighbors near: UMAP's method with more repulsion, or t-SNE.

    >>> vectors = np.random.default_rng(1).normal(size=(40, 8)) + 4 * np.eye(8)[np.arange(40) % 2]
    >>> result = Layout(neighbors=5).fit(vectors)
    >>> result.positions.shape, result.quality > 0.4
    ((40, 2), True)
    >>> [frame.step for frame in Layout(neighbors=5, epochs=20).frames(vectors)]
    ['pca', 'neighbors', 'layout', 'layout']
    """

    method: Literal["umap", "tsne"] = option("umap", "Method: UMAP, or t-SNE, which keeps more and needs openTSNE.")
    neighbors: int = option(15, "Neighbors of a point that attract it.", minimum=2)
    epochs: int | None = option(
        None, "Epochs of gradient descent; by default 300, or 150 above 30,000 points.", minimum=1
    )
    repulsion: float = option(
        8.0, "Strength of the repulsion; more keeps more neighbors and less global shape.", minimum=0
    )
    landmarks: int = option(
        100_000, "Points that are laid out, the first ones; the others are placed among them.", minimum=4
    )
    seed: int = option(1, "Seed of the random numbers.", minimum=0)

    def frames(self, vectors: NDArray[Any], runtime: Runtime | None = None) -> Iterator[Frame]:
        """The positions as they change: PCA, then the progress of the search, then every tenth epoch.

        Above `landmarks` points, the progress of placing the others follows.
        """
        unit = check_vectors(vectors)
        positions = project(unit)
        if len(unit) > self.landmarks:
            yield from self._place_frames(unit, positions, runtime)
            return
        size = len(unit)
        unknown = np.zeros((size, 0), np.int64)
        yield Frame("pca", 0, 1, positions, unknown)
        if size <= 3:
            return
        blocks = []
        for done, ids, cosines in search_blocks(unit, min(self.neighbors, size - 1), runtime):
            blocks.append((ids, cosines))
            yield Frame("neighbors", done, size, positions, unknown)
        neighbors = np.concatenate([ids for ids, _ in blocks])
        distances = np.maximum(0, 1 - np.concatenate([cosines for _, cosines in blocks]))
        run = self._run_tsne if self.method == "tsne" else self._run_umap
        yield from run(positions, neighbors, distances)

    def _place_frames(self, unit: Floats, start: Floats, runtime: Runtime | None) -> Iterator[Frame]:
        """The frames of a layout of the landmarks, then of placing all other points."""
        count, size = self.landmarks, len(unit)
        positions = start
        for frame in self.frames(unit[:count], runtime):
            if frame.step == "layout":
                positions = np.concatenate([frame.positions, start[count:]])
            yield Frame(frame.step, frame.done, frame.total, positions, np.zeros((size, 0), np.int64))
        near = min(KEPT, frame.neighbors.shape[1])
        neighbors = np.zeros((size, near), np.int64)
        neighbors[:count] = frame.neighbors[:, :near]
        index = NeighborIndex.of(DenseRows(unit[:count]), runtime)
        width = spread(frame.positions, near)
        rng = np.random.default_rng(self.seed)
        for first in range(count, size, PLACED):
            rows = slice(first, min(size, first + PLACED))
            positions = positions.copy()  # a frame does not change later
            for part in range(rows.start, rows.stop, QUERIES):
                some = slice(part, min(rows.stop, part + QUERIES))
                neighbors[some], cosines = index.search(unit[some], near)
                positions[some] = place_among(frame.positions[neighbors[some]], cosines, width, rng)
            yield Frame("placing", rows.stop - count, size - count, positions, neighbors, count)

    def fit(self, vectors: NDArray[Any], runtime: Runtime | None = None) -> PointMap:
        """The last frame as a map. The same seed gives the same positions."""
        *_, last = self.frames(vectors, runtime)
        return PointMap.of(last)

    def _run_umap(self, start: Floats, neighbors: Ids, distances: Floats) -> Iterator[Frame]:
        total = self.epochs or (300 if len(start) < 30_000 else 150)
        heads, tails, every = weigh_edges(neighbors, distances, total)
        due, positions, state = every.copy(), start.copy(), key(self.seed, 0, 0)
        for first in range(0, total, 10):
            last = min(total, first + 10)
            arguments = heads, tails, every, due, first, last, total, NEGATIVES, self.repulsion, np.uint64(state)
            state = kernel.descend(positions, *arguments)
            yield Frame("layout", last, total, positions.copy(), neighbors)

    def _run_tsne(self, start: Floats, neighbors: Ids, distances: Floats) -> Iterator[Frame]:
        try:
            from openTSNE import TSNEEmbedding, affinity, nearest_neighbors
        except ImportError as error:
            raise MissingExtra("a layout by t-SNE", "tsne") from error
        total = self.epochs or 750
        near = nearest_neighbors.PrecomputedNeighbors(neighbors, distances)
        similar = affinity.PerplexityBasedNN(knn_index=near, perplexity=max(1.0, neighbors.shape[1] / 3))
        embedding = TSNEEmbedding(start * (1e-4 / start.std()), similar, random_state=self.seed, n_jobs=1)
        early = total // 3
        for first in range(0, total, 50):
            steps = min(50, total - first)
            phase = {"exaggeration": 12, "momentum": 0.5} if first < early else {"momentum": 0.8}
            embedding = embedding.optimize(n_iter=steps, learning_rate="auto", **phase)
            yield Frame("layout", first + steps, total, np.array(embedding, np.float32), neighbors)


def check_vectors(vectors: NDArray[Any]) -> Floats:
    """Rows of unit length, as float32; another shape and numbers that are not finite raise OptionError."""
    table = np.asarray(vectors)
    if table.ndim != 2 or 0 in table.shape:
        raise OptionError(f"a layout needs rows of numbers, but the shape is {table.shape}")
    if not np.isfinite(table).all():
        raise OptionError("a layout needs finite numbers, but a vector has one that is not")
    return np.ascontiguousarray(unit_rows(table))


def principal_axes(rows: NDArray[Any], count: int = 2) -> Floats:
    """The first principal axes (dim, count); the largest entry of each is positive.

    >>> principal_axes(np.array([[0, 0], [3, 1], [6, 2.0]]), 1).round(2)
    array([[0.95],
           [0.32]], dtype=float32)
    """
    centered = np.asarray(rows - rows.mean(axis=0), np.float64)
    _, axes = np.linalg.eigh(centered.T @ centered)
    axes = axes[:, ::-1][:, :count]
    largest = np.abs(axes).argmax(axis=0)
    return np.asarray(axes * np.sign(axes[largest, np.arange(axes.shape[1])]), np.float32)


def project(rows: Floats) -> Floats:
    """Positions (points, 2) by the first two principal components, within ±RADIUS."""
    axes = principal_axes(rows)
    positions = np.zeros((len(rows), 2), np.float32)
    positions[:, : axes.shape[1]] = (rows - rows.mean(axis=0)) @ axes
    largest = float(np.abs(positions).max())
    return positions * np.float32(RADIUS / largest) if largest > 0 else positions


def search_blocks(unit: Floats, count: int, runtime: Runtime | None = None) -> Iterator[tuple[int, Ids, Floats]]:
    """The nearest rows of each row but itself, block by block: (rows done, ids, cosines)."""
    index = NeighborIndex.of(DenseRows(unit), runtime)
    for start in range(0, len(unit), QUERIES):
        queries = unit[start : start + QUERIES]
        own = [(row,) for row in range(start, start + len(queries))]
        ids, cosines = index.search(queries, count, exclude=own)
        yield start + len(queries), ids, cosines


def weigh_edges(neighbors: Ids, distances: Floats, epochs: int) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats]:
    """The edges (heads, tails) between neighbors, in both directions, and how many epochs lie between their samples.

    The weights of a pair are joined as a + b - a·b. An edge that would be sampled less than once is dropped.
    """
    size, count = neighbors.shape
    weights = np.empty((size, count), np.float32)
    kernel.smooth_weights(distances, weights)
    one_way = csr_matrix((weights.ravel(), neighbors.ravel(), np.arange(0, size * count + 1, count)), (size, size))
    both = (one_way + one_way.T - one_way.multiply(one_way.T)).tocoo()
    largest = both.data.max()
    enough = both.data >= largest / epochs
    every = np.asarray(largest / both.data[enough], np.float32)
    return both.row[enough].astype(np.int32), both.col[enough].astype(np.int32), every


def spread(positions: Floats, near: int) -> float:
    """The distance in the plane from a point to its `near`-th neighbor: the median over at most 2000 points.

    >>> spread(np.array([[0, 0], [1, 0], [2, 0]], np.float32), 1)
    1.0
    """
    some = positions[:: max(1, len(positions) // 2000)]
    distances, _ = cKDTree(positions).query(some, near + 1)
    return float(np.median(distances[:, -1])) or 1.0


def place_among(places: Floats, cosines: Floats, width: float, rng: np.random.Generator) -> Floats:
    """A place for each point among the places (points, near, 2) of its neighbors: where most of them lie together.

    Every neighbor votes for each by exp(-(distance / width)²) times its cosine. The neighbors around the one with most
    votes are averaged, so that a point never lands in the empty middle of two groups. A tenth of the width is noise.

    >>> places = np.array([[[0, 0], [0.1, 0], [9, 9]]], np.float32)
    >>> place_among(places, np.ones((1, 3), np.float32), 0.5, np.random.default_rng(1)).round().tolist()
    [[0.0, 0.0]]
    """
    squares = ((places[:, :, None] - places[:, None]) ** 2).sum(axis=3)  # (points, near, near)
    votes = np.exp(-squares / width**2) * np.maximum(cosines, 1e-6)[:, None]
    best = votes[np.arange(len(votes)), votes.sum(axis=2).argmax(axis=1)]
    shares = best / best.sum(axis=1, keepdims=True)
    noise = 0.1 * width * rng.normal(size=(len(places), 2))
    return np.asarray((places * shares[..., None]).sum(axis=1) + noise, np.float32)


def neighbors_kept(positions: Floats, neighbors: Ids, landmarks: int | None = None) -> Floats:
    """For each point, the share of its first ten neighbors that are among its ten nearest points in the plane.

    With `landmarks`, only the first points count as near in the plane.

    >>> line = np.array([[0, 0], [1, 0], [3, 0]], np.float32)
    >>> neighbors_kept(line, np.array([[1], [0], [0]])).tolist()
    [1.0, 1.0, 0.0]
    """
    count = min(KEPT, neighbors.shape[1])
    if count == 0:
        return np.ones(len(positions), np.float32)
    _, near = cKDTree(positions[:landmarks]).query(positions, count + 1)
    others = near != np.arange(len(near))[:, None]
    others[others.all(axis=1), -1] = False  # the point itself is not among its duplicates
    found = near[others].reshape(len(near), count)
    kept = np.empty(len(near), np.float32)
    for start in range(0, len(near), QUERIES):
        part = slice(start, start + QUERIES)
        kept[part] = (found[part, :, None] == neighbors[part, None, :count]).any(axis=2).mean(axis=1)
    return kept
