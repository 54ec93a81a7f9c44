"""The last step of the tour: the tasks."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from firth.pretrained import shipped
from firth.tour.answering import run_tasks
from firth.tour.materials import Materials


def test_every_task_with_a_pretrained_model_answers_its_question(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    step = run_tasks(Materials((), tmp_path))
    assert list(step.values) == ["ner", "srl", "coref", "qa", "entailment", "sentiment"]
    assert set(step.values) == set(shipped.tasks())
    console = Console(width=80, color_system=None)
    with console.capture() as capture:
        console.print(step.picture)
    shown = capture.get()
    assert "[Elon Musk PER] founded [SpaceX ORG] ." in shown
    assert all(f"{name}: " in shown for name in step.values)
    assert len(shown.splitlines()) < 40
