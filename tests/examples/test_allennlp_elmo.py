"""The example of a port from AllenNLP runs, learns, and opens files of AllenNLP."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

import firth
from firth.neural.architecture import Architecture

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "allennlp_elmo.py"


@pytest.fixture(scope="module")
def example() -> Any:
    spec = importlib.util.spec_from_file_location("allennlp_elmo", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_learns_what_only_context_tells(example: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert example.main(["--epochs", "12"]) >= 0.9
    shown = capsys.readouterr().out
    assert "nouns and verbs right: 50% before training" in shown
    assert shown.count("weights of the layers") == 2


def test_the_words_of_the_test_are_nouns_and_verbs_in_equal_number(example: Any) -> None:
    tags = [tag for _, tags in example.read(example.TEST) for tag in tags if tag]
    assert tags.count(1) == tags.count(2) == 6


@pytest.mark.parametrize("fine_tune", [False, True])
def test_it_opens_a_folder_of_allennlp(example: Any, tmp_path: Path, fine_tune: bool) -> None:
    firth.save(firth.BiLM(Architecture.named("tiny")), tmp_path / "elmo", format="elmo")
    assert {path.suffix for path in (tmp_path / "elmo").iterdir()} >= {".json", ".hdf5"}
    example.main(["--model", str(tmp_path / "elmo"), "--epochs", "1", *(["--fine-tune"] if fine_tune else [])])
