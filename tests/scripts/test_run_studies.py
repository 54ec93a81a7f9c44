"""scripts/run_studies.py: stages of trainings in several sittings, their pages, and the check of convergence."""

from __future__ import annotations

import json
import lzma
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
from firth.formats.registry import save
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.studies.tasks import runs

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def script(load_script: Callable[[str], Any]) -> Any:
    return load_script("scripts/run_studies.py")


def pretend(run: runs.TaskRun, *_: Any, **__: Any) -> dict[str, Any]:
    """The result of a training that was not done; patience ended it."""
    epochs = [{"epoch": number, "dev": {"f1": score}} for number, score in enumerate((0.4, 0.5, 0.3), 1)]
    return {
        "run": run.as_dict(),
        "test": {"f1": 0.5},
        "dev": {"f1": 0.5},
        "epochs": epochs,
        "training": {"patience": 1, "epochs": 200},
        "items": [0.5, 0.5],
        "layer_shares": {"input": [0.2, 0.5, 0.3]} if run.elmo else {},
        "words_per_second": 1000.0,
        "bilm_share": 0.25,
        "seconds": 36.0,
        "parameters": 10,
        "device": "cpu",
    }


def test_the_stages_have_five_and_three_seeds_and_every_row(script: Any) -> None:
    stages = script.make_stages("elmo-en", "glove-en", quick=False)
    counts = {name: len(set(stage.study.runs())) for name, stage in stages.items()}
    assert counts["small"] == 6 * 4 * 5
    assert counts["questions"] == 4 * 5
    assert counts["persian"] == 2 * 3 * 5
    assert {run.seed for run in stages["layers"].study.runs()} == {1, 2, 3}
    assert {run.setting for run in stages["layers"].study.runs()} >= {"qa-fifth", "srl"}
    assert {run.seed for run in stages["samples"].study.runs()} == {1, 2, 3}


def test_a_sitting_writes_pages_and_the_check_fails_until_all_converged(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(runs, "train_and_evaluate", pretend)
    tiny, work, out = tmp_path / "tiny", tmp_path / "work", tmp_path / "out"
    save(BiLM(Architecture.named("tiny"), seed=1), tiny)

    def sit(*more: str) -> dict[str, Any]:
        given = ["--work", str(work), "--out", str(out), "--elmo", str(tiny), "--stages", "persian", "layers", *more]
        monkeypatch.setattr(sys, "argv", ["run_studies.py", *given])
        try:
            script.main()
        finally:
            printed = capsys.readouterr().out
        counts: dict[str, Any] = json.loads(printed)
        return counts

    with pytest.raises(SystemExit, match="not all trainings are finished"):
        sit("--check")
    counts = sit("--quick")
    assert counts["persian"] == {"trainings": 6, "finished": 6, script.CAPPED: [], script.MISSING: []}
    assert counts["layers"]["finished"] == counts["layers"]["trainings"] > 20
    assert "Small networks" in (out / "layers" / "layers.md").read_text(encoding="utf-8")
    assert (out / "table1-fa" / "table1.json").is_file()
    assert sit("--quick", "--check") == counts
    result = pretend(script.make_stages(str(tiny), "glove-en", quick=True)["persian"].study.runs()[0])
    result["training"] = {"patience": 5, "epochs": 3}
    [run] = script.make_stages(str(tiny), "glove-en", quick=True)["persian"].study.runs()[:1]
    runs.append_result(run, result, work)
    with pytest.raises(SystemExit, match="not all trainings are finished and ended by patience"):
        sit("--quick", "--check")


def test_tasks_choose_the_trainings_of_the_stages(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(runs, "train_and_evaluate", pretend)
    given = ["--work", str(tmp_path), "--stages", "persian", "layers", "samples", "--tasks", "farstail", "sentiment"]
    monkeypatch.setattr(sys, "argv", ["run_studies.py", "--quick", "--again", *given])
    script.main()
    counts = json.loads(capsys.readouterr().out)
    assert counts.keys() == {"persian", "layers"}  # samples has neither task
    found = {result["run"]["setting"] for result in runs.read_results(tmp_path).values()}
    assert found >= {"farstail", "sentiment"}
    assert "parstwiner" not in found
    assert counts["persian"]["finished"] == counts["persian"]["trainings"] == 3


def test_finished_trainings_of_the_repository_are_not_repeated_unless_asked(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    finished, done = (
        tmp_path / "finished",
        script.make_stages("elmo-en", "glove-en", quick=False)["persian"].study.runs()[0],
    )
    runs.append_result(done, pretend(done), tmp_path)
    finished.mkdir()
    (finished / "some.jsonl.xz").write_bytes(lzma.compress((tmp_path / runs.FILE).read_bytes()))
    monkeypatch.setattr(script, "FINISHED", finished)

    def count(*more: str) -> int:
        work = str(tmp_path / f"work{len(more)}")
        monkeypatch.setattr(sys, "argv", ["run_studies.py", "--work", work, "--stages", "persian", "--check", *more])
        with pytest.raises(SystemExit):
            script.main()
        return int(json.loads(capsys.readouterr().out)["persian"]["finished"])

    assert (count(), count("--again")) == (1, 0)


def test_the_trainings_of_the_repository_are_those_of_its_pages(script: Any, tmp_path: Path) -> None:
    script.copy_finished(script.FINISHED, tmp_path)
    found = runs.read_results(tmp_path)
    pages = [ROOT / "studies" / "results" / name / "table1.json" for name in ("table1", "table1-fa")]
    results = [result for page in pages for result in json.loads(page.read_text(encoding="utf-8"))["runs"]]
    scores = {runs.TaskRun.from_dict(result["run"]).key: result["test"] for result in results}
    assert scores == {key: result["test"] for key, result in found.items()}
    assert all(map(runs.is_converged, found.values()))


def make_persian_data(folder: Path) -> None:
    """A data folder with a few examples of the Persian tasks."""
    tasks = folder / "data" / "tasks"
    for part in ("train", "dev", "test"):
        path = tasks / "ner" / f"parstwiner-fa-{part}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("تهران\tB-LOC\nزیبا\tO\n\nسلام\tO\n\n", encoding="utf-8")
    for part in ("train", "val", "test"):
        path = tasks / "entailment" / f"farstail-fa-{part}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("premise\thypothesis\tlabel\nباران بارید\tهوا بارانی بود\te\n", encoding="utf-8")


def test_a_bundle_has_all_that_a_stage_needs_and_a_check_names_what_is_missing(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_persian_data(tmp_path)
    monkeypatch.setenv("FIRTH_DATA", str(tmp_path))
    work, bundle = tmp_path / "work", tmp_path / "bundle"
    monkeypatch.setattr(script, "FINISHED", tmp_path / "none")
    stage = script.make_stages("elmo-en", "glove-en", quick=False)["persian"].study
    done, other = stage.runs()[0], script.make_stages("elmo-en", "glove-en", quick=False)["layers"].study.runs()[0]
    work.mkdir()
    for run in (done, other):
        runs.append_result(run, pretend(run), work)

    def call(*given: str) -> None:
        monkeypatch.setattr(sys, "argv", ["run_studies.py", "--work", str(work), "--stages", "persian", *given])
        script.main()

    largest = script.LARGEST
    monkeypatch.setattr(script, "LARGEST", 1 << 20)
    with pytest.raises(SystemExit, match="Bundle fewer stages"):
        call("--bundle", str(bundle))
    monkeypatch.setattr(script, "LARGEST", largest)
    call("--bundle", str(bundle))
    assert " MiB" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="exists already"):
        call("--bundle", str(bundle))
    pretrained = bundle / "src" / "firth" / "pretrained"
    assert sorted(path.name for path in pretrained.iterdir() if path.is_dir()) == ["elmo-fa", "fasttext-fa"]
    lines = (bundle / "work" / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["key"] for line in lines] == [done.key]  # not that of another stage

    (bundle / "data" / "tasks" / "ner" / "parstwiner-fa-dev.txt").unlink()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("FIRTH", "PYTHONPATH"))}
    command = ". ./settings && python scripts/run_studies.py --work work --stages persian --check"
    command = command.replace("python", sys.executable, 1)
    checked = subprocess.run(["sh", "-c", command], cwd=bundle, env=environment, capture_output=True, text=True)
    assert "not all trainings are finished" in checked.stderr
    counts = json.loads(checked.stdout)["persian"]
    assert counts["finished"] == 1
    [missing] = counts[script.MISSING]
    assert "parstwiner-fa-dev.txt" in missing


def test_the_words_of_a_bundle_are_those_of_the_examples(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_persian_data(tmp_path)
    monkeypatch.setenv("FIRTH_DATA", str(tmp_path))
    words = script.read_words(script.make_stages("elmo-en", "glove-en", quick=False)["persian"].study)
    assert {"تهران", "زیبا", "سلام", "باران", "بود"} <= words


def test_a_package_that_is_missing_is_named(script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_persian_data(tmp_path)
    monkeypatch.setenv("FIRTH_DATA", str(tmp_path))
    monkeypatch.setattr(script, "PACKAGES", ("torch", "no_such_package"))
    study = script.make_stages("elmo-en", "glove-en", quick=False)["persian"].study
    assert script.find_missing(study, tmp_path) == ["package no_such_package"]
