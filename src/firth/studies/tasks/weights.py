"""Figure 2 of the ELMo paper: the weights of the biLM layers that the tasks learn."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean
from typing import ClassVar

from firth.options import redefine
from firth.show.charts import StackedBarChart
from firth.studies.findings import Cell, Findings, ResultTable
from firth.studies.tasks.runs import TaskRun
from firth.studies.tasks.study import Results
from firth.studies.tasks.table1 import Table1

ABOUT = """The weights of a mix sum up to one. Layer 0 is the word without its context, spelled from its characters;
layers 1 and 2 are those of the biLM. A task whose λ is large (named entities: 0.1) can hardly move away from a third
each. In the paper the first LSTM layer is favoured at the input, most of all in coreference and question answering, and
the weights at the output are nearly even."""


@dataclass(frozen=True)
class LayerWeights(Table1):
    """The layer weights that each task learns: Figure 2."""

    name: ClassVar[str] = "weights"
    title: ClassVar[str] = "The weights of the layers that each task has learnt"

    rows: tuple[str, ...] = redefine(Table1, "rows", ("elmo",))

    def runs(self) -> list[TaskRun]:
        """The trainings of Table 1 with ELMo."""
        return [run for run in super().runs() if run.elmo == self.elmo]

    def summarize(self, results: Results) -> Findings:
        """One row per mix, with means over the seeds."""
        shares: dict[str, list[float]] = {}
        for setting in self.tasks:
            learned = [one["layer_shares"] for one in self.converged(results, setting, elmo=True).values()]
            for place in ("input", "output"):
                mixes = [one[place] for one in learned if place in one]
                if mixes:
                    shares[f"{setting}, {place}"] = [mean(layer) for layer in zip(*mixes)]
        layers = [f"layer {number}" for number in range(max(map(len, shares.values()), default=0))]
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (mix, *(round(weight, 3) for weight in weights)) for mix, weights in shares.items()
        )
        series = {name: [weights[layer] for weights in shares.values()] for layer, name in enumerate(layers)}
        note = "Means over the seeds that are finished and converged."
        table = ResultTable("Shares of the layers", ("mix", *layers), rows, note)
        charts = {"shares": StackedBarChart(self.title, tuple(shares), series)}
        return self.page(results, ABOUT, [table], charts, {"shares": shares})
