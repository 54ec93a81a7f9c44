"""The study of families: what it finds on a little text, that it goes on where it was, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from firth.errors import OptionError
from firth.runtime import Runtime
from firth.studies.families import training as family_training
from firth.studies.families.study import CURVES, SETS, Families, group_by_embedding
from firth.studies.tasks.runs import TaskRun, append_result

LITTLE = Families(
    models=("svd-en", "word2vec-en"),
    families=("PPMI", "skip-gram"),
    sizes=(50_000, 60_000),
    dim=8,
    contexts=0,
    elmo_minutes=0,
    tasks=(),
)


def test_a_little_study_has_its_tables_and_charts_and_goes_on_where_it_was(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = LITTLE.run(tmp_path, Runtime(1))
    assert set(found.charts) == {"intrinsic", "time", "memory", *CURVES}
    for model in found.values["finished"]["models"]:
        assert [model["same"][name]["used"] for name in SETS] == [
            found.values["finished"]["models"][0]["same"][name]["used"] for name in SETS
        ]
    for one in found.values["trained"]:
        assert one["training"]["cpu"] > 0
        assert one["megabytes"] > one["megabytes_before"] > 50
        assert all(one["same"][name]["used"] == one["same"][name]["total"] > 0 for name in CURVES)
        assert all(one["whole"][name]["used"] >= one["same"][name]["used"] for name in CURVES)
    vocabularies = {one["words"]: one["vocabulary"] for one in found.values["trained"]}
    assert vocabularies[60_000] > vocabularies[50_000]
    files = {path.name for path in found.write(tmp_path / "out")}
    assert {"families.md", "families.json", "families-time.svg", "families-google.png"} <= files

    def never(job: object) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr(family_training, "_run_in_process", never)
    told = replace(LITTLE, tasks=("ner",), seeds=1)
    lay_out(tmp_path, dict.fromkeys(told.task_runs(), 0.705))
    again = told.run(tmp_path, Runtime(1))
    assert again.values["trained"] == found.values["trained"]
    assert again.tables[-1].rows == (("svd-en", "70.5"), ("word2vec-en", "70.5"))
    assert "tasks" in again.charts
    with pytest.raises(AssertionError, match="trained again"):
        replace(LITTLE, dim=9).run(tmp_path, Runtime(1))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"sizes": ()}, "at least one"),
        ({"sizes": (0,)}, "at least 1 word"),
        ({"families": ("word2vec",)}, "families has 'word2vec', but must be of PPMI, "),
        ({"tasks": ("nre",)}, "tasks has 'nre', but must be of qa, "),
        ({"elmo_presets": ("huge",)}, "elmo_presets has 'huge', but must be of tiny, "),
        ({"training_threads": 0}, "training_threads is 0, but must be at least 1"),
    ],
)
def test_options_that_cannot_be_are_named(options: dict[str, object], problem: str) -> None:
    with pytest.raises(OptionError, match=problem):
        Families.from_dict(options)


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"models: svd-eng is neither a file nor a folder\. Did you mean 'svd-en'"):
        replace(LITTLE, models=("svd-eng",)).run(tmp_path, Runtime(1))


def test_every_model_is_trained_alone_and_a_bilm_also_beside_the_last_word_vectors() -> None:
    study = Families(models=("svd-en", "glove-en", "elmo-en"), tasks=("ner",), seeds=1)
    assert [(run.static, run.elmo) for run in study.task_runs()] == [
        ("svd-en", None),
        ("glove-en", None),
        (None, "elmo-en"),
        ("glove-en", "elmo-en"),
    ]
    assert [run.stretched for run in study.task_runs()] == [True, True, False, True]
    assert not any(run.characters for run in study.task_runs())
    assert len(replace(study, seeds=3, tasks=("ner", "srl")).task_runs()) == 24


def test_scores_in_tasks_are_means_over_seeds() -> None:
    study = Families(models=("glove-en", "elmo-en"), tasks=("ner",), seeds=2)
    scores = {("glove-en", None): (0.50, 0.54), (None, "elmo-en"): (0.70, 0.70), ("glove-en", "elmo-en"): (0.80, 0.80)}
    results = {run: {"test": {"f1": scores[run.static, run.elmo][run.seed - 1]}} for run in study.task_runs()}
    found = group_by_embedding(results)
    assert list(found) == ["glove-en", "elmo-en", "glove-en + elmo-en"]
    assert found["glove-en"]["ner"] == pytest.approx((52, 4 / 2**0.5))
    assert found["elmo-en"]["ner"] == pytest.approx((70, 0))


def lay_out(work: Path, scores: dict[TaskRun, float]) -> None:
    """Lays out results as trainings leave them."""
    for run, score in scores.items():
        epochs = [{"dev": {"f1": score}}] * 3
        result = {"run": run.as_dict(), "test": {"f1": score}, "epochs": epochs, "training": {"patience": 2}}
        append_result(run, result, work)
