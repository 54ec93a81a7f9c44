"""Tables 2 and 3 of the ELMo paper: which layers of the biLM help, and where in the network they join."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from firth.options import option
from firth.show.charts import BarChart
from firth.studies.findings import Findings, ResultTable
from firth.studies.tasks.runs import TaskRun
from firth.studies.tasks.study import Results, TaskStudy, format_score

WHICH: dict[str, dict[str, Any]] = {
    "baseline": {"elmo": False},
    "last layer": {"elmo": True, "layers": "top"},
    "all, λ=1": {"elmo": True, "mix_decay": 1.0},
    "all, λ=0.001": {"elmo": True, "mix_decay": 0.001},
}
WHERE: dict[str, dict[str, Any]] = {
    "input": {"elmo": True, "at": "input"},
    "input and output": {"elmo": True, "at": "both"},
    "output": {"elmo": True, "at": "output"},
}
PAPER_WHICH = {
    "qa-fifth": (80.8, 84.7, 85.0, 85.2),
    "entailment": (88.1, 89.1, 89.3, 89.5),
    "srl": (81.6, 84.1, 84.6, 84.8),
}
PAPER_WHERE = {"qa-fifth": (85.1, 85.6, 84.8), "entailment": (88.9, 89.5, 88.7), "srl": (84.7, 84.3, 80.9)}
ABOUT = """Which layers: ELMo from the top layer of the biLM alone; from a mix whose weights a strong λ holds together,
which is nearly the mean of all; and from a mix that may choose. Where: at the input of the task's network, at its
output, or at both. Scores are those of the dev set, as in the paper."""


@dataclass(frozen=True)
class Layers(TaskStudy):
    """Which layers of the biLM help, and where they join the network: Tables 2 and 3."""

    name: ClassVar[str] = "layers"
    title: ClassVar[str] = "Which layers of the biLM, and where they join the network"
    quick: ClassVar[dict[str, Any]] = {"small": True, "seeds": 1, "tasks": ("sentiment",)}

    tasks: tuple[str, ...] = option(
        ("qa-fifth", "entailment", "srl", "sentiment"), "Names of the tasks in the settings."
    )

    def runs(self) -> list[TaskRun]:
        """Every configuration of every task."""
        return [
            self.make_run(setting, seed, **options)
            for seed in self.every_seed
            for options in (*WHICH.values(), *WHERE.values())
            for setting in self.tasks
        ]

    def summarize(self, results: Results) -> Findings:
        """A table and a chart for each of the two questions."""
        which, where = self._scores(results, WHICH), self._scores(results, WHERE)
        tables = self._table("Which layers", which, PAPER_WHICH), self._table("Where", where, PAPER_WHERE)
        charts = {
            "which": BarChart("Which layers", "dev score", self.tasks, group_by_kind(which)),
            "where": BarChart("Where ELMo joins", "dev score", self.tasks, group_by_kind(where)),
        }
        return self.page(results, ABOUT, tables, charts)

    def _scores(self, results: Results, kinds: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        return {
            setting: {kind: self.score(results, setting, "dev", **options) for kind, options in kinds.items()}
            for setting in self.tasks
        }

    def _table(
        self, title: str, scores: dict[str, dict[str, Any]], paper: Mapping[str, tuple[float, ...]]
    ) -> ResultTable:
        kinds = list(next(iter(scores.values())))
        rows = []
        for setting, by_kind in scores.items():
            rows.append((setting, *(format_score(by_kind[kind]) for kind in kinds)))
            if setting in paper:
                rows.append((f"{setting}, in the paper", *(f"{score:.1f}" for score in paper[setting])))
        return ResultTable(f"{title}: dev scores, in percent", ("task", *kinds), tuple(rows))


def group_by_kind(scores: dict[str, dict[str, Any]]) -> dict[str, list[Any]]:
    """The scores of all tasks for each kind, as a chart needs them.

    >>> group_by_kind({"ner": {"input": (90.0, 0.1)}, "srl": {"input": None}})
    {'input': [(90.0, 0.1), None]}
    """
    return {kind: [by_kind[kind] for by_kind in scores.values()] for kind in next(iter(scores.values()))}
