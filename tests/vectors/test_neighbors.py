"""Neighbors, analogies and similarities, by hand and as gensim computes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firth.errors import OptionError
from firth.text.vocabulary import Vocabulary
from firth.vectors.words import WordVectors

ROYAL = WordVectors(
    Vocabulary(["man", "king", "woman", "queen", "tea", "zero"], [9, 7, 6, 4, 2, 1]),
    np.array([[3, 0, 1], [3, 2, 1], [-3, 0, 1], [-3, 2, 1], [0, -1, 4], [0, 0, 0]], np.float32),
)


def random_vectors(seed: int = 0, size: int = 300, dim: int = 20) -> WordVectors:
    matrix = np.random.default_rng(seed).standard_normal((size, dim)).astype(np.float32)
    return WordVectors(Vocabulary([f"w{i}" for i in range(size)], range(size, 0, -1)), matrix)


def words_of(near: list[tuple[str, float]]) -> list[str]:
    return [word for word, _ in near]


def test_king_less_man_plus_woman_is_queen() -> None:
    assert words_of(ROYAL.most_similar(["king", "woman"], ["man"], topn=1)) == ["queen"]
    assert words_of(ROYAL.analogy("man", "king", "woman", topn=1)) == ["queen"]
    assert words_of(ROYAL.analogy("man", "king", "woman", topn=1, method="3cosmul")) == ["queen"]
    with pytest.raises(OptionError, match="3cosadd"):
        ROYAL.analogy("man", "king", "woman", method="3cosdiv")  # type: ignore[arg-type]


def test_a_row_of_zeros_is_near_to_nothing_and_never_nan() -> None:
    assert ROYAL.similarity("zero", "king") == 0
    assert ROYAL.most_similar("zero", topn=2) == [("man", 0.0), ("king", 0.0)]
    assert np.isfinite(ROYAL.unit).all()
    assert np.isfinite(ROYAL.distances("zero")).all()
    assert np.isfinite([score for _, score in ROYAL.most_similar_cosmul("zero")]).all()


def test_answers_can_be_kept_to_some_words() -> None:
    assert words_of(ROYAL.most_similar("king", restrict_vocab=3)) == ["man", "woman"]
    assert words_of(ROYAL.most_similar("king", allowed=["queen", "tea", "nobody"])) == ["tea", "queen"]
    assert words_of(ROYAL.most_similar("king", allowed=lambda word: word.endswith("n"), topn=2)) == ["man", "queen"]
    assert set(words_of(ROYAL.most_similar("king", min_count=4))) == {"man", "woman", "queen"}
    assert words_of(ROYAL.most_similar("king", min_count=4, allowed=["tea", "queen"])) == ["queen"]
    assert words_of(ROYAL.most_similar_cosmul("king", allowed=["queen", "tea"])) == ["tea", "queen"]
    assert ROYAL.most_similar("king", topn=0) == []
    with pytest.raises(OptionError, match="no counts"):
        WordVectors(["a"], [[1.0]]).most_similar("a", min_count=2)


def test_terms_may_be_vectors_and_may_have_weights() -> None:
    vectors = random_vectors()
    query = 0.5 * vectors.get_vector("w1", norm=True) - 2 * vectors.get_vector("w2", norm=True)
    expected = [pair for pair in vectors.similar_by_vector(query, topn=12) if pair[0] not in ("w1", "w2")]
    found = vectors.most_similar([("w1", 0.5), ("w2", -2.0)])
    assert words_of(found) == words_of(expected)[:10]
    assert words_of(vectors.most_similar(vectors["w7"], topn=1)) == ["w7"]


@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(0, 299), min_size=1, max_size=20), st.integers(1, 15))
def test_many_queries_at_once_are_answered_as_one_by_one(ids: list[int], topn: int) -> None:
    vectors = random_vectors()
    words = [f"w{id}" for id in ids]
    assert vectors.most_similar_each(words, topn) == [vectors.most_similar(word, topn=topn) for word in words]


def test_no_queries_have_no_answers_and_no_words_are_an_error() -> None:
    assert ROYAL.most_similar_each([]) == []
    for ask in (ROYAL.most_similar, ROYAL.most_similar_cosmul, lambda: ROYAL.doesnt_match([]), lambda: ROYAL.mean([])):
        with pytest.raises(OptionError, match="no words"):
            ask()
    with pytest.raises(OptionError, match="no words"):
        ROYAL.n_similarity(["king"], [])


@pytest.mark.filterwarnings("ignore:Call to deprecated:DeprecationWarning")  # gensim calls it itself
def test_every_question_is_answered_as_gensim_answers_it() -> None:
    gensim = pytest.importorskip("gensim.models.keyedvectors")
    vectors = random_vectors(3)
    theirs = gensim.KeyedVectors(20)
    theirs.add_vectors(list(vectors), vectors.matrix)

    def same(ours: list[tuple[str, float]], other: list[tuple[str, float]]) -> None:
        assert words_of(ours) == words_of(other)
        np.testing.assert_allclose([c for _, c in ours], [c for _, c in other], atol=1e-6)

    same(vectors.most_similar("w5"), theirs.most_similar("w5"))
    same(vectors.most_similar(["w5", "w6"], ["w7"], 25), theirs.most_similar(["w5", "w6"], ["w7"], 25))
    weighted = [("w5", 0.3), "w6"], [("w9", -0.7)]
    same(vectors.most_similar(*weighted), theirs.most_similar(*weighted))
    mixed = [vectors["w8"], "w6"]
    same(vectors.most_similar(mixed, restrict_vocab=100), theirs.most_similar(mixed, restrict_vocab=100))
    same(vectors.most_similar_cosmul(["w5", "w6"], ["w7"]), theirs.most_similar_cosmul(["w5", "w6"], ["w7"]))
    same(vectors.similar_by_vector(vectors["w3"]), theirs.similar_by_vector(vectors["w3"]))
    some = ["w1", "w2", "w3", "w4"]
    assert vectors.doesnt_match(some) == theirs.doesnt_match(some)
    assert vectors.similarity("w1", "w2") == pytest.approx(theirs.similarity("w1", "w2"), abs=1e-6)
    assert vectors.distance("w1", "w2") == pytest.approx(theirs.distance("w1", "w2"), abs=1e-6)
    assert vectors.n_similarity(some, ["w9", "w8"]) == pytest.approx(theirs.n_similarity(some, ["w9", "w8"]), abs=1e-6)
    np.testing.assert_allclose(vectors.distances("w1"), theirs.distances("w1"), atol=1e-6)
    np.testing.assert_allclose(vectors.distances("w1", some), theirs.distances("w1", some), atol=1e-6)
    assert vectors.closer_than("w1", "w2") == theirs.closer_than("w1", "w2")
    assert vectors.rank("w1", "w2") == theirs.rank("w1", "w2")
    np.testing.assert_allclose(
        vectors.get_mean_vector(["w1", "w2", "nobody"], [1, 3, 1], post_normalize=True),
        theirs.get_mean_vector(["w1", "w2", "nobody"], [1, 3, 1], post_normalize=True),
        atol=1e-6,
    )


def test_similarities_are_cosines_of_every_pair() -> None:
    table = ROYAL.similarities(["man", "king", "zero"])
    assert table[0, 1] == pytest.approx(ROYAL.similarity("man", "king"))
    np.testing.assert_array_equal(table, table.T)
    assert table[2].tolist() == [0, 0, 0]


def test_faiss_answers_behind_the_same_call() -> None:
    pytest.importorskip("faiss")
    vectors = random_vectors()
    assert vectors.most_similar("w1", engine="faiss") == vectors.most_similar("w1")
    with pytest.raises(OptionError, match="engine"):
        vectors.most_similar("w1", engine="annoy")  # type: ignore[arg-type]


def test_all_cosines_and_relative_cosines_are_those_of_gensim() -> None:
    gensim = pytest.importorskip("gensim.models")
    words = [f"w{i}" for i in range(50)]
    matrix = np.random.default_rng(3).standard_normal((50, 10)).astype(np.float32)
    ours, theirs = WordVectors(words, matrix), gensim.KeyedVectors(10)
    theirs.add_vectors(words, matrix)
    all_cosines = ours.most_similar(["w1", "w2"], ["w3"], topn=None)
    np.testing.assert_allclose(all_cosines, theirs.most_similar(["w1", "w2"], ["w3"], topn=None), atol=1e-6)
    expected = theirs.relative_cosine_similarity("w1", "w2", 5)
    assert ours.relative_cosine_similarity("w1", "w2", 5) == pytest.approx(expected, rel=1e-5)
    with pytest.raises(OptionError, match="topn=None gives the cosines of all words"):
        ours.most_similar("w1", topn=None, restrict_vocab=5)  # type: ignore[call-overload]


@pytest.mark.parametrize("query", [5, b"w1", [b"w1"], [None], np.ones((3, 1)), np.ones(2), np.array("w1"), [["w1"]]])
def test_what_is_no_word_and_no_vector_is_refused(query: Any) -> None:
    vectors = WordVectors(["w1", "w2"], np.eye(2, 3, dtype=np.float32))
    with pytest.raises(OptionError, match=r"is no word and no vector.*Pass words, or vectors of shape \(3,\)"):
        vectors.most_similar(query)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_a_vector_that_is_not_finite_has_no_similarity_and_is_nobodys_neighbor(number: float) -> None:
    vectors = WordVectors(["tea", "rain", "odd"], np.array([[1, 0], [0.5, 1], [number, 1]], np.float32))
    for ask in (
        lambda: vectors.similarity("tea", "odd"),
        lambda: vectors.similarities(["tea", "odd"]),
        lambda: vectors.distance("odd", "tea"),
        lambda: vectors.most_similar("odd"),
        lambda: vectors.doesnt_match(["tea", "rain", "odd"]),
    ):
        with pytest.raises(OptionError, match="NaN or infinite"):
            ask()
    assert [word for word, _ in vectors.most_similar("tea")] == ["rain"]
