"""What the studies of tasks share: which runs they need, how scores are summed up, and how they say what was done."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from firth.errors import OptionError
from firth.options import option
from firth.probes.readers import strip_folders
from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.studies.findings import Findings
from firth.studies.study import Study
from firth.studies.tasks.runs import Result, TaskRun, gather, main_score
from firth.studies.tasks.settings import SETTINGS

Results = Mapping[TaskRun, Result]
Score = tuple[float, float]  # mean and deviation


@dataclass(frozen=True)
class TaskStudy(Study):
    """A study that trains tasks, with and without ELMo."""

    tasks: tuple[str, ...] = option(tuple(SETTINGS), "the tasks, as the settings name them")
    static: str = option("glove-en", "word vectors of the baseline, and beside ELMo")
    elmo: str = option("elmo-en", "a biLM: a path, or the name of a model that ships")
    seeds: int = option(3, "trainings of each kind, with different random numbers", minimum=1)
    jobs: int = option(1, "trainings at a time, each in a process of its own", minimum=1)
    start: bool = option(True, "train what is missing; otherwise tell of what is finished")
    small: bool = option(False, "small networks on a few examples: shows that all works, and no more")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.tasks:
            if name not in SETTINGS:
                raise OptionError(
                    f"{type(self).__name__}: no task is called {name!r}. There are: {', '.join(SETTINGS)}"
                )

    @abstractmethod
    def runs(self) -> list[TaskRun]:
        """All trainings that it needs; studies that need the same one share it."""

    @abstractmethod
    def found(self, results: Results) -> Findings:
        """What the results say."""

    def run(self, work: Path, runtime: Runtime, report: Report = silent) -> Findings:
        """Trains what is missing and sums up."""
        results = gather(self.runs(), work, runtime, report, jobs=self.jobs, start=self.start)
        if not results:
            raise OptionError(f"no run of the study {self.name} is finished in {work}. Let it train: --start")
        return self.found(results)

    def run_of(self, setting: str, seed: int, *, elmo: bool, **options: Any) -> TaskRun:
        """One training of a task; the same one for all studies that need it."""
        run = TaskRun(setting, self.static, self.elmo if elmo else None, seed=seed, quick=self.small, **options)
        return run.usually()

    @property
    def every_seed(self) -> range:
        """The seeds, from 1."""
        return range(1, self.seeds + 1)

    def score(self, results: Results, setting: str, which: str = "test", **options: Any) -> Score | None:
        """The mean score of the seeds that are finished, and their deviation, in percent."""
        runs = [self.run_of(setting, seed, **options) for seed in self.every_seed]
        return mean_and_deviation(main_score(results[run], which) for run in runs if run in results)

    def how(self, results: Results) -> str:
        """A paragraph: the data of each task, and how long it took."""
        lines = [f"- **{name}**: {SETTINGS[name].about}." for name in self.tasks]
        hours = sum(result["seconds"] for result in results.values()) / 3600
        devices = " and ".join(sorted({result["device"] for result in results.values()}))
        some = f"{len(results)} trainings (seeds: {self.seeds}), {hours:.1f} hours one after the other ({devices})"
        models = f"Word vectors: {Path(self.static).name}. biLM: {Path(self.elmo).name}"
        small = (
            "\n\n**Small networks on a few examples: these numbers only show that all works.**" if self.small else ""
        )
        return "\n".join(lines) + f"\n\n{models}. {some}.{small}"

    def values(self, results: Results) -> dict[str, Any]:
        """All results, for JSON; models by their names, wherever they lay."""
        named = [
            result | {part: strip_folders(result[part]) for part in ("run", "embedding") if part in result}
            for result in results.values()
        ]
        return {"options": strip_folders(self.as_dict()), "runs": named}


def mean_and_deviation(scores: Iterable[float]) -> Score | None:
    """Mean and sample deviation.

    >>> mean_and_deviation([80.0, 82.0, 84.0]), mean_and_deviation([80.0]), mean_and_deviation([])
    ((82.0, 2.0), (80.0, 0.0), None)
    """
    kept = list(scores)
    if not kept:
        return None
    return mean(kept), stdev(kept) if len(kept) > 1 else 0.0


def format_score(score: Score | None) -> str | None:
    """A score with its deviation; one seed alone has none.

    >>> format_score((82.04, 1.96)), format_score((82.04, 0.0)), format_score(None)
    ('82.0 ± 2.0', '82.0', None)
    """
    if score is None:
        return None
    return f"{score[0]:.1f} ± {score[1]:.1f}" if score[1] else f"{score[0]:.1f}"


def error_reduction(before: float, after: float) -> float:
    """The part of the errors that is gone, in percent.

    >>> round(error_reduction(81.1, 85.8), 1)
    24.9
    """
    return 100 * (after - before) / (100 - before)


def dev_curve(lines: Sequence[Mapping[str, Any]]) -> list[tuple[float, float]]:
    """Epochs and dev scores, in percent.

    >>> dev_curve([{"epoch": 1, "dev": {"f1": 0.5}}, {"epoch": 2, "dev": {}}])
    [(1, 50.0)]
    """
    return [(line["epoch"], main_score(line, "dev")) for line in lines if line["dev"]]
