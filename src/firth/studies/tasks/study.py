"""What the studies of tasks share: their trainings, means over seeds, and a description of data and time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from firth.errors import OptionError
from firth.options import option
from firth.probes.readers import model_names, strip_folders
from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.show.charts import Chart
from firth.studies.findings import Findings, ResultTable
from firth.studies.study import Study
from firth.studies.tasks.overlap import read_overlap
from firth.studies.tasks.runs import Result, TaskRun, gather, is_converged, main_score
from firth.studies.tasks.settings import ENGLISH, SETTINGS

Results = Mapping[TaskRun, Result]
MeanScore = tuple[float, float]  # mean and standard deviation, in percent


@dataclass(frozen=True)
class TaskStudy(Study):
    """A study that trains tasks with ELMo and without."""

    tasks: tuple[str, ...] = option(ENGLISH, "Names of the tasks in the settings.")
    static: str = option("glove-en", "Word vectors, used alone in the baseline and together with ELMo.")
    elmo: str = option("elmo-en", "A biLM: a path, or the name of a shipped model.")
    seeds: int = option(3, "Trainings of each kind, with different seeds.", minimum=1)
    seed: int | None = option(None, "Train only with this seed; the page has all finished ones.", minimum=1)
    jobs: int = option(1, "Trainings at a time, each in its own process.", minimum=1)
    minutes: float | None = option(
        None, "Stop after this many minutes. The same command continues the trainings. Default: no limit.", minimum=0
    )
    start: bool = option(True, "Run missing trainings; otherwise report only the finished ones.")
    overlap: str | None = option(
        None, "A file of scripts/overlap.py: how many test sentences occur in the text of the biLM."
    )
    small: bool = option(False, "Train small networks on few examples, to check that the study works.")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.tasks:
            if name not in SETTINGS:
                raise OptionError(
                    f"{type(self).__name__}: no task is called {name!r}. There are: {', '.join(SETTINGS)}"
                )

    @abstractmethod
    def runs(self) -> list[TaskRun]:
        """All trainings of this study; studies share equal ones."""

    @abstractmethod
    def summarize(self, results: Results) -> Findings:
        """The page of the results."""

    def run(self, work: Path, runtime: Runtime, report: Report = silent) -> Findings:
        """Runs the missing trainings, those of one seed or all, and summarizes all results."""
        runs = self.runs()
        if self.start:
            mine = self.prepare([run for run in runs if self.seed in (None, run.seed)], work)
            gather(mine, work, runtime, report, jobs=self.jobs, minutes=self.minutes)
        results = gather(runs, work, runtime, report, start=False)
        if not results:
            raise OptionError(f"no run of the study {self.name} is finished in {work}. Let it train: --start")
        return self.summarize(results)

    def prepare(self, runs: Sequence[TaskRun], work: Path) -> Sequence[TaskRun]:
        """Makes the models in the work folder that the trainings need; returns those that can be trained."""
        return runs

    def make_run(self, setting: str, seed: int, *, elmo: bool | str, **options: Any) -> TaskRun:
        """One training of a task; equal for all studies that need it. `elmo` and `static` may name other models."""
        bilm = elmo if isinstance(elmo, str) else self.elmo if elmo else None
        given = {"static": self.static, "elmo": bilm} | options
        return TaskRun(setting, seed=seed, quick=self.small, **given).without_defaults()

    @property
    def every_seed(self) -> range:
        """The seeds, from 1."""
        return range(1, self.seeds + 1)

    def score(self, results: Results, setting: str, which: str = "test", **options: Any) -> MeanScore | None:
        """The mean and standard deviation of the scores of all seeds that are finished and converged, in percent."""
        found = self.converged(results, setting, **options)
        return mean_and_deviation(main_score(result, which) for result in found.values())

    def converged(self, results: Results, setting: str, **options: Any) -> dict[int, Result]:
        """The results of a kind of training by seed, without those that reached the limit of their epochs."""
        runs = {seed: self.make_run(setting, seed, **options) for seed in self.every_seed}
        return {seed: results[run] for seed, run in runs.items() if run in results and is_converged(results[run])}

    @cached_property
    def overlaps(self) -> dict[str, float]:
        """The share of the test sentences of each setting that occur in the text of the biLM, in percent."""
        return {} if self.overlap is None else read_overlap(Path(self.overlap))

    def page(
        self,
        results: Results,
        about: str,
        tables: Iterable[ResultTable],
        charts: Mapping[str, Chart],
        values: Mapping[str, Any] | None = None,
    ) -> Findings:
        """The findings with a description of the data and the time, and with all results as values."""
        runs = [
            {name: value for name, value in result.items() if name != "items"}
            | {part: strip_folders(result[part]) for part in ("run", "embedding") if part in result}
            for result in results.values()
        ]
        values = {**(values or {}), "options": strip_folders(self.as_dict()), "runs": runs}
        return self.findings(f"{about}\n\n{self.describe(results)}", tables, charts, values)

    def describe(self, results: Results) -> str:
        """The data of each task, the models, and the time of all trainings."""
        seen = {
            name: f" {percent} % of its test sentences occur in the biLM's text."
            for name, percent in self.overlaps.items()
        }
        trained = {run.setting for run in results}
        lines = [f"- **{name}**: {SETTINGS[name].about}.{seen.get(name, '')}" for name in self.tasks if name in trained]
        reached = [run for run, result in results.items() if not is_converged(result)]
        if self.small:
            ends = "Every training has the same few epochs."
        elif reached:
            names = ", ".join(f"{run.setting} {model_names(run.static, run.elmo)} seed {run.seed}" for run in reached)
            ends = (
                f"{len(reached)} of {len(results)} trainings reached the limit of their epochs before patience ended "
            )
            ends += f"them. They may not be converged, and are left out: {names}."
        else:
            ends = f"Patience on the dev set ended all {len(results)} trainings; none reached the limit of its epochs."
        missing = len(set(self.runs())) - len(results)
        if missing:
            ends += f" Trainings that are not finished yet: {missing}."
        hours = sum(result["seconds"] for result in results.values()) / 3600
        devices = " and ".join(sorted({result["device"] for result in results.values()}))
        trainings = f"{len(results)} trainings (seeds: {self.seeds}), {hours:.1f} hours one after the other ({devices})"
        models = f"Word vectors: {Path(self.static).name}. biLM: {Path(self.elmo).name}"
        small = (
            "\n\n**Small networks on a few examples: these numbers only show that all works.**" if self.small else ""
        )
        return "\n".join(lines) + f"\n\n{ends}\n\n{models}. {trainings}.{small}"


def mean_and_deviation(scores: Iterable[float]) -> MeanScore | None:
    """The mean and the sample standard deviation; None without scores.

    >>> mean_and_deviation([80.0, 82.0, 84.0]), mean_and_deviation([80.0]), mean_and_deviation([])
    ((82.0, 2.0), (80.0, 0.0), None)
    """
    values = list(scores)
    if not values:
        return None
    return mean(values), stdev(values) if len(values) > 1 else 0.0


def format_score(score: MeanScore | None) -> str | None:
    """A score with its standard deviation; a single seed has none.

    >>> format_score((82.04, 1.96)), format_score((82.04, 0.0)), format_score(None)
    ('82.0 ± 2.0', '82.0', None)
    """
    if score is None:
        return None
    return f"{score[0]:.1f} ± {score[1]:.1f}" if score[1] else f"{score[0]:.1f}"


def error_reduction(before: float, after: float) -> float:
    """The relative error reduction in percent.

    >>> round(error_reduction(81.1, 85.8), 1)
    24.9
    """
    return 100 * (after - before) / (100 - before)


def dev_curve(epochs: Sequence[Mapping[str, Any]]) -> list[tuple[float, float]]:
    """The dev score of each epoch, in percent.

    >>> dev_curve([{"epoch": 1, "dev": {"f1": 0.5}}, {"epoch": 2, "dev": {}}])
    [(1, 50.0)]
    """
    return [(epoch["epoch"], main_score(epoch, "dev")) for epoch in epochs if epoch["dev"]]
