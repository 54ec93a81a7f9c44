"""Findings: Markdown, JSON and files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from firth.show.charts import BarChart
from firth.studies.findings import Findings, ResultTable, format_cell

TABLE = ResultTable("Tea", ("leaf", "minutes", "price"), (("black", 4, None), ("green", 2.5, None)), "Loose leaves.")
FINDINGS = Findings("tea", "All about tea", "How it was made.\n", (TABLE,), values={"best": float("nan")})


def test_columns_of_numbers_are_right_aligned_and_the_note_is_below() -> None:
    lines = TABLE.as_markdown().splitlines()
    assert lines[3] == "|---|---:|---|"  # a column without values is not a column of numbers
    assert lines[4] == "| black | 4 | – |"
    assert lines[-1] == "Loose leaves."


@pytest.mark.parametrize(
    ("cell", "text"), [(0.123456, "0.1235"), (12_345.6, "12,346"), (-0.00001, "-1e-05"), (True, "True"), (None, "–")]
)
def test_numbers_have_four_significant_digits(cell: float | None, text: str) -> None:
    assert format_cell(cell) == text


def test_a_page_has_its_title_its_text_and_its_tables() -> None:
    parts = FINDINGS.as_markdown().split("\n\n")
    assert parts[:3] == ["# All about tea", "How it was made.", "**Tea**"]


def test_the_files_are_those_that_are_returned(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    chart = BarChart("Minutes", "min", ("black",), {"leaf": [4.0]})
    findings = Findings("tea", "Tea", "About", (TABLE,), {"bars": chart}, {"best": float("nan")})
    written = findings.write(tmp_path / "out")
    assert {path.name for path in written} == {"tea.md", "tea.json", "tea-bars.svg", "tea-bars.png"}
    assert set((tmp_path / "out").iterdir()) == set(written)
    values = json.loads((tmp_path / "out" / "tea.json").read_text())
    assert values["best"] is None
    assert values["tables"][0]["rows"][0] == ["black", 4, None]
    assert "![Minutes](tea-bars.svg)" in (tmp_path / "out" / "tea.md").read_text()
