"""One vector for each text, from every model that has vectors."""

from __future__ import annotations

import numpy as np
import pytest

import firth
from firth.errors import OptionError
from firth.neural.architecture import Architecture
from firth.pooling import IdfWeights, principal_component, remove_component
from firth.text.subwords import Subwords
from firth.vectors.words import WordVectors

WORDS = firth.Vocabulary(["the", "tea", "rain"], [6, 3, 1])
VECTORS = firth.WordVectors(WORDS, [[1, 0], [0, 2], [3, -1]])
TEXTS = ["the tea", ["rain", "unknown"], "", "unknown"]


def test_the_mean_and_the_maximum_are_over_the_known_words() -> None:
    mean, largest = VECTORS.encode(TEXTS), VECTORS.encode(TEXTS, pooling="max")
    assert mean.tolist() == [[0.5, 1], [3, -1], [0, 0], [0, 0]]
    assert largest.tolist() == [[1, 2], [3, -1], [0, 0], [0, 0]]
    assert mean.dtype == np.float32


def test_sif_weights_are_those_of_the_paper() -> None:
    a = 0.1
    weight = {word: a / (a + count / 10) for word, count in zip(WORDS, [6, 3, 1])}
    expected = (weight["the"] * np.array([1, 0]) + weight["tea"] * np.array([0, 2])) / 2
    assert np.allclose(VECTORS.encode(["the tea"], pooling="sif", a=a), [expected])
    component = principal_component(VECTORS.encode(["the", "tea", "rain"], pooling="sif", a=a))
    left = VECTORS.encode(["the tea", "rain"], pooling="sif", a=a, component=component)
    assert np.allclose(left @ component, 0, atol=1e-6)


def test_normalized_vectors_have_length_1_and_empty_texts_zero() -> None:
    lengths = np.linalg.norm(VECTORS.encode(TEXTS, normalize=True), axis=1)
    assert np.allclose(lengths, [1, 1, 0, 0])


def test_a_string_is_one_text_and_no_texts_are_no_rows() -> None:
    assert VECTORS.encode("the tea").tolist() == VECTORS.encode(["the tea"])[0].tolist()
    assert VECTORS.encode([]).shape == (0, 2)
    assert VECTORS.encode(text for text in ["the", "tea"]).shape == (2, 2)


def test_subwords_bilms_and_documents_encode_too() -> None:
    subwords = firth.SubwordVectors(["tea"], np.arange(22).reshape(11, 2), Subwords(3, 3, 10))
    assert np.allclose(subwords.encode(["tea teapot"])[0], subwords[["tea", "teapot"]].mean(axis=0))
    bilm = firth.BiLM(Architecture.named("tiny"), vocabulary=firth.Vocabulary(["<S>", "</S>", "tea"], [1, 1, 5]))
    [words] = bilm.embed([["hot", "tea"]])
    assert np.allclose(bilm.encode([["hot", "tea"], []]), [words.mean(axis=0), 0 * words[0]], atol=1e-6)
    assert bilm.encode(["hot tea"], pooling="sif", layers="top").shape == (1, 32)
    documents = firth.Doc2Vec(dim=4, epochs=1, min_count=1, subsample=0).fit(["hot tea", "cold rain"])
    assert np.allclose(np.linalg.norm(documents.encode(["hot tea"], normalize=True), axis=1), 1)


@pytest.mark.parametrize(
    "call, problem",
    [
        (lambda: firth.WordVectors(["tea"], [[1.0]]).encode(["tea"], pooling="sif"), "no counts of words"),
        (lambda: VECTORS.encode(["tea"], pooling="median"), "pooling is 'median', but must be one of"),
        (lambda: VECTORS.encode(["tea"], pooling="sif", a=0), "a is 0, but must be above 0"),
        (lambda: VECTORS.encode(["tea"], component=[1, 2, 3]), r"the component has the shape \(3,\)"),
        (lambda: VECTORS.encode([5]), "the text is 5"),
        (lambda: principal_component(np.zeros((2, 2))), "not all zero"),
    ],
)
def test_wrong_options_are_errors(call, problem) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(OptionError, match=problem):
        call()


def test_a_removed_component_is_gone_and_the_rest_stays() -> None:
    rows = np.array([[3, 4], [1, 0]], np.float32)
    assert remove_component(rows, [0, 2]).tolist() == [[3, 0], [1, 0]]


def test_weights_of_words_weight_the_mean() -> None:
    vectors = WordVectors(["the", "tea"], [[1, 0], [0, 1]])
    weights = IdfWeights.of([["the", "tea"], ["the"], ["the"]])
    the, tea = weights.find(["the", "tea"])
    found = vectors.encode(["the tea tea unknown"], weights=weights)[0]
    assert found.tolist() == pytest.approx([the / (the + 2 * tea), 2 * tea / (the + 2 * tea)])
    assert np.array_equal(vectors.encode("the tea", weights=weights), vectors.encode(["the tea"], weights=weights)[0])
    with pytest.raises(OptionError, match="weights of words are those of a mean"):
        vectors.encode(["tea"], pooling="max", weights=weights)
