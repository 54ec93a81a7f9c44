"""The script that makes the models of the tasks: its recipes are small and free, and it does what it says."""

from __future__ import annotations

import importlib.util
import itertools
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from firth.pretrained import shipped

pytest.importorskip("torch")

from firth.studies.tasks.settings import DataPart, read_parts
from firth.tasks.coref.task import Coref
from firth.tasks.inputs import Inputs
from firth.tasks.model import open_task
from firth.tasks.sources import Sources

STUDY = Path(__file__).resolve().parents[1] / "scripts" / "task_models.py"
SENTENCES = ("Ann B-PER\nLee I-PER\nleft O\nParis B-LOC\n. O\n\n", "Rain O\nfell O\nin O\nRome B-LOC\n. O\n\n") * 20
LABELS: dict[str, dict[str, Any]] = {
    "ner": {"kinds": ["LOC", "MISC", "ORG", "PER"]},
    "sentiment": {"labels": ["very negative", "negative", "neutral", "positive", "very positive"]},
    "entailment": {"labels": ["entailment", "neutral", "contradiction"]},
    "srl": {"roles": ["V", *(f"ARG{number}" for number in range(59))]},
    "coref": {"genres": []},
    "qa": {},
}


@pytest.fixture(scope="module")
def study() -> Any:
    sys.path.insert(0, str(STUDY.parent))
    found = importlib.util.spec_from_file_location("task_models", STUDY)
    assert found is not None
    assert found.loader is not None
    made = importlib.util.module_from_spec(found)
    sys.modules["task_models"] = made  # dataclasses look their module up
    found.loader.exec_module(made)
    return made


def test_there_is_a_recipe_for_each_task_that_ships(study: Any) -> None:
    assert set(study.RECIPES) == set(shipped.tasks()) == set(LABELS)
    assert all(plan.task.name == name for name, plan in study.RECIPES.items())


def test_networks_are_small(study: Any) -> None:
    sources = Sources.open("glove-en", "elmo-en")
    for name, plan in study.RECIPES.items():
        sizes = Inputs(plan.embedding, sources).sizes
        made = plan.task.network(sizes, LABELS[name])
        assert sum(one.numel() for one in made.parameters()) < 1_300_000


def test_every_file_is_known_with_its_licence_and_is_there(study: Any, data: Path) -> None:
    for plan in study.RECIPES.values():
        for part in (*plan.train, *plan.dev, *plan.test):
            assert study.known_set(part.file) in study.SETS
            if part.file.startswith(study.OWN):
                assert part.read()
                continue
            assert (data / "data" / "tasks" / part.file.split(":")[0]).is_file()
    assert [name for name, (_, licence) in study.SETS.items() if "NC" in licence] == ["entailment/sick"]


def test_a_model_that_learned_from_a_set_for_no_commercial_use_says_so(study: Any) -> None:
    plan = study.RECIPES["entailment"]
    for without, licence in ((), "cc-by-nc-sa-4.0"), (("sick",), "cc-by-sa-4.0"):
        changes = study.Changes(without=without)
        facts = study.facts("entailment", changes.of(plan), {}, changes)
        assert facts["licence"] == licence
        assert any("NC" in one["licence"] for one in facts["data"]) == (not without)
    assert facts["command"].endswith("entailment --without sick")


def test_parts_of_one_file_do_not_overlap(study: Any) -> None:
    for plan in study.RECIPES.values():
        parts = sorted(
            (part.file, part.begin, part.end) for one in ("train", "dev", "test") for part in getattr(plan, one)
        )
        parts = list(dict.fromkeys(parts))  # a part of the training examples may stand there twice
        for (file, _, end), (other, begin, _) in itertools.pairwise(parts):
            assert file != other or end <= begin


def test_a_part_has_the_genres_that_it_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "data" / "tasks" / "coref" / "some.conll"
    file.parent.mkdir(parents=True)
    names = ("GUM_news_one", "GUM_vlog_two", "GUM_news_three")
    file.write_text("".join(f"#begin document ({name})\n0\tHi\t_\n#end document\n" for name in names))
    monkeypatch.setenv("FIRTH_DATA", str(tmp_path))
    found = [read_parts([DataPart("coref/some.conll", genres=genres)], Coref()) for genres in ((), ("news",))]
    assert [[document.name for document in documents] for documents in found] == [list(names), [names[0], names[2]]]


def test_a_model_is_made_written_and_opened(study: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "data" / "tasks" / "ner" / "wikigold.conll"
    file.parent.mkdir(parents=True)
    file.write_text("".join(SENTENCES))
    monkeypatch.setenv("FIRTH_DATA", str(tmp_path))
    plan = replace(study.RECIPES["ner"], quick={"epochs": 4}, outside={})
    monkeypatch.setitem(study.RECIPES, "ner", replace(plan, train=plan.train[:1]))
    study.main(["ner", "--quick", "--out", str(tmp_path / "models"), "--also", f"mine={file}"])
    told = json.loads((tmp_path / "models" / "task-ner.json").read_text())
    assert told["examples"] == {"train": 32, "dev": 4, "test": 4}
    assert {"f1", "PER f1", "LOC f1"} <= set(told["outside"]["mine"])
    assert set(told["here"]) == set(told["trained"]) == {"dev", "test"}
    assert told["bytes"] < 1_200_000
    model = open_task(tmp_path / "models" / "task-ner")
    assert model.metadata["test"] == told["here"]["test"]
    assert (model.embedding.static, model.embedding.elmo) == ("glove-en", "elmo-en")
    assert model.evaluate(model.task.read(file)[32:36]) == pytest.approx(
        {name: value for name, value in told["here"]["test"].items() if " " not in name}, abs=1e-4
    )
    assert "--quick" in (tmp_path / "models" / "task-ner" / "README.md").read_text()
