"""Sample efficiency: scores by the number of epochs and by the share of the training data, with ELMo and without."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from firth.options import option
from firth.show.charts import Chart, LineChart
from firth.studies.findings import Cell, Findings, ResultTable
from firth.studies.tasks.runs import STRETCH, TaskRun
from firth.studies.tasks.study import Results, TaskStudy, dev_curve, format_score

FEW, BATCH = 0.05, 8  # below this share the batch is smaller, or there would be too few steps
NAMES = {False: "baseline", True: "with ELMo"}
ABOUT = """The same networks learn from a share of the training examples, drawn by the seed; a larger share holds the
smaller ones. Fewer examples have more patience (by the square root of the share, at most {stretch} times) and, below
{few:g} %, {batch} at a time. All are judged by the whole test set, with the weights that were best on the dev set. The
second picture of a task follows the dev score through the epochs, with all examples."""


@dataclass(frozen=True)
class Samples(TaskStudy):
    """Scores by share of the training data, and by epoch: Figure 1."""

    name: ClassVar[str] = "samples"
    title: ClassVar[str] = "Sample efficiency: scores by share of the training data, and by epochs"
    quick: ClassVar[dict[str, Any]] = {"small": True, "seeds": 1, "tasks": ("sentiment",), "shares": (0.5, 1.0)}

    tasks: tuple[str, ...] = option(("qa-fifth", "entailment", "srl", "ner"), "Names of the tasks in the settings.")
    shares: tuple[float, ...] = option((0.001, 0.01, 0.05, 0.2, 1.0), "Shares of the training examples, from 0 to 1.")

    def runs(self) -> list[TaskRun]:
        """Every share of every task, with ELMo and without."""
        return [
            self._run(setting, seed, elmo, share)
            for share in sorted(self.shares, reverse=True)
            for seed in self.every_seed
            for elmo in NAMES
            for setting in self.tasks
        ]

    def _run(self, setting: str, seed: int, elmo: bool, share: float) -> TaskRun:
        return self.make_run(setting, seed, **self._options(elmo, share))

    def _options(self, elmo: bool, share: float) -> dict[str, Any]:
        if share >= 1:
            return {"elmo": elmo}
        return {"elmo": elmo, "share": share, "batch": BATCH if share < FEW else None}

    def summarize(self, results: Results) -> Findings:
        """The table of all shares, and two charts per task."""
        rows: list[tuple[Cell, ...]] = []
        charts: dict[str, Chart] = {}
        for setting in self.tasks:
            lines: dict[str, list[Any]] = {name: [] for name in NAMES.values()}
            for elmo, name in NAMES.items():
                scores = [self.score(results, setting, **self._options(elmo, share)) for share in self.shares]
                rows.append((setting, name, *(format_score(score) for score in scores)))
                lines[name] = [(100 * share, *score) for share, score in zip(self.shares, scores) if score]
            x_label = "share of the training examples, percent"
            charts[f"{setting}-shares"] = LineChart(
                f"{setting}: score by share", x_label, "test score", lines, log_x=True
            )
            epochs = {name: self._epochs(results, setting, elmo) for elmo, name in NAMES.items()}
            charts[f"{setting}-epochs"] = LineChart(f"{setting}: score by epoch", "epoch", "dev score", epochs)
        columns = ("task", "words", *(f"{100 * share:g} %" for share in self.shares))
        tables = (
            ResultTable("Test scores by share of the training data", columns, tuple(rows)),
            self._epochs_to_baseline(results),
        )
        about = ABOUT.format(stretch=STRETCH, few=100 * FEW, batch=BATCH)
        return self.page(results, about, tables, charts)

    def _epochs(self, results: Results, setting: str, elmo: bool) -> list[tuple[float, float]]:
        found = self.converged(results, setting, elmo=elmo)
        return dev_curve(found[1]["epochs"]) if 1 in found else []

    def _epochs_to_baseline(self, results: Results) -> ResultTable:
        """The epoch in which ELMo reaches the best dev score of the baseline."""
        rows: list[tuple[Cell, ...]] = []
        for setting in self.tasks:
            before, after = (self._epochs(results, setting, elmo) for elmo in NAMES)
            if not before or not after:
                continue
            best, best_epoch = max((score, -epoch) for epoch, score in before)
            reached = next((int(epoch) for epoch, score in after if score >= best), None)
            rows.append((setting, round(best, 1), int(-best_epoch), reached))
        columns = "task", "baseline's best dev score", "its epoch", "epoch at which ELMo reaches it"
        return ResultTable("Epochs to the baseline's best", columns, tuple(rows), "With all training examples, seed 1.")
