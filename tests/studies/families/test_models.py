"""Models as word vectors: what a biLM says of a word alone and where it occurs, and the words that models share."""

from __future__ import annotations

import numpy as np

from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.progress import silent
from firth.studies.families.models import (
    ModelVectors,
    average_contexts,
    common_words,
    embed_alone,
    megabytes,
    open_models,
    restrict,
    select_sentences,
)
from firth.vectors.words import WordVectors

BILM = BiLM(Architecture.named("tiny"))
SENTENCES = [["a", "cup", "of", "tea"], ["tea", "and", "tea"], ["rain"]]


def test_a_word_alone_has_the_vector_of_its_spelling() -> None:
    vectors = embed_alone(BILM, ["tea", "rain"])
    np.testing.assert_allclose(vectors["tea"], BILM.embed([["tea", "and"]], layers=0)[0][0], rtol=1e-5, atol=1e-6)


def test_a_context_vector_is_the_mean_over_the_places_of_a_word() -> None:
    found = average_contexts(BILM, ["tea", "rain", "snow"], SENTENCES, silent)
    assert list(found) == [1, 2]
    assert found[1].vocabulary.words == ("tea", "rain")
    for layer, vectors in found.items():
        arrays = BILM.embed(SENTENCES, layers=layer)
        tea = np.mean([arrays[0][3], arrays[1][0], arrays[1][2]], axis=0)
        np.testing.assert_allclose(vectors["tea"], tea, rtol=1e-5, atol=1e-6)


def test_sentences_are_chosen_until_every_word_has_occurred_often_enough() -> None:
    many = [["tea", "x"]] * 4 + [["x"]] + [["rain", "tea"]] * 9
    assert list(select_sentences(many, ["tea", "rain"], 1000)) == [["tea", "x"]] * 4 + [["rain", "tea"]] * 5
    assert len(list(select_sentences(many, ["tea", "rain"], 5))) == 3
    assert not list(select_sentences([["tea"] * 100], ["tea"], 1000))


def test_models_are_kept_to_the_words_that_all_have() -> None:
    one = WordVectors(["tea", "rain", "fog"], [[1, 0], [0, 1], [1, 1]])
    other = WordVectors(["fog", "tea", "sun"], [[1, 0], [0, 1], [1, 1]])
    words = common_words({"one": ModelVectors(one, 1.0), "other": ModelVectors(other, 1.0)})
    assert words == ["tea", "fog"]
    assert restrict(other, words).matrix.tolist() == [[0, 1], [1, 0]]


def test_a_shipped_model_has_its_size() -> None:
    assert 0.5 < megabytes("svd-en") < 5


def test_every_model_reads_the_text_from_its_beginning() -> None:
    text = [["the", "king", "and", "the", "tea", "of", "a", "city"]] * 3
    models = open_models(["svd-en", "elmo-en", "elmo-en"], 100, lambda: text, silent)
    assert list(models) == ["svd-en", "elmo-en, layer 0", "elmo-en, layer 1", "elmo-en, layer 2"]
    assert sorted(models["elmo-en, layer 2"].vectors) == sorted(set(text[0]))
