"""Live curves: of a finished model, and of a log that grows."""

from __future__ import annotations

from pathlib import Path

from tests.explorer.conftest import Tab

from firth.explorer.answers.curves import read_curves
from firth.explorer.models import Models
from firth.explorer.pages.curves import draw_curves, find_stamp, has_curves, list_trainings
from firth.explorer.visit import Visit

VISIT = Visit(Models(), "en", "/curves")


def test_trainings_are_models_that_tell_how_they_were_trained() -> None:
    assert "word2vec-en" in list_trainings(VISIT)
    assert not has_curves("elmo-en")
    assert find_stamp("svd-en") > 0
    assert draw_curves(VISIT, read_curves("task-ner")).count("<svg") > 3
    assert "no points" in draw_curves(VISIT, read_curves("svd-en"))


def test_the_curve_of_a_running_training_grows(tab: Tab, training_folder: Path) -> None:
    log = training_folder / "log.jsonl"
    page = tab.open(f"/curves?model={training_folder}")
    assert page.locator(".shape").first.inner_text() == "2"
    with log.open("a") as file:
        file.write('{"step": 3, "loss": 1.25}\n')
    page.locator(".shape", has_text="1.25").wait_for()
