"""Facts about a model as a table, in the terminal and in a notebook."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

Fact = tuple[str, str]


def make_printable(word: str) -> str:
    """A word that can be printed: bytes that were not UTF-8, kept as lone surrogates, become question marks."""
    return word.encode("utf-8", "replace").decode("utf-8")


def describe_origin(metadata: Mapping[str, Any]) -> str:
    """The origin of vectors, as far as their metadata has it."""
    values = [metadata[name] for name in ("source", "path", "recipe", "format", "model") if metadata.get(name)]
    values = [value.get("name", "") if isinstance(value, Mapping) else value for value in values]
    return ", ".join(str(value) for value in values if value)


def as_table(title: str, facts: Sequence[Fact]) -> Table:
    """The facts as a table for the terminal."""
    table = Table(title=title, show_header=False, title_justify="left")
    table.add_column(style="bold")
    table.add_column()
    for name, value in facts:
        table.add_row(name, Text(value))
    return table


def as_html(title: str, facts: Sequence[Fact]) -> str:
    """The facts as an HTML table for a notebook; right-to-left words have their direction.

    >>> as_html("Tea", [("words", "<unk>")])
    '<table><caption>Tea</caption><tr><th>words</th><td dir="auto">&lt;unk&gt;</td></tr></table>'
    """
    rows = "".join(f'<tr><th>{name}</th><td dir="auto">{html.escape(value)}</td></tr>' for name, value in facts)
    return f"<table><caption>{html.escape(title)}</caption>{rows}</table>"
