"""Trainings in processes of their own: jobs travel whole, memory is the child's own, failures are named."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from firth.errors import FirthError
from firth.models.word2vec import Word2Vec
from firth.options import Recipe
from firth.studies.families import training as family_training
from firth.studies.families.training import ELMO, FAMILIES, WARM_UP, Job, make_job, measure, measure_fastest

LITTLE = Word2Vec(dim=4, min_count=1, epochs=1)


@pytest.mark.parametrize("recipe", [*FAMILIES.values(), replace(ELMO, filters=(1, 8))])
def test_a_job_is_the_same_behind_json(recipe: Recipe, tmp_path: Path) -> None:
    job = Job("one", recipe, tmp_path, 10, ("google",), "asked", 2, 3)
    assert make_job(json.loads(json.dumps(job.as_dict() | {"folder": str(tmp_path)}))) == job


def test_families_see_the_same_words_through_the_same_window() -> None:
    options = [recipe.as_dict() for recipe in FAMILIES.values()]
    assert {one["window"] for one in options} == {5}
    assert {one["min_count"] for one in options} == {5}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process starts without the memory of its parent")
def test_a_process_is_not_charged_for_the_memory_of_its_parent(tmp_path: Path) -> None:
    (tmp_path / "text-30.txt").write_text(WARM_UP)
    held = np.ones(60_000_000)  # 480 MB
    found = measure(Job("skip-gram", LITTLE, tmp_path, 30))
    assert held[-1] == 1
    assert found["megabytes_before"] <= found["megabytes"] < 400
    assert found["tokens"] == len(WARM_UP.split())


def test_a_process_that_fails_says_of_what(tmp_path: Path) -> None:
    with pytest.raises(FirthError, match=r"training skip-gram on 30 words failed: .*text-30\.txt: no such file"):
        measure(Job("skip-gram", LITTLE, tmp_path, 30))
    assert not list(tmp_path.iterdir())


def test_of_several_turns_the_fastest_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = {1: 3.0, 2: 1.0, 3: 2.0}
    monkeypatch.setattr(
        family_training,
        "_run_in_process",
        lambda job: {"reading": {"cpu": 0.5}, "training": {"cpu": seconds[job.turn]}, "turn": job.turn},
    )
    found = measure_fastest(Job("skip-gram", LITTLE, tmp_path, 30), 3)
    assert found["turn"] == 2
    assert found["cpu_of_turns"] == [3.5, 1.5, 2.5]
