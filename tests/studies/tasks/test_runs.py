"""Trainings of tasks: finished ones are loaded, missing ones are trained, in turn or in parallel."""

import json

import pytest

pytest.importorskip("torch")
from firth.errors import FormatError, OptionError
from firth.runtime import Runtime
from firth.studies.tasks import runs as module
from firth.studies.tasks.runs import TaskRun, gather, main_score, train_and_evaluate, write_result


def test_a_run_is_known_by_what_it_trains_and_not_by_where_the_models_lie():
    here, there = TaskRun("ner", "a/glove", elmo="b/elmo"), TaskRun("ner", "c/glove", elmo="d/elmo")
    assert here.key == there.key
    keys = {
        TaskRun("ner").key,
        TaskRun("srl").key,
        TaskRun("ner", seed=2).key,
        TaskRun("ner", share=0.5).key,
        TaskRun("ner", quick=True).key,
    }
    assert len(keys | {here.key}) == 6
    assert TaskRun("ner").key == "ner-929997d9d928"  # finished results are found by it


def test_what_a_task_is_used_to_need_not_be_named():
    assert TaskRun("srl", at="input", mix_decay=0.001).without_defaults() == TaskRun("srl")
    assert TaskRun("srl", at="both", mix_decay=1.0).without_defaults() == TaskRun("srl", at="both", mix_decay=1.0)


def test_a_quick_run_tells_scores_epochs_layers_and_time(data):
    result = train_and_evaluate(TaskRun("ner", elmo="elmo-en", quick=True), Runtime(1))
    assert set(result["test"]) >= {"f1", "precision", "recall"}
    assert 0 <= main_score(result) <= 100
    assert len(result["epochs"]) == 4
    assert sum(result["layer_shares"]["input"]) == pytest.approx(1)
    assert result["examples"]["test"] >= 12
    assert json.loads(json.dumps(result))["test"] == result["test"]


def test_what_is_finished_is_not_trained_again(tmp_path, monkeypatch):
    trained = []

    def pretend(run, runtime, report):
        trained.append(run)
        return {"run": run.as_dict(), "test": {"f1": 0.5}}

    monkeypatch.setattr(module, "train_and_evaluate", pretend)
    runs = [TaskRun("ner", seed=seed) for seed in (1, 2)]
    assert gather(runs, tmp_path, Runtime(1), start=False) == {}
    assert list(gather(runs[:1], tmp_path, Runtime(1))) == runs[:1]
    assert list(gather(runs, tmp_path, Runtime(1))) == runs
    assert trained == runs


def test_processes_side_by_side_give_what_one_gives(data, tmp_path):
    runs = [TaskRun("ner", seed=seed, quick=True) for seed in (1, 2)]
    found = gather(runs, tmp_path, Runtime(1), jobs=2)
    alone = train_and_evaluate(runs[1], Runtime(1))
    assert list(found) == runs
    assert found[runs[1]]["test"] == alone["test"]
    assert [line["loss"] for line in found[runs[1]]["epochs"]] == [line["loss"] for line in alone["epochs"]]


def test_a_training_that_fails_says_why(data, tmp_path):
    with pytest.raises(OptionError, match=r"failed: .*nowhere"):
        gather([TaskRun("ner", static="nowhere", quick=True)], tmp_path, Runtime(1), jobs=2)


def test_a_result_is_found_under_the_name_of_its_run(tmp_path):
    (tmp_path / "runs").mkdir()
    write_result(TaskRun("ner"), {"run": TaskRun("ner").as_dict(), "test": {"f1": 0.25}}, tmp_path / "runs")
    found = gather([TaskRun("ner"), TaskRun("srl")], tmp_path, Runtime(1), start=False)
    assert {run.setting: main_score(result) for run, result in found.items()} == {"ner": 25.0}


@pytest.mark.parametrize("text", ["[1]", '{"run": {}}', '{"test": {"f1": 0.5}}', "{"])
def test_a_file_that_holds_no_result_is_refused(text, tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / f"{TaskRun('ner').key}.json").write_text(text)
    with pytest.raises(FormatError, match=r"\.json: not .*Delete it"):
        gather([TaskRun("ner")], tmp_path, Runtime(1), start=False)
