"""How words find their vectors when sets and models spell them differently."""

from __future__ import annotations

import numpy as np
import pytest

from firth.errors import FirthError, OptionError
from firth.evaluate.lookup import Lookup
from firth.text.subwords import Subwords
from firth.vectors.subwords import SubwordVectors
from firth.vectors.words import WordVectors


def test_without_case_the_first_spelling_stands_for_all() -> None:
    lookup = Lookup(WordVectors(["the", "Paris", "paris", "PARIS"], np.eye(4)))
    assert [lookup.find(word) for word in ("paris", "Paris", "pArIs")] == [1, 1, 1]
    assert lookup.spellings.tolist() == [0, 1, 1, 1]


def test_with_case_every_spelling_stands_for_itself() -> None:
    lookup = Lookup(WordVectors(["the", "Paris", "paris"], np.eye(3)), case_insensitive=False)
    assert [lookup.find(word) for word in ("paris", "Paris", "PARIS")] == [2, 1, -1]


def test_words_behind_the_limit_are_unknown() -> None:
    lookup = Lookup(WordVectors(["a", "b", "c"], np.eye(3)), restrict_vocab=2)
    assert (lookup.find("b"), lookup.find("c"), lookup.vector("c")) == (1, -1, None)
    assert lookup.unit.shape == (2, 3)
    with pytest.raises(OptionError, match="restrict_vocab is 0"):
        Lookup(WordVectors(["a"], [[1.0]]), restrict_vocab=0)


def test_a_phrase_is_an_entry_first_and_else_the_mean_of_its_words() -> None:
    lookup = Lookup(WordVectors(["ice_hockey", "ice", "hockey", "cold tea"], [[1, 1], [2, 0], [0, 5], [0, -1]]))
    assert lookup.find("ice hockey") == 0
    assert lookup.find("cold tea") == 3
    assert lookup.vector("hockey ice") == pytest.approx([0.5**0.5, 0.5**0.5])
    assert lookup.vector("ice cream") is None


def test_arabic_letters_find_the_persian_word_unless_told_not_to() -> None:
    vectors = WordVectors(["کتاب"], [[1.0]])
    assert Lookup(vectors).find("كتاب") == 0
    assert Lookup(vectors, normalize=False).find("كتاب") == -1


def test_subword_vectors_answer_for_unseen_words_unless_told_not_to() -> None:
    subwords = Subwords(minn=2, maxn=3, buckets=50)
    rows = np.random.default_rng(0).standard_normal((51, 4)).astype(np.float32)
    vectors = SubwordVectors(["tea"], rows, subwords)
    composed = Lookup(vectors).vector("teapot")
    assert composed is not None
    unseen = vectors["teapot"]
    assert composed == pytest.approx(unseen / np.linalg.norm(unseen), abs=1e-6)
    assert Lookup(vectors).find("teapot") == -1
    assert Lookup(vectors, compose=False).vector("teapot") is None


def test_values_that_are_not_numbers_are_an_error_and_no_answer() -> None:
    with pytest.raises(FirthError, match="the vector of 'b' contains NaN or infinity"):
        Lookup(WordVectors(["a", "b"], [[1.0], [np.nan]])).vector("a")
