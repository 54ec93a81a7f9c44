"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence


def markdown_table(columns: Sequence[str], rows: Iterable[Iterable[object]], *, right: Collection[int] = ()) -> str:
    r"""A table with a header line. Columns whose numbers are in `right` are right-aligned.

    >>> print(markdown_table(["leaf", "minutes"], [("black|green", 4)], right=[1]))
    | leaf | minutes |
    |---|---:|
    | black\|green | 4 |
    """
    rule = "".join("|---:" if place in right else "|---" for place in range(len(columns))) + "|"
    return "\n".join([_line(columns), rule, *map(_line, rows)])


def _line(cells: Iterable[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
