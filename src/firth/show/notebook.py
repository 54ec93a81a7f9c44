"""How word vectors introduce themselves: in one line, in the terminal, in a notebook."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

Fact = tuple[str, str]
UNITS = ("bytes", "kB", "MB", "GB", "TB")


def format_bytes(size: float) -> str:
    """A size for people.

    >>> format_bytes(480_000_000), format_bytes(12)
    ('480 MB', '12 bytes')
    """
    unit = 0
    while size >= 1000 and unit < len(UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:.3g} {UNITS[unit]}"


def make_printable(word: str) -> str:
    """A word whose odd bytes, kept as lone surrogates, can be shown."""
    return word.encode("utf-8", "replace").decode("utf-8")


def describe_origin(metadata: Mapping[str, Any]) -> str:
    """Where vectors came from, as far as their metadata tells."""
    told = [metadata[name] for name in ("source", "path", "recipe", "format", "model") if metadata.get(name)]
    told = [one.get("name", "") if isinstance(one, Mapping) else one for one in told]
    return ", ".join(str(one) for one in told if one)


def as_table(title: str, facts: Sequence[Fact]) -> Table:
    """The facts as a small table for the terminal."""
    table = Table(title=title, show_header=False, title_justify="left")
    table.add_column(style="bold")
    table.add_column()
    for name, value in facts:
        table.add_row(name, Text(value))
    return table


def as_html(title: str, facts: Sequence[Fact]) -> str:
    """The facts as a table for a notebook; right-to-left words stand as they should.

    >>> as_html("Tea", [("words", "<unk>")])
    '<table><caption>Tea</caption><tr><th>words</th><td dir="auto">&lt;unk&gt;</td></tr></table>'
    """
    rows = "".join(f'<tr><th>{name}</th><td dir="auto">{html.escape(value)}</td></tr>' for name, value in facts)
    return f"<table><caption>{html.escape(title)}</caption>{rows}</table>"
