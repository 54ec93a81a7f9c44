"""`firth predict` and `firth test`."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firth.cli.main import main
from firth.pretrained import shipped


def test_a_classifier_is_trained_tested_asked_and_made_small(
    answer: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = tmp_path / "labeled.txt"
    lines.write_text("__label__drink hot tea\n__label__sky hot sun\n__label__drink cold milk\n" * 20)
    model = str(tmp_path / "c.bin")
    options = ("--dim", "8", "--learning-rate", "0.5", "--buckets", "0", "--out", model)
    answer("train", "fasttext", str(lines), "--labels", *options)
    assert answer("test", model, str(lines))["precision"] == 1.0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"milk tea\n\nhot sun\n")))
    found = answer("predict", model, "-")
    assert [max(one["labels"], key=one["labels"].get) for one in found] == ["__label__drink", "__label__sky"]
    small = answer("quantize", model, str(tmp_path / "c.ftz"))
    assert answer("info", str(tmp_path / "c.ftz"))["words"] == small["words"]


def test_a_command_in_a_bare_folder_answers(tmp_path: Path) -> None:
    (tmp_path / "ner").mkdir()  # holds no model, and so does not stand in the way
    code = "import sys; from firth.cli.main import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "predict", "ner", "Elon Musk founded SpaceX."]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout == "[Elon Musk PER] founded [SpaceX ORG] .\n"


def test_text_in_another_script_gets_one_warning_beside_the_answers(capsys: pytest.CaptureFixture[str]) -> None:
    main(["predict", "ner", "علی در تهران است.", "من کتاب دارم.", "Ann left."])
    shown = capsys.readouterr()
    assert shown.err.startswith("firth: warning: most words are in ARABIC script")
    assert len(shown.err.splitlines()) == 1
    assert len(shown.out.splitlines()) == 3


def test_a_folder_with_a_model_comes_before_the_name(
    answer: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ner").symlink_to(shipped.place("task-sentiment"))
    [told] = answer("predict", "ner", "The movie was fantastic!")
    assert "label" in told


def test_so_does_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ner").write_bytes(b"not a model")
    with pytest.raises(SystemExit):
        main(["predict", "ner", "Elon Musk founded SpaceX."])
    assert capsys.readouterr().err.startswith("firth: ner: ")


def test_a_test_tells_kinds_apart(
    answer: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.conll").write_text("Elon B-PER\nMusk I-PER\nfounded O\nSpaceX B-ORG\n. O\n")
    found = answer("test", "ner", str(tmp_path / "one.conll"))
    assert found["scores"]["f1"] == 1.0
    assert found["by_kind"]["PER"] == {"f1": 1.0, "precision": 1.0, "recall": 1.0, "true": 1, "found": 1}
    main(["test", "task-ner", str(tmp_path / "one.conll")])
    shown = capsys.readouterr().out
    assert "ORG" in shown
    assert "accuracy" in shown


def test_a_task_without_a_model_says_how_to_learn_one(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["predict", "seq2seq", "a b"])
    assert "firth task seq2seq --train" in capsys.readouterr().err
