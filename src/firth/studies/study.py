"""A study: options, and one function that runs it. What it finds is a value that can be written and read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from firth.options import Recipe
from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.studies.findings import Findings


@dataclass(frozen=True)
class Study(Recipe, ABC):
    """A question about word representations, answered by a table and a picture.

    `quick` names the options of a version that is over within a minute: it shows that all works, and its numbers mean
    little. What is computed on the way is kept in the folder `work`; a study that was stopped goes on from there.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    quick: ClassVar[dict[str, Any]] = {}

    @abstractmethod
    def run(self, work: Path, runtime: Runtime, report: Report = silent) -> Findings:
        """Runs it, as far as that has not been done before."""

    def make_quick(self) -> Self:
        """The short version of this study; options that are not at their defaults stay as they are."""
        asked = {field.name for field in fields(self) if getattr(self, field.name) != field.default}
        return replace(self, **{name: value for name, value in self.quick.items() if name not in asked})
