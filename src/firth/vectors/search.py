"""Exact nearest neighbors by cosine, multithreaded, with an index of one byte per number.

The int8 index only rules rows out by bounds (see `kernels/search.py`); the remaining rows are scored in float64. So the
result is that of a full scan. A cosine is rounded once, to float32; equal cosines are ordered by id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.errors import MissingExtra, OptionError
from firth.kernels import search as kernel
from firth.kernels import simd_int8
from firth.runtime import Runtime
from firth.vectors.rows import Floats, Ids, Rows

QUERIES = 512  # per batch
BOUNDS = 1 << 22  # lower bounds per thread and batch
CANDIDATES = 1 << 20  # per thread; with more than that, every row is scored
WIDEST = 60_000  # largest dim whose int8 dot product fits int32
Answer = tuple[Ids, Floats]


def check_queries(queries: NDArray[Any], dim: int) -> Floats:
    """Queries as a float32 table of `dim` columns; other shapes and non-finite numbers raise OptionError."""
    table = np.ascontiguousarray(queries, np.float32)
    if table.ndim != 2 or table.shape[1] != dim:
        raise OptionError(f"queries must be rows of {dim} numbers, but their shape is {table.shape}")
    if not np.isfinite(table).all():
        raise OptionError("a query has a number that is not finite")
    return table


def select_best(ids: Ids, scores: Floats, topn: int) -> Answer:
    """The ids and scores of the topn largest scores; equal scores are ordered by id, NaN is dropped."""
    if len(scores) > 4 * topn:
        least = np.partition(np.nan_to_num(scores, nan=-np.inf), len(scores) - topn)[len(scores) - topn]
        mask = scores >= least
        ids, scores = ids[mask], scores[mask]
    order = np.lexsort((ids, -scores))[:topn]
    order = order[~np.isnan(scores[order])]
    return ids[order], scores[order]


def cosines(rows: Rows, ids: Ids, owners: Ids, units: NDArray[np.float64], runtime: Runtime) -> Floats:
    """The cosine of row ids[k] with the unit query units[owners[k]], for each k; 0 for a row of zeros."""
    scores = np.empty(len(ids), np.float32)

    def score(part: slice) -> None:
        kernel.cosines(rows.take(ids[part]), units, owners[part], scores[part])

    parts = [slice(start, start + 4096) for start in range(0, len(ids), 4096)]
    if len(parts) > 1:
        runtime.map(score, parts)
    elif parts:
        score(parts[0])
    return scores


@dataclass(frozen=True, eq=False)
class NeighborIndex:
    """Rows with their int8 codes. Build it with `NeighborIndex.of`; it takes a quarter of the memory of float32 rows.

    >>> from firth.vectors.rows import DenseRows
    >>> index = NeighborIndex.of(DenseRows(np.array([[1, 0], [0, 1], [1, 1]], np.float32)))
    >>> ids, cosines = index.search(np.array([[2, 0]], np.float32), 2)
    >>> ids, cosines
    (array([[0, 2]]), array([[1.        , 0.70710677]], dtype=float32))
    """

    rows: Rows
    codes: NDArray[np.uint8]
    scales: Floats
    errors: Floats
    runtime: Runtime

    @classmethod
    def of(cls, rows: Rows, runtime: Runtime | None = None) -> NeighborIndex:
        """Quantizes all rows, block by block, in threads."""
        runtime = runtime or Runtime.from_env()
        (size, dim), tile = rows.shape, simd_int8.TILE
        tiles, steps = -(-size // tile), -(-dim // 4)
        if dim > WIDEST:
            tiles = 0
        codes = np.empty(tiles * tile * steps * 4, np.uint8)
        scales, errors = np.zeros(tiles * tile, np.float32), np.full(tiles * tile, -np.inf, np.float32)

        def pack(share: slice) -> None:
            for start in range(share.start * tile, min(share.stop * tile, size), 256 * tile):
                block = rows.block(start, min(start + 256 * tile, share.stop * tile, size))
                kernel.pack_rows(block, start, steps, codes, scales, errors)

        runtime.map(pack, runtime.shares(tiles))
        return cls(rows, codes, scales, errors, runtime)

    @property
    def nbytes(self) -> int:
        """The memory of the index in bytes, without the rows."""
        return self.codes.nbytes + self.scales.nbytes + self.errors.nbytes

    def search(
        self,
        queries: NDArray[Any],
        topn: int,
        *,
        exclude: Sequence[Sequence[int]] | None = None,
        allowed: Sequence[int] | Ids | None = None,
        limit: int | None = None,
    ) -> Answer:
        """(ids, cosines) of the rows nearest to each query; missing results have id -1 and cosine -inf.

        `exclude` lists for each query the ids to leave out. Results are restricted to the ids in `allowed` and to ids
        below `limit`.
        """
        table = check_queries(queries, self.rows.shape[1])
        size = self.rows.shape[0] if limit is None else min(limit, self.rows.shape[0])
        topn = max(0, min(topn, size))
        ids, scores = np.full((len(table), topn), -1, np.int64), np.full((len(table), topn), -np.inf, np.float32)
        pool = None if allowed is None else _select_pool(allowed, size)
        excluded = exclude if exclude is not None else [()] * len(table)
        if topn == 0:
            return ids, scores
        step = max(8, min(QUERIES, BOUNDS // topn))
        for start in range(0, len(table), step):
            part = slice(start, start + step)
            for q, (found, score) in enumerate(self._search(table[part], topn, excluded[part], pool, size), start):
                ids[q, : len(found)], scores[q, : len(found)] = found, score
        return ids, scores

    def _search(
        self, queries: Floats, topn: int, exclude: Sequence[Sequence[int]], pool: Ids | None, size: int
    ) -> list[Answer]:
        units, packed = self._pack_queries(queries)
        wanted = topn + max(map(len, exclude), default=0)
        few = pool is not None and 32 * len(pool) < size
        if few or 8 * wanted > size or not len(self.codes):
            return self._score_all(units, topn, exclude, pool, size)
        candidates = self._candidates(packed, wanted, pool, size)
        if candidates is None:
            return self._score_all(units, topn, exclude, pool, size)
        ids, owners = candidates
        scores = cosines(self.rows, ids, owners, units, self.runtime)
        order = np.argsort(owners, kind="stable")
        ids, scores = ids[order], scores[order]
        edges = np.searchsorted(owners[order], np.arange(len(queries) + 1)).tolist()
        answers = []
        for q, excluded in enumerate(exclude):
            part = slice(edges[q], edges[q + 1])
            if len(excluded):
                scores[part][np.isin(ids[part], np.asarray(excluded))] = np.nan
            answers.append(select_best(ids[part], scores[part], topn))
        return answers

    def _pack_queries(self, queries: Floats) -> tuple[NDArray[np.float64], tuple[NDArray[Any], ...]]:
        count, dim = queries.shape
        codes = np.zeros((count, -(-dim // 4) * 4), np.int8)
        sums, scales, errors = np.empty(count, np.int32), np.empty(count, np.float32), np.empty(count, np.float32)
        units = np.empty((count, dim), np.float64)
        kernel.pack_queries(queries, units, codes, sums, scales, errors)
        return units, (codes.view(np.int32).reshape(-1), sums, scales, errors)

    def _candidates(
        self, packed: tuple[NDArray[Any], ...], wanted: int, pool: Ids | None, size: int
    ) -> tuple[Ids, Ids] | None:
        """The ids of rows that may be among the `wanted` best and the query of each; None if there are too many."""
        index, tile = (self.codes, -(-self.rows.shape[1] // 4), self.scales, self.errors), simd_int8.TILE
        mask = np.zeros(0 if pool is None else size, np.uint8)
        mask[() if pool is None else pool] = 1

        def scan(share: slice) -> tuple[Ids, Ids, Floats, Floats]:
            heaps = np.full((len(packed[1]), wanted), -np.inf, np.float32)
            span = share.start * tile, min(share.stop * tile, size)
            arguments: tuple[Any, ...] = *index, *span, *packed, mask, heaps, CANDIDATES
            return *kernel.scan(*arguments), heaps

        parts = self.runtime.map(scan, self.runtime.shares(-(-size // tile)))
        if any(len(owners) > len(ids) for ids, owners, _, _ in parts):
            return None
        ids, owners, uppers = (np.concatenate([part[k] for part in parts]) for k in range(3))
        lowers = np.concatenate([part[3] for part in parts], axis=1)
        least = np.partition(lowers, lowers.shape[1] - wanted, axis=1)[:, lowers.shape[1] - wanted]
        mask = uppers >= least[owners]
        return ids[mask], owners[mask]

    def _score_all(
        self, units: NDArray[np.float64], topn: int, exclude: Sequence[Sequence[int]], pool: Ids | None, size: int
    ) -> list[Answer]:
        """Full scan: scores every allowed row, query by query."""
        ids = np.arange(size) if pool is None else pool
        answers = []
        for q, excluded in enumerate(exclude):
            scores = cosines(self.rows, ids, np.full(len(ids), q), units, self.runtime)
            if len(excluded):
                scores[np.isin(ids, np.asarray(excluded))] = np.nan
            answers.append(select_best(ids, scores, topn))
        return answers


def _select_pool(allowed: Sequence[int] | Ids, size: int) -> Ids:
    """The allowed ids below size, each once, in order."""
    pool = np.unique(np.asarray(allowed, np.int64))
    if len(pool) and pool[0] < 0:
        raise OptionError(f"allowed has the id {pool[0]}, but an id is at least 0")
    return pool[pool < size]


@dataclass(frozen=True, eq=False)
class FaissIndex:
    """An HNSW graph over the rows, built by faiss: approximate neighbors with exact cosines.

    It pays for very many single queries; building it takes minutes, while the exact index takes a second.
    """

    exact: NeighborIndex
    graph: Any

    @classmethod
    def of(cls, exact: NeighborIndex) -> FaissIndex:
        """Builds the graph over the unit rows of an exact index."""
        try:
            import faiss
        except ImportError as error:
            raise MissingExtra("approximate search", "ann") from error
        size, dim = exact.rows.shape
        graph = faiss.IndexHNSWFlat(dim, 32, faiss.METRIC_INNER_PRODUCT)
        for start in range(0, size, 65536):
            block = exact.rows.block(start, min(start + 65536, size))
            lengths = np.linalg.norm(block, axis=1, keepdims=True)
            graph.add(np.asarray(block / np.where(lengths > 0, lengths, 1), np.float32))
        return cls(exact, graph)

    def search(self, queries: NDArray[Any], topn: int, *, exclude: Sequence[Sequence[int]] | None = None) -> Answer:
        """As `NeighborIndex.search`, but over all rows: a graph cannot skip any."""
        table = check_queries(queries, self.exact.rows.shape[1])
        excluded = exclude if exclude is not None else [()] * len(table)
        wanted = min(self.exact.rows.shape[0], topn + max(map(len, excluded), default=0))
        self.graph.hnsw.efSearch = max(128, 4 * wanted)
        nearest = self.graph.search(table, wanted)[1]
        ids, scores = np.full((len(table), topn), -1, np.int64), np.full((len(table), topn), -np.inf, np.float32)
        for q, near in enumerate(nearest):
            pool = np.setdiff1d(near[near >= 0], np.asarray(excluded[q], np.int64))
            found_ids, found_scores = self.exact.search(table[q : q + 1], topn, allowed=pool)
            ids[q, : found_ids.shape[1]], scores[q, : found_ids.shape[1]] = found_ids[0], found_scores[0]
        return ids, scores
