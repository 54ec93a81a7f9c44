"""Output for the terminal: tables, bars, heat maps, scatter plots and progress bars, for rich to print."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.progress import BarColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.progress import ProgressColumn as Column
from rich.table import Table
from rich.text import Text

from firth.progress import Progress, Report, silent
from firth.show.bidi import Cell, isolate
from firth.show.numbers import abbreviate
from firth.show.streams import tell

LOG_SECONDS = 15.0
EIGHTHS = " ▏▎▍▌▋▊▉█"


def bar(share: float, width: int = 24, *, ascii: bool = False) -> str:
    """A bar that fills `share` of the width, to an eighth of a character.

    >>> bar(0.5, 4), bar(0.5, 4, ascii=True)
    ('██', '##')
    """
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    if ascii:
        return "#" * (eighths // 8)
    return "█" * (eighths // 8) + (EIGHTHS[eighths % 8] if eighths % 8 else "")


@dataclass(frozen=True)
class Bar:
    """A bar that rich prints: in blocks, or in # if the terminal has only ASCII. In a narrow terminal it is shorter."""

    share: float
    width: int = 24

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = min(self.width, options.max_width)
        yield Text(bar(self.share, width, ascii=options.ascii_only), style="cyan")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, self.width)


class DataTable(Table):
    """A table that keeps its values, so that programs get them in full."""

    records: list[tuple[object, ...]]


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> DataTable:
    """A plain table: numbers are right-aligned, words left-aligned."""
    grid = _new_table(title)
    grid.records = [tuple(value for value in row if not isinstance(value, Bar)) for row in rows]
    for i, name in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[i], (int, float, np.number)) for row in rows)
        grid.add_column(Cell(name), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        grid.add_row(*[value if isinstance(value, Bar) else Cell(cell_text(value)) for value in row])
    return grid


def _new_table(title: str) -> DataTable:
    return DataTable(
        title=Cell(title) if title else None, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold"
    )


def tab_separated(values: Sequence[object]) -> str:
    r"""Values as a line with tabs between them: floats have six digits, None is empty, white space is a space.

    >>> tab_separated(["tea\ttime", 1234567, 0.123456789, None])
    'tea time\t1234567\t0.123457\t\n'
    """
    cells = [f"{value:.6g}" if isinstance(value, (float, np.floating)) else value for value in values]
    return "\t".join("" if cell is None else re.sub(r"[\t\r\n]+", " ", str(cell).strip()) for cell in cells) + "\n"


def cell_text(value: object) -> str:
    """A value as the text of a cell: thousands are grouped, floats have four digits, None is a dash.

    >>> cell_text(1234567), cell_text(0.73219), cell_text(None)
    ('1,234,567', '0.7322', '–')
    """
    if value is None:
        return "–"
    if isinstance(value, (bool, str)):
        return str(value)
    if isinstance(value, (int, np.integer)):
        return f"{value:,}"
    if not isinstance(value, (float, np.floating)):
        return str(value)
    size = abs(float(value))
    return f"{value:,.4g}" if size >= 1e5 or 0 < size < 1e-3 else f"{value:,.4f}"


def bars(
    title: str,
    pairs: Sequence[tuple[str, float]],
    *,
    header: tuple[str, str] = ("word", "value"),
    width: int = 24,
) -> DataTable:
    """Words with their values and bars; the longest bar is the largest value."""
    largest = max((abs(value) for _, value in pairs), default=0.0) or 1.0
    return table(title, [*header, ""], [(word, value, Bar(abs(value) / largest, width)) for word, value in pairs])


def heat(title: str, matrix: NDArray[np.floating], rows: Sequence[str], columns: Sequence[str]) -> DataTable:
    """A small matrix as a heat map: larger numbers have a stronger color."""
    largest = float(np.max(np.abs(matrix), initial=0.0)) or 1.0
    grid = _new_table(title)
    grid.records = [(name, *line.tolist()) for name, line in zip(rows, matrix)]
    grid.add_column("")
    for name in columns:
        grid.add_column(Cell(name), justify="right")
    for name, line in zip(rows, matrix):
        cells: list[Text] = [Cell(name, style="bold")]
        for value in line:
            number = f"{value:g}" if float(value).is_integer() else f"{value:.2f}"
            depth = abs(value) / largest
            style = "dim" if not value else "bold cyan" if depth > 2 / 3 else "cyan" if depth > 1 / 3 else ""
            cells.append(Text(number if value else ".", style=style))
        grid.add_row(*cells)
    return grid


def scatter(words: Sequence[str], points: NDArray[np.floating], *, width: int = 72, height: int = 18) -> str:
    """Words on a grid by two coordinates. A word that would overlap another moves to the nearest free line.

    The width of a word is that of its cells: a Chinese character has two, a combining mark none.

    >>> print(scatter(["tea", "dog"], np.array([[0.0, 0.0], [1.0, 1.0]]), width=12, height=2))
             dog
    tea
    """
    low, span = points.min(axis=0), np.ptp(points, axis=0)
    span = np.where(span > 0, span, 1.0)
    grid = [[" "] * width for _ in range(height)]
    for word, (x, y) in zip(words, (points - low) / span):
        cells = cell_len(word)
        room = max(0, width - cells)
        column = round(float(x) * room)
        target = round((1 - float(y)) * (height - 1))
        for line in sorted(range(height), key=lambda i: abs(i - target)):
            left, right = max(0, column - 1), column + cells + 1
            if all(cell == " " for cell in grid[line][left:right]):
                grid[line][column : column + cells] = [isolate(word), *[""] * (cells - 1)]
                break
    return "\n".join("".join(line).rstrip() for line in grid)


class _Rate(Column):
    """Units per second, over the whole task."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        if not speed:
            return Text("")
        unit = str(task.fields.get("unit", ""))
        return Text(f"{abbreviate(speed)} {unit}/s", style="cyan")


class _Values(Column):
    """Other values of a report, such as the loss and the learning rate."""

    def render(self, task: Task) -> Text:
        return Text("  ".join(f"{name} {abbreviate(value)}" for name, value in task.fields.get("values", {}).items()))


class ProgressLog:
    """Writes a line about the progress on standard error, at most one every `LOG_SECONDS`."""

    def __init__(self) -> None:
        self.written, self.starts = time.monotonic(), dict[str, tuple[float, float]]()

    def __call__(self, now: Progress) -> None:
        """Writes the progress if the last line is old enough."""
        clock = time.monotonic()
        begin, done = self.starts.setdefault(now.step, (clock, now.done))
        if clock - self.written < LOG_SECONDS:
            return
        self.written = clock
        share = "" if now.share is None else f" {now.share:.0%}"
        speed = (now.done - done) / (clock - begin) if clock > begin else 0.0
        parts = [f"{now.step}{share}", f"{abbreviate(speed)} {now.unit}/s" if speed else ""]
        parts += [f"{name} {abbreviate(value)}" for name, value in now.values.items()]
        tell("  ".join(filter(None, parts)))


@contextmanager
def progress(shown: bool = True) -> Iterator[Report]:
    """Progress on standard error: bars with rate and remaining time, or lines now and then if it is no terminal.

    In a notebook the bars are below the cell.
    """
    console = Console(stderr=True)
    if not shown:
        yield silent
        return
    if not console.is_terminal and not console.is_jupyter:
        yield ProgressLog()
        return
    columns = [TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"), _Rate()]
    with Bars(*columns, _Values(), TimeRemainingColumn(), console=console, transient=True) as drawn:
        tasks: dict[str, TaskID] = {}

        def report(now: Progress) -> None:
            if now.step not in tasks:
                tasks[now.step] = drawn.add_task(now.step, total=now.total, unit=now.unit, values={})
            drawn.update(tasks[now.step], completed=now.done, total=now.total, values=now.values)

        yield report


def stdout() -> Console:
    """The console for results, as wide as the terminal; it has colors only in a terminal."""
    return Console(file=sys.stdout, soft_wrap=False, highlight=False)
