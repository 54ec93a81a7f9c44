"""Abbreviations keep their period; which ones can end a sentence decides the word that follows."""

from __future__ import annotations

from firth.text.abbreviations import ENDERS, NUMBERED, STARTERS, TITLES, abbreviation_table
from firth.text.tokenize import Tokenizer


def test_the_table_has_an_entry_for_every_word_and_at_most_half_of_it_is_full() -> None:
    keys, values = abbreviation_table()
    words = set(" ".join([ENDERS, NUMBERED, STARTERS, TITLES]).split())
    assert len(words) <= (keys > 0).sum() == (values > 0).sum() <= len(keys) // 2
    assert len(set(keys[keys > 0].tolist())) == (keys > 0).sum()


def test_more_abbreviations_can_be_named() -> None:
    assert Tokenizer().words("Am Bhf. Zoo") == ["Am", "Bhf", ".", "Zoo"]
    for word in ("Bhf", "Bhf."):
        assert Tokenizer(abbreviations=(word,)).words("Am Bhf. und BHF. Zoo") == ["Am", "Bhf.", "und", "BHF.", "Zoo"]
