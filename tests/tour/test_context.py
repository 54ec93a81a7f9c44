"""Steps of the tour on words in context."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from firth.tour import materials
from firth.tour.answering import run_tasks
from firth.tour.context import DRINKS, compare_contexts, score_with_bilm
from firth.tour.materials import Materials
from firth.tour.steps import MakeStep


@pytest.mark.parametrize("make_step", [compare_contexts, score_with_bilm, run_tasks])
def test_without_torch_the_step_says_what_to_install(
    make_step: MakeStep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(materials, "find_spec", lambda name: None)
    step = make_step(Materials((), tmp_path))
    assert step.values == {"skipped": True}
    assert step.command == "pip install 'firth[elmo]' && firth tour"


def test_the_two_banks_are_told_apart_above_the_layer_of_spelling(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    step = compare_contexts(Materials((), tmp_path))
    stream = StringIO()
    Console(width=140, file=stream).print(step.picture)
    printed = stream.getvalue()
    assert "the [bank] of the river" in printed
    assert "\\" not in printed
    values = step.values
    assert values["other_use"][0] == pytest.approx(1)
    assert all(same > other for same, other in zip(values["same_use"][1:], values["other_use"][1:]))


def test_tea_is_strong_and_a_sentence_goes_on(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    values = score_with_bilm(Materials((), tmp_path)).values
    assert values["scores"][DRINKS[0]] > values["scores"][DRINKS[1]]
    assert len(values["generated"].split()) > 5


def test_a_model_of_the_user_s_is_taken_and_may_lack_a_softmax(tmp_path: Path, data: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("h5py")
    shared = Materials((), tmp_path, str(data / "fixtures" / "elmo" / "allennlp"))
    assert compare_contexts(shared).values["other_use"][0] == pytest.approx(1)
    assert score_with_bilm(shared).values == {"skipped": True}
