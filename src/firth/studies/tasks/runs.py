"""Many trainings of tasks; finished ones are loaded from disk and not repeated.

A `TaskRun` describes a training. `gather` runs the missing ones, optionally several at a time in processes, and
returns all results. A finished training appends a line of JSON to `runs.jsonl` in the work folder. Every file there
that ends in `.jsonl`, packed or not (`.jsonl.xz`), is read, so the results of several computers are combined by copying
files.

A training keeps a checkpoint in the work folder until its result is written. One that was killed, or stopped because
the time was over, continues from there.

Patience on the dev set ends a training. One that reached the limit of its epochs first may still have improved: it is
not converged, and is trained again when the limit of the settings is higher.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree
from typing import Any

from firth.errors import FirthError, FormatError, OptionError
from firth.files import name_in_errors, parse_json, read_bytes, read_lines
from firth.locks import wait_for_lock
from firth.options import Recipe, option
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime, thread_variables
from firth.studies.findings import find_commit, versions
from firth.studies.tasks.settings import MOST_EPOCHS, SETTINGS
from firth.tasks.inputs import Embedding
from firth.tasks.registry import find_task
from firth.tasks.training import Training, apply_defaults, fit

Result = dict[str, Any]
FILE = "runs.jsonl"  # in the work folder, where trainings append their results
FILES = "*.jsonl", "*.jsonl.xz"  # there, which are read
CURE = "Delete the line to repeat the training, or copy the file again"
NOT_IN_KEY = "epochs", "cache", "log_every", "save_every"  # options of the training that do not change a step
STRETCH = 10  # a small share of the examples gets up to this many times the patience
WAIT = 0.2  # seconds between polls of running processes
STOP_SECONDS = 60.0  # that a training has to save its state when the time is over
MOST_FAILURES = 3  # trainings may fail before no more are started


@dataclass(frozen=True)
class TaskRun(Recipe):
    """One training of a task with the options of `SETTINGS`, except for those given here.

    >>> TaskRun("ner", "glove-en", elmo="models/large").key == TaskRun("ner", "glove-en", elmo="elsewhere/large").key
    True
    """

    setting: str = option("ner", "Name of the task in the settings.")
    static: str | None = option("glove-en", "Word vectors.")
    elmo: str | None = option(None, "A biLM.")
    stretched: bool = option(False, "Scale the word vectors to a mean square of 1.")
    characters: bool = option(True, "Add a character encoder, if the task has one.")
    layers: str = option("mix", "Layers of the biLM: a learned 'mix', the 'top' layer, or the number of a layer.")
    at: str | None = option(None, "Where ELMo is added to the network; default: that of the task.")
    mix_decay: float | None = option(None, "Regularization λ of the mix; default: that of the task.")
    share: float = option(1.0, "Share of the training examples, from 0 to 1.", minimum=0, maximum=1)
    epochs: int | None = option(None, "Number of epochs without early stopping; default: that of the settings.")
    batch: int | None = option(None, "Examples per step; default: that of the settings.")
    seed: int = option(1, "Seed of the random numbers.")
    quick: bool = option(False, "Train a small network on few examples.")

    def without_defaults(self) -> TaskRun:
        """The same run with `at` and `mix_decay` unset where they equal the defaults of the task."""
        setting = SETTINGS[self.setting]
        default = Embedding(**apply_defaults(find_task(setting.task), Embedding, dict(setting.words)))
        at = None if self.at == default.at else self.at
        mix_decay = None if self.mix_decay == default.mix_decay else self.mix_decay
        return replace(self, at=at, mix_decay=mix_decay)

    @property
    def key(self) -> str:
        """A unique name of the run and of its settings; of the models it contains the names, not the folders."""
        options = self.as_dict()
        for name in ("static", "elmo"):
            options[name] = options[name] and "+".join(Path(one).name for one in options[name].split("+"))
        training = {name: value for name, value in self.training().as_dict().items() if name not in NOT_IN_KEY}
        options["settings"] = SETTINGS[self.setting].as_dict() | {"training": training}
        digest = hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()[:12]
        return f"{self.setting}-{digest}"

    def embedding(self) -> Embedding:
        """The embedding of the words."""
        setting = SETTINGS[self.setting]
        given: dict[str, Any] = dict(setting.words) | {"stretched": self.stretched}
        if self.layers != "mix":
            given["layers"] = self.layers if self.layers == "top" else int(self.layers)
        given |= {name: value for name, value in (("at", self.at), ("mix_decay", self.mix_decay)) if value is not None}
        given = apply_defaults(find_task(setting.task), Embedding, given)
        if not self.characters:
            given["characters"] = 0
        elif self.quick:
            given["characters"] = min(8, given.get("characters", 0))
        return Embedding.of("+".join(name for name in (self.static, self.elmo) if name), **given)

    def training(self) -> Training:
        """The options of the training."""
        setting = SETTINGS[self.setting]
        given = {"epochs": MOST_EPOCHS} | dict(setting.training) | {"seed": self.seed, "share": self.share}
        if self.share < 1:
            stretch = min(STRETCH, round(max(self.share, 1e-9) ** -0.5))
            given |= {"epochs": stretch * given["epochs"], "patience": stretch * given["patience"]}
        if self.epochs is not None:
            given |= {"epochs": self.epochs, "patience": None}
        if self.batch is not None:
            given["batch"] = self.batch
        if self.quick:
            given |= {"epochs": 4, "batch": 8, "patience": None}
        return Training(**apply_defaults(find_task(setting.task), Training, given))


def train_and_evaluate(run: TaskRun, runtime: Runtime, report: Report = silent, work: Path | None = None) -> Result:
    """Trains and tests a model: its scores, all epochs, the weights of the layers, and the time.

    Models in the folder `work` are found by their names, and the training keeps its checkpoint there. `items` has the
    main measure of each test example.
    """
    setting = SETTINGS[run.setting]
    task = find_task(setting.task)(**(dict(setting.network) | (dict(setting.quick) if run.quick else {})))
    train, dev, test = (setting.examples(task, which, run.quick) for which in ("train", "dev", "test"))
    began = time.monotonic()
    embedding = (run if work is None else find_models(run, work)).embedding()
    checkpoint = None if work is None else work / "checkpoints" / run.key
    model = fit(task, embedding, train, dev, run.training(), runtime=runtime, report=report, checkpoint=checkpoint)
    seconds = time.monotonic() - began
    answers = model.to(runtime.place).predict(test, report=report)
    items = [next(iter(task.score([one], [answer]).values())) for one, answer in zip(test, answers)]
    metadata = model.metadata
    return {
        "run": run.as_dict(),
        "network": task.as_dict(),
        "embedding": model.embedding.as_dict() | {"static": run.static, "elmo": run.elmo},
        "fingerprints": model.inputs.sources.fingerprints(),
        "training": metadata["training"],
        "parameters": model.learnt_numbers,
        "examples": metadata["examples"] | {"test": len(test)},
        "dev": metadata["dev"],
        "test": task.score(test, answers),
        "items": [round(item, 3) for item in items],
        "epochs": metadata["epochs"],
        "layer_shares": metadata["layer_shares"],
        "words_per_second": metadata["words_per_second"],
        "bilm_share": metadata["bilm_share"],
        "seconds": round(seconds, 1),
        "device": runtime.device,
        "versions": versions(),
        "commit": find_commit(),
    }


def find_models(run: TaskRun, folder: Path) -> TaskRun:
    """The run with the paths of the models that lie in a folder under their names."""

    def find(name: str | None) -> str | None:
        return str(folder / name) if name and (folder / name).is_dir() else name

    return replace(run, static=find(run.static), elmo=find(run.elmo))


def best_epoch(result: Mapping[str, Any]) -> int:
    """The epoch with the best dev score, from 1; the first of equal ones.

    >>> best_epoch({"epochs": [{"dev": {"f1": 0.5}}, {"dev": {"f1": 0.7}}, {"dev": {"f1": 0.7}}]})
    2
    """
    scores = [main_score(epoch, "dev") for epoch in result["epochs"]]
    return scores.index(max(scores)) + 1


def is_converged(result: Mapping[str, Any]) -> bool:
    """Whether patience ended the training, and not the limit of its epochs. Without patience nothing is known.

    >>> epochs = [{"dev": {"f1": score}} for score in (0.5, 0.7, 0.6, 0.6)]
    >>> [is_converged({"epochs": epochs, "training": {"patience": patience}}) for patience in (2, 3, None)]
    [True, False, True]
    """
    patience = result["training"]["patience"]
    return patience is None or len(result["epochs"]) - best_epoch(result) >= patience


def main_score(result: Mapping[str, Any], which: str = "test") -> float:
    """The main measure, which is the first one of a test or dev set, in percent.

    >>> main_score({"test": {"f1": 0.75, "precision": 0.5}})
    75.0
    """
    return 100 * float(next(iter(result[which].values())))


def gather(
    runs: Sequence[TaskRun],
    work: Path,
    runtime: Runtime,
    report: Report = silent,
    *,
    jobs: int = 1,
    start: bool = True,
    minutes: float | None = None,
) -> dict[TaskRun, Result]:
    """The results of all runs in order, loaded from `work` or trained now, `jobs` at a time.

    Without `start` nothing is trained, and unfinished runs are left out. After `minutes`, no run is started, and those
    that train are stopped; the next call continues them.
    """
    if minutes is not None and runtime.workers:
        raise OptionError("a cluster has no limit of minutes. Leave out minutes, or the cluster")
    work.mkdir(parents=True, exist_ok=True)
    found = read_results(work)
    missing = [run for run in dict.fromkeys(runs) if not is_finished(run, found.get(run.key))]
    if start and missing:
        if runtime.workers:
            _train_on_cluster(missing, work, runtime, report)
        elif jobs == 1 and minutes is None:
            _train_in_turn(missing, work, runtime, report)
        else:
            divided = replace(runtime, threads=max(1, runtime.threads // jobs))
            _train_in_parallel(missing, work, divided, report, jobs, minutes)
        found = read_results(work)
    return {run: found[run.key] for run in runs if run.key in found}


def is_finished(run: TaskRun, result: Result | None) -> bool:
    """Whether there is a result that more epochs would not change."""
    return result is not None and (is_converged(result) or result["training"]["epochs"] >= run.training().epochs)


def read_results(work: Path) -> dict[str, Result]:
    """The results in all `.jsonl` files of a folder by the keys of their runs; of equal keys the last one."""
    found: dict[str, Result] = {}
    for path in sorted(path for pattern in FILES for path in work.glob(pattern)):
        half = find_half_line(read_bytes(path))
        for number, line in read_lines(path):
            if line.strip() and line.encode() != half:
                result = parse_result(path, number, line)
                found[result["key"]] = result
    return found


def find_half_line(data: bytes) -> bytes:
    """The beginning of a line at the end of a file of JSON lines, as a process leaves it that is killed as it writes.

    >>> find_half_line(b'{"a": 1}\\n{"b": '), find_half_line(b'{"a": 1}\\n{"b": 2}')
    (b'{"b": ', b'')
    """
    last = data.rpartition(b"\n")[2]
    try:
        json.loads(last)
    except ValueError:
        return last
    return b""


def parse_result(path: Path, number: int, line: str) -> Result:
    """The result of a training in one line."""
    result = parse_json(line, path, line=number, cure=CURE)
    needed = "key", "run", "test", "epochs", "training"
    if not isinstance(result, dict) or not all(result.get(name) for name in needed):
        raise FormatError(path, "not the result of a training", line=number, cure=CURE)
    return result


def _train_in_turn(runs: Sequence[TaskRun], work: Path, runtime: Runtime, report: Report) -> None:
    for done, run in enumerate(runs):
        report(Progress("trainings", done, len(runs), "runs"))
        append_result(run, train_and_evaluate(run, runtime, report, work), work)


def _train_on_cluster(runs: Sequence[TaskRun], work: Path, runtime: Runtime, report: Report) -> None:
    """Trains each run as a task; its result is kept as soon as it is there."""
    report(Progress("trainings", 0, len(runs), "runs"))
    place = WorkerFolder(str(work.absolute()), runtime.device)
    results = runtime.scatter(WorkerFolder.train, runs, shared=place, in_order=False)
    for done, (run, result) in enumerate(results, 1):
        append_result(run, result, work)
        report(Progress("trainings", done, len(runs), "runs"))


@dataclass(frozen=True)
class WorkerFolder:
    """Where a worker finds models and keeps the checkpoint of a long training, and its device."""

    work: str
    device: str

    def train(self, run: TaskRun) -> tuple[TaskRun, Result]:
        """The run and its result."""
        return run, train_and_evaluate(run, Runtime.from_env(1, self.device), work=Path(self.work))


def append_result(run: TaskRun, result: Result, work: Path) -> None:
    """Appends a result to the file that `gather` reads, as one line. Several processes may do so at a time."""
    line = json.dumps({"key": run.key} | result, ensure_ascii=False) + "\n"
    with name_in_errors(work / FILE), open(work / FILE, "a+b", buffering=0) as file:
        wait_for_lock(file.fileno())
        file.seek(0)
        data = file.read()
        file.truncate(len(data) - len(find_half_line(data)))
        file.write((b"" if data.endswith(b"\n") or not data or find_half_line(data) else b"\n") + line.encode())
    rmtree(work / "checkpoints" / run.key, ignore_errors=True)


def _train_in_parallel(
    runs: Sequence[TaskRun], work: Path, runtime: Runtime, report: Report, jobs: int, minutes: float | None = None
) -> None:
    """Trains in separate processes, `jobs` at a time; all are terminated on an interrupt.

    A training that fails does not end the others. The error at the end names the ones that failed.
    """
    end = math.inf if minutes is None else time.monotonic() + 60 * minutes
    waiting, running, failed, done = list(reversed(runs)), dict[subprocess.Popen[bytes], TaskRun](), list[str](), 0
    try:
        while running or (waiting and len(failed) < MOST_FAILURES and time.monotonic() < end):
            while waiting and len(running) < jobs and len(failed) < MOST_FAILURES and time.monotonic() < end:
                run = waiting.pop()
                running[_start(run, work, runtime)] = run
            for process in [one for one in running if one.poll() is not None]:
                failed += _find_failure(process, running.pop(process), work)
                done += 1
                report(Progress("trainings", done, len(runs), "runs"))
            if time.monotonic() >= end:
                _stop(running, work)
                break
            time.sleep(WAIT)
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait()
    if failed:
        raise OptionError("; ".join(failed))


def _stop(running: Mapping[subprocess.Popen[bytes], TaskRun], work: Path) -> None:
    """Interrupts the trainings, which then save their state, and waits for them."""
    for process in running:
        process.send_signal(signal.SIGINT)
    end = time.monotonic() + STOP_SECONDS
    while time.monotonic() < end and any(process.poll() is None for process in running):
        time.sleep(WAIT)
    for run in running.values():
        (work / f"{run.key}.log").unlink(missing_ok=True)


def _start(run: TaskRun, work: Path, runtime: Runtime) -> subprocess.Popen[bytes]:
    options = json.dumps(run.as_dict())
    command = [
        sys.executable,
        "-m",
        "firth.studies.tasks.runs",
        options,
        str(work),
        runtime.device,
        str(runtime.threads),
    ]
    with open(work / f"{run.key}.log", "wb") as log:
        environment = os.environ | thread_variables(runtime.threads)
        return subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)


def _find_failure(process: subprocess.Popen[bytes], run: TaskRun, work: Path) -> list[str]:
    """What to say of a training that failed; its log is kept."""
    log = work / f"{run.key}.log"
    if process.returncode:
        last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:] or ["no output"]
        return [f"the training {run.key} failed: {last[0]}. Its log is {log}"]
    log.unlink()
    return []


def main(arguments: Sequence[str]) -> None:
    """Runs one training in this process."""
    options, folder, device, threads = arguments
    run, work = TaskRun.from_dict(json.loads(options)), Path(folder)
    try:
        append_result(run, train_and_evaluate(run, Runtime.from_env(int(threads), device), work=work), work)
    except FirthError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
