"""The models of the six tasks that come with firth: small, opened by name, and right on the sentences of the tour."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from firth.cli.main import main
from firth.pretrained import shipped

pytest.importorskip("torch")

from firth.tasks.model import TaskModel, open_task
from firth.tasks.registry import find_task
from firth.tasks.sources import Sources

MOST_TOGETHER, MOST_ONE = 6_000_000, 1_100_000
TASKS = shipped.tasks()
LOST = 0.01  # of a score, by rounding


@cache
def sources() -> Sources:
    return Sources.open("glove-en", "elmo-en")


@cache
def model(name: str) -> TaskModel:
    return open_task(name, sources=sources())


def said(name: str, *texts: str) -> Any:
    [told] = model(name).ask(*(texts or find_task(name).sample))
    return told


def answered(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    main([*arguments, "--json"])
    return json.loads(capsys.readouterr().out)


def test_there_is_one_for_each_task_and_together_they_are_small() -> None:
    names = [name for name in shipped.available() if name.startswith(shipped.TASK)]
    assert sorted(names) == sorted(f"task-{task}" for task in TASKS)
    assert sum(map(shipped.size, names)) < MOST_TOGETHER
    assert max(map(shipped.size, names)) < MOST_ONE


@pytest.mark.parametrize("task", TASKS)
def test_the_folder_holds_a_task_on_models_that_ship(task: str) -> None:
    folder = shipped.place(f"task-{task}")
    assert {file.name for file in folder.iterdir()} == {"README.md", "config.json", "model.safetensors"}
    config = json.loads((folder / "config.json").read_text())["config"]
    assert config["task"] == task
    assert (config["embedding"]["static"], config["embedding"]["elmo"]) == ("glove-en", "elmo-en")
    assert shipped.kind(f"task-{task}") == f"task: {task}"


@pytest.mark.parametrize("task", TASKS)
def test_rounding_to_bytes_cost_next_to_nothing(task: str) -> None:
    told = model(task).metadata
    for part in ("dev", "test"):
        measure, value = next(iter(told[part].items()))
        assert value > told["trained"][part][measure] - LOST


@pytest.mark.parametrize("task", TASKS)
def test_the_card_tells_use_scores_data_licence_and_the_command(task: str, capsys: pytest.CaptureFixture[str]) -> None:
    page = answered(capsys, "card", f"task-{task}")["card"]
    for title in ("## Use", "## How good it is", "## Data", "## Network", "## Training", "## Licence"):
        assert title in page
    assert f"python scripts/task_models.py {task}" in page
    assert "license: cc-by-sa-4.0" in page
    assert "CC BY-NC" not in page
    assert find_task(task).sample[0] in page
    main(["card", f"task-{task}"])
    assert "Make it again" in capsys.readouterr().out


@pytest.mark.parametrize("task", TASKS)
def test_the_page_of_shipped_models_tells_the_score_that_the_model_has(task: str) -> None:
    page = (Path(__file__).resolve().parents[1] / "docs" / "pretrained.md").read_text(encoding="utf-8")
    [row] = [line for line in page.splitlines() if line.startswith(f"| `task-{task}` | ") and line.count("|") == 5]
    measure, value = next(iter(model(task).metadata["test"].items()))
    assert row.endswith(f"| {100 * value:.1f} {measure} |")


def test_names_are_found() -> None:
    told = [(one["text"], one["label"]) for one in said("ner")["entities"]]
    assert told == [("Elon Musk", "PER"), ("SpaceX", "ORG")]


def test_who_broke_what_is_found() -> None:
    [frame] = said("srl")["frames"]
    roles = {one["label"]: one["text"] for one in frame["roles"]}
    assert frame["predicate"] == "broke"
    assert (roles["ARG0"], roles["ARG1"]) == ("John", "the vase")


def test_she_is_mary() -> None:
    assert ["Mary", "She"] in said("coref")["clusters"]


def test_the_cat_sat_on_the_mat() -> None:
    answer = said("qa")["answer"]
    assert "the mat" in answer
    assert "cat" not in answer


def test_what_all_birds_can_penguins_can() -> None:
    assert said("entailment")["label"] != "contradiction"


def test_what_cannot_be_true_too_contradicts_more_than_what_must_be() -> None:
    premise = "Two dogs run in the park."
    against, with_it = (said("entailment", premise, text)["labels"] for text in ("The dogs sleep.", "Two animals run."))
    assert against["contradiction"] > with_it["contradiction"]
    assert against["entailment"] < with_it["entailment"]


def test_a_fantastic_movie_is_good_and_a_boring_one_bad() -> None:
    assert said("sentiment")["label"] in ("positive", "very positive")
    assert said("sentiment", "A boring, awful mess.")["label"] in ("negative", "very negative")


def test_a_command_in_a_bare_folder_answers(tmp_path: Path) -> None:
    (tmp_path / "ner").mkdir()  # holds no model, and so does not stand in the way
    code = "import sys; from firth.cli.main import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "predict", "ner", *find_task("ner").sample]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout == "[Elon Musk PER] founded [SpaceX ORG] .\n"


def test_a_folder_with_a_model_comes_before_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ner").symlink_to(shipped.place("task-sentiment"))
    [told] = answered(capsys, "predict", "ner", "The movie was fantastic!")
    assert "label" in told


def test_so_does_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ner").write_bytes(b"not a model")
    with pytest.raises(SystemExit):
        main(["predict", "ner", "Elon Musk founded SpaceX."])
    assert capsys.readouterr().err.startswith("firth: ner: ")


def test_a_test_tells_kinds_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one.conll").write_text("Elon B-PER\nMusk I-PER\nfounded O\nSpaceX B-ORG\n. O\n")
    found = answered(capsys, "test", "ner", str(tmp_path / "one.conll"))
    assert found["scores"]["f1"] == 1.0
    assert found["by_kind"]["PER"] == {"f1": 1.0, "precision": 1.0, "recall": 1.0, "true": 1, "found": 1}
    main(["test", "task-ner", str(tmp_path / "one.conll")])
    shown = capsys.readouterr().out
    assert "ORG" in shown
    assert "accuracy" in shown


def test_a_task_without_a_model_says_how_to_learn_one(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["predict", "seq2seq", "a b"])
    assert "firth task seq2seq --train" in capsys.readouterr().err
