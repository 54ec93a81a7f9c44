"""Table 1 of the ELMo paper: each task without ELMo and with it, several seeds, and two more baselines.

Public GloVe vectors tell whether the baseline only lacks better word vectors. An untrained biLM of the same shape tells
whether a larger network alone would help.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any, ClassVar

from firth.errors import OptionError
from firth.options import option, redefine
from firth.show.charts import BarChart
from firth.studies.findings import Cell, Findings, ResultTable
from firth.studies.tasks.baselines import (
    NOT_INSTALLED,
    PUBLIC_GLOVE,
    make_public_glove,
    make_untrained,
    untrained_name,
)
from firth.studies.tasks.paired import paired_t_test, randomization_test
from firth.studies.tasks.runs import Result, TaskRun, main_score
from firth.studies.tasks.settings import ENGLISH, SETTINGS
from firth.studies.tasks.study import Results, TaskStudy, error_reduction, format_score, mean_and_deviation

ELMO = "ELMo"
ROWS = {"glove": "no ELMo", "public": "no ELMo, GloVe 6B", "untrained": "untrained biLM", "elmo": ELMO}
COLUMNS = (
    "task",
    "measure",
    "words",
    "seeds",
    "score",
    "gain of ELMo",
    "p, seeds",
    "p, items",
    "errors gone %",
    "paper's gain",
    "paper's errors gone %",
)
LEAST_P = 0.0001  # smaller ones are not told apart
OVERLAP = "test sentences in the biLM's text %"
ABOUT = """Each task is trained with the same network and the same options on four kinds of words: word vectors and
characters alone; the same with the public GloVe vectors of 6 billion words (50 dimensions; English); word vectors with
a biLM of ELMo's shape that was never trained; and word vectors with ELMo. All are judged by the test set.

`gain of ELMo` is the difference of the means of ELMo and of the row, over the seeds that both have. `p, seeds` is a
paired t-test over these seeds. `p, items` is an approximate randomization test over the test items, each with the mean
of its score over the seeds; an item is a sentence, a pair, a question or a document, with the main measure computed on
it alone. `errors gone` is the relative error reduction, as in the paper."""


@dataclass(frozen=True)
class Table1(TaskStudy):
    """Each task with ELMo and without, several seeds: Table 1 of the paper."""

    name: ClassVar[str] = "table1"
    title: ClassVar[str] = "Tasks with ELMo and without"
    quick: ClassVar[dict[str, Any]] = {"small": True, "seeds": 1, "tasks": ("sentiment", "ner")}

    tasks: tuple[str, ...] = redefine(TaskStudy, "tasks", tuple(name for name in ENGLISH if name != "qa-fifth"))
    seeds: int = redefine(TaskStudy, "seeds", 5)
    rows: tuple[str, ...] = option(tuple(ROWS), f"Rows to train: {', '.join(ROWS)}. The page has all finished ones.")

    def __post_init__(self) -> None:
        super().__post_init__()
        for row in self.rows:
            if row not in ROWS:
                raise OptionError(f"Table1: no row is called {row!r}. There are: {', '.join(ROWS)}")

    def options(self, row: str) -> dict[str, Any]:
        """The options of the trainings in a row."""
        changed = {"public": {"static": PUBLIC_GLOVE}, "untrained": {"elmo": untrained_name(self.elmo)}}
        return {"elmo": row == "elmo"} | changed.get(row, {})

    def row_run(self, setting: str, row: str, seed: int) -> TaskRun:
        """One training of a row."""
        return self.make_run(setting, seed, **self.options(row))

    def runs(self) -> list[TaskRun]:
        """All rows, seed by seed."""
        return [
            self.row_run(setting, row, seed)
            for seed in self.every_seed
            for row in ROWS
            for setting in self.tasks
            if row in rows_of(setting)
        ]

    def prepare(self, runs: Sequence[TaskRun], work: Path) -> Sequence[TaskRun]:
        """The trainings of the chosen rows; makes their models in the work folder."""
        wanted = {row for run in runs for row in rows_of(run.setting)}
        rows = [row for row in self.rows if row in wanted and (row != "public" or make_public_glove(work))]
        if "untrained" in rows:
            make_untrained(self.elmo, work)
        mine = {self.row_run(run.setting, row, run.seed) for run in runs for row in rows if row in rows_of(run.setting)}
        return [run for run in runs if run in mine]

    def summarize(self, results: Results) -> Findings:
        """The table of scores, its chart, and the speed of the trainings."""
        found = {
            setting: {row: self.converged(results, setting, **self.options(row)) for row in ROWS}
            for setting in self.tasks
        }
        trained = [setting for setting in self.tasks if any(found[setting].values())]
        rows = [self._row(setting, row, found[setting]) for setting in trained for row in rows_of(setting)]
        columns = (*COLUMNS, OVERLAP) if self.overlaps else COLUMNS
        table = ResultTable("Test scores, in percent", columns, tuple(rows), "Means and deviations over the seeds.")
        series = {
            name: [mean_and_deviation(map(main_score, found[setting][row].values())) for setting in trained]
            for row, name in ROWS.items()
        }
        bars = BarChart(self.title, "test score", tuple(trained), series)
        about = ABOUT
        if len(trained) < len(self.tasks):
            left = ", ".join(setting for setting in self.tasks if setting not in trained)
            about += f"\n\nNot in the table, because no training of them is finished: {left}."
        if not all(found[setting]["public"] for setting in trained if "public" in rows_of(setting)):
            about += f"\n\nRows with GloVe 6B that are empty need its vectors ({NOT_INSTALLED})."
        return self.page(results, about, [table, self.speed(found)], {"bars": bars})

    def _row(self, setting: str, row: str, found: dict[str, dict[int, Result]]) -> tuple[Cell, ...]:
        own, elmo = found[row], found["elmo"]
        measure = next((next(iter(result["test"])) for result in own.values()), None)
        score = mean_and_deviation(main_score(result) for result in own.values())
        cells: list[Cell] = [setting, measure, ROWS[row], len(own), format_score(score)]
        both = [seed for seed in own if seed in elmo]
        if row == "elmo" or not both:
            cells += [None] * 4
        else:
            before, after = ([main_score(one[seed]) for seed in both] for one in (own, elmo))
            items_before, items_after = ([one[seed]["items"] for seed in both] for one in (own, elmo))
            cells += [round(mean(after) - mean(before), 1), format_p(paired_t_test(before, after))]
            cells += [
                format_p(randomization_test(items_before, items_after)),
                round(error_reduction(mean(before), mean(after)), 1),
            ]
        paper = SETTINGS[setting].paper if row == "glove" else None
        cells += [None, None] if paper is None else [round(paper[1] - paper[0], 1), round(error_reduction(*paper), 1)]
        return (*cells, self.overlaps.get(setting)) if self.overlaps else tuple(cells)

    def speed(self, found: dict[str, dict[str, dict[int, Result]]]) -> ResultTable:
        """Words per second, the biLM's share of the time, the best epoch, all epochs and the seconds of a training."""
        rows: list[tuple[Cell, ...]] = []
        for setting, by_row in found.items():
            for row, by_seed in by_row.items():
                results = list(by_seed.values())
                if not results:
                    continue
                words = mean(one["words_per_second"] for one in results)
                share = 100 * mean(one["bilm_share"] for one in results) if row in ("untrained", "elmo") else None
                epochs = mean(len(one["epochs"]) for one in results)
                seconds = mean(one["seconds"] for one in results)
                numbers = results[0]["parameters"], round(words), share, round(epochs, 1), round(seconds, 1)
                rows.append((setting, ROWS[row], *numbers))
        columns = "task", "words", "parameters", "words/s", "biLM's share of the time %", "epochs", "seconds"
        note = "A frozen biLM reads each sentence once; its layers are kept for the epochs that follow."
        return ResultTable("How quick the training is", columns, tuple(rows), note)


def rows_of(setting: str) -> list[str]:
    """The rows of a task; the public vectors are English.

    >>> rows_of("farstail")
    ['glove', 'untrained', 'elmo']
    """
    return [row for row in ROWS if row != "public" or SETTINGS[setting].language == "en"]


def format_p(p: float | None) -> str | None:
    """A p-value with four digits after the point.

    >>> format_p(0.00012345), format_p(0.00001234), format_p(None)
    ('0.0001', '< 0.0001', None)
    """
    if p is None:
        return None
    return f"{p:.4f}" if p >= LEAST_P else f"< {LEAST_P}"
