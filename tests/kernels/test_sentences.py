"""Periods that belong to a word, and tokens that end a sentence."""

from __future__ import annotations

import numpy as np
import pytest

from firth.kernels import sentences
from firth.text.abbreviations import abbreviation_table
from firth.text.character_classes import character_classes
from firth.text.code_points import code_points
from firth.text.languages import language_rules

ENGLISH = language_rules("english")


@pytest.mark.parametrize("text, kept", [("Mr. Tea", True), ("tea. The", False), ("U.S. Tea", True), ("No. 5", True)])
def test_a_period_belongs_to_an_abbreviation_and_not_to_a_word(text, kept):
    codes, stop = code_points(text), text.index(" ")
    arrays = codes, character_classes(), *abbreviation_table(), ENGLISH
    assert sentences.keeps_period(*arrays, 0, stop - 1, stop, False) == kept


def test_an_acronym_is_single_letters_with_periods_between_them():
    for text, expected in (("U.S", True), ("J.R.R", True), ("tea", False), ("ab.c", False), ("3.1", False)):
        assert sentences.is_acronym(code_points(text), character_classes(), 0, len(text)) == expected


@pytest.mark.parametrize(
    "text, pieces, ends",
    [
        ("tea. The", ["tea", "."], True),
        ("tea. the", ["tea", "."], False),
        ("Inc. The", ["Inc."], True),
        ("Inc. Tea", ["Inc."], False),
        ("Mr. The", ["Mr."], False),
        ('tea." The', ["tea", ".", '"'], True),
    ],
)
def test_a_sentence_ends_at_a_stop_that_a_capital_or_a_starter_follows(text, pieces, ends):
    stops = np.cumsum([len(piece) for piece in pieces])
    starts = stops - [len(piece) for piece in pieces]
    arrays = code_points(text), character_classes(), *abbreviation_table(), ENGLISH, starts, stops
    assert sentences.closes_sentence(*arrays, 0, len(pieces), int(stops[-1]), False, False) == ends
