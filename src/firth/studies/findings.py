"""The findings of a study: a page with text, tables and charts, and all values as JSON."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from firth.files import Name, atomic_file
from firth.installed import find_version
from firth.remote.addresses import address_of
from firth.show.charts import Chart, draw
from firth.show.json import to_json
from firth.show.markdown import markdown_table

Cell = str | int | float | None
PACKAGES = "firth", "numpy", "torch", "numba"


@dataclass(frozen=True)
class ResultTable:
    """A table with a title and an optional note below it.

    >>> print(ResultTable("Tea", ("leaf", "minutes"), (("black", 4.0), ("green", None))).as_markdown())
    **Tea**
    <BLANKLINE>
    | leaf | minutes |
    |---|---:|
    | black | 4.0 |
    | green | – |
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def as_markdown(self) -> str:
        """The table as Markdown; columns of numbers are right-aligned."""
        right = [column for column in range(len(self.columns)) if self._is_numeric(column)]
        cells = [[format_cell(cell) for cell in row] for row in self.rows]
        table = markdown_table(self.columns, cells, right=right)
        return "\n\n".join([f"**{self.title}**", table, *([self.note] if self.note else [])])

    def _is_numeric(self, column: int) -> bool:
        cells = [row[column] for row in self.rows if row[column] is not None]
        return bool(cells) and all(isinstance(cell, (int, float)) for cell in cells)


@dataclass(frozen=True)
class Findings:
    """The page and the values of a study."""

    name: str
    title: str
    about: str
    tables: tuple[ResultTable, ...]
    charts: Mapping[str, Chart] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)

    def as_markdown(self) -> str:
        """The page; it refers to the charts as files in the same folder."""
        parts = [f"# {self.title}", self.about.strip(), *(table.as_markdown() for table in self.tables)]
        parts += [f"![{chart.title}]({self.name}-{name}.svg)" for name, chart in self.charts.items()]
        return "\n\n".join(parts) + "\n"

    def as_json(self) -> dict[str, Any]:
        """The tables and all values, with the versions of Python and the packages, and the commit."""
        head = {"study": self.name, "title": self.title, "versions": versions(), "commit": find_commit()}
        return head | {"tables": [asdict(table) for table in self.tables]} | dict(self.values)

    def write(self, folder: Name) -> list[Path]:
        """Writes the page, the values and the charts into a folder; returns the paths of the files."""
        out = Path(folder)
        if address_of(out) is None:
            out.mkdir(parents=True, exist_ok=True)
        data = json.dumps(to_json(self.as_json()), ensure_ascii=False, indent=1, allow_nan=False)
        texts = {out / f"{self.name}.md": self.as_markdown(), out / f"{self.name}.json": data + "\n"}
        for path, text in texts.items():
            with atomic_file(path) as target:
                target.write_text(text, encoding="utf-8")
        pictures = {
            out / f"{self.name}-{name}.{suffix}": chart
            for name, chart in self.charts.items()
            for suffix in ("svg", "png")
        }
        for path, chart in pictures.items():
            draw(chart, path)
        return [*texts, *pictures]


def format_cell(cell: Cell) -> str:
    """A cell as text: numbers with four significant digits, a dash for None.

    >>> format_cell(81.4000001), format_cell(0.012345), format_cell(None), format_cell("tea"), format_cell(12)
    ('81.4', '0.01235', '–', 'tea', '12')
    """
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return str(float(f"{cell:.4g}")) if abs(cell) < 10_000 else f"{cell:,.0f}"
    return str(cell)


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that results may depend on.

    >>> sorted(versions())[-2:]
    ['python', 'torch']
    """
    found = {"python": platform.python_version()}
    installed = {name: find_version(name) for name in PACKAGES}
    return found | {name: version for name, version in installed.items() if version is not None}


def find_commit() -> str | None:
    """The git commit of the code: that of the checkout, or the variable FIRTH_COMMIT; None for an installation.

    A commit with changes that are not committed ends in "+".
    """
    if named := os.environ.get("FIRTH_COMMIT"):
        return named
    git = ["git", "-C", str(Path(__file__).parent)]
    try:
        found = [
            subprocess.run([*git, *command], capture_output=True, text=True, check=True).stdout.strip()
            for command in (["rev-parse", "HEAD"], ["status", "--porcelain", "--untracked-files=no"])
        ]
    except (OSError, subprocess.CalledProcessError):
        return None
    return found[0] + "+" * bool(found[1])
