"""Features of documents: n-grams of words and characters, limits of document frequency."""

from __future__ import annotations

import pytest

import firth
from firth.errors import OptionError
from firth.models.analyzer import Analyzer


def test_characters_within_words_have_blanks_at_the_edges() -> None:
    assert Analyzer(analyzer="char_wb", ngram_range=(2, 4)).features("ab") == [" a", "ab", "b ", " ab", "ab ", " ab "]
    assert Analyzer(analyzer="char_wb", ngram_range=(4, 6)).features("a") == [" a "]


def test_white_space_is_one_blank_for_characters() -> None:
    assert Analyzer(analyzer="char", ngram_range=(3, 3)).features("a \t b") == ["a b"]


@pytest.mark.parametrize("wrong", [(2, 1), (0, 1), (1,), (1, 2, 3)])
def test_an_impossible_range_is_refused(wrong: tuple[int, ...]) -> None:
    with pytest.raises(OptionError, match="ngram_range"):
        Analyzer(ngram_range=wrong)


def test_limits_that_leave_nothing_are_refused() -> None:
    with pytest.raises(OptionError, match="min_df is 3"):
        Analyzer(min_df=3, max_df=1).is_frequent([["a"]])
    with pytest.raises(OptionError, match="binary is for document-term"):
        firth.CountsTransformer(kind="ppmi", binary=True).fit(["hot tea"])
