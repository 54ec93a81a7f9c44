"""Table 1 of the ELMo paper: each task without ELMo and with it, several seeds."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean
from typing import Any, ClassVar

from firth.show.charts import BarChart
from firth.studies.findings import Cell, Findings, ResultTable
from firth.studies.tasks.runs import TaskRun
from firth.studies.tasks.settings import SETTINGS
from firth.studies.tasks.study import Results, TaskStudy, error_reduction, format_score

COLUMNS = (
    "task",
    "measure",
    "seeds",
    "baseline",
    "with ELMo",
    "gain",
    "errors gone %",
    "paper's gain",
    "paper's errors gone %",
)
ABOUT = """Each task is trained twice with the same network: on word vectors and characters alone, and with ELMo beside
them. Both stop when the dev set says so, and are judged by the test set. `errors gone` is the part of the baseline's
errors that ELMo's model does not make, as the paper counts it."""


@dataclass(frozen=True)
class Table1(TaskStudy):
    """Each task with ELMo and without, several seeds: Table 1 of the paper."""

    name: ClassVar[str] = "table1"
    title: ClassVar[str] = "Six tasks, with ELMo and without"
    quick: ClassVar[dict[str, Any]] = {"small": True, "seeds": 1, "tasks": ("sentiment", "ner")}

    def runs(self) -> list[TaskRun]:
        """All baselines, then the same trainings with ELMo."""
        return [
            self.make_run(setting, seed, elmo=elmo)
            for elmo in (False, True)
            for seed in self.every_seed
            for setting in self.tasks
        ]

    def summarize(self, results: Results) -> Findings:
        """The table of scores, its chart, and the speed of the trainings."""
        scores = {
            setting: (self.score(results, setting, elmo=False), self.score(results, setting, elmo=True))
            for setting in self.tasks
        }
        rows = tuple(self._row(results, setting, *scores[setting]) for setting in self.tasks)
        bars = BarChart(
            self.title,
            "test score",
            self.tasks,
            {"baseline": [pair[0] for pair in scores.values()], "with ELMo": [pair[1] for pair in scores.values()]},
        )
        table = ResultTable("Test scores, in percent", COLUMNS, rows, "Means and deviations over the seeds.")
        return self.page(results, ABOUT, [table, self.speed(results)], {"bars": bars})

    def _row(self, results: Results, setting: str, before: Any, after: Any) -> tuple[Cell, ...]:
        run = next((run for run in results if run.setting == setting), None)
        measure = next(iter(results[run]["test"])) if run else None
        gain = None if before is None or after is None else round(after[0] - before[0], 1)
        reduction = None if before is None or after is None else round(error_reduction(before[0], after[0]), 1)
        paper = SETTINGS[setting].paper
        theirs = (None, None) if paper is None else (round(paper[1] - paper[0], 1), round(error_reduction(*paper), 1))
        seeds = min(self._finished(results, setting, elmo=False), self._finished(results, setting, elmo=True))
        return (setting, measure, seeds, format_score(before), format_score(after), gain, reduction, *theirs)

    def _finished(self, results: Results, setting: str, *, elmo: bool) -> int:
        return sum(self.make_run(setting, seed, elmo=elmo) in results for seed in self.every_seed)

    def speed(self, results: Results) -> ResultTable:
        """Words per second, the biLM's share of the time, the number of epochs and the seconds of a training."""
        rows: list[tuple[Cell, ...]] = []
        for setting in self.tasks:
            for elmo in (False, True):
                finished = [results[run] for run in results if run.setting == setting and bool(run.elmo) == elmo]
                if not finished:
                    continue
                words = mean(one["words_per_second"] for one in finished)
                share = 100 * mean(one["bilm_share"] for one in finished) if elmo else None
                epochs = mean(len(one["epochs"]) for one in finished)
                seconds = mean(one["seconds"] for one in finished)
                name = f"{setting}, with ELMo" if elmo else setting
                rows.append((name, finished[0]["parameters"], round(words), share, round(epochs, 1), round(seconds, 1)))
        columns = "task", "parameters", "words/s", "biLM's share of the time %", "epochs", "seconds"
        note = "A frozen biLM reads each sentence once; its layers are kept for the epochs that follow."
        return ResultTable("How quick the training is", columns, tuple(rows), note)
