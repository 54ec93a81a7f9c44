"""Charts of a study: bars, lines and stacks as plain values, drawn by matplotlib as SVG or PNG.

A chart can be made and kept anywhere; only `draw` needs the extra. The same chart gives the same bytes of SVG.
"""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firth.errors import MissingExtra, OptionError
from firth.files import atomic_file
from firth.show.chart_style import COLOURS, MARKERS, SMALL, STYLE, dark, legend, lightness, mixed, paper, short
from firth.show.curves import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Value = float | tuple[float, float] | None
Point = tuple[float, float] | tuple[float, float, float]
SUFFIXES = ".svg", ".png"


@dataclass(frozen=True)
class Bars:
    """Groups of bars, one bar a series in each; a value is a number, or a mean with its deviation, or nothing.

    >>> Bars("Score", "F1", ("ner", "srl"), {"GloVe": (70.0, (60.0, 0.5)), "ELMo": (80.0,)})
    Traceback (most recent call last):
    firth.errors.OptionError: Score: 'ELMo' must have 2 values, one a group, but has 1
    """

    title: str
    y_label: str
    groups: tuple[str, ...]
    series: Mapping[str, Sequence[Value]]

    def __post_init__(self) -> None:
        _check_lengths(self.title, self.groups, self.series)


@dataclass(frozen=True)
class Lines:
    """Lines through points (x, y) or (x, y, deviation of y)."""

    title: str
    x_label: str
    y_label: str
    series: Mapping[str, Sequence[Point]]
    log_x: bool = False


@dataclass(frozen=True)
class Stacks:
    """The parts of a whole, a row a group: what each series has of it. Below a third a part is pale, above two strong.

    >>> Stacks("Layers", ("ner",), {"words": [1.0], "layer 1": [3.0]}).shares()
    [[0.25, 0.75]]
    """

    title: str
    groups: tuple[str, ...]
    series: Mapping[str, Sequence[float]]

    def __post_init__(self) -> None:
        _check_lengths(self.title, self.groups, self.series)
        if any(not value >= 0 for values in self.series.values() for value in values):
            raise OptionError(f"{self.title}: a part of a whole must be a number of at least 0")

    def shares(self) -> list[list[float]]:
        """For each group the part of each series, out of 1."""
        wholes = [sum(values) for values in zip(*self.series.values())]
        return [[values[i] / (wholes[i] or 1.0) for values in self.series.values()] for i in range(len(self.groups))]


Chart = Bars | Lines | Stacks


def _check_lengths(title: str, groups: Sequence[str], series: Mapping[str, Sequence[object]]) -> None:
    for name, values in series.items():
        if len(values) != len(groups):
            raise OptionError(f"{title}: {name!r} must have {len(groups)} values, one a group, but has {len(values)}")


def draw(chart: Chart, path: str | PathLike[str]) -> None:
    """Writes the chart as a picture; the suffix of the path says in which format."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise OptionError(f"{path}: a chart is written as {' or '.join(SUFFIXES)}, not as {suffix or 'this'!r}")
    try:
        import matplotlib
    except ImportError as error:
        raise MissingExtra("drawing charts", "study") from error
    usual: Any = {**matplotlib.rcParamsDefault, **STYLE}  # a person's own style would change the bytes
    unsigned: Any = {"Date": None} if suffix == ".svg" else {"Software": None}
    with matplotlib.rc_context(usual):
        figure = _drawn(chart)
        with atomic_file(path) as draft:
            figure.savefig(draft, format=suffix[1:], dpi=160, metadata=unsigned)


def _drawn(chart: Chart) -> Figure:
    if isinstance(chart, Bars):
        return _bars(chart)
    return _lines(chart) if isinstance(chart, Lines) else _stacks(chart)


def _bars(chart: Bars) -> Figure:
    names, count = list(chart.series), max(1, len(chart.series))
    width = min(11.0, max(5.2, 0.3 * count * len(chart.groups) + 1))
    figure, axes = paper(chart.title, chart.y_label, width, 3.8)
    thick = min(0.4, 0.8 / count)
    drawn: list[tuple[float, float, float]] = []  # where a bar stands, its value and its deviation
    handles = []
    for i, name in enumerate(names):
        places = [group + (i - (count - 1) / 2) * thick for group in range(len(chart.groups))]
        values = [_mean_and_deviation(value) for value in chart.series[name]]
        known = [(place, *value) for place, value in zip(places, values) if value is not None]
        hatch = "//" if i >= len(COLOURS) else None
        heights = [mean for _, mean, _ in known]
        color = COLOURS[i % len(COLOURS)]
        handles.append(axes.bar([place for place, _, _ in known], heights, 0.9 * thick, color=color, hatch=hatch))
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
    legend(figure, handles, names)
    _label_bars(figure, axes, drawn, 0.9 * thick)
    return figure


def _mean_and_deviation(value: Value) -> tuple[float, float] | None:
    if value is None or isinstance(value, tuple):
        return value
    return (value, 0.0) if math.isfinite(value) else None


def _error_bars(axes: Axes, known: Sequence[tuple[float, float, float]]) -> None:
    some = [one for one in known if one[2] > 0]
    places, means, deviations = zip(*some) if some else ((), (), ())
    axes.errorbar(places, means, deviations, fmt="none", ecolor=INK, elinewidth=1, capsize=2, capthick=1)


def _label_bars(figure: Figure, axes: Axes, drawn: Sequence[tuple[float, float, float]], thick: float) -> None:
    """Values at the ends of bars: level where they fit, upright where only that fits, else none."""
    if not drawn:
        return
    figure.draw_without_rendering()
    pixel = 72 / figure.dpi  # in points
    room = pixel * (axes.transData.transform((thick / 0.9, 0)) - axes.transData.transform((0, 0)))[0]
    texts = _labels([mean for _, mean, _ in drawn])
    wide = 0.62 * SMALL * max(map(len, texts)) + 1
    if room < SMALL + 1:
        return
    upright = wide > room
    for (place, mean, deviation), text in zip(drawn, texts):
        down = mean < 0
        end, lift = (mean - deviation, -3) if down else (mean + deviation, 3)
        across, turned = ("center", 90 if upright else 0)
        level = "top" if down else "bottom"
        where: dict[str, Any] = {"xytext": (0, lift), "textcoords": "offset points", "ha": across, "va": level}
        axes.annotate(text, (place, end), rotation=turned, fontsize=SMALL, **where)
    axes.margins(y=0.16 if upright else 0.1)


def _labels(values: Sequence[float]) -> list[str]:
    """Numbers with as many places as the largest needs for three digits.

    >>> _labels([61.23, 5.0]), _labels([0.5, 0.25]), _labels([1234.5, 8])
    (['61.2', '5.0'], ['0.50', '0.25'], ['1,234', '8'])
    """
    largest = max(map(abs, values), default=0.0)
    places = 0 if largest >= 1000 else 1 if largest >= 2 else 2
    return [f"{value:,.{places}f}".replace("-", "−") for value in values]


def _lines(chart: Lines) -> Figure:
    figure, axes = paper(chart.title, chart.y_label, 6.8, 4.0)
    handles = []
    for i, points in enumerate(chart.series.values()):
        kept = sorted(point for point in points if all(map(math.isfinite, point)))
        xs, ys = [point[0] for point in kept], [point[1] for point in kept]
        deviations = [point[2] if len(point) == 3 else 0.0 for point in kept]
        color, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
        size = 5.0 if len(kept) <= 20 else 0.0
        dashes = "--" if i >= len(COLOURS) else "-"
        look: dict[str, Any] = {"color": color, "marker": marker, "linestyle": dashes, "markeredgecolor": "white"}
        if any(deviations):
            axes.errorbar(xs, ys, deviations, fmt="none", ecolor=color, elinewidth=1, capsize=2, alpha=0.7)
        handles += axes.plot(xs, ys, linewidth=1.8, markersize=size, markeredgewidth=0.6, **look)
    _scale(axes, chart)
    axes.set_xlabel(chart.x_label, fontsize=SMALL + 0.5)
    axes.grid(axis="y")
    axes.locator_params(axis="y", nbins=6)
    axes.yaxis.set_major_formatter(lambda value, _: f"{round(value, 9):,g}" if abs(value) < 1e5 else short(value))
    if len(chart.series) > 1 and not _labeled_ends(figure, axes, handles, list(chart.series)):
        legend(figure, handles, list(chart.series))
    return figure


def _scale(axes: Axes, chart: Lines) -> None:
    """Marks under the points themselves where there are few, as powers and round numbers otherwise."""
    xs = sorted({point[0] for points in chart.series.values() for point in points if math.isfinite(point[0])})
    if chart.log_x:
        axes.set_xscale("log")
        if 1 < len(xs) <= 9 and all(b / a > 1.3 for a, b in itertools.pairwise(xs) if a > 0):
            axes.set_xticks(xs)
        axes.minorticks_off()
    axes.xaxis.set_major_formatter(lambda value, _: short(round(value, 9)))


def _labeled_ends(figure: Figure, axes: Axes, handles: Sequence[Any], names: Sequence[str]) -> bool:
    """Writes each name at the end of its line, and says whether there was room to."""
    ends = [(float(line.get_xdata()[-1]), float(line.get_ydata()[-1])) for line in handles if len(line.get_xdata())]
    if len(ends) < len(names) or len({x for x, _ in ends}) > 1:
        return False
    figure.draw_without_rendering()
    pixel = 72 / figure.dpi
    heights = [pixel * float(axes.transData.transform(end)[1]) for end in ends]
    laid = apart(heights, SMALL + 2.5)
    if max(abs(new - old) for new, old in zip(laid, heights)) > 1.5 * SMALL:
        return False
    for name, end, new, old, i in zip(names, ends, laid, heights, itertools.count()):
        where: dict[str, Any] = {"xytext": (7, new - old), "textcoords": "offset points", "va": "center"}
        color = COLOURS[i % len(COLOURS)]
        axes.annotate(name, end, color=dark(color), fontsize=SMALL + 0.5, **where)
    return True


def apart(heights: Sequence[float], step: float) -> list[float]:
    """Heights moved as little as it takes to be a step apart: those that are too near are spread around their mean.

    >>> apart([0, 1, 50], 10)
    [-4.5, 5.5, 50.0]
    """
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    groups: list[list[int]] = []  # places in order that touch
    for i in order:
        groups.append([i])
        while len(groups) > 1 and _spread(groups[-1], heights, step)[0] - _spread(groups[-2], heights, step)[-1] < step:
            last = groups.pop()
            groups[-1] += last
    laid = dict(zip(order, (height for group in groups for height in _spread(group, heights, step))))
    return [laid[i] for i in range(len(heights))]


def _spread(group: Sequence[int], heights: Sequence[float], step: float) -> list[float]:
    middle = sum(heights[i] for i in group) / len(group)
    return [middle + (place - (len(group) - 1) / 2) * step for place in range(len(group))]


def _stacks(chart: Stacks) -> Figure:
    figure, axes = paper(chart.title, "", 6.8, 1.0 + 0.36 * len(chart.groups))
    handles: list[Any] = []
    shares = chart.shares()
    for i in range(len(chart.series)):
        color = COLOURS[i % len(COLOURS)]
        for row, parts in enumerate(shares):
            share, left = parts[i], sum(parts[:i])
            fill = mixed(color, 0.3 if share < 1 / 3 else 0.65 if share <= 2 / 3 else 1.0)
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
    legend(figure, handles, list(chart.series))
    return figure
