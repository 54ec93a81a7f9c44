"""`firth task`, and its models in other commands."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import firth
from firth.cli.main import main
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.tasks.registry import TASKS

LINES = "good\ta fine film\nbad\ta poor film\ngood\tfine , fine\nbad\tpoor , poor\n" * 4
WORDS = ("--embedding", "none", "--embedding-words", "6")
SMALL = ("--network", "plain", "--hidden", "5", "--threads", "1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with examples, and the model that was learnt from them."""
    place = tmp_path_factory.mktemp("task")
    (place / "lines.tsv").write_text(LINES)
    lines = str(place / "lines.tsv")
    options = (*SMALL, *WORDS, "--epochs", "12", "--learning-rate", "0.05", "--patience", "12", "--batch", "8")
    main(["task", "sentiment", "--train", lines, "--dev", lines, "--out", str(place / "model"), *options])
    return place


def test_a_task_is_learnt_saved_and_asked(
    answer: Callable[..., Any], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [first, second] = answer("predict", str(folder / "model"), "a fine film", "A poor film.")
    assert (first["label"], second["label"]) == ("good", "bad")
    main(["predict", str(folder / "model"), "a fine film"])
    assert capsys.readouterr().out.startswith("0\tgood\t0.")
    card = (folder / "model" / "README.md").read_text(encoding="utf-8")
    assert "| dev accuracy | `1.0` |" in card


def test_it_is_judged_by_a_file(answer: Callable[..., Any], folder: Path) -> None:
    found = answer("test", str(folder / "model"), str(folder / "lines.tsv"))
    assert found["examples"] == 16
    assert found["scores"]["accuracy"] == 1.0


def test_flags_reach_all_three_recipes(answer: Callable[..., Any], folder: Path, tmp_path: Path) -> None:
    firth.save(BiLM(Architecture.named("tiny")), tmp_path / "bilm")
    lines = str(folder / "lines.tsv")
    told = answer(
        *("task", "sentiment", "--train", lines, "--dev", lines, "--test", lines, *SMALL, "--dropout", "0.1"),
        *("--embedding", str(tmp_path / "bilm"), "--embedding-layers", "2", "--embedding-dropout", "0.3"),
        *("--epochs", "1", "--batch", "5", "--log", str(tmp_path / "log.jsonl"), "--log-every", "1"),
    )
    assert (told["options"]["architecture"], told["options"]["dropout"]) == ("plain", 0.1)
    assert (told["embedding"]["layers"], told["embedding"]["dropout"], told["embedding"]["at"]) == (2, 0.3, "both")
    assert told["embedding"]["elmo"] == str(tmp_path / "bilm")
    assert told["training"]["batch"] == 5
    assert set(told["test"]) == {"accuracy", "macro_f1"}
    assert 0 < told["bilm_share"] < 1
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) == 5  # four steps and an epoch


def test_the_result_is_drawn_in_a_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    lines = str(folder / "lines.tsv")
    main(["task", "sentiment", "--train", lines, "--dev", lines, *SMALL, *WORDS, "--epochs", "2"])
    shown = capsys.readouterr().out
    assert "epoch" in shown
    assert "best weights" in shown
    assert "resumed" in shown


def test_info_knows_a_task(answer: Callable[..., Any], folder: Path) -> None:
    assert answer("info", str(folder / "model"))["kind"] == "TaskModel"


def test_mistakes_are_one_line(mistake: Callable[..., str], folder: Path) -> None:
    lines = str(folder / "lines.tsv")
    assert "no-such-vectors" in mistake("task", "sentiment", "--train", lines, "--embedding", "no-such-vectors", *SMALL)
    problem = mistake("task", "sentiment", "--train", lines, "--embedding", "none", *SMALL)
    assert "the network's input has no vectors" in problem
    assert "hidden is 0" in mistake("task", "sentiment", "--train", lines, *WORDS, "--hidden", "0")
    assert "no such file" in mistake("task", "sentiment", "--train", "gone.txt", *WORDS, *SMALL)


def test_every_task_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    for name in TASKS:
        main(["task", name, "--help"])
        assert f"firth task {name}" in capsys.readouterr().out
