"""A line chart as SVG that follows the colors of the page."""

from __future__ import annotations

import math
from collections.abc import Sequence

from firth.explorer.markup import Markup, tag
from firth.show.numbers import abbreviate

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 420, 190, 52, 24, 12


def format_level(value: float) -> str:
    """The number beside a line of the grid.

    >>> format_level(0.50561), format_level(12345.6), format_level(0.0000020981)
    ('0.5056', '12.3k', '2e-06')
    >>> format_level(0.0083912)
    '0.00839'
    """
    if 0 < abs(value) < 1e-3:
        return f"{value:.0e}"
    if abs(value) < 0.1:
        return f"{value:.3g}"
    return abbreviate(value) if abs(value) >= 10_000 else f"{value:.4g}"


def round_levels(low: float, high: float) -> list[float]:
    """The round numbers between two limits where lines of the grid stand: two to six, or the limit if both are one.

    >>> round_levels(2.718, 2.821), round_levels(0.0, 97.0), round_levels(3.0, 3.0)
    ([2.75, 2.8], [0.0, 20.0, 40.0, 60.0, 80.0], [3.0])
    """
    if not high > low:
        return [low]
    size = 10.0 ** math.floor(math.log10((high - low) / 5))
    step = next(size * times for times in (1, 2, 5, 10) if size * times >= (high - low) / 5)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


def draw_chart(points: Sequence[tuple[float, float]], label: str, axis: str = "") -> Markup:
    """A curve with lines at round numbers and the limits of its steps; what is not a finite number is left out.

    >>> draw_chart([(0, 1.0), (10, 0.5)], "loss").count("<polyline")
    1
    """
    finite = [(x, y) for x, y in points if abs(y) < float("inf")]
    if not finite:
        return tag("svg", viewBox=f"0 0 {WIDTH} {HEIGHT}", class_="chart", role="img", aria_label=label)
    left, right = min(x for x, _ in finite), max(x for x, _ in finite)
    low, high = min(y for _, y in finite), max(y for _, y in finite)

    def place(x: float, y: float) -> tuple[float, float]:
        across = (x - left) / (right - left) if right > left else 0.5
        up = (y - low) / (high - low) if high > low else 0.5
        return LEFT + across * (WIDTH - LEFT - 10), HEIGHT - BOTTOM - up * (HEIGHT - BOTTOM - TOP)

    path = " ".join("{:.1f},{:.1f}".format(*place(x, y)) for x, y in finite)
    x, y = place(*finite[-1])
    levels = [
        tag("path", d=f"M{LEFT} {place(left, value)[1]:.1f}H{WIDTH - 10}", class_="grid")
        + tag("text", format_level(value), x=LEFT - 6, y=f"{place(left, value)[1] + 4:.1f}", text_anchor="end")
        for value in round_levels(low, high)
    ]
    ends = [
        tag("text", f"{abbreviate(left)}", x=LEFT, y=HEIGHT - 6),
        tag("text", f"{abbreviate(right)} {axis}", x=WIDTH - 10, y=HEIGHT - 6, text_anchor="end"),
    ]
    line = tag("polyline", points=path) + tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=3)
    summary = f"{label}: {finite[0][1]:.4g} → {finite[-1][1]:.4g}"
    return tag(
        "svg", Markup("".join(levels)), *ends, Markup(line), viewBox=f"0 0 {WIDTH} {HEIGHT}", class_="chart",
        role="img", aria_label=summary,
    )  # fmt: skip
