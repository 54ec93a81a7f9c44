"""Flags that several commands share."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from firth.cli.flags import CorpusOptions, TextOptions, read_texts
from firth.vectors.words import WordVectors


def test_a_dash_stands_for_the_lines_of_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("one\r\n\nچای\n".encode())))
    assert read_texts(["first", "-", "last"]) == ["first", "one", "چای", "last"]


@pytest.mark.parametrize(
    "options, words",
    [
        (TextOptions(), ["I", "ca", "n't", "go", "."]),
        (TextOptions(tokens="whitespace"), ["I", "can't", "go."]),
        (TextOptions(tokens="whitespace", fold_case=True), ["i", "can't", "go."]),
    ],
)
def test_options_of_text_choose_the_tokenizer(options: TextOptions, words: list[str]) -> None:
    assert options.tokenizer().words("I can't go.") == words


def test_persian_letters_are_unified() -> None:
    assert TextOptions(language="persian").tokenizer().words("كتاب") == ["کتاب"]


def test_a_corpus_is_read_with_the_options(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"body": "Tea and TEA"}\n')
    corpus = CorpusOptions(field="body", fold_case=True).corpus([str(tmp_path / "a.jsonl")])
    assert list(corpus.sentences()) == [["tea", "and", "tea"]]


def test_without_options_text_is_split_as_that_of_the_model(tmp_path: Path) -> None:
    vectors = WordVectors(["کتاب"], [[1, 0]]).with_tokenizer(TextOptions(language="persian").tokenizer())
    assert TextOptions().tokenizer_for(vectors).words("كتاب ها") == ["کتاب\u200cها"]
    assert TextOptions(tokens="whitespace").tokenizer_for(vectors).words("كتاب ها") == ["كتاب", "ها"]
    assert TextOptions(fold_case=True).tokenizer_for(vectors).words("كتاب Tea") == ["كتاب", "tea"]
    assert TextOptions().tokenizer_for(WordVectors(["کتاب"], [[1, 0]])).words("كتاب ها") == ["كتاب", "ها"]
    (tmp_path / "a.txt").write_text("كتاب ها", encoding="utf-8")
    assert list(CorpusOptions().corpus([str(tmp_path / "a.txt")], vectors).sentences()) == [["کتاب\u200cها"]]
