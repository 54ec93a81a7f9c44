"""The texts and questions of the families."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from firth.errors import OptionError
from firth.evaluate import questions
from firth.studies.families.texts import TEXT, known_words, read_sentences, write_known_questions, write_text

SENTENCES = ["king man woman queen tiger cat", "Athens Greece Baghdad Iraq", "boy girl brother sister", "tiger cat"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with a text of our own."""
    path = tmp_path / "data-folder" / TEXT
    path.parent.mkdir(parents=True)
    path.write_bytes(lzma.compress("".join(f"{one}\n" for one in SENTENCES).encode()))
    monkeypatch.setenv("FIRTH_DATA", str(tmp_path / "data-folder"))
    return tmp_path


def test_a_text_ends_with_the_sentence_that_has_enough_words(folder: Path) -> None:
    write_text(folder / "text.txt", 7)
    assert (folder / "text.txt").read_text().splitlines() == SENTENCES[:2]
    assert list(read_sentences()) == [one.split() for one in SENTENCES]
    (folder / "text.txt").write_text("mine\n")
    write_text(folder / "text.txt", 7)
    assert (folder / "text.txt").read_text() == "mine\n"


def test_more_words_than_there_are_cannot_be_had(folder: Path) -> None:
    with pytest.raises(OptionError, match=r"sizes: 100 words are needed, but .* has only 16"):
        write_text(folder / "text.txt", 100)
    assert not (folder / "text.txt").exists()


def test_only_questions_whose_words_are_known_are_asked(data: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("\n".join(SENTENCES * 2))
    known = known_words(text, 2)
    write_known_questions(known, ("wordsim353", "google"), tmp_path)
    pairs = [pair[:2] for pair in questions.read_pairs(tmp_path / "wordsim353.txt")]
    assert ("tiger", "cat") in pairs
    assert ("king", "cabbage") not in pairs
    asked = questions.read_analogies(tmp_path / "google.txt")
    assert ("boy", "girl", "brother", "sister") in asked["family"]
    assert all(known.find(word) >= 0 for some in asked.values() for question in some for word in question)
    with pytest.raises(OptionError, match="the words of msr are too rare in the smallest text"):
        write_known_questions(known_words(text, 4), ("msr",), tmp_path)
