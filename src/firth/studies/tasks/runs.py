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
FOLDER = "runs"  # of a work folder
CURE = "Delete it, and the training is done again, or copy it once more"
LATER = {"batch": None, "stretched": False}  # options that older results do not have: their defaults are not told
WAIT = 0.2  # seconds between looks at running processes


@dataclass(frozen=True)
class TaskRun(Recipe):
    """One training of a task, as `SETTINGS` has it, but for what is named here.

    >>> TaskRun("ner", "glove-en", elmo="models/large").key == TaskRun("ner", "glove-en", elmo="elsewhere/large").key
    True
    """

    setting: str = option("ner", "a task, as the settings name it")
    static: str | None = option("glove-en", "word vectors")
    elmo: str | None = option(None, "a biLM")
    stretched: bool = option(False, "word vectors are multiplied so that their numbers have a mean square of one")
    characters: bool = option(True, "words are spelled too, where the task is used to it")
    layers: str = option("mix", "a learnt mix of the layers of the biLM, its top, or the number of one")
    at: str | None = option(None, "where ELMo joins the network, if not where the task is used to it")
    mix_decay: float | None = option(None, "λ of the mix, if not the task's own")
    share: float = option(1.0, "the share of the training examples", minimum=0, maximum=1)
    epochs: int | None = option(None, "times that the examples are learnt from, if not as the settings say")
    batch: int | None = option(None, "examples of a step, if not as the settings say")
    seed: int = option(1, "where the random numbers start")
    quick: bool = option(False, "a small network on few examples")

    def usually(self) -> TaskRun:
        """The same run, where what is only what the task is used to is not named."""
        setting = SETTINGS[self.setting]
        used = Embedding(**apply_defaults(find_task(setting.task), Embedding, dict(setting.words)))
        same: dict[str, Any] = {
            name: None for name in ("at", "mix_decay") if getattr(self, name) == getattr(used, name)
        }
        return replace(self, **same)

    @property
    def key(self) -> str:
        """A name of its own. Where the models lie does not matter, only what they are called."""
        told = {name: value for name, value in self.as_dict().items() if (name, value) not in LATER.items()}
        for name in ("static", "elmo"):
            told[name] = told[name] and "+".join(Path(one).name for one in told[name].split("+"))
        digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:12]
        return f"{self.setting}-{digest}"

    def embedding(self) -> Embedding:
        """What words become."""
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
        """How it is learnt."""
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
    """Trains, and judges by the test set: scores, the epochs one by one, the shares of the layers, and the time."""
    setting = SETTINGS[run.setting]
    kind = find_task(setting.task)
    task = kind(**(dict(setting.network) | (dict(setting.quick) if run.quick else {})))
    train, dev, test = (setting.examples(task, which, run.quick) for which in ("train", "dev", "test"))
    begun = time.monotonic()
    model = fit(task, run.embedding(), train, dev, run.training(), runtime=runtime, report=report)
    seconds = time.monotonic() - begun
    scores = model.to(runtime.place).evaluate(test, report=report)
    told = model.metadata
    return {
        "run": run.as_dict(),
        "network": task.as_dict(),
        "embedding": model.embedding.as_dict() | {"static": run.static, "elmo": run.elmo},
        "fingerprints": model.inputs.sources.fingerprints(),
        "training": told["training"],
        "parameters": model.learnt_numbers,
        "examples": told["examples"] | {"test": len(test)},
        "dev": told["dev"],
        "test": scores,
        "epochs": told["epochs"],
        "layer_shares": told["layer_shares"],
        "words_per_second": told["words_per_second"],
        "bilm_share": told["bilm_share"],
        "seconds": round(seconds, 1),
        "device": runtime.device,
        "versions": versions(),
    }


def main_score(result: Mapping[str, Any], which: str = "test") -> float:
    """The measure that counts, the first of a test or dev set, in percent.

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
    """The results of runs, in their order: those that lie in `work`, and those of runs that are made now.

    Without `start` none is made, and runs that are not finished are left out.
    """
    folder = work / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    missing = [run for run in dict.fromkeys(runs) if not (folder / f"{run.key}.json").exists()]
    if start and missing:
        if jobs == 1:
            _one_by_one(missing, folder, runtime, report)
        else:
            share = replace(runtime, threads=max(1, runtime.threads // jobs))
            _side_by_side(missing, folder, share, report, jobs)
    found = {run: folder / f"{run.key}.json" for run in runs}
    return {run: read_result(path) for run, path in found.items() if path.exists()}


def read_result(path: Path) -> Result:
    """The result in a file."""
    try:
        result = json.loads(path.read_bytes())
    except ValueError as error:
        raise FormatError(path, f"not JSON: {error}", cure=CURE) from error
    if not isinstance(result, dict) or not isinstance(result.get("run"), dict) or not result.get("test"):
        raise FormatError(path, "not the result of a training", cure=CURE)
    return result


def _one_by_one(runs: Sequence[TaskRun], folder: Path, runtime: Runtime, report: Report) -> None:
    for done, run in enumerate(runs):
        report(Progress("trainings", done, len(runs), "runs"))
        write_result(run, train_and_evaluate(run, runtime, report), folder)


def write_result(run: TaskRun, result: Result, folder: Path) -> None:
    """Writes a result where `gather` finds it."""
    with atomic_file(folder / f"{run.key}.json") as target:
        target.write_text(json.dumps(result, ensure_ascii=False) + "\n", encoding="utf-8")


def _side_by_side(runs: Sequence[TaskRun], folder: Path, runtime: Runtime, report: Report, jobs: int) -> None:
    """Each in a process of its own, so many at a time; all are ended if one fails or if the person stops them."""
    waiting, running, done = list(reversed(runs)), dict[subprocess.Popen[bytes], TaskRun](), 0
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                run = waiting.pop()
                running[_started(run, folder, runtime)] = run
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


def _started(run: TaskRun, folder: Path, runtime: Runtime) -> subprocess.Popen[bytes]:
    told = json.dumps(run.as_dict())
    command = [
        sys.executable,
        "-m",
        "firth.studies.tasks.runs",
        told,
        str(folder),
        runtime.device,
        str(runtime.threads),
    ]
    with open(folder / f"{run.key}.log", "wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)


def _check(process: subprocess.Popen[bytes], run: TaskRun, folder: Path) -> None:
    log = folder / f"{run.key}.log"
    if process.returncode:
        last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:] or ["no word"]
        raise OptionError(f"the training {run.key} failed: {last[0]}. Its log is {log}")
    log.unlink()


def main(arguments: Sequence[str]) -> None:
    """One run, in a process of its own."""
    told, folder, device, threads = arguments
    run = TaskRun.from_dict(json.loads(told))
    try:
        write_result(run, train_and_evaluate(run, Runtime.from_env(int(threads), device)), Path(folder))
    except FirthError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
