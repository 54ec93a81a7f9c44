"""Cached properties are no part of a value."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import firth
from firth.text.subwords import Subwords


def plain() -> firth.WordVectors:
    return firth.WordVectors(["tea", "rain", "boat"], np.eye(3, dtype=np.float32))


def with_subwords() -> firth.SubwordVectors:
    rows = np.random.default_rng(1).standard_normal((51, 4)).astype(np.float32)
    return firth.SubwordVectors(firth.Vocabulary(["tea"], [5]), rows, Subwords(3, 6, 50))


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
@pytest.mark.parametrize("vectors", [plain(), with_subwords()], ids=["words", "subwords"])
def test_the_state_of_vectors_does_not_depend_on_what_they_were_asked(vectors: Any) -> None:
    before = pickle.dumps(vectors)
    answer = vectors.most_similar("tea"), vectors["tea"].tolist(), vectors.encode(["tea and rain"]).tolist()
    assert "index" in vars(vectors)
    assert pickle.dumps(vectors) == before
    again = copy.deepcopy(vectors)
    assert "index" not in vars(again)
    assert (again.most_similar("tea"), again["tea"].tolist(), again.encode(["tea and rain"]).tolist()) == answer
