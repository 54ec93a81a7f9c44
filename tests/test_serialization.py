"""Artifacts are taken apart into settings, arrays and vocabularies, and built from them again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from firth.errors import OptionError
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


PARTS = Parts(
    "tea",
    {"size": 3, "wrong": "3", "metadata": {"tokenizer": {"mode": "whitespace"}}},
    {"ids": np.array([0, 2, 1]), "pointers": np.array([0, 2, 2, 5]), "weights": np.float32([0.5, np.nan])},
)


def test_parts_that_fit_are_returned_as_they_are() -> None:
    assert PARTS.number("size", 1, 3) == 3
    assert PARTS.ids("ids", 3, below=3).tolist() == [0, 2, 1]
    assert PARTS.pointers("pointers", 3, 5).tolist() == [0, 2, 2, 5]
    assert PARTS.array("weights", "f", None).shape == (2,)
    assert PARTS.metadata == {"tokenizer": {"mode": "whitespace"}}
    assert PARTS.table("missing") == {}


@pytest.mark.parametrize(
    ("take", "problem"),
    [
        (lambda parts: parts.array("absent", "f", None), "'absent' is missing"),
        (lambda parts: parts.array("ids", "f", None), "must have floating-point numbers, but has int64"),
        (lambda parts: parts.array("ids", "iu", 4), "'ids' is 3, but must be 4"),
        (lambda parts: parts.array("ids", "iu", None, 2), "'ids' is 3, but must be any × 2"),
        (lambda parts: parts.ids("ids", 3, below=2), "from 0 to 1, but has 2"),
        (lambda parts: parts.ids("pointers", 4, below=0), "from 0 to -1, but has 0"),
        (lambda parts: parts.pointers("ids", 2, 1), "must never fall"),
        (lambda parts: parts.pointers("pointers", 3, 6), "begin with 0 and end with 6"),
        (lambda parts: parts.numbers("weights", 2, low=0, high=1), "but has nan"),
        (lambda parts: parts.number("size", 4, 9), "a whole number from 4 to 9"),
        (lambda parts: parts.number("wrong", 0, 9), "wrong is '3'"),
        (lambda parts: parts.table("size"), "size is 3, but must be a table"),
        (lambda parts: parts.vocabulary, "list of words is missing"),
    ],
)
def test_parts_that_contradict_each_other_are_refused(take: Callable[[Parts], object], problem: str) -> None:
    with pytest.raises(OptionError, match=problem):
        take(PARTS)


@pytest.mark.parametrize(
    "metadata",
    [5, [], {"tokenizer": 5}, {"tokenizer": {"mode": 7}}, {"tokenizer": {"no": 1}}, {"recipe": 1}, {"fasttext": [1]}],
)
def test_metadata_that_models_cannot_read_are_refused(metadata: object) -> None:
    with pytest.raises(OptionError):
        _ = Parts("tea", {"metadata": metadata}).metadata


def test_arrays_are_checked_beyond_the_first_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firth.serialization.BLOCK", 2)
    for wrong in ([0, 1, 2, 3, 9, 5], [0, 1, 2, 3, 4, -1]):
        with pytest.raises(OptionError):
            Parts("tea", arrays={"ids": np.array(wrong)}).ids("ids", 6, below=6)
    for wrong in ([0, 2, 1, 3, 5], [0, 1, 3, 2, 5]):
        with pytest.raises(OptionError, match="must never fall"):
            Parts("tea", arrays={"starts": np.array(wrong)}).pointers("starts", 4, 5)


@pytest.mark.parametrize(
    ("kind", "metadata", "problem"),
    [
        ("count-matrix", {"recipe": None}, "metadata.recipe is None, but must be a table"),
        ("word-vectors", {"recipe": []}, r"metadata\.recipe is \[\], but must be a table"),
        ("task", {"dev": {"f1": "0.5"}}, r"metadata\.dev .* must be a table, each value of which is a number"),
        ("task", {"epochs": {}}, r"metadata\.epochs is \{\}, but must be a list, each item of which is a table"),
        ("task", {"trained": {"dev": 0.5}}, "metadata.trained"),
        ("task", {"layer_shares": {"input": 0.5}}, "metadata.layer_shares"),
        ("task", {"asked": "tea"}, "metadata.asked"),
        ("vector-map", {"pairs": [2]}, r"metadata\.pairs is \[2\], but must be a whole number"),
        ("occurrences", {"settings": "mean"}, "metadata.settings"),
    ],
)
def test_metadata_that_are_read_have_their_form(kind: str, metadata: dict[str, object], problem: str) -> None:
    with pytest.raises(OptionError, match=problem):
        Parts(kind, {"metadata": metadata}).metadata  # noqa: B018 (a property)
    assert Parts("other", {"metadata": metadata | {"recipe": {}}}).metadata == metadata | {"recipe": {}}
