"""Charts of a study: bars, lines and stacked bars as plain values, drawn by matplotlib as SVG or PNG.

Only `draw` needs matplotlib. The same chart gives the same bytes of SVG.
"""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firth.errors import OptionError
from firth.files import atomic_file
from firth.lazy import import_name
from firth.show.chart_style import COLORS, MARKERS, SMALL, STYLE, add_legend, darken, lightness, mix, new_figure
from firth.show.curves import INK
from firth.show.numbers import abbreviate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Value = float | tuple[float, float] | None
Point = tuple[float, float] | tuple[float, float, float]
SUFFIXES = ".svg", ".png"


@dataclass(frozen=True)
class BarChart:
    """Groups of bars with one bar per series. A value is a number, a mean with its standard deviation, or None.

    >>> BarChart("Score", "F1", ("ner", "srl"), {"GloVe": (70.0, (60.0, 0.5)), "ELMo": (80.0,)})
    Traceback (most recent call last):
    firth.errors.OptionError: Score: 'ELMo' must have 2 values, one per group, but has 1
    """

    title: str
    y_label: str
    groups: tuple[str, ...]
    series: Mapping[str, Sequence[Value]]

    def __post_init__(self) -> None:
        _check_lengths(self.title, self.groups, self.series)


@dataclass(frozen=True)
class LineChart:
    """Lines through points (x, y) or (x, y, standard deviation of y)."""

    title: str
    x_label: str
    y_label: str
    series: Mapping[str, Sequence[Point]]
    log_x: bool = False


@dataclass(frozen=True)
class StackedBarChart:
    """Stacked horizontal bars: for each group, the share of each series. Shares below 1/3 are pale, above 2/3 strong.

    >>> StackedBarChart("Layers", ("ner",), {"words": [1.0], "layer 1": [3.0]}).shares()
    [[0.25, 0.75]]
    """

    title: str
    groups: tuple[str, ...]
    series: Mapping[str, Sequence[float]]

    def __post_init__(self) -> None:
        _check_lengths(self.title, self.groups, self.series)
        if any(not value >= 0 for values in self.series.values() for value in values):
            raise OptionError(f"{self.title}: a share must be a number of at least 0")

    def shares(self) -> list[list[float]]:
        """The share of each series in each group."""
        totals = [sum(values) for values in zip(*self.series.values())]
        return [[values[i] / (totals[i] or 1.0) for values in self.series.values()] for i in range(len(self.groups))]


Chart = BarChart | LineChart | StackedBarChart


def _check_lengths(title: str, groups: Sequence[str], series: Mapping[str, Sequence[object]]) -> None:
    for name, values in series.items():
        if len(values) != len(groups):
            raise OptionError(f"{title}: {name!r} must have {len(groups)} values, one per group, but has {len(values)}")


def draw(chart: Chart, path: str | PathLike[str]) -> None:
    """Writes the chart as an image; the extension of the path selects the format."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise OptionError(f"{path}: a chart is written as {' or '.join(SUFFIXES)}, not as {suffix or 'this'!r}")
    no_metadata: Any = {"Date": None} if suffix == ".svg" else {"Software": None}
    with plot_style():
        figure = make_figure(chart)
        with atomic_file(path) as draft:
            figure.savefig(draft, format=suffix[1:], dpi=160, metadata=no_metadata)


@contextmanager
def plot_style() -> Iterator[None]:
    """The style of charts; the user's own style, which would change the bytes of files, is back afterwards."""
    matplotlib = import_name("matplotlib", "drawing charts", "study")
    style: Any = {**matplotlib.rcParamsDefault, **STYLE}
    style.pop("backend", None)
    with matplotlib.rc_context(style):
        yield


def make_figure(chart: Chart) -> Figure:
    """The chart as a figure of matplotlib."""
    with plot_style():
        if isinstance(chart, BarChart):
            return _draw_bars(chart)
        return _draw_lines(chart) if isinstance(chart, LineChart) else _draw_stacked_bars(chart)


def _draw_bars(chart: BarChart) -> Figure:
    names, count = list(chart.series), max(1, len(chart.series))
    width = min(11.0, max(5.2, 0.3 * count * len(chart.groups) + 1))
    figure, axes = new_figure(chart.title, chart.y_label, width, 3.8)
    bar_width = min(0.4, 0.8 / count)
    drawn: list[tuple[float, float, float]] = []  # position, value and deviation of each bar
    handles = []
    for i, name in enumerate(names):
        places = [group + (i - (count - 1) / 2) * bar_width for group in range(len(chart.groups))]
        values = [_mean_and_deviation(value) for value in chart.series[name]]
        known = [(place, *value) for place, value in zip(places, values) if value is not None]
        hatch = "//" if i >= len(COLORS) else None
        heights = [mean for _, mean, _ in known]
        color = COLORS[i % len(COLORS)]
        handles.append(axes.bar([place for place, _, _ in known], heights, 0.9 * bar_width, color=color, hatch=hatch))
        _error_bars(axes, known)
        drawn += known
        for place, value in zip(places, values):
            if value is None:
                axes.annotate("–", (place, 0), ha="center", va="bottom", fontsize=SMALL)
    room = max(8, int(12 * (width - 0.8) / max(1, len(chart.groups))))  # characters that fit under a group
    folded = [textwrap.fill(group, room, break_long_words=False) for group in chart.groups]
    axes.set_xticks(range(len(chart.groups)), folded)
    axes.set_xlim(-0.5, max(0.5, len(chart.groups) - 0.5))
    axes.grid(axis="y")
    axes.locator_params(axis="y", nbins=5)
    if any(mean < 0 for _, mean, _ in drawn):
        axes.axhline(0, color=INK, linewidth=0.8)
    add_legend(figure, handles, names)
    _label_bars(figure, axes, drawn, 0.9 * bar_width)
    return figure


def _mean_and_deviation(value: Value) -> tuple[float, float] | None:
    if value is None or isinstance(value, tuple):
        return value
    return (value, 0.0) if math.isfinite(value) else None


def _error_bars(axes: Axes, known: Sequence[tuple[float, float, float]]) -> None:
    some = [one for one in known if one[2] > 0]
    places, means, deviations = zip(*some) if some else ((), (), ())
    axes.errorbar(places, means, deviations, fmt="none", ecolor=INK, elinewidth=1, capsize=2, capthick=1)


def _label_bars(figure: Figure, axes: Axes, drawn: Sequence[tuple[float, float, float]], bar_width: float) -> None:
    """Writes the values at the ends of bars: horizontally if they fit, else vertically, else not at all."""
    if not drawn:
        return
    figure.draw_without_rendering()
    pixel = 72 / figure.dpi  # in points
    room = pixel * (axes.transData.transform((bar_width / 0.9, 0)) - axes.transData.transform((0, 0)))[0]
    texts = _format_values([mean for _, mean, _ in drawn])
    text_width = 0.62 * SMALL * max(map(len, texts)) + 1
    if room < SMALL + 1:
        return
    upright = text_width > room
    for (place, mean, deviation), text in zip(drawn, texts):
        end, offset = (mean - deviation, -3) if mean < 0 else (mean + deviation, 3)
        side = "top" if mean < 0 else "bottom"
        where: dict[str, Any] = {"xytext": (0, offset), "textcoords": "offset points", "ha": "center", "va": side}
        axes.annotate(text, (place, end), rotation=90 if upright else 0, fontsize=SMALL, **where)
    axes.margins(y=0.16 if upright else 0.1)


def _format_values(values: Sequence[float]) -> list[str]:
    """Numbers with as many decimals as the largest one needs for three digits.

    >>> _format_values([61.23, 5.0]), _format_values([0.5, 0.25]), _format_values([1234.5, 8])
    (['61.2', '5.0'], ['0.50', '0.25'], ['1,234', '8'])
    """
    largest = max(map(abs, values), default=0.0)
    places = 0 if largest >= 1000 else 1 if largest >= 2 else 2
    return [f"{value:,.{places}f}".replace("-", "−") for value in values]


def _draw_lines(chart: LineChart) -> Figure:
    figure, axes = new_figure(chart.title, chart.y_label, 6.8, 4.0)
    handles = []
    for i, points in enumerate(chart.series.values()):
        kept = sorted(point for point in points if all(map(math.isfinite, point)))
        xs, ys = [point[0] for point in kept], [point[1] for point in kept]
        deviations = [point[2] if len(point) == 3 else 0.0 for point in kept]
        color, marker = COLORS[i % len(COLORS)], MARKERS[i % len(MARKERS)]
        size = 5.0 if len(kept) <= 20 else 0.0
        dashes = "--" if i >= len(COLORS) else "-"
        look: dict[str, Any] = {"color": color, "marker": marker, "linestyle": dashes, "markeredgecolor": "white"}
        if any(deviations):
            axes.errorbar(xs, ys, deviations, fmt="none", ecolor=color, elinewidth=1, capsize=2, alpha=0.7)
        handles += axes.plot(xs, ys, linewidth=1.8, markersize=size, markeredgewidth=0.6, **look)
    _set_x_axis(axes, chart)
    axes.set_xlabel(chart.x_label, fontsize=SMALL + 0.5)
    axes.grid(axis="y")
    axes.locator_params(axis="y", nbins=6)
    axes.yaxis.set_major_formatter(
        lambda value, _: f"{round(value, 9):,g}" if abs(value) < 1e5 else abbreviate(value, 6)
    )
    if len(chart.series) > 1 and not _label_ends(figure, axes, handles, list(chart.series)):
        add_legend(figure, handles, list(chart.series))
    return figure


def _set_x_axis(axes: Axes, chart: LineChart) -> None:
    """Puts the ticks at the points themselves if there are few."""
    xs = sorted({point[0] for points in chart.series.values() for point in points if math.isfinite(point[0])})
    if chart.log_x:
        axes.set_xscale("log")
        if 1 < len(xs) <= 9 and all(b / a > 1.3 for a, b in itertools.pairwise(xs) if a > 0):
            axes.set_xticks(xs)
        axes.minorticks_off()
    axes.xaxis.set_major_formatter(lambda value, _: abbreviate(round(value, 9), 6))


def _label_ends(figure: Figure, axes: Axes, handles: Sequence[Any], names: Sequence[str]) -> bool:
    """Writes each name at the end of its line. Returns False if they do not fit."""
    ends = [(float(line.get_xdata()[-1]), float(line.get_ydata()[-1])) for line in handles if len(line.get_xdata())]
    if len(ends) < len(names) or len({x for x, _ in ends}) > 1:
        return False
    figure.draw_without_rendering()
    pixel = 72 / figure.dpi
    heights = [pixel * float(axes.transData.transform(end)[1]) for end in ends]
    spread = spread_apart(heights, SMALL + 2.5)
    if max(abs(new - old) for new, old in zip(spread, heights)) > 1.5 * SMALL:
        return False
    for name, end, new, old, i in zip(names, ends, spread, heights, itertools.count()):
        where: dict[str, Any] = {"xytext": (7, new - old), "textcoords": "offset points", "va": "center"}
        color = COLORS[i % len(COLORS)]
        axes.annotate(name, end, color=darken(color), fontsize=SMALL + 0.5, **where)
    return True


def spread_apart(heights: Sequence[float], step: float) -> list[float]:
    """Heights that are at least a step apart: those that are too close are spread around their mean.

    >>> spread_apart([0, 1, 50], 10)
    [-4.5, 5.5, 50.0]
    """
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    groups: list[list[int]] = []  # runs of heights that touch
    for i in order:
        groups.append([i])
        while len(groups) > 1 and _spread(groups[-1], heights, step)[0] - _spread(groups[-2], heights, step)[-1] < step:
            last = groups.pop()
            groups[-1] += last
    moved = dict(zip(order, (height for group in groups for height in _spread(group, heights, step))))
    return [moved[i] for i in range(len(heights))]


def _spread(group: Sequence[int], heights: Sequence[float], step: float) -> list[float]:
    middle = sum(heights[i] for i in group) / len(group)
    return [middle + (place - (len(group) - 1) / 2) * step for place in range(len(group))]


def _draw_stacked_bars(chart: StackedBarChart) -> Figure:
    figure, axes = new_figure(chart.title, "", 6.8, 1.0 + 0.36 * len(chart.groups))
    handles: list[Any] = []
    shares = chart.shares()
    for i in range(len(chart.series)):
        color = COLORS[i % len(COLORS)]
        for row, parts in enumerate(shares):
            share, left = parts[i], sum(parts[:i])
            fill = mix(color, 0.3 if share < 1 / 3 else 0.65 if share <= 2 / 3 else 1.0)
            bar = axes.barh(row, share, 0.72, left, color=fill, edgecolor="white", linewidth=1.5)
            if share >= 0.05:
                ink = "white" if share > 2 / 3 and lightness(fill) < 0.6 else INK
                axes.text(left + share / 2, row, f"{share:.2f}", ha="center", va="center", color=ink, fontsize=SMALL)
            if row == 0:
                handles.append(type(bar.patches[0])((0, 0), 1, 1, facecolor=color))
    axes.set_yticks(range(len(chart.groups)), chart.groups)
    axes.set_xticks([])
    axes.set(xlim=(0, 1), ylim=(len(chart.groups) - 0.5, -0.5))
    axes.spines["bottom"].set_visible(False)
    add_legend(figure, handles, list(chart.series))
    return figure
