"""Quick versions of studies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from firth.options import option
from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.studies.findings import Findings
from firth.studies.study import Study


@dataclass(frozen=True)
class Steeping(Study):
    """How long tea draws."""

    name: ClassVar[str] = "steeping"
    title: ClassVar[str] = "Steeping tea"
    quick: ClassVar[dict[str, Any]] = {"minutes": 1, "cups": 2}

    minutes: int = option(4, "Minutes.")
    cups: int = option(100, "Cups.")

    def run(self, work: Path, runtime: Runtime, report: Report = silent) -> Findings:
        return self.findings(f"{self.minutes} minutes", [], {}, {"cups": self.cups})


def test_the_quick_version_keeps_options_that_differ_from_their_defaults() -> None:
    assert Steeping().make_quick() == Steeping(minutes=1, cups=2)
    assert Steeping(cups=3).make_quick() == Steeping(minutes=1, cups=3)


def test_findings_have_the_name_and_title_of_the_study(tmp_path: Path) -> None:
    found = Steeping().run(tmp_path, Runtime(1))
    assert (found.name, found.title, found.about) == ("steeping", "Steeping tea", "4 minutes")
    assert found.values == {"cups": 100}
