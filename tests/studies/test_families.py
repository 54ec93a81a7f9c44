"""The study of families: what it finds on a little text, that it goes on where it was, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from firth.errors import FormatError, OptionError
from firth.runtime import Runtime
from firth.studies import family_training
from firth.studies.families import CURVES, SETS, Families

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
    (tmp_path / "tasks.json").write_text(json.dumps({"glove-en": {"ner": [70.5, 0.5]}}))
    again = LITTLE.run(tmp_path, Runtime(1))
    assert again.values["trained"] == found.values["trained"]
    assert again.tables[-1].rows == (("glove-en", "70.50 ± 0.50"),)
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


@pytest.mark.parametrize("text", ["[1]", '{"a": {"ner": 7}}', '{"a": {"ner": ["x", 1]}}', "{"])
def test_a_file_that_holds_no_scores_in_tasks_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    path.write_text(text)
    with pytest.raises(FormatError, match=r"scores\.json: not scores in tasks"):
        replace(LITTLE, tasks=str(path)).task_results(tmp_path)
    with pytest.raises(FormatError, match="not scores in tasks"):
        replace(LITTLE, tasks=str(tmp_path / "nothing.json")).task_results(tmp_path)
    assert LITTLE.task_results(tmp_path) == {}
