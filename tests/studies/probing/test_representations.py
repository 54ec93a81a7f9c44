"""Representations of a context."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from firth.studies.findings import Findings
from firth.studies.probing.representations import COLUMNS, Representations
from firth.studies.study import Study


def test_layers_combinations_and_bags_are_judged_on_three_tests(
    folder: Path, run_study: Callable[[Study], Findings]
) -> None:
    found = run_study(Representations(elmo=str(folder / "tiny"), static="glove-en"))
    scores = found.values["scores"]
    assert set(scores["biLM layer 2"]) == set(COLUMNS)
    assert scores["WordNet first sense"]["wic"] is None
    assert scores["biLM layer 0"]["passed"] == 0
    assert list(scores)[-2:] == ["biLM neighbor states 2 + glove-en, bag of context", "glove-en, bag of context"]
    assert "WSD, ambiguous, layers: the biLM" in found.about.splitlines()[0]
    assert "WSD, ambiguous, all representations: the biLM" in found.about.splitlines()[0]
    assert "Models: tiny, glove-en." in found.about


def test_without_a_bilm_the_bags_are_judged_alone(run_study: Callable[[Study], Findings]) -> None:
    found = run_study(Representations(elmo="none", static="glove-en"))
    assert list(found.values["scores"])[-1] == "glove-en, bag of context"
