"""Vectors to gensim and back, with the real gensim: the same neighbors, counts and vectors of unseen words."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import firth
from firth.errors import OptionError
from firth.exchange.gensim import from_gensim, to_gensim
from firth.text.subwords import Subwords
from firth.text.vocabulary import Vocabulary
from firth.vectors.neighbors import cosine
from firth.vectors.subwords import SubwordVectors
from firth.vectors.words import WordVectors

gensim = pytest.importorskip("gensim", reason="needs gensim: pip install gensim")

TEXT = [
    ["the", "cat", "drinks", "milk", "in", "the", "morning"],
    ["the", "dog", "drinks", "water", "in", "the", "evening"],
    ["we", "drink", "hot", "tea", "and", "coffee"],
    ["they", "drink", "cold", "water", "and", "milk"],
] * 30
PERSIAN = [["کتاب\u200cها", "را", "می\u200cخوانم"], ["چای", "می\u200cنوشم"]] * 20


@pytest.mark.parametrize("name", ["word2vec-en", "glove-en", "fasttext-en", "fasttext-fa"])
def test_the_neighbors_in_gensim_are_ours(name: str) -> None:
    vectors = firth.load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of pruned n-grams
        keyed = vectors.to_gensim()
    words = list(vectors)[50:2000:173]
    for word in words:
        ours, theirs = vectors.most_similar(word, topn=10), keyed.most_similar(word, topn=10)
        assert [w for w, _ in ours] == [w for w, _ in theirs]
        assert np.allclose([c for _, c in ours], [c for _, c in theirs], atol=1e-5)
        assert keyed.get_vecattr(word, "count") == vectors.count(word)
    assert np.array_equal(keyed.vectors, vectors.matrix)


@pytest.mark.parametrize(
    "name,words", [("fasttext-en", ["teapotish", "unhappinesses"]), ("fasttext-fa", ["کتاب‌هایمانه"])]
)
def test_unseen_words_of_pruned_vectors_have_the_same_direction_in_gensim(name: str, words: list[str]) -> None:
    vectors = firth.load(name)
    with pytest.warns(UserWarning, match="pruned n-grams.*shorter, but have the same direction"):
        keyed = vectors.to_gensim()
    assert type(keyed).__name__ == "FastTextKeyedVectors"
    for word in words:
        assert word not in vectors.vocabulary
        assert cosine(keyed[word], vectors[word]) > 0.999999
        assert [w for w, _ in keyed.most_similar(word)] == [w for w, _ in vectors.most_similar(word)]
    keyed.adjust_vectors()  # gensim's own sum over the n-grams that we told it
    assert np.allclose(keyed.vectors, vectors.matrix, atol=1e-5)


def test_rows_of_floats_are_shared_and_not_copied() -> None:
    rows = np.random.default_rng(1).normal(size=(13, 4)).astype(np.float32)
    plain = WordVectors(Vocabulary(["tea"]), rows[:1])
    assert np.shares_memory(plain.to_gensim().vectors, rows)
    assert np.shares_memory(WordVectors.from_gensim(plain.to_gensim()).matrix, rows)
    keyed = SubwordVectors(["a", "b", "c"], rows, Subwords(3, 4, 10)).to_gensim()
    assert np.shares_memory(keyed.vectors_ngrams, rows)


def test_what_gensim_trains_is_taken_over() -> None:
    model = gensim.models.Word2Vec(TEXT, vector_size=12, min_count=1, epochs=3, seed=3, workers=1)
    for source in (model, model.wv):
        vectors = WordVectors.from_gensim(source)
        assert vectors.vocabulary.words == tuple(model.wv.index_to_key)
        assert np.array_equal(vectors.matrix, model.wv.vectors)
        assert [w for w, _ in vectors.most_similar("milk")] == [w for w, _ in model.wv.most_similar("milk")]
        assert vectors.count("the") == model.wv.get_vecattr("the", "count") == 120


@pytest.mark.parametrize("text", [TEXT, PERSIAN])
@pytest.mark.parametrize("lengths", [(3, 6), (1, 3)])
def test_a_fasttext_model_of_gensim_keeps_its_ngrams(text: list[list[str]], lengths: tuple[int, int]) -> None:
    shortest, longest = lengths
    model = gensim.models.FastText(
        text, vector_size=8, min_count=1, epochs=2, bucket=500, min_n=shortest, max_n=longest, seed=3, workers=1
    )
    vectors = from_gensim(model)
    assert isinstance(vectors, SubwordVectors)
    for word in [*model.wv.index_to_key, "drinkers", "می\u200cخواندم", "milky"]:
        assert np.allclose(vectors[word], model.wv[word], atol=1e-6), word
    again = to_gensim(vectors)
    assert np.allclose(again["milky"], model.wv["milky"], atol=1e-6)
    assert np.array_equal(again.vectors_ngrams, model.wv.vectors_ngrams)
    again.adjust_vectors()  # gensim's own sum over the n-grams that we told it
    assert np.allclose(again.vectors, model.wv.vectors, atol=1e-6)


def test_the_words_of_doc2vec_are_taken_over() -> None:
    from gensim.models.doc2vec import Doc2Vec, TaggedDocument

    documents = [TaggedDocument(words, [n]) for n, words in enumerate(TEXT)]
    model = Doc2Vec(documents, vector_size=6, min_count=1, epochs=1, workers=1)
    assert np.array_equal(from_gensim(model)["milk"], model.wv["milk"])
    with pytest.raises(OptionError, match="keys of these vectors are not words but numbers"):
        from_gensim(model.dv)


def test_words_that_are_not_by_count_are_reordered_with_their_vectors() -> None:
    keyed = gensim.models.KeyedVectors(2)
    keyed.add_vectors(["rare", "frequent"], np.array([[1, 0], [0, 1]], np.float32))
    keyed.set_vecattr("rare", "count", 2)
    keyed.set_vecattr("frequent", "count", 90)
    vectors = from_gensim(keyed)
    assert (vectors.vocabulary.words, vectors.count("rare")) == (("frequent", "rare"), 2)
    assert vectors["rare"].tolist() == [1, 0]


def test_the_ranks_that_gensim_invents_are_no_counts(tmp_path: Path) -> None:
    firth.save(WordVectors(["tea", "rain", "milk"], np.eye(3)), tmp_path / "v.txt")
    keyed = gensim.models.KeyedVectors.load_word2vec_format(tmp_path / "v.txt")
    assert keyed.get_vecattr("tea", "count") == 3  # nobody counted them
    assert from_gensim(keyed).vocabulary.counts is None


def test_normalized_vectors_with_ngrams_are_refused() -> None:
    model = gensim.models.FastText(TEXT, vector_size=8, min_count=1, epochs=1, bucket=100, workers=1)
    model.wv.unit_normalize_all()
    with pytest.raises(OptionError, match="not the means of their n-grams"):
        from_gensim(model)


def test_the_sentence_end_of_fasttext_keeps_its_vector() -> None:
    rows = np.random.default_rng(1).normal(size=(2 + 50, 4)).astype(np.float32)
    vectors = SubwordVectors(Vocabulary(["</s>", "tea"], [5, 4]), rows, Subwords(3, 6, 50))
    back = from_gensim(vectors.to_gensim())
    assert np.array_equal(back["</s>"], rows[0])
    assert np.allclose(back["teas"], vectors["teas"])


def test_what_gensim_cannot_express_is_an_error_with_a_way_out() -> None:
    korean = SubwordVectors(["차"], np.ones((11, 2)), Subwords(3, 3, 10, units="jamo"))
    with pytest.raises(OptionError, match=r"n-grams of jamo.*vectors\.restrict\(vectors\)\.to_gensim\(\)"):
        korean.to_gensim()
    assert list(korean.restrict(korean).to_gensim().index_to_key) == ["차"]


@pytest.mark.parametrize("wrong", [3, "vectors", np.eye(3), object()])
def test_what_is_no_model_is_an_error(wrong: object) -> None:
    with pytest.raises(OptionError, match="is no model of gensim"):
        from_gensim(wrong)
