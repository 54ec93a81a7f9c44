"""The study of families: what it finds on a little text, that it goes on where it was, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from firth.errors import FormatError, OptionError
from firth.runtime import Runtime
from firth.studies import family_training
from firth.studies.families import CURVES, SETS, Families
from firth.studies.runs import Run, keep

LITTLE = Families(
    models=("svd-en", "word2vec-en"),
    families=("PPMI", "skip-gram"),
    sizes=(50_000, 60_000),
    dim=8,
    contexts=0,
    elmo_minutes=0,
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

    monkeypatch.setattr(family_training, "_apart", never)
    lay_out(tmp_path, {Run("ner", "glove-en", characters=False, stretched=True): 0.705})
    again = LITTLE.run(tmp_path, Runtime(1))
    assert again.values["trained"] == found.values["trained"]
    assert again.tables[-1].rows == (("glove-en", "70.5"),)
    assert "tasks" in again.charts
    with pytest.raises(AssertionError, match="trained again"):
        replace(LITTLE, dim=9).run(tmp_path, Runtime(1))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"sizes": ()}, "at least one"),
        ({"sizes": (0,)}, "at least 1 word"),
        ({"families": ("word2vec",)}, "families has 'word2vec', but must be of PPMI, "),
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


def test_scores_in_tasks_are_those_of_runs_that_differ_in_their_words_alone(tmp_path: Path) -> None:
    spelled = {"characters": False, "stretched": True}
    glove, both = Run("ner", "a/glove-en", **spelled), Run("ner", "b/glove-en", "b/elmo-en", **spelled)
    counted = {
        glove: 0.50,
        replace(glove, seed=2): 0.54,
        replace(glove, setting="sentiment"): 0.40,
        replace(both, static=None): 0.70,
        both: 0.80,
        replace(glove, static="svd-en"): 0.30,
    }
    others: tuple[dict[str, object], ...] = (
        *({"characters": True}, {"share": 0.5}, {"layers": "top"}, {"at": "output"}),
        *({"mix_decay": 1.0}, {"epochs": 3}, {"batch": 4}, {"quick": True}),
    )
    lay_out(tmp_path, counted | {replace(both, seed=9, **options): 0.99 for options in others})  # type: ignore[arg-type]
    found = replace(LITTLE, runs=str(tmp_path)).task_results(tmp_path / "elsewhere")
    assert found == LITTLE.task_results(tmp_path)
    # the mean of 50 and 54 and their deviation, 4/√2; words alone stand first, and tasks as the settings have them
    assert {name: list(scores) for name, scores in found.items()} == {
        "glove-en": ["ner", "sentiment"],
        "svd-en": ["ner"],
        "elmo-en": ["ner"],
        "glove-en + elmo-en": ["ner"],
    }
    assert found["glove-en"]["ner"] == pytest.approx((52, 4 / 2**0.5))
    assert found["elmo-en"]["ner"] == (70, 0)
    assert found["glove-en + elmo-en"]["ner"] == (80, 0)


def test_a_folder_without_such_runs_is_named(tmp_path: Path) -> None:
    assert LITTLE.task_results(tmp_path) == {}
    lay_out(tmp_path, {Run("ner"): 0.5})
    with pytest.raises(OptionError, match="where no training of words without characters is finished"):
        replace(LITTLE, runs=str(tmp_path)).task_results(tmp_path)


@pytest.mark.parametrize("text", ["[1]", '{"run": {}}', '{"test": {"f1": 0.5}}', "{"])
def test_a_file_that_holds_no_result_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "ner-0.json").write_text(text)
    with pytest.raises(FormatError, match=r"ner-0\.json: not .*Delete it"):
        LITTLE.task_results(tmp_path)


def lay_out(work: Path, scores: dict[Run, float]) -> None:
    """Lays out results as trainings leave them."""
    (work / "runs").mkdir(exist_ok=True)
    for run, score in scores.items():
        keep(run, {"run": run.as_dict(), "test": {"f1": score, "precision": 0.0}}, work / "runs")
