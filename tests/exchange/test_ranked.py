"""Words and rows from elsewhere: unique, and by falling count."""

from __future__ import annotations

import numpy as np
import pytest

from firth.errors import OptionError
from firth.exchange.ranked import check_unique, rank_words
from firth.text.vocabulary import Vocabulary

ROWS = np.arange(6, dtype=np.float32).reshape(3, 2)


def test_falling_counts_leave_words_and_rows_in_place() -> None:
    words, rows = rank_words(Vocabulary(["the", "tea", "rain"]), np.array([9, 2, 2]), ROWS, "here")
    assert (words.words, words.counts.tolist()) == (("the", "tea", "rain"), [9, 2, 2])
    assert np.shares_memory(rows, ROWS)


def test_equal_counts_keep_their_order_when_words_move() -> None:
    words, rows = rank_words(Vocabulary(["tea", "rain", "the"]), np.array([2, 2, 9]), ROWS, "here")
    assert words.words == ("the", "tea", "rain")
    assert rows.tolist() == [[4, 5], [0, 1], [2, 3]]


def test_words_without_counts_stay_without() -> None:
    assert rank_words(Vocabulary(["tea", "rain", "the"]), None, ROWS, "here")[0].counts is None


def test_a_word_that_stands_twice_and_a_negative_count_are_errors() -> None:
    with pytest.raises(OptionError, match="here: the word 'tea' stands twice"):
        check_unique(Vocabulary(["tea", "rain", "tea"]), "here")
    with pytest.raises(OptionError, match="here: a count is -1"):
        rank_words(Vocabulary(["tea"]), np.array([-1]), ROWS[:1], "here")
