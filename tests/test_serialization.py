"""Artifacts are taken apart into settings, arrays and vocabularies, and built from them again."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from firth.serialization import Parts
from firth.vectors.words import WordVectors


def test_the_size_of_parts_is_that_of_their_arrays() -> None:
    assert Parts("empty").nbytes == 0
    assert Parts("two", arrays={"a": np.zeros((3, 2), np.float32), "b": np.zeros(5, np.uint8)}).nbytes == 29


def test_parts_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Parts("word-vectors").kind = "other"  # type: ignore[misc]


def test_an_artifact_is_equal_after_it_was_taken_apart() -> None:
    vectors = WordVectors(["tea", "rain"], np.eye(2, dtype=np.float32), metadata={"made": "here"})
    parts = vectors.to_parts()
    again = WordVectors.from_parts(parts)
    assert (parts.kind, list(parts.vocabularies)) == ("word-vectors", ["vocab"])
    assert again.vocabulary == vectors.vocabulary
    assert again.metadata == vectors.metadata
    assert np.array_equal(again.matrix, vectors.matrix)
