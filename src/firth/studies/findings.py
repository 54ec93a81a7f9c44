"""What a study found: tables and charts for people, values for programs, and the words that say how it was obtained."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from firth.files import Name, atomic_file
from firth.show.charts import Chart, draw
from firth.show.json import to_json
from firth.show.markdown import markdown_table

Cell = str | int | float | None
PACKAGES = "firth", "numpy", "torch", "numba"


@dataclass(frozen=True)
class Table:
    """A table with a title; a note may stand below it.

    >>> print(Table("Tea", ("leaf", "minutes"), (("black", 4.0), ("green", None))).as_markdown())
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
        """The table as Markdown; numbers stand right."""
        right = [place for place in range(len(self.columns)) if self._is_numeric(place)]
        cells = [[format_cell(cell) for cell in row] for row in self.rows]
        table = markdown_table(self.columns, cells, right=right)
        return "\n\n".join([f"**{self.title}**", table, *([self.note] if self.note else [])])

    def _is_numeric(self, place: int) -> bool:
        cells = [row[place] for row in self.rows if row[place] is not None]
        return bool(cells) and all(isinstance(cell, (int, float)) for cell in cells)


@dataclass(frozen=True)
class Findings:
    """What a study found, ready to be written."""

    name: str
    title: str
    about: str
    tables: tuple[Table, ...]
    charts: Mapping[str, Chart] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)

    def as_markdown(self) -> str:
        """Everything as one page; the charts are files that lie beside it."""
        parts = [f"# {self.title}", self.about.strip(), *(table.as_markdown() for table in self.tables)]
        parts += [f"![{chart.title}]({self.name}-{name}.svg)" for name, chart in self.charts.items()]
        return "\n\n".join(parts) + "\n"

    def as_json(self) -> dict[str, Any]:
        """The tables and all values, with the versions of what summed them up."""
        told = {"study": self.name, "title": self.title, "versions": versions()}
        return told | {"tables": [asdict(table) for table in self.tables]} | dict(self.values)

    def write(self, folder: Name) -> list[Path]:
        """Writes the page, the values and the charts into a folder; says which files these are."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        page, values = place / f"{self.name}.md", place / f"{self.name}.json"
        data = json.dumps(to_json(self.as_json()), ensure_ascii=False, indent=1, allow_nan=False)
        texts = {page: self.as_markdown(), values: data + "\n"}
        for path, text in texts.items():
            with atomic_file(path) as target:
                target.write_text(text, encoding="utf-8")
        pictures = [place / f"{self.name}-{name}.{kind}" for name in self.charts for kind in ("svg", "png")]
        for name, chart in self.charts.items():
            for kind in ("svg", "png"):
                draw(chart, place / f"{self.name}-{name}.{kind}")
        return [page, values, *pictures]


def format_cell(cell: Cell) -> str:
    """A cell as people read it: four places that count, a dash for nothing.

    >>> format_cell(81.4000001), format_cell(0.012345), format_cell(None), format_cell("tea"), format_cell(12)
    ('81.4', '0.01235', '–', 'tea', '12')
    """
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return str(float(f"{cell:.4g}")) if abs(cell) < 10_000 else f"{cell:,.0f}"
    return str(cell)


def versions() -> dict[str, str]:
    """Python and the packages here, which results may depend on.

    >>> sorted(versions())[-2:]
    ['python', 'torch']
    """
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # run from a checkout that is not installed
            continue
    return found
