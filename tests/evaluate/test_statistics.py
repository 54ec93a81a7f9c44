"""Numbers about numbers, against hand work and against plain references."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from firth.evaluate import statistics

VALUES = st.lists(st.integers(-5, 5).map(float), min_size=3, max_size=40)


@given(VALUES, st.randoms(use_true_random=False))
def test_spearman_and_pearson_are_those_of_scipy_ties_and_all(values: list[float], random) -> None:  # type: ignore[no-untyped-def]
    x, y = np.array(values), np.array([random.randint(-3, 3) + 0.25 * value for value in values])
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert statistics.spearman(x, y) is None
        return
    assert statistics.spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert statistics.pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)


def test_too_few_pairs_have_no_correlation() -> None:
    assert statistics.spearman(np.array([]), np.array([])) is None
    assert statistics.spearman(np.array([1.0]), np.array([2.0])) is None
    assert statistics.spearman_interval(np.array([1.0]), np.array([2.0])) is None


@settings(max_examples=20)
@given(VALUES)
def test_the_ranks_of_a_draw_are_those_of_the_drawn_values(values: list[float]) -> None:
    x = np.array(values)
    drawn = np.random.default_rng(len(values)).integers(0, len(x), len(x))
    weights = np.bincount(drawn, minlength=len(x)).astype(float)
    groups = np.unique(x, return_inverse=True)[1]
    fast = statistics._weighted_ranks(groups, weights[None, :])[0]
    assert np.allclose(fast[drawn], stats.rankdata(x[drawn]))


def test_the_bootstrap_is_the_plain_one() -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal(60)
    y = np.round(x + rng.standard_normal(60), 1)
    draws = np.random.default_rng(5).integers(0, 60, (300, 60))
    plain = [stats.spearmanr(x[draw], y[draw]).statistic for draw in draws]
    fast = statistics.spearman_interval(x, y, resamples=300, seed=5)
    assert fast == pytest.approx(tuple(np.percentile(plain, [2.5, 97.5])), abs=1e-12)
    assert fast == statistics.spearman_interval(x, y, resamples=300, seed=5)


def test_an_interval_of_three_thousand_pairs_is_quick() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(3000)
    start = time.process_time()
    low, high = statistics.spearman_interval(x, x + rng.standard_normal(3000)) or (0, 0)
    assert low < 0.69 < high
    assert time.process_time() - start < 5


def test_wilsons_interval_is_that_of_scipy() -> None:
    for right, count in ((0, 5), (5, 5), (3, 7), (4000, 12042)):
        ours = statistics.wilson(right, count)
        theirs = stats.binomtest(right, count).proportion_ci(method="wilson")
        assert ours == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert statistics.wilson(0, 0) is None


def test_the_interval_of_a_ratio_is_near_its_bootstrap() -> None:
    rng = np.random.default_rng(1)
    counts = rng.integers(5, 30, 500).astype(float)
    sums = counts * rng.normal(-3, 0.5, 500)
    draws = rng.integers(0, 500, (4000, 500))
    plain = np.percentile(sums[draws].sum(axis=1) / counts[draws].sum(axis=1), [2.5, 97.5])
    assert statistics.ratio_interval(sums, counts) == pytest.approx(tuple(plain), abs=0.01)


def test_mutual_information_is_that_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(2)
    for sizes in ((4, 3), (2, 9), (1, 5)):
        a, b = (rng.integers(0, size, 50) for size in sizes)
        ours = statistics.mutual_information(statistics.contingency(a, b))
        assert ours == pytest.approx(metrics.normalized_mutual_info_score(a, b), abs=1e-12)


def test_purity_counts_the_commonest_category_of_each_cluster() -> None:
    table = statistics.contingency(np.array([0, 0, 0, 1, 1]), np.array([1, 1, 0, 2, 0]))
    assert statistics.majority_count(table) == 3


def test_k_means_finds_clusters_that_stand_apart() -> None:
    rng = np.random.default_rng(4)
    truth = np.repeat(np.arange(6), 20)
    points = (10 * np.eye(6)[truth] + rng.standard_normal((120, 6))).astype(np.float32)
    clusters = statistics.k_means(points, 6, seed=1)
    assert statistics.majority_count(statistics.contingency(clusters, truth)) == 120
    assert np.array_equal(clusters, statistics.k_means(points, 6, seed=1))


def test_k_means_bears_points_that_are_all_the_same() -> None:
    assert len(statistics.k_means(np.ones((5, 2), np.float32), 3)) == 5
