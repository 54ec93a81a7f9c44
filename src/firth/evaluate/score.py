"""The result of a test: its value, a 95 % interval and its coverage."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from firth.show import notebook


@dataclass(frozen=True)
class Score:
    """The result of a test. `used` of `total` questions have only known words; if none does, `value` is None.

    >>> print(Score("similarity", "men", "spearman", 0.71, (0.69, 0.73), used=2990, total=3000))
    men: spearman 0.7100 (0.6900 to 0.7300), 2990 of 3000 used
    """

    task: str
    name: str
    metric: str
    value: float | None
    interval: tuple[float, float] | None
    used: int
    total: int
    details: dict[str, Any] = field(default_factory=dict, hash=False)

    @property
    def coverage(self) -> float:
        """The share of the questions that were used."""
        return self.used / self.total if self.total else 0.0

    def as_dict(self) -> dict[str, Any]:
        """The score as plain values, ready for JSON."""
        return {**dataclasses.asdict(self), "coverage": self.coverage}

    def _repr_html_(self) -> str:
        return Scores([self])._repr_html_()

    def __str__(self) -> str:
        value = "not measured" if self.value is None else f"{self.value:.4f}"
        interval = "" if self.interval is None else f" ({self.interval[0]:.4f} to {self.interval[1]:.4f})"
        return f"{self.name}: {self.metric} {value}{interval}, {self.used} of {self.total} used"


class Scores(list[Score]):
    """The scores of several tests: a list that a notebook shows as a table.

    >>> Scores([Score("similarity", "men", "spearman", None, None, used=0, total=3)])._repr_html_().count("<tr>")
    2
    """

    def _repr_html_(self) -> str:
        rows = []
        for one in self:
            interval = None if one.interval is None else f"{one.interval[0]:.4f} to {one.interval[1]:.4f}"
            rows.append([one.task, one.name, one.metric, one.value, interval, one.used, one.total])
        columns = ["task", "set", "measure", "value", "95 % interval", "used", "of"]
        return notebook.html_table("scores", columns, rows)
