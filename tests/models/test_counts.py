"""The ladder: worked examples to the digit, and the laws of counting."""

from __future__ import annotations

import math

import numpy as np
import pytest

from firth.errors import OptionError
from firth.models.count_matrix import CountMatrix
from firth.models.counts import Counts
from firth.models.token_lists import TokenLists
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.normalize import Normalizer
from firth.text.tokenize import Tokenizer
from firth.vectors.words import WordVectors

LAZY = ["He is a lazy boy. She is also lazy.", "Neeraj is a lazy person."]
DEEP = [[["I", "like", "deep", "learning", "."], ["I", "like", "NLP", "."], ["I", "enjoy", "flying", "."]]]


def fit_matrix(recipe: Counts, corpus) -> CountMatrix:
    made = recipe.fit(corpus, runtime=Runtime(2))
    assert isinstance(made, CountMatrix)
    return made


def test_the_lazy_boy_as_a_document_term_matrix():
    counts = fit_matrix(Counts(kind="document-term", stop_words=("also", "is", "a")), Corpus.of(LAZY))
    assert {word: counts[word].tolist() for word in counts.vocabulary} == {
        "He": [1, 0],
        "She": [1, 0],
        "lazy": [2, 1],
        "boy": [1, 0],
        "Neeraj": [0, 1],
        "person": [0, 1],
    }


def test_messi_weighs_0_1505_and_a_word_of_both_documents_nothing():
    documents = [
        [["This", "is", "about", "about", "Messi", "Messi", "Messi", "Messi"]],
        [["This", "is", "TF-IDF", "about"]],
    ]
    weights = fit_matrix(Counts(kind="tf-idf", tf="relative", log="base10"), TokenLists.of(documents))
    assert round(weights.value("0", "Messi"), 4) == 0.1505
    assert weights["This"].tolist() == [0.0, 0.0]
    assert weights.value("0", "Messi") == 4 / 8 * math.log10(2 / 1)


def test_i_like_deep_learning_at_window_one():
    counts = fit_matrix(Counts(window=1), TokenLists.of(DEEP))
    assert counts.value("I", "like") == 2
    assert counts.value("I", "enjoy") == counts.value("like", "deep") == counts.value("learning", ".") == 1
    assert (counts.matrix != counts.matrix.T).nnz == 0
    assert counts.matrix.sum() == 2 * (4 + 3 + 3)


def test_a_penny_saved_with_its_right_neighbor_only():
    folded = Tokenizer(normalizer=Normalizer(fold_case=True))
    text = "Penny wise and pound foolish. A penny saved is a penny earned."
    counts = fit_matrix(Counts(window=1, direction="right"), Corpus.of([text], tokenizer=folded))
    assert counts.value("a", "penny") == 2
    assert [counts.value("penny", word) for word in ("wise", "saved", "earned", "a")] == [1, 1, 1, 0]


def test_one_hot_is_the_identity():
    counts = fit_matrix(Counts(kind="one-hot"), TokenLists.of(DEEP))
    np.testing.assert_array_equal(counts.matrix.toarray(), np.eye(8))


def test_max_words_keeps_the_most_frequent_after_stop_words_are_gone():
    text = TokenLists.of([[["a"] * 5 + ["b"] * 4 + ["c"] * 3 + ["d"]]])
    assert fit_matrix(Counts(max_words=2, stop_words=("a",)), text).vocabulary.words == ("b", "c")


def test_punctuation_is_dropped_by_documents_and_kept_by_windows_unless_said():
    text = TokenLists.of([[["ice", ",", "-", "2"]]])
    assert set(fit_matrix(Counts(kind="document-term"), text).vocabulary) == {"ice", "2"}
    assert set(fit_matrix(Counts(kind="document-term", punctuation=True), text).vocabulary) == {"ice", ",", "-", "2"}
    assert set(fit_matrix(Counts(punctuation=False), text).vocabulary) == {"ice", "2"}


def test_an_impossible_option_is_refused_with_its_name():
    for options, name in (
        ({"stop_words": "klingon"}, "stop_words"),
        ({"memory_limit": "much"}, "memory_limit"),
        ({"memory_limit": 0}, "memory_limit"),
        ({"shift": 0.0}, "shift"),
        ({"kind": "two-hot"}, "kind"),
    ):
        with pytest.raises(OptionError, match=name):
            Counts(**options)
    with pytest.raises(OptionError, match="min_count"):
        Counts(min_count=9).fit(TokenLists.of(DEEP))
    with pytest.raises(OptionError, match="dim is 100"):
        Counts(kind="svd").fit(TokenLists.of(DEEP))


def test_svd_vectors_put_words_of_like_company_together():
    text = [f"{drink} is {taste}".split() for drink in ("tea", "coffee") for taste in ("hot", "good", "black")]
    text += [f"{animal} will {act}".split() for animal in ("dog", "cat") for act in ("run", "eat", "sleep")]
    vectors = Counts(kind="svd", dim=4, window=2).fit(TokenLists.of([text]))
    assert isinstance(vectors, WordVectors)
    unit = vectors.matrix / np.linalg.norm(vectors.matrix, axis=1, keepdims=True)
    tea, coffee, dog = (unit[vectors.vocabulary.id(word)] for word in ("tea", "coffee", "dog"))
    assert tea @ coffee > 0.99
    assert tea @ dog < 0.5


def test_latent_semantic_analysis_is_the_svd_of_tf_idf():
    options = {"tf": "relative", "smooth": "plus-one"}
    weights = fit_matrix(Counts(kind="tf-idf", **options), Corpus.of([*LAZY, "A lazy dog sleeps."]))
    vectors = Counts(kind="svd", svd_of="tf-idf", dim=2, eigenvalue_power=1, **options).fit(
        Corpus.of([*LAZY, "A lazy dog sleeps."])
    )
    left, values, _ = np.linalg.svd(weights.matrix.T.toarray())
    expected = np.abs(left[:, :2] * values[:2])
    np.testing.assert_allclose(np.abs(vectors.matrix), expected, atol=1e-6)


def test_stop_words_may_be_named_with_commas() -> None:
    assert Counts(stop_words="a,is").stop_list() == {"a", "is"}
