"""The word lists of Persian: in normalized spelling, each word once."""

from __future__ import annotations

import pytest

from firth.text import persian_words
from firth.text.normalize import Normalizer

LISTS = sorted(name for name, value in vars(persian_words).items() if name.isupper() and isinstance(value, str))


@pytest.mark.parametrize("name", LISTS)
def test_words_are_normalized_and_none_stands_twice(name: str) -> None:
    words = getattr(persian_words, name).split()
    assert len(words) == len(set(words))
    normalizer = Normalizer.persian(half_spaces=False, diacritics="keep")
    assert [word for word in words if normalizer(word) != word] == []


def test_compounds_have_their_parts_in_normalized_spelling() -> None:
    normalizer = Normalizer.persian(half_spaces=False)
    parts = [part for first, others in persian_words.COMPOUNDS.items() for part in (first, *others.split())]
    assert [part for part in parts if normalizer(part) != part] == []
