"""The search finds exactly what a plain scan in double precision finds, ties by lower id."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firth.errors import OptionError
from firth.kernels import search as kernel
from firth.runtime import Runtime
from firth.vectors.rows import DenseRows, Int8Rows
from firth.vectors.search import FaissIndex, NeighborIndex


def plain(
    matrix: np.ndarray, queries: np.ndarray, topn: int, exclude: list[list[int]], ids: np.ndarray
) -> tuple[list[list[int]], list[list[float]]]:
    """The definition: cosines in float64, rounded to float32, sorted by value and id."""
    found, scores = [], []
    for query, barred in zip(queries.astype(np.float64), exclude):
        pool = np.setdiff1d(ids, barred)
        rows = matrix[pool].astype(np.float64)
        lengths = np.sqrt((rows * rows).sum(axis=1)) * np.sqrt((query * query).sum())
        cosines = np.divide(rows @ query, lengths, out=np.zeros(len(pool)), where=lengths > 0).astype(np.float32)
        order = np.lexsort((pool, -cosines))[:topn]
        found.append(pool[order].tolist())
        scores.append(cosines[order].tolist())
    return found, scores


def check(matrix: np.ndarray, queries: np.ndarray, topn: int, threads: int = 2, **options: object) -> None:
    """Equal ids and cosines; sums in another order may move a cosine by one rounding, and then a tie at the end."""
    index = NeighborIndex.of(DenseRows(matrix), Runtime(threads))
    ids, cosines = index.search(queries, topn, **options)  # type: ignore[arg-type]
    pool = np.arange(len(matrix)) if options.get("allowed") is None else np.unique(options["allowed"])  # type: ignore[arg-type]
    pool = pool[pool < (options.get("limit") or len(matrix))]  # type: ignore[operator]
    exclude = options.get("exclude") or [[]] * len(queries)
    found, scores = plain(matrix, queries, topn, exclude, pool)  # type: ignore[arg-type]
    for q in range(len(queries)):
        some = ids[q][ids[q] >= 0]
        assert len(some) == len(found[q])
        np.testing.assert_allclose(cosines[q][: len(some)], scores[q], rtol=0, atol=6.1e-8)
        differing = set(some.tolist()) ^ set(found[q])
        assert not differing or np.ptp(scores[q][-2:]) < 6.1e-8


def clustered(seed: int, size: int, dim: int, spread: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centers = rng.standard_normal((7, dim))
    rows = centers[rng.integers(0, 7, size)] + spread * rng.standard_normal((size, dim))
    return (rows * rng.lognormal(0, 1, (size, 1))).astype(np.float32)


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 10**6), st.integers(1, 400), st.integers(1, 40), st.integers(1, 12), st.integers(1, 19))
def test_any_shape_gives_the_plain_answer(seed: int, size: int, dim: int, topn: int, count: int) -> None:
    matrix = clustered(seed, size, dim)
    queries = clustered(seed + 1, count, dim)
    check(matrix, queries, topn, threads=1 + seed % 3)


@pytest.mark.parametrize("spread", [1.0, 1e-2, 1e-4, 1e-6, 0.0])
def test_near_ties_down_to_equal_rows_give_the_plain_answer(spread: float) -> None:
    matrix = clustered(3, 3000, 24, spread)
    check(matrix, matrix[:20], 10)


def test_equal_rows_are_ordered_by_id_exactly() -> None:
    row = np.random.default_rng(0).standard_normal(30).astype(np.float32)
    matrix = np.concatenate([np.tile(row, (500, 1)), -np.tile(row, (500, 1)), np.tile(2 * row, (500, 1))])
    ids, cosines = NeighborIndex.of(DenseRows(matrix)).search(row[None], 600)
    assert ids[0].tolist() == [*range(500), *range(1000, 1100)]
    assert (cosines == 1).all()


def test_one_huge_column_makes_the_bytes_useless_and_the_answer_stays_right() -> None:
    matrix = clustered(4, 2000, 16)
    matrix[:, 3] = 1e4
    check(matrix, matrix[:9], 10)


def test_tiny_and_huge_and_zero_rows_are_ranked_by_their_cosines() -> None:
    matrix = clustered(5, 1000, 12)
    matrix[::3] *= np.float32(1e-30)
    matrix[1::3] *= np.float32(1e15)
    matrix[::10] = 0
    check(matrix, matrix[1:12], 10)


def test_a_query_of_zeros_has_cosine_zero_with_everything() -> None:
    ids, cosines = NeighborIndex.of(DenseRows(clustered(6, 100, 8))).search(np.zeros((1, 8), np.float32), 3)
    assert ids.tolist() == [[0, 1, 2]]
    assert not cosines.any()


def test_what_is_excluded_not_allowed_or_beyond_the_limit_is_no_answer() -> None:
    matrix = clustered(7, 900, 20, 0.1)
    queries = matrix[:11]
    exclude = [list(range(q, q + 5 * (q % 3))) for q in range(11)]
    check(matrix, queries, 10, exclude=exclude)
    check(matrix, queries, 10, exclude=exclude, limit=333)
    check(matrix, queries, 10, exclude=exclude, allowed=np.arange(0, 900, 2))
    check(matrix, queries, 10, exclude=exclude, allowed=np.arange(0, 900, 2), limit=500)
    check(matrix, queries, 10, exclude=exclude, allowed=[5, 3, 3, 700])


def test_places_that_cannot_be_filled_stay_empty() -> None:
    ids, cosines = NeighborIndex.of(DenseRows(np.eye(3, dtype=np.float32))).search(
        np.eye(3)[:1], 5, allowed=[1], exclude=[[0]]
    )
    assert ids.tolist() == [[1, -1, -1]]
    assert cosines[0, 0] == 0
    assert np.isneginf(cosines[0, 1:]).all()


def test_too_many_candidates_are_answered_the_plain_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firth.vectors.search.CANDIDATES", 100)
    matrix = clustered(8, 5000, 16, 1e-3)
    check(matrix, matrix[:5], 10)


def test_the_number_of_threads_and_of_queries_at_once_does_not_change_the_answer() -> None:
    matrix = clustered(9, 4000, 33, 0.3)
    one = NeighborIndex.of(DenseRows(matrix), Runtime(1)).search(matrix[:50], 10)
    many = NeighborIndex.of(DenseRows(matrix), Runtime(4))
    np.testing.assert_array_equal(one, many.search(matrix[:50], 10))
    single = [many.search(matrix[q : q + 1], 10) for q in range(50)]
    np.testing.assert_array_equal(one, np.concatenate(single, axis=1))


def test_quantized_rows_are_searched_as_what_they_stand_for() -> None:
    rows = Int8Rows.from_rows(DenseRows(clustered(10, 700, 9)))
    ids, _ = NeighborIndex.of(rows).search(rows.take([5, 6]), 10)
    dense = NeighborIndex.of(DenseRows(rows.block(0, 700))).search(rows.take([5, 6]), 10)
    np.testing.assert_array_equal(ids, dense[0])


def test_bad_queries_are_refused() -> None:
    index = NeighborIndex.of(DenseRows(np.eye(3, dtype=np.float32)))
    with pytest.raises(OptionError, match="rows of 3 numbers"):
        index.search(np.zeros((1, 2)), 1)
    with pytest.raises(OptionError, match="not finite"):
        index.search(np.array([[0, np.nan, 1]]), 1)


def test_rows_that_are_not_numbers_are_never_answers() -> None:
    matrix = clustered(11, 300, 8)
    matrix[::4] = np.nan
    ids, _ = NeighborIndex.of(DenseRows(matrix)).search(matrix[1:2], 10)
    assert not (ids % 4 == 0).any()


def test_the_error_of_a_quantized_row_is_what_it_says() -> None:
    row = clustered(12, 1, 50)[0]
    codes = np.zeros(50, np.int8)
    scale, error = kernel.quantize(row, kernel.norm(row), codes)
    unit = row.astype(np.float64) / np.linalg.norm(row.astype(np.float64))
    assert error == pytest.approx(np.linalg.norm(unit - scale * codes), abs=1e-12)
    assert error < 0.01


def test_the_heap_keeps_the_largest() -> None:
    values = np.random.default_rng(0).standard_normal(200).astype(np.float32)
    heap = np.full(7, -np.inf, np.float32)
    for value in values:
        if value > heap[0]:
            kernel.replace_smallest(heap, value)
    np.testing.assert_array_equal(np.sort(heap), np.sort(values)[-7:])


def test_a_processor_without_byte_products_gives_the_same_answer() -> None:
    program = (
        "import numpy as np; from firth.vectors.search import NeighborIndex; from firth.vectors.rows import DenseRows;"
        "matrix = np.random.default_rng(0).standard_normal((500, 30)).astype(np.float32);"
        "print(NeighborIndex.of(DenseRows(matrix)).search(matrix[:9], 5)[0].tolist())"
    )
    plain_processor = {**os.environ, "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    printed = subprocess.run(
        [sys.executable, "-c", program], env=plain_processor, capture_output=True, check=True
    ).stdout
    matrix = np.random.default_rng(0).standard_normal((500, 30)).astype(np.float32)
    assert printed.decode().strip() == str(NeighborIndex.of(DenseRows(matrix)).search(matrix[:9], 5)[0].tolist())


def test_the_graph_finds_nearly_all_neighbors_with_exact_cosines() -> None:
    pytest.importorskip("faiss")
    matrix = clustered(13, 3000, 16)
    exact = NeighborIndex.of(DenseRows(matrix))
    graph = FaissIndex.of(exact)
    ids, cosines = exact.search(matrix[:40], 10, exclude=[[q] for q in range(40)])
    near, near_cosines = graph.search(matrix[:40], 10, exclude=[[q] for q in range(40)])
    same = ids == near
    assert same.mean() > 0.95
    np.testing.assert_array_equal(cosines[same], near_cosines[same])
