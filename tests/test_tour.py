"""The step of the tour that needs a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from firth import tour
from firth.tour import Luggage, contexts


def test_without_torch_the_step_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tour, "find_spec", lambda name: None)
    step = contexts(Luggage((), tmp_path))
    assert step.values == {"skipped": True}
    assert step.command == "pip install 'firth[elmo]' && firth tour"


def test_without_a_model_a_tiny_one_is_trained(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    step = contexts(Luggage((), tmp_path))
    assert step.values["other_use"][0] == pytest.approx(1)
    assert all(unlike < 0.999 for unlike in step.values["other_use"][1:])
    assert step.command.startswith("firth train elmo")


def test_a_word_differs_by_its_context_above_the_layer_of_spelling(tmp_path: Path, data: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("h5py")
    values = contexts(Luggage((), tmp_path, str(data / "fixtures" / "elmo" / "allennlp"))).values
    assert values["other_use"][0] == pytest.approx(1)
    assert all(alike > unlike for alike, unlike in zip(values["same_use"][1:], values["other_use"][1:]))
