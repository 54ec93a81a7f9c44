"""Many trainings of tasks; finished ones are loaded from disk and not repeated.

A `TaskRun` describes a training. `gather` runs the missing ones, optionally several at a time in processes, and
returns all results. A result is a small JSON file named after its run; results of several computers can be combined by
copying the files into one folder.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from firth.errors import FirthError, FormatError, OptionError
from firth.files import atomic_file
from firth.options import Recipe, option
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime
from firth.studies.findings import versions
from firth.studies.tasks.settings import SETTINGS
from firth.tasks.inputs import Embedding
from firth.tasks.registry import find_task
from firth.tasks.training import Training, apply_defaults, fit

Result = dict[str, Any]
FOLDER = "runs"  # in the work folder
CURE = "Delete it to repeat the training, or copy it again"
ADDED = {"batch": None, "stretched": False}  # defaults of options that older results do not have; not part of the key
WAIT = 0.2  # seconds between polls of running processes


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
        """A unique name of the run; of the models it contains the names, not the folders."""
        options = {name: value for name, value in self.as_dict().items() if (name, value) not in ADDED.items()}
        for name in ("static", "elmo"):
            options[name] = options[name] and "+".join(Path(one).name for one in options[name].split("+"))
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
        given = dict(setting.training) | {"seed": self.seed, "share": self.share}
        if self.epochs is not None:
            given |= {"epochs": self.epochs, "patience": None}
        if self.batch is not None:
            given["batch"] = self.batch
        if self.quick:
            given |= {"epochs": 4, "batch": 8}
        return Training(**apply_defaults(find_task(setting.task), Training, given))


def train_and_evaluate(run: TaskRun, runtime: Runtime, report: Report = silent) -> Result:
    """Trains and tests a model: its scores, all epochs, the weights of the layers, and the time."""
    setting = SETTINGS[run.setting]
    task = find_task(setting.task)(**(dict(setting.network) | (dict(setting.quick) if run.quick else {})))
    train, dev, test = (setting.examples(task, which, run.quick) for which in ("train", "dev", "test"))
    began = time.monotonic()
    model = fit(task, run.embedding(), train, dev, run.training(), runtime=runtime, report=report)
    seconds = time.monotonic() - began
    scores = model.to(runtime.place).evaluate(test, report=report)
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
        "test": scores,
        "epochs": metadata["epochs"],
        "layer_shares": metadata["layer_shares"],
        "words_per_second": metadata["words_per_second"],
        "bilm_share": metadata["bilm_share"],
        "seconds": round(seconds, 1),
        "device": runtime.device,
        "versions": versions(),
    }


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
) -> dict[TaskRun, Result]:
    """The results of all runs in order, loaded from `work` or trained now, `jobs` at a time.

    Without `start` nothing is trained, and unfinished runs are left out.
    """
    folder = work / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    missing = [run for run in dict.fromkeys(runs) if not (folder / f"{run.key}.json").exists()]
    if start and missing:
        if jobs == 1:
            _train_in_turn(missing, folder, runtime, report)
        else:
            divided = replace(runtime, threads=max(1, runtime.threads // jobs))
            _train_in_parallel(missing, folder, divided, report, jobs)
    paths = {run: folder / f"{run.key}.json" for run in runs}
    return {run: read_result(path) for run, path in paths.items() if path.exists()}


def read_result(path: Path) -> Result:
    """The result of a training in a file."""
    try:
        result = json.loads(path.read_bytes())
    except ValueError as error:
        raise FormatError(path, f"not JSON: {error}", cure=CURE) from error
    if not isinstance(result, dict) or not isinstance(result.get("run"), dict) or not result.get("test"):
        raise FormatError(path, "not the result of a training", cure=CURE)
    return result


def _train_in_turn(runs: Sequence[TaskRun], folder: Path, runtime: Runtime, report: Report) -> None:
    for done, run in enumerate(runs):
        report(Progress("trainings", done, len(runs), "runs"))
        write_result(run, train_and_evaluate(run, runtime, report), folder)


def write_result(run: TaskRun, result: Result, folder: Path) -> None:
    """Writes a result to the file that `gather` reads."""
    with atomic_file(folder / f"{run.key}.json") as target:
        target.write_text(json.dumps(result, ensure_ascii=False) + "\n", encoding="utf-8")


def _train_in_parallel(runs: Sequence[TaskRun], folder: Path, runtime: Runtime, report: Report, jobs: int) -> None:
    """Trains in separate processes, `jobs` at a time; all are terminated if one fails or on an interrupt."""
    waiting, running, done = list(reversed(runs)), dict[subprocess.Popen[bytes], TaskRun](), 0
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                run = waiting.pop()
                running[_start(run, folder, runtime)] = run
            for process in [one for one in running if one.poll() is not None]:
                _check(process, running.pop(process), folder)
                done += 1
                report(Progress("trainings", done, len(runs), "runs"))
            time.sleep(WAIT)
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait()


def _start(run: TaskRun, folder: Path, runtime: Runtime) -> subprocess.Popen[bytes]:
    options = json.dumps(run.as_dict())
    command = [
        sys.executable,
        "-m",
        "firth.studies.tasks.runs",
        options,
        str(folder),
        runtime.device,
        str(runtime.threads),
    ]
    with open(folder / f"{run.key}.log", "wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)


def _check(process: subprocess.Popen[bytes], run: TaskRun, folder: Path) -> None:
    log = folder / f"{run.key}.log"
    if process.returncode:
        last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:] or ["no output"]
        raise OptionError(f"the training {run.key} failed: {last[0]}. Its log is {log}")
    log.unlink()


def main(arguments: Sequence[str]) -> None:
    """Runs one training in this process."""
    options, folder, device, threads = arguments
    run = TaskRun.from_dict(json.loads(options))
    try:
        write_result(run, train_and_evaluate(run, Runtime.from_env(int(threads), device)), Path(folder))
    except FirthError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
