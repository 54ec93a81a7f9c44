"""The word mover's distance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from firth.vectors.word_mover import earth_movers_distance
from firth.vectors.words import WordVectors

WORDS = [f"w{i}" for i in range(40)]
VECTORS = WordVectors(WORDS, np.random.default_rng(1).standard_normal((40, 8)).astype(np.float32))


@pytest.mark.parametrize("norm", [False, True])
def test_texts_of_as_many_different_words_are_matched_one_to_one(norm: bool) -> None:
    rng = np.random.default_rng(2)
    first, second = (list(rng.choice(WORDS, 12, replace=False)) for _ in range(2))
    rows = VECTORS.unit if norm else VECTORS.matrix
    a, b = (rows[VECTORS.ids(words)].astype(np.float64) for words in (first, second))
    costs = np.linalg.norm(a[:, None] - b[None], axis=2)
    expected = costs[linear_sum_assignment(costs)].mean()
    assert VECTORS.wmdistance(first, second, norm=norm) == pytest.approx(expected, rel=1e-6)


def test_repeated_words_weigh_more() -> None:
    costs = {other: VECTORS.wmdistance(["w0"], [other]) for other in ("w1", "w2")}
    assert VECTORS.wmdistance("w0", "w1 w1 w2") == pytest.approx((2 * costs["w1"] + costs["w2"]) / 3, rel=1e-6)


def test_the_distance_is_symmetric_and_zero_for_the_same_words() -> None:
    first, second = "w1 w2 w3 w4", ["w3", "w9", "unknown"]
    assert VECTORS.wmdistance(first, second) == pytest.approx(VECTORS.wmdistance(second, first))
    assert VECTORS.wmdistance(first, "w4 w3 w2 w1") == pytest.approx(0, abs=1e-9)


def test_a_text_without_a_known_word_is_at_infinity() -> None:
    assert VECTORS.wmdistance("unknown", "w1") == VECTORS.wmdistance("w1", []) == np.inf


def test_all_mass_of_a_word_may_move_to_several_words() -> None:
    costs = np.array([[0.0, 4.0], [1.0, 1.0]])
    assert earth_movers_distance(np.array([0.75, 0.25]), np.array([0.5, 0.5]), costs) == pytest.approx(1.25)
