"""The English stop words, and how a stop word matches."""

from __future__ import annotations

from firth.models.count_matrix import CountMatrix
from firth.models.counts import Counts
from firth.models.stop_words import ENGLISH_STOP_WORDS, STOP_WORDS
from firth.models.token_lists import TokenLists
from firth.runtime import Runtime


def fit_matrix(recipe: Counts, corpus) -> CountMatrix:
    made = recipe.fit(corpus, runtime=Runtime(2))
    assert isinstance(made, CountMatrix)
    return made


def test_stop_words_in_small_letters_match_capitals_and_others_only_themselves():
    text = TokenLists.of([[["The", "the", "US", "us", "ice"]]])
    assert set(fit_matrix(Counts(stop_words=("the", "US")), text).vocabulary) == {"us", "ice"}
    assert set(fit_matrix(Counts(stop_words="english", kind="document-term"), text).vocabulary) == {"ice"}


def test_the_english_stop_words_are_distinct_and_lowercase():
    assert len(set(ENGLISH_STOP_WORDS)) == len(ENGLISH_STOP_WORDS)
    assert all(word == word.lower() for word in ENGLISH_STOP_WORDS)
    assert STOP_WORDS["english"] == set(ENGLISH_STOP_WORDS)
    assert {"the", "of", "n't"} <= STOP_WORDS["english"]
