"""Nearest occurrences of a word."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from firth.probes.nearest import neighbor_shares, neighbors


def test_neighbors_are_the_nearest_by_the_cosine() -> None:
    rng = np.random.default_rng(0)
    vectors, queries = rng.normal(size=(2, 20, 5)), rng.normal(size=(2, 3, 5))
    places, cosines = neighbors(torch.tensor(vectors), torch.tensor(queries), 4)
    for layer in range(2):
        for query in range(3):
            lengths = np.linalg.norm(vectors[layer], axis=1) * np.linalg.norm(queries[layer, query])
            expected = vectors[layer] @ queries[layer, query] / lengths
            order = np.argsort(-expected)[:4]
            assert places[layer, query].tolist() == order.tolist()
            assert np.allclose(cosines[layer, query], expected[order])


def test_an_occurrence_of_the_same_document_is_no_neighbor() -> None:
    vectors = torch.tensor([[[1.0, 0.0], [1.0, 0.01], [0.9, 0.5]]])
    [found] = neighbor_shares(vectors, ["a", "a", "b"], ["one", "one", "two"])
    assert (found.same, found.asked) == (0.0, 3)
    [alone] = neighbor_shares(vectors, ["a", "a", "b"], ["one"] * 3)
    assert alone.asked == 0


def test_without_context_the_share_is_that_of_chance() -> None:
    labels = ["a", "a", "a", "b", "b", "c"]
    [found] = neighbor_shares(torch.ones(1, 6, 3), labels, [str(number) for number in range(6)])
    assert found.same == pytest.approx(found.chance) == pytest.approx((3 * 2 + 2 * 1 + 0) / 5)
