"""Pictures of analogies keep the shape of the parallelogram, and say how parallel the offsets of a relation are."""

from __future__ import annotations

import numpy as np
import pytest

import firth
from firth.errors import OptionError
from firth.maps.analogies import RELATIONS, RelationPlot, draw_parallelogram, find_relation, plane_of, solve
from firth.vectors.neighbors import unit_rows
from firth.vectors.words import WordVectors


@pytest.fixture(scope="module")
def vectors() -> WordVectors:
    return firth.load("word2vec-en")


def test_the_parallelogram_has_its_true_shape(vectors: WordVectors) -> None:
    data = draw_parallelogram(vectors, "man", "king", "woman", ["queen"], "answer")
    unit = unit_rows(vectors.of(["man", "king", "woman"])).astype(np.float64)
    man, king, woman, _, target = np.asarray(data.layers[0])
    for first, second, i, j in ((man, king, 0, 1), (man, woman, 0, 2), (king, woman, 1, 2)):
        assert np.linalg.norm(first - second) == pytest.approx(np.linalg.norm(unit[i] - unit[j]), abs=1e-6)
    np.testing.assert_allclose(target, king - man + woman, atol=1e-9)
    assert {(arrow["from"], arrow["to"]) for arrow in data.arrows} >= {(0, 1), (2, 4), (2, 3)}


def test_inputs_are_excluded_or_kept(vectors: WordVectors) -> None:
    excluded = [word for word, _ in solve(vectors, "man", "king", "woman")]
    kept = [word for word, _ in solve(vectors, "man", "king", "woman", keep_inputs=True)]
    assert not {"man", "king", "woman"} & set(excluded)
    assert {"king", "woman"} & set(kept)
    others = [word for word in kept if word not in ("man", "king", "woman")]
    assert others == excluded[: len(others)]


def test_equal_offsets_are_parallel_arrows_along_the_first_axis() -> None:
    rng = np.random.default_rng(1)
    first = np.hstack([rng.normal(size=(5, 2)), np.full((5, 2), [1.0, 0.0])])
    first[:, :2] /= np.linalg.norm(first[:, :2], axis=1, keepdims=True)
    second = np.hstack([first[:, :2], np.full((5, 2), [0.0, 1.0])])  # all rows have the same length
    words = [f"a{i}" for i in range(5)] + [f"b{i}" for i in range(5)]
    plot = RelationPlot.of(WordVectors(words, np.vstack([first, second])), [(f"a{i}", f"b{i}") for i in range(5)])
    assert plot.parallel == pytest.approx(1)
    offsets = plot.positions[5:] - plot.positions[:5]
    np.testing.assert_allclose(offsets, np.broadcast_to([1.0, 0.0], (5, 2)), atol=1e-6)
    data = plot.scatter("first", "second", "all")
    assert [(arrow["from"], arrow["to"]) for arrow in data.arrows] == [(i, i + 5) for i in range(5)]


def test_every_relation_can_be_drawn_in_its_language(vectors: WordVectors) -> None:
    persian = firth.load("fasttext-fa")
    for language, model in (("en", vectors), ("fa", persian)):
        for name, pairs in RELATIONS[language].items():
            plot = RelationPlot.of(model, pairs)
            assert len(plot.pairs) >= 5, name
            assert plot.parallel > 0.2, name


def test_what_cannot_be_drawn_is_an_error() -> None:
    with pytest.raises(OptionError, match="no relation is called 'tenses'"):
        find_relation("tenses")
    with pytest.raises(OptionError, match="knows 0 of 1 pairs"):
        RelationPlot.of(WordVectors(["a"], [[1, 0]]), [("b", "c")])


def test_a_plane_of_parallel_vectors_has_one_axis() -> None:
    assert plane_of(np.array([1.0, 0]), np.array([2.0, 0]))[:, 1].tolist() == [0, 0]


def test_pairs_are_found_as_the_model_spells_its_words() -> None:
    words = ["علی", "پسر", "مریم", "دختر"]
    vectors = WordVectors(words, np.eye(4)).with_tokenizer(firth.Tokenizer(language="persian"))
    assert len(RelationPlot.of(vectors, [("علي", "پسر"), ("مريم", "دختر")]).pairs) == 2
