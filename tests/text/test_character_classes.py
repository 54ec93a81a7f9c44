"""The class of a code point: from Unicode's category, except where the tables name it."""

from __future__ import annotations

import pytest

from firth.kernels import characters as kernel
from firth.text.character_classes import MORE_SIGNS, SIGNS, character_classes


@pytest.mark.parametrize(
    "letters, kind",
    [
        ("AÉЖ", kernel.UPPER),
        ("aéж", kernel.LOWER),
        ("سक한", kernel.LETTER),
        ("0۵५", kernel.DIGIT),
        ("漢々\U00020000", kernel.HAN),
        ("ไລ", kernel.UNSPACED),
        ("\u0301\u064e\u200d\U0001f3fd", kernel.MARK),
        ("\t \u00a0\u3000", kernel.SPACE),
        ("😀", kernel.EMOJI),
        ("🇮", kernel.FLAG),
    ],
)
def test_letters_have_the_class_of_their_script_and_category(letters: str, kind: int) -> None:
    assert {int(character_classes()[ord(letter)]) for letter in letters} == {kind}


def test_signs_have_the_class_that_their_table_names() -> None:
    first, later = character_classes(False), character_classes()
    assert all(first[ord(sign)] == kind for kind, signs in SIGNS.items() for sign in signs)
    assert all(later[ord(sign)] == kind for kind, signs in MORE_SIGNS.items() for sign in signs)
    changed = {sign for signs in MORE_SIGNS.values() for sign in signs}
    assert {chr(code) for code in (first != later).nonzero()[0] if not 0x10A0 <= code < 0x2D30} <= changed


def test_the_shared_table_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        character_classes()[0] = kernel.LETTER
