"""The base class of studies: options, and `run`, which returns findings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from firth.options import Recipe
from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.show.charts import Chart
from firth.studies.findings import Findings, ResultTable


@dataclass(frozen=True)
class Study(Recipe, ABC):
    """A question about word representations, answered by tables and charts.

    `quick` are the options of a version that takes about a minute; it shows that the study works, and its numbers mean
    little. Intermediate results are stored in the folder `work`, so that an interrupted study can be continued.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    quick: ClassVar[dict[str, Any]] = {}

    @abstractmethod
    def run(self, work: Path, runtime: Runtime, report: Report = silent) -> Findings:
        """Runs the study; results that are already in `work` are not computed again."""

    def make_quick(self) -> Self:
        """The quick version of this study; options that differ from their defaults are not changed."""
        changed = {field.name for field in fields(self) if getattr(self, field.name) != field.default}
        return replace(self, **{name: value for name, value in self.quick.items() if name not in changed})

    def findings(
        self, about: str, tables: Iterable[ResultTable], charts: Mapping[str, Chart], values: Mapping[str, Any]
    ) -> Findings:
        """The findings under the name and title of this study."""
        return Findings(self.name, self.title, about, tuple(tables), charts, values)
