"""Commands that work on text."""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import firth
from firth.cli.main import main


def test_tokens_come_from_standard_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("I can't go. می‌روم.".encode())))
    main(["tokens", "-", "--out", str(tmp_path / "tokens.txt.gz")])
    assert gzip.open(tmp_path / "tokens.txt.gz", "rt", encoding="utf-8").read() == "I ca n't go .\nمی‌روم .\n"


def test_tokens_as_json_point_into_the_source(capsys: pytest.CaptureFixture[str], text: str) -> None:
    main(["tokens", text, "--json"])
    source = Path(text).read_text(encoding="utf-8")
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [token["text"] for token in lines[0]][:3] == ["A", "firth", "is"]
    assert all(source[token["start"] : token["end"]] == token["text"] for line in lines for token in line)


def test_vocab_counts_what_is_there(answer: Callable[..., Any], text: str, tmp_path: Path) -> None:
    values = answer("vocab", text, "--fold-case", "--out", str(tmp_path / "vocab.txt"), "--min-count", "2")
    assert values["words"][0]["word"] == "the"
    assert values["kept"] < values["types"]
    assert firth.Vocabulary.load(tmp_path / "vocab.txt").total <= values["tokens"]


def test_phrases_are_found_and_joined(answer: Callable[..., Any], tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("the new york times\nnew york wakes\nthe times change\n" * 3)
    found = str(tmp_path / "found")
    answer("train", "phrases", str(text), "--threshold", "2", "--delta", "2", "--out", found)
    answer("phrases", found, str(text), "--out", str(tmp_path / "joined.txt"))
    assert "the new_york times" in (tmp_path / "joined.txt").read_text()


def test_phrases_are_joined_in_the_spelling_of_their_training_text(answer: Callable[..., Any], tmp_path: Path) -> None:
    text, found = tmp_path / "text.txt", str(tmp_path / "found")
    text.write_text("كتاب خوب را خواند\nكتاب خوب را دید\nاو آمد\n" * 5)
    answer("train", "phrases", str(text), "--language", "persian", "--threshold", "1", "--delta", "1", "--out", found)
    answer("phrases", found, str(text), "--out", str(tmp_path / "joined.txt"))
    assert "کتاب_خوب" in (tmp_path / "joined.txt").read_text()


def test_a_segmenter_is_trained_and_used_by_the_name_of_its_folder(answer: Callable[..., Any], tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("我爱北京。\n北京很大，他在北京！\n我去南京\n东北很冷\n" * 5)
    words = str(tmp_path / "words")
    values = answer("train", "segmenter", str(text), "--out", words)
    assert values["model"] == "segmenter"
    assert (tmp_path / "words" / "README.md").is_file()
    assert "北京" in {one["word"] for one in answer("vocab", str(text), "--segment", words)["words"]}
    main(["tokens", str(text), "--segment", words, "--out", str(tmp_path / "tokens.txt")])
    assert (tmp_path / "tokens.txt").read_text().startswith("我爱 北京 。\n北京 ")
