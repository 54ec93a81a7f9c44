"""The same values as a picture in a terminal, as records in a pipe, and as JSON."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from rich.console import Group
from rich.text import Text

from firth.cli.main import main
from firth.cli.output import answer, json_line
from firth.show import terminal


def test_values_are_json_or_a_picture(capsys: pytest.CaptureFixture[str]) -> None:
    values = {"cosine": np.float32(0.5), "word": "چای"}
    answer(values, Text("0.5"), True)
    assert json.loads(capsys.readouterr().out) == {"cosine": 0.5, "word": "چای"}
    answer(values, Text("0.5"), False)
    assert capsys.readouterr().out == "0.5\n"


def test_a_line_of_json_has_one_line_end() -> None:
    assert json_line([float("nan"), "a\nb"]) == '[null, "a\\nb"]\n'


def test_a_pipe_gets_one_record_a_line_without_wrapping(capsys: pytest.CaptureFixture[str]) -> None:
    long = "a sentence of many words " * 20
    tables = Group(terminal.table("title", ["text", "count"], [(long, 1234567)]), terminal.bars("", [("tea", 0.5)]))
    answer([], tables, False)
    assert capsys.readouterr().out == f"{long.strip()}\t1234567\ntea\t0.5\n"


def test_a_list_in_a_pipe_is_lines_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    answer([{"word": "tea"}, {"word": "ship"}], "", True)
    assert capsys.readouterr().out == '{"word": "tea"}\n{"word": "ship"}\n'


def test_a_terminal_gets_the_picture(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    answer([1, 2], terminal.bars("title", [("tea", 0.5)]), False)
    assert "title" in capsys.readouterr().out
    answer([1, 2], "", True)
    assert capsys.readouterr().out == "[\n  1,\n  2\n]\n"


def test_the_commands_print_records(capsys: pytest.CaptureFixture[str], vectors: str) -> None:
    main(["neighbors", vectors, "tea", "boat", "-n", "1"])
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [row[:2] for row in rows] == [["tea", "coffee"], ["boat", "ship"]]
    main(["models"])
    assert all(len(line.split("\t")) == 4 and line.split("\t")[2].isdigit() for line in read_lines(capsys))


def read_lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_a_sentence_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    sentence = "The movie was fantastic " + "and so was the music " * 10
    main(["predict", "sentiment", sentence])
    (line,) = read_lines(capsys)
    assert len(line) > 160
    assert line.endswith(sentence.strip())
