"""Spherical k-means finds planted groups by direction and names them by their typical words."""

from __future__ import annotations

import numpy as np
import pytest

from firth.errors import OptionError
from firth.maps.clusters import Clusters, assign, improve
from firth.vectors.neighbors import unit_rows


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(4)
    return np.repeat(np.eye(4, 12), 25, axis=0) * rng.uniform(0.5, 9, (100, 1)) + 0.05 * rng.normal(size=(100, 12))


def test_planted_directions_are_found_whatever_the_lengths(rows) -> None:
    clusters = Clusters.of(rows, 4, starts=4)
    assert clusters.sizes.tolist() == [25] * 4
    assert all(len(set(clusters.labels[25 * g : 25 * g + 25])) == 1 for g in range(4))
    np.testing.assert_allclose(np.linalg.norm(clusters.centers, axis=1), 1, rtol=1e-5)


def test_a_row_belongs_to_the_center_with_the_largest_cosine(rows) -> None:
    clusters = Clusters.of(rows, 3)
    cosines = unit_rows(rows) @ clusters.centers.T
    np.testing.assert_array_equal(clusters.labels, cosines.argmax(axis=1))
    np.testing.assert_allclose(clusters.cosines, cosines.max(axis=1))


def test_the_same_seed_gives_the_same_clusters(rows) -> None:
    np.testing.assert_array_equal(Clusters.of(rows, 5).labels, Clusters.of(rows, 5).labels)


def test_an_empty_cluster_restarts_at_the_worst_row(rows) -> None:
    unit = unit_rows(rows)
    same = np.repeat(unit[:1], 4, axis=0)
    labels, _ = assign(unit, improve(unit, same))
    assert len(np.unique(labels)) == 4


def test_names_are_words_with_letters_near_the_center() -> None:
    rows = np.array([[1, 0], [1, 0.02], [1, 0.3], [0, 1], [0.02, 1]])
    clusters = Clusters.of(rows, 2, starts=3)
    names = clusters.names([",", "the", "tea", "12", "7"], count=1)
    assert set(names) == {"the", "12"} or set(names) == {"the", "7"}


def test_more_clusters_than_vectors_are_an_error() -> None:
    with pytest.raises(OptionError, match="2 vectors cannot form 3 clusters"):
        Clusters.of(np.eye(2), 3)
