"""Trainings of tasks: finished ones are loaded, missing ones are trained, in turn or in parallel."""

import json
import subprocess
import sys

import pytest

pytest.importorskip("torch")
from firth.errors import FormatError, OptionError
from firth.runtime import Runtime
from firth.studies.tasks import runs as module
from firth.studies.tasks.runs import TaskRun, append_result, gather, main_score, train_and_evaluate


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


def test_what_a_task_is_used_to_need_not_be_named():
    assert TaskRun("srl", at="input", mix_decay=0.001).without_defaults() == TaskRun("srl")
    assert TaskRun("srl", at="both", mix_decay=1.0).without_defaults() == TaskRun("srl", at="both", mix_decay=1.0)


def test_a_quick_run_tells_scores_epochs_layers_and_time(data):
    result = train_and_evaluate(TaskRun("ner", elmo="elmo-en", quick=True), Runtime(1))
    assert set(result["test"]) >= {"f1", "precision", "recall"}
    assert 0 <= main_score(result) <= 100
    assert len(result["epochs"]) == 4
    assert len(result["items"]) == result["examples"]["test"]
    assert result["versions"]["torch"]
    assert sum(result["layer_shares"]["input"]) == pytest.approx(1)
    assert result["examples"]["test"] >= 12
    assert json.loads(json.dumps(result))["test"] == result["test"]


def test_what_is_finished_is_not_trained_again(tmp_path, monkeypatch, make_result):
    trained = []

    def pretend(run, runtime, report, work):
        trained.append(run)
        return make_result(run, 0.5)

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


class Backwards(Runtime):
    """A cluster of two workers, the last of whose tasks is finished first."""

    @property
    def workers(self):
        return 2

    def scatter(self, function, items, *, shared=None, stage="", in_order=True):
        assert not in_order
        return (function(shared, item) for item in reversed(items))


def test_the_runs_of_a_study_are_tasks_of_a_cluster_and_each_is_written_once(tmp_path, monkeypatch, make_result):
    monkeypatch.setattr(module, "train_and_evaluate", lambda run, *_, **__: make_result(run, run.seed / 10))
    runs = [TaskRun("ner", seed=seed) for seed in (1, 2, 3)]
    done = []
    found = gather(runs, tmp_path, Backwards(1), lambda progress: done.append(progress.done))
    assert {run.seed: main_score(result) for run, result in found.items()} == {1: 10.0, 2: 20.0, 3: 30.0}
    assert done == [0, 1, 2, 3]
    assert len((tmp_path / module.FILE).read_text().splitlines()) == 3
    monkeypatch.setattr(module, "train_and_evaluate", None)  # nothing is trained again
    assert list(gather(runs, tmp_path, Backwards(1))) == runs


def test_a_training_that_fails_says_why(data, tmp_path):
    with pytest.raises(OptionError, match=r"failed: .*nowhere"):
        gather([TaskRun("ner", static="nowhere", quick=True)], tmp_path, Runtime(1), jobs=2)


def test_results_of_several_files_are_read_and_the_last_of_a_run_counts(tmp_path, make_result):
    append_result(TaskRun("ner"), make_result(TaskRun("ner"), 0.25), tmp_path)
    append_result(TaskRun("ner"), make_result(TaskRun("ner"), 0.5), tmp_path)
    (tmp_path / "runs.jsonl").rename(tmp_path / "elsewhere.jsonl")
    append_result(TaskRun("srl"), make_result(TaskRun("srl"), 0.75), tmp_path)
    found = gather([TaskRun("ner"), TaskRun("srl"), TaskRun("qa")], tmp_path, Runtime(1), start=False)
    assert {run.setting: main_score(result) for run, result in found.items()} == {"ner": 50.0, "srl": 75.0}


def test_a_training_that_reached_a_lower_limit_is_trained_again(tmp_path, make_result):
    run = TaskRun("ner")
    capped = make_result(run, 0.5) | {"training": {"patience": 5, "epochs": 3}}
    assert not module.is_finished(run, capped)
    assert module.is_finished(run, capped | {"training": {"patience": 5, "epochs": run.training().epochs}})
    assert module.is_finished(run, make_result(run, 0.5))


def test_small_shares_have_more_patience():
    whole, small, tiny = (TaskRun("srl", share=share).training() for share in (1.0, 0.04, 0.001))
    assert (small.patience, tiny.patience) == (5 * whole.patience, 10 * whole.patience)
    assert tiny.epochs == 10 * whole.epochs


@pytest.mark.parametrize("text", ["[1]", '{"run": {}}', '{"test": {"f1": 0.5}}', "{"])
def test_a_line_that_holds_no_result_is_refused(text, tmp_path):
    (tmp_path / "runs.jsonl").write_text(text + "\n")
    with pytest.raises(FormatError, match=r"runs\.jsonl:1: (is )?not .*Delete the line"):
        gather([TaskRun("ner")], tmp_path, Runtime(1), start=False)


@pytest.mark.parametrize("end", ['{"key": "half', '{"key": "h', ""])
def test_half_a_line_that_a_killed_process_left_is_no_result_and_goes_with_the_next_one(end, tmp_path, make_result):
    for name, score in (("ner", 0.25), ("srl", 0.5)):
        append_result(TaskRun(name), make_result(TaskRun(name), score), tmp_path)
        with open(tmp_path / "runs.jsonl", "a") as file:
            file.write(end)
        found = gather([TaskRun("ner"), TaskRun("srl")], tmp_path, Runtime(1), start=False)
        assert main_score(found[TaskRun(name)]) == 100 * score
    lines = (tmp_path / "runs.jsonl").read_text().splitlines()
    assert len(lines) == (3 if end else 2)


def test_a_last_line_that_is_whole_needs_no_end(tmp_path, make_result):
    append_result(TaskRun("ner"), make_result(TaskRun("ner"), 0.25), tmp_path)
    path = tmp_path / "runs.jsonl"
    path.write_text(path.read_text().rstrip("\n"))
    append_result(TaskRun("srl"), make_result(TaskRun("srl"), 0.5), tmp_path)
    assert len(gather([TaskRun("ner"), TaskRun("srl")], tmp_path, Runtime(1), start=False)) == 2


def test_a_training_has_a_checkpoint_until_its_result_is_written(data, tmp_path):
    run = TaskRun("ner", quick=True)
    result = train_and_evaluate(run, Runtime(1), work=tmp_path)
    folder = tmp_path / "checkpoints" / run.key
    assert any(folder.iterdir())
    again = train_and_evaluate(run, Runtime(1), work=tmp_path)  # as after a kill: nothing is left to train
    assert again["test"] == result["test"]
    assert again["seconds"] < result["seconds"]
    append_result(run, result, tmp_path)
    assert not folder.exists()


WAITING = """
trap 'echo saved > {folder}/{name}; exit 130' INT
echo ready
while :; do sleep 0.05; done
"""


def test_when_the_time_is_over_no_training_starts_and_those_that_run_may_save(tmp_path, monkeypatch):
    started = []

    def start(run, work, runtime):
        script = WAITING.format(folder=tmp_path, name=run.seed)
        process = subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE)
        process.stdout.readline()  # the trap is set
        started.append(process)
        return process

    monkeypatch.setattr(module, "_start", start)
    runs = [TaskRun("ner", seed=seed) for seed in (1, 2, 3)]
    assert gather(runs, tmp_path, Runtime(1), jobs=2, minutes=0.02) == {}
    assert 1 <= len(started) <= 2
    assert [process.returncode for process in started] == [130] * len(started)
    assert (tmp_path / "1").read_text() == "saved\n"
    assert gather(runs, tmp_path, Runtime(1), jobs=2, minutes=0) == {}
    assert len(started) <= 2


def test_the_libraries_of_a_training_beside_others_start_only_its_threads(tmp_path, monkeypatch):
    def start(command, **options):
        ask = "import torch; print(torch.get_num_threads())"
        return Popen([sys.executable, "-c", ask], **options)

    Popen = subprocess.Popen
    monkeypatch.setattr(module.subprocess, "Popen", start)
    run = TaskRun("ner")
    assert module._start(run, tmp_path, Runtime(1)).wait() == 0
    assert (tmp_path / f"{run.key}.log").read_text() == "1\n"


def test_a_training_that_fails_does_not_end_the_others(tmp_path, monkeypatch, make_result):
    def start(run, work, runtime):
        (work / f"{run.key}.log").write_text("no memory\n")
        if run.seed == 1:
            return subprocess.Popen(["false"])
        append_result(run, make_result(run, 0.5), work)
        return subprocess.Popen(["true"])

    monkeypatch.setattr(module, "_start", start)
    runs = [TaskRun("ner", seed=seed) for seed in (1, 2, 3)]
    with pytest.raises(OptionError, match=f"the training {runs[0].key} failed: no memory"):
        gather(runs, tmp_path, Runtime(1), jobs=1, minutes=1)
    assert list(gather(runs, tmp_path, Runtime(1), start=False)) == runs[1:]
    assert [path.name for path in tmp_path.glob("*.log")] == [f"{runs[0].key}.log"]


def test_a_cluster_has_no_limit_of_minutes(tmp_path):
    with pytest.raises(OptionError, match="a cluster has no limit of minutes"):
        gather([TaskRun("ner")], tmp_path, Backwards(1), minutes=1)
