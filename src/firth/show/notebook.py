"""Values in a notebook: facts about a model, tables and bars. The terminal shows the same facts."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from firth.show import terminal
from firth.show.curves import TRAINED

Fact = tuple[str, str]
Bars = Sequence[tuple[str, float]]
WIDTH = 100  # characters of a picture
CURVE = (180, 36)  # width and height of a curve, in pixels


def html_table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table for a notebook. Text of any script is escaped and has its own direction; numbers are right-aligned.

    >>> html_table("tea", ["a", "b"], [["<b>", 0.5]]).partition("</th></tr>")[2]
    '<tr><td dir="auto">&lt;b&gt;</td><td style="text-align:right">0.5000</td></tr></table>'
    """
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    lines = ["<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows]
    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<tr>{head}</tr>{''.join(lines)}</table>"


def _cell(value: object) -> str:
    if isinstance(value, HtmlBar):
        return f'<td style="text-align:left"><div style="{value.style}"></div></td>'
    style = 'style="text-align:right"' if isinstance(value, (int, float)) else 'dir="auto"'
    return f"<td {style}>{html.escape(terminal.cell_text(value))}</td>"


@dataclass(frozen=True)
class HtmlBar:
    """A bar in a cell of a table that fills a share of its width."""

    share: float

    @property
    def style(self) -> str:
        """The bar as CSS."""
        return f"background:{TRAINED};height:0.8em;width:{12 * max(0.0, min(1.0, self.share)):.2f}em"


def html_bars(caption: str, columns: tuple[str, str], bars: Bars) -> str:
    """Names, numbers from 0 to 1 and bars as a table."""
    return html_table(caption, [*columns, ""], [(name, value, HtmlBar(value)) for name, value in bars])


def html_layers(caption: str, shares: Sequence[float]) -> str:
    """The weights of the layers of a mix as bars."""
    return html_bars(caption, ("layer", "share"), [(f"layer {layer}", share) for layer, share in enumerate(shares)])


def html_losses(metadata: Mapping[str, Any]) -> str:
    """The loss of each epoch of a training, on held-out text too, as far as the metadata of a model have it.

    >>> html_losses({"loss": [3.0, 2.5]}).count("<tr>"), html_losses({})
    (3, '')
    """
    losses, held_out = (metadata.get(name) for name in ("loss", "held_out_loss"))
    if not isinstance(losses, (list, tuple)) or not all(isinstance(one, (int, float)) for one in losses) or not losses:
        return ""
    others = held_out if isinstance(held_out, (list, tuple)) and len(held_out) == len(losses) else None
    columns = ["epoch", "loss", *(["held out"] if others else [])]
    rows = [[epoch + 1, loss, *([others[epoch]] if others else [])] for epoch, loss in enumerate(losses)]
    return html_training(columns, rows)


def html_training(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """The epochs of a training: the curve of the second column, the loss, and a table that opens on a click.

    >>> html_training(["epoch", "loss"], [[1, 3.0], [2, 2.5]]).count("<details>")
    1
    """
    losses = [float(row[1]) for row in rows]
    if not all(map(math.isfinite, losses)):
        return html_table("training", columns, rows)
    low, reach = min(losses), (max(losses) - min(losses)) or 1.0
    step = CURVE[0] / max(1, len(losses) - 1)
    points = " ".join(f"{i * step:.1f},{CURVE[1] * (1 - (loss - low) / reach):.1f}" for i, loss in enumerate(losses))
    size = f'width="{CURVE[0] + 6}" height="{CURVE[1] + 6}" viewBox="-3 -3 {CURVE[0] + 6} {CURVE[1] + 6}"'
    line = f'<polyline points="{points}" fill="none" stroke="{TRAINED}" stroke-width="1.5"/>'
    ends = f"{terminal.cell_text(losses[0])} to {terminal.cell_text(losses[-1])}"
    title = f"training: {len(rows)} epoch{'s'[: len(rows) > 1]}, {html.escape(columns[1])} {ends}"
    picture = f'<svg {size} role="img" aria-label="{title}">{line}</svg>'
    return f"{picture}<details><summary>{title}</summary>{html_table('', columns, rows)}</details>"


def html_picture(picture: RenderableType) -> str:
    """What rich prints in the terminal as HTML, with its colors."""
    console = Console(file=StringIO(), record=True, width=WIDTH, force_terminal=True, force_jupyter=False)
    console.print(picture)
    style = "white-space:pre-wrap;line-height:1.4;margin:0.3em 0;font-family:monospace"
    return console.export_html(inline_styles=True, code_format=f'<pre dir="auto" style="{style}">{{code}}</pre>')


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
