"""Sentences from files, and the counts of gensim."""

from __future__ import annotations

import bz2
import io
from pathlib import Path

import pytest

from firth.compat.gensim import LineSentence, PathLineSentences, TaggedDocument
from firth.compat.gensim_text import choose_counts, count_pruned
from firth.errors import OptionError

LINES = [["hot", "tea"], ["cold", "rain", "and", "wind"]]


def test_lines_are_sentences_from_a_name_or_an_open_file(tmp_path: Path) -> None:
    text = "\n".join(map(" ".join, LINES)) + "\n"
    (tmp_path / "a.txt").write_text(text)
    (tmp_path / "b.txt.bz2").write_bytes(bz2.compress(text.encode()))
    for source in (tmp_path / "a.txt", str(tmp_path / "b.txt.bz2"), io.BytesIO(text.encode()), io.StringIO(text)):
        sentences = LineSentence(source)
        assert list(sentences) == list(sentences) == LINES
    assert list(LineSentence(tmp_path / "a.txt", max_sentence_length=3, limit=2)) == [
        ["hot", "tea"],
        ["cold", "rain", "and"],
        ["wind"],
    ]
    assert list(PathLineSentences(tmp_path)) == LINES * 2
    assert list(PathLineSentences(tmp_path / "a.txt")) == LINES
    with pytest.raises(OptionError, match="neither the name of a file nor an open file"):
        list(LineSentence(3))


def test_a_tagged_document_has_words_and_tags() -> None:
    assert TaggedDocument(["tea"], [3]).tags == [3]


def test_rules_keep_and_discard_words() -> None:
    counts = {"a": 5, "b": 1, "c": 2}
    assert choose_counts(counts, 2)[0].words == ("a", "c")
    assert choose_counts(counts, 1, 2)[1] == 2
    assert choose_counts(counts, 2, None, lambda word, count, least: 1 if word == "a" else 2)[0].words == ("c", "b")


def test_rare_words_are_forgotten_while_counting() -> None:
    sentences = [["graph", "system"], ["graph", "system"], ["system", "eps"], ["graph", "system"]]
    assert count_pruned(sentences, 2) == {"graph": 3, "system": 4}
    assert count_pruned(sentences, 9) == {"graph": 3, "system": 4, "eps": 1}
