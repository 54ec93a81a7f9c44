"""Fixtures for tests of commands: run a command for its JSON or for its error, and small inputs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import firth
from firth.cli.main import main
from firth.text.vocabulary import Vocabulary
from firth.tour.materials import read_own_text

Answer = Callable[..., Any]
Mistake = Callable[..., str]


LISTS = {
    "data",
    "evaluate",
    "explain",
    "generate",
    "identify",
    "models",
    "neighbors",
    "predict",
    "pull",
    "score",
    "tour",
}  # print a line each


@pytest.fixture
def answer(capsys: pytest.CaptureFixture[str]) -> Answer:
    """Runs a command and returns the JSON that it prints; a list is printed as one line for each element."""

    def run(*arguments: str) -> Any:
        capsys.readouterr()
        main([*arguments, "--json"])
        values = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        return values if arguments[0] in LISTS else values[0]

    return run


@pytest.fixture
def mistake(capsys: pytest.CaptureFixture[str]) -> Mistake:
    """Runs a command that fails and returns the one line that it prints."""

    def run(*arguments: str) -> str:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(list(arguments))
        assert stop.value.code == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1
        assert captured.err.startswith("firth: ")
        return captured.err

    return run


@pytest.fixture(scope="session")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file with four word vectors."""
    path = tmp_path_factory.mktemp("vectors") / "tiny.txt"
    path.write_text("tea 1 0.1 0\ncoffee 0.9 0.2 0\nboat 0 1 0\nship 0 0.9 0.1\n", encoding="utf-8")
    return str(path)


@pytest.fixture(scope="session")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The text of the tour."""
    path = tmp_path_factory.mktemp("text") / "tour.txt"
    path.write_text(read_own_text(), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="session")
def three_lines(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A text of three lines, the second one empty."""
    path = tmp_path_factory.mktemp("lines") / "text.txt"
    path.write_text("they play ball\n\na play on stage\n")
    return str(path)


@pytest.fixture(scope="session")
def bilm(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tiny biLM with random weights and a softmax."""
    pytest.importorskip("torch")
    from firth.neural.architecture import Architecture
    from firth.neural.bilm import BiLM

    words = Vocabulary(["<S>", "</S>", "<UNK>", "tea", "rain", "strong"])
    path = tmp_path_factory.mktemp("bilm") / "tiny"
    firth.save(BiLM(Architecture.named("tiny"), vocabulary=words), path)
    return str(path)
