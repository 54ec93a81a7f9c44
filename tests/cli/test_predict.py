"""`firth predict` and `firth test`."""

from __future__ import annotations

import io
import json
import re
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
    assert [list(one["labels"]) for one in found] == [["__label__drink"], [], ["__label__sky"]]
    small = answer("quantize", model, str(tmp_path / "c.ftz"))
    assert answer("info", str(tmp_path / "c.ftz"))["words"] == small["words"]


def test_a_command_in_a_bare_folder_answers(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "ner").mkdir()  # holds no model, and so does not stand in the way
    code = "import sys; from firth.cli.main import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "predict", "ner", "Elon Musk founded SpaceX."]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [row[:-1] for row in rows] == [
        ["0", "0", "PER", "Elon Musk", "0", "9", "0", "2"],
        ["0", "0", "ORG", "SpaceX", "18", "24", "3", "4"],
    ]
    assert all(0.5 < float(row[-1]) <= 1 for row in rows)


def read_from(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def test_every_line_of_standard_input_has_an_answer_with_its_number(
    answer: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    lines = "\nAnn  left. Paul 😀 saw Rome.\n\n"
    read_from(monkeypatch, lines)
    found = answer("predict", "ner", "-")
    assert [(one["input"], one["sentence"], len(one["tokens"])) for one in found] == [
        (0, 0, 0),
        (1, 0, 3),
        (1, 1, 5),
        (2, 0, 0),
    ]
    for one in found:
        line = lines.split("\n")[one["input"]]
        assert one["text"] == line[one["start"] : one["end"]]
        assert all(line[span["start"] : span["end"]] == span["text"] for span in one["entities"])
    read_from(monkeypatch, lines)
    main(["predict", "ner", "-"])
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert {len(row) for row in rows} == {9}
    assert [row[0] for row in rows if not row[2]] == ["0", "2"]
    spans = {(row[3], row[4], row[5]) for row in rows if row[2]}
    assert spans == {(one["text"], str(one["start"]), str(one["end"])) for told in found for one in told["entities"]}


def test_the_answers_to_a_long_text_are_not_longer_than_the_text_times_a_constant(answer: Callable[..., Any]) -> None:
    pytest.importorskip("torch")
    sizes = [len(json.dumps(answer("predict", "ner", "Ann met Paul in Rome. " * count))) for count in (2, 40)]
    assert sizes[1] < 20.5 * sizes[0]


def test_a_terminal_shows_the_places_below_the_drawing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    main(["predict", "ner", "Elon Musk founded SpaceX."])
    drawing, *table = capsys.readouterr().out.splitlines()
    assert re.sub(r"\x1b\[[\d;]*m", "", drawing) == "[Elon Musk PER] founded [SpaceX ORG] ."
    assert any("characters" in line for line in table)
    assert any(" SpaceX " in line and " 18:24 " in line and " 3:4 " in line for line in table)


def test_text_in_another_script_gets_one_warning_beside_the_answers(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    main(["predict", "ner", "علی در تهران است.", "من کتاب دارم.", "Ann left."])
    shown = capsys.readouterr()
    assert shown.err.startswith("firth: warning: 2 of 3 answers: 100 % of the words (7 of 7) are in ARABIC script")
    assert len(shown.err.splitlines()) == 1
    assert len(shown.out.splitlines()) == 3


def test_a_folder_with_a_model_comes_before_the_name(
    answer: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
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
    pytest.importorskip("torch")
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


def test_the_language_of_texts_is_identified(
    answer: Callable[..., Any], mistake: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = tmp_path / "languages.txt"
    lines.write_text("__label__de das ist ein satz\n__label__en this is a sentence\n" * 20)
    model = str(tmp_path / "lid.bin")
    answer(*f"train classifier {lines} --dim 8 --learning-rate 0.5 --buckets 0 --out {model}".split())
    read_from(monkeypatch, "das ist\tsatz\n\nthis sentence\n")
    found = answer("identify", "-", "--model", model)
    assert [list(one["languages"]) for one in found] == [["de"], [], ["en"]]
    assert len(answer("identify", "das ist", "--model", model, "--top", "2")[0]["languages"]) == 2
    assert "needs a fastText classifier, such as lid.176.ftz" in mistake("identify", "a", "--model", "word2vec-en")


def test_tokenized_texts_are_not_tokenized_again(answer: Callable[..., Any]) -> None:
    pytest.importorskip("torch")
    text = "Elon Musk can't wait ."
    running, tokenized = answer("predict", "ner", text)[0], answer("predict", "ner", text, "--tokens", "whitespace")[0]
    assert running["tokens"] == ["Elon", "Musk", "ca", "n't", "wait", "."]
    assert tokenized["tokens"] == ["Elon", "Musk", "can't", "wait", "."]
