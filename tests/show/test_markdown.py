"""Markdown tables are read back cell by cell."""

from __future__ import annotations

import re

from firth.show.markdown import markdown_table


def test_cells_are_read_back_although_they_hold_borders_and_line_ends() -> None:
    rows = [("a|b", "first\nsecond"), ("", 3)]
    header, rule, *lines = markdown_table(["left", "right"], rows, right=[1]).splitlines()
    assert (header, rule) == ("| left | right |", "|---|---:|")
    cells = [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    assert cells == [["a|b", "first second"], ["", "3"]]


def test_a_table_without_rows_has_a_header() -> None:
    assert markdown_table(["a"], []) == "| a |\n|---|"
