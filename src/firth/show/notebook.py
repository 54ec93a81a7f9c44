"""Facts about a model as a table, in the terminal and in a notebook."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

Fact = tuple[str, str]


def describe_origin(metadata: Mapping[str, Any]) -> str:
    """The origin of vectors, as far as their metadata has it."""
    values = [metadata[name] for name in ("source", "path", "recipe", "format", "model") if metadata.get(name)]
    values = [value.get("name", "") if isinstance(value, Mapping) else value for value in values]
    return ", ".join(str(value) for value in values if value)


class FactSheet:
    """Base of models that show facts about themselves as a table, in the terminal and in a notebook.

    >>> class Tea(FactSheet):
    ...     def _facts(self):
    ...         return [("words", "<unk>"), ("dim", "")]
    >>> Tea()._repr_html_()
    '<table><caption>Tea</caption><tr><th>words</th><td dir="auto">&lt;unk&gt;</td></tr></table>'
    """

    def _facts(self) -> list[Fact]:
        raise NotImplementedError

    def facts(self) -> list[Fact]:
        """The names and values of the facts that are known."""
        return [(name, value) for name, value in self._facts() if value]

    def __rich__(self) -> Table:
        table = Table(title=type(self).__name__, show_header=False, title_justify="left")
        table.add_column(style="bold")
        table.add_column()
        for name, value in self.facts():
            table.add_row(name, Text(value))
        return table

    def _repr_html_(self) -> str:
        facts = [(name, html.escape(value)) for name, value in self.facts()]
        rows = "".join(f'<tr><th>{name}</th><td dir="auto">{value}</td></tr>' for name, value in facts)
        return f"<table><caption>{html.escape(type(self).__name__)}</caption>{rows}</table>"
