"""Jamo against Unicode's decomposition."""

from __future__ import annotations

import unicodedata

from firth.text.jamo import FINALS, spell_jamo


def test_syllables_are_decomposed_as_by_unicode_with_a_mark_for_no_final() -> None:
    for code in range(0xAC00, 0xD7A4, 7):
        syllable = chr(code)
        assert spell_jamo(syllable).replace(chr(FINALS), "") == unicodedata.normalize("NFD", syllable)
        assert len(spell_jamo(syllable)) == 3


def test_other_characters_stay() -> None:
    assert spell_jamo("tea 茶 ㄱ") == "tea 茶 ㄱ"
