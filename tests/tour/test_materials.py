"""The text of the tour."""

from __future__ import annotations

from pathlib import Path

from firth.tour.materials import OWN_WORDS, Materials


def test_the_own_text_contains_the_words_that_are_shown(tmp_path: Path) -> None:
    materials = Materials((), tmp_path)
    assert materials.words == OWN_WORDS
    assert all(word in materials.corpus.vocabulary and word in materials.vectors for word in OWN_WORDS)
    assert Path(materials.name).is_file()


def test_the_words_of_a_text_are_its_most_frequent_content_words(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("the ship and the ship saw the harbor , harbor of ships\n")
    assert Materials((str(text),), tmp_path).words == ("harbor", "ship", "saw", "ships")
