"""Training curves as SVG, drawn without a plotting library."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from firth.show.numbers import abbreviate

Point = tuple[float, float]
Points = Sequence[Point]
WIDTH, LEFT, RIGHT = 640, 64, 16
DASH, LETTER = 20, 6  # of the legend: width of a dash with its gap, and of a letter
INK, PALE, TRAINED, HELD_OUT = "#44515c", "#dfe5ea", "#4c8dae", "#d1603d"
HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
    'font-family="system-ui, sans-serif" font-size="11" fill="{ink}">'
)


def draw_curves(curve: Sequence[Mapping[str, float]], evaluations: Sequence[Mapping[str, float]] = ()) -> str:
    """Perplexity on training and held-out text, the learning rate and the gradient norm, by tokens.

    >>> picture = draw_curves([{"tokens": 0, "perplexity": 90, "rate": 1, "norm": 2}], [{"tokens": 5, "average": 80}])
    >>> picture.startswith("<svg") and picture.count("<polyline")
    4
    """
    trained = [(point["tokens"], point["perplexity"]) for point in curve]
    held_out = [(point["tokens"], point["average"]) for point in evaluations]
    last = max([x for x, _ in (*trained, *held_out)], default=1.0) or 1.0
    parts = [HEAD.format(width=WIDTH, height=430, ink=INK)]
    parts.append(f'<rect width="{WIDTH}" height="430" fill="white"/>')
    parts += _panel("perplexity", (24, 230), last, [(trained, TRAINED, 1.2), (held_out, HELD_OUT, 2.0)])
    for x, y in _position(held_out, (24, 230), last, [*trained, *held_out]):
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{HELD_OUT}"/>')
    parts += _legend([("in training", TRAINED), *([("held out", HELD_OUT)] if held_out else [])])
    parts += _panel("learning rate", (286, 50), last, [([(p["tokens"], p["rate"]) for p in curve], INK, 1.2)])
    parts += _panel("gradient", (356, 50), last, [([(p["tokens"], p["norm"]) for p in curve], INK, 1.0)])
    parts.append(_text(WIDTH - RIGHT, 424, f"{abbreviate(last)} tokens", "end"))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(title: str, span: tuple[int, int], last: float, lines: Sequence[tuple[Points, str, float]]) -> list[str]:
    """One plot with a logarithmic y axis: a title, ticks and lines."""
    top, height = span
    every = [point for points, _, _ in lines for point in points]
    parts = [_text(LEFT, top - 6, title, "start", bold=True)]
    frame = f'x="{LEFT}" y="{top}" width="{WIDTH - LEFT - RIGHT}" height="{height}"'
    parts.append(f'<rect {frame} fill="none" stroke="{PALE}"/>')
    for value in _ticks([y for _, y in every], 5 if height > 100 else 2):
        ((_, y),) = _position([(0, value)], span, last, every)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="{PALE}"/>')
        parts.append(_text(LEFT - 6, y + 4, abbreviate(value), "end"))
    for points, color, thick in lines:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in _position(points, span, last, every))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{thick}"/>')
    return parts


def _position(points: Points, span: tuple[int, int], last: float, every: Points) -> list[Point]:
    """The pixels of points in a panel, whose y axis covers the logarithms of all values in it."""
    top, height = span
    values = [_log(y) for _, y in every]
    low, high = min(values, default=0.0), max(values, default=1.0)
    reach = (high - low) or 1.0
    wide = WIDTH - LEFT - RIGHT
    return [(LEFT + wide * x / last, top + height * (0.95 - 0.9 * (_log(y) - low) / reach)) for x, y in points]


def _log(value: float) -> float:
    return math.log(max(value, 1e-12)) if math.isfinite(value) else 0.0


def _ticks(values: Sequence[float], most: int) -> list[float]:
    """Round numbers between the smallest and the largest value: 1, 2 and 5 times powers of ten."""
    kept = [value for value in values if math.isfinite(value) and value > 0]
    if not kept:
        return []
    low, high = math.floor(math.log10(min(kept))), math.ceil(math.log10(max(kept)))
    fine = [step * 10.0**power for power in range(low, high + 1) for step in (1, 2, 5)]
    inside = [value for value in fine if min(kept) * 0.999 <= value <= max(kept) * 1.001] or [max(kept)]
    while len(inside) > most:
        inside = inside[::2]
    return inside


def _legend(names: Sequence[tuple[str, str]]) -> list[str]:
    """A dash and a name for each line, aligned to the right edge."""
    parts: list[str] = []
    x = WIDTH - RIGHT
    for name, color in reversed(names):
        x -= DASH + LETTER * len(name)
        parts.append(_text(x + DASH, 16, name, "start"))
        parts.append(f'<path d="M{x} 12h{DASH - 6}" stroke="{color}" stroke-width="3"/>')
        x -= 2 * LETTER
    return parts


def _text(x: float, y: float, words: str, anchor: str, *, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}"{weight}>{words}</text>'
