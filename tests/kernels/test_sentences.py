"""Periods that belong to a word, and tokens that end a sentence."""

from __future__ import annotations

import numpy as np
import pytest

from firth.kernels import sentences
from firth.text.abbreviations import abbreviation_table
from firth.text.character_classes import character_classes
from firth.text.code_points import code_points
from firth.text.languages import language_rules

ENGLISH, ANY = language_rules("english"), language_rules("any")


@pytest.mark.parametrize("text, kept", [("Mr. Tea", True), ("tea. The", False), ("U.S. Tea", True), ("No. 5", True)])
def test_a_period_belongs_to_an_abbreviation_and_not_to_a_word(text, kept):
    codes, stop = code_points(text), text.index(" ")
    arrays = codes, character_classes(), *abbreviation_table(), ENGLISH
    assert sentences.keeps_period(*arrays, 0, stop - 1, stop, False) == kept


def test_an_acronym_is_single_letters_with_periods_between_them():
    for text, expected in (("U.S", True), ("J.R.R", True), ("tea", False), ("ab.c", False), ("3.1", False)):
        assert sentences.is_acronym(code_points(text), character_classes(), 0, len(text)) == expected


@pytest.mark.parametrize(
    "rules, text, pieces, ends",
    [
        (ANY, "tea. The", ["tea", "."], True),
        (ANY, "tea. the", ["tea", "."], False),
        (ANY, "Inc. The", ["Inc."], True),
        (ANY, "Inc. Tea", ["Inc."], False),
        (ANY, "Mr. The", ["Mr."], False),
        (ANY, 'tea." The', ["tea", ".", '"'], True),
        (ENGLISH, "tea. the", ["tea", "."], True),
        (ENGLISH, "Inc. the", ["Inc."], False),
        (ENGLISH, "tea... the", ["tea", "..."], False),
        (ENGLISH, 'tea." the', ["tea", ".", '"'], False),
        (ENGLISH, "1. the", ["1", "."], False),
    ],
)
def test_a_sentence_ends_at_a_stop_that_a_capital_or_a_starter_follows(rules, text, pieces, ends):
    stops = np.cumsum([len(piece) for piece in pieces])
    starts = stops - [len(piece) for piece in pieces]
    arrays = code_points(text), character_classes(), *abbreviation_table(), rules, starts, stops
    assert sentences.closes_sentence(*arrays, 0, len(pieces), int(stops[-1]), False, False) == ends
