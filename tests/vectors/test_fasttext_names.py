"""The methods of fastText on models with n-grams: their formulas, from the rows of the model."""

from __future__ import annotations

import numpy as np
import pytest

from firth.errors import OptionError
from firth.text.subwords import Subwords
from firth.text.vocabulary import Vocabulary
from firth.vectors.subwords import SubwordVectors

ROWS = np.random.default_rng(5).standard_normal((53, 4)).astype(np.float32)
MODEL = SubwordVectors(Vocabulary(["tea", "rain", "sun"], [5, 4, 2]), ROWS, Subwords(3, 4, 50))


@pytest.mark.parametrize("word", ["rain", "rainy"])
def test_the_mean_of_the_rows_of_the_subwords_is_the_vector_of_the_word(word: str) -> None:
    pieces, rows = MODEL.get_subwords(word)
    assert (pieces[0] == word) == (word == "rain")
    assert len(pieces) == len(rows)
    np.testing.assert_allclose(ROWS[rows].mean(axis=0), MODEL.get_word_vector(word), rtol=1e-5)
    ngrams = dict(zip(pieces[1:], rows.tolist()[1:]))
    assert {ngram: MODEL.get_subword_id(ngram) for ngram in ngrams} == ngrams
    np.testing.assert_array_equal(MODEL.get_input_vector(int(rows[-1])), ROWS[rows[-1]])


def test_a_sentence_is_the_mean_of_the_unit_vectors_of_its_words() -> None:
    words = ["tea", "rainy", "sun"]
    units = [MODEL[word] / np.linalg.norm(MODEL[word]) for word in words]
    np.testing.assert_allclose(MODEL.get_sentence_vector("tea  rainy sun"), np.mean(units, axis=0), rtol=1e-5)
    assert MODEL.get_sentence_vector("").tolist() == [0, 0, 0, 0]
    with pytest.raises(OptionError, match="must be one line"):
        MODEL.get_sentence_vector("tea\nrain")


def test_neighbors_and_analogies_have_the_cosine_first() -> None:
    assert MODEL.get_nearest_neighbors("tea", 2) == [(c, w) for w, c in MODEL.most_similar("tea", topn=2)]
    assert MODEL.get_analogies("tea", "rain", "sun") == [(c, w) for w, c in MODEL.most_similar(["tea", "sun"], "rain")]


def test_words_their_counts_and_their_rows_are_told() -> None:
    assert MODEL.get_words() == MODEL.get_labels() == MODEL.words == MODEL.labels == ["tea", "rain", "sun"]
    assert MODEL.get_words(include_freq=True)[1].tolist() == [5, 4, 2]  # type: ignore[union-attr]
    assert (MODEL.get_dimension(), MODEL.get_word_id("rain"), MODEL.get_word_id("snow")) == (4, 1, -1)
    np.testing.assert_array_equal(MODEL.get_input_matrix(), ROWS)
    with pytest.raises(OptionError, match="numbered from 0 to 52"):
        MODEL.get_input_vector(53)


def test_a_model_without_labels_predicts_none() -> None:
    with pytest.raises(OptionError, match="no labels"):
        MODEL.predict("tea")
    with pytest.raises(OptionError, match="no labels"):
        MODEL.test("file.txt")
