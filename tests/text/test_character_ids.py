"""Words as character numbers: equal to the original's for odd words, and framed and filled for any."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firth.errors import OptionError
from firth.text.character_ids import CharacterIds


def test_odd_words_have_the_numbers_that_the_original_gives_them(data: Path) -> None:
    folder = data / "fixtures" / "elmo" / "derived"
    words = json.loads((folder / "char_id_tokens.json").read_text())
    with np.load(folder / "allennlp_2.10.1_expected.npz") as expected:
        assert np.array_equal(CharacterIds().of(words), expected["char_ids"])


def test_a_word_is_cut_in_bytes_even_inside_a_character() -> None:
    assert CharacterIds(width=5).of(["th", "thhhhh", "Āt"]).tolist() == [
        [259, 117, 105, 260, 261],
        [259, 117, 105, 105, 260],
        [259, 197, 129, 117, 260],
    ]
    assert CharacterIds(width=3).of(["é"]).tolist() == [[259, 0xC3 + 1, 260]]


def test_only_the_exact_spelling_marks_a_sentence() -> None:
    marks = CharacterIds(width=5).of(["<S>", "</S>", "<s>"])
    assert marks[:2].tolist() == [[259, 257, 260, 261, 261], [259, 258, 260, 261, 261]]
    assert marks[2].tolist() == [259, *(byte + 1 for byte in b"<s>"), 260]


def test_a_hundred_thousand_characters_are_a_word() -> None:
    ids = CharacterIds().of(["x" * 100_000, ""])
    assert ids[0].tolist() == [259, *[ord("x") + 1] * 48, 260]
    assert ids[1].tolist() == [259, 260, *[261] * 48]


@given(st.lists(st.text(st.characters()), max_size=8), st.integers(3, 60))
def test_every_row_is_a_word_between_its_marks(words: list[str], width: int) -> None:
    ids = CharacterIds(width).of(words)
    assert ids.shape == (len(words), width)
    for word, row in zip(words, ids.tolist()):
        if word in ("<S>", "</S>"):
            continue
        raw = word.encode("utf-8", "ignore")[: width - 2]
        assert row == [259, *(byte + 1 for byte in raw), 260, *[261] * (width - 2 - len(raw))]


def test_a_width_without_room_for_a_character_is_refused() -> None:
    with pytest.raises(OptionError, match="at least 3"):
        CharacterIds(2)
