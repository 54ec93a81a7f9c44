"""The steps of the tour that need torch: words in context, and the six tasks."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from firth.pretrained.shipped import EXAMPLES
from firth.tour import materials
from firth.tour.answering import six_tasks
from firth.tour.context import DRINKS, contexts, likely_sentences
from firth.tour.materials import Materials
from firth.tour.steps import STEPS, Build


@pytest.mark.parametrize("step", [contexts, likely_sentences, six_tasks])
def test_without_torch_the_step_says_what_to_install(
    step: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(materials, "find_spec", lambda name: None)
    made = step(Materials((), tmp_path))
    assert made.values == {"skipped": True}
    assert made.command == "pip install 'firth[elmo]' && firth tour"


def test_the_two_banks_are_told_apart_above_the_layer_of_spelling(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    values = contexts(Materials((), tmp_path)).values
    assert values["other_use"][0] == pytest.approx(1)
    assert all(alike > unlike for alike, unlike in zip(values["same_use"][1:], values["other_use"][1:]))


def test_tea_is_strong_and_a_sentence_goes_on(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    values = likely_sentences(Materials((), tmp_path)).values
    assert values["scores"][DRINKS[0]] > values["scores"][DRINKS[1]]
    assert len(values["generated"].split()) > 5


def test_a_model_of_the_user_s_is_taken_and_may_lack_a_softmax(tmp_path: Path, data: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("h5py")
    luggage = Materials((), tmp_path, str(data / "fixtures" / "elmo" / "allennlp"))
    assert contexts(luggage).values["other_use"][0] == pytest.approx(1)
    assert likely_sentences(luggage).values == {"skipped": True}


def test_the_tour_ends_with_the_six_tasks(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    assert STEPS[-1] is six_tasks
    step = six_tasks(Materials((), tmp_path))
    assert list(step.values) == list(EXAMPLES)
    assert len(EXAMPLES) == 6
    console = Console(width=80, color_system=None)
    with console.capture() as capture:
        console.print(step.picture)
    shown = capture.get()
    assert "[Elon Musk PER] founded [SpaceX ORG] ." in shown
    assert all(f"{name}: " in shown for name in EXAMPLES)
    assert len(shown.splitlines()) < 40
