"""The picture of a training: well-formed, inside its frame, and drawable from next to nothing."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest

from firth.show.curves import LEFT, RIGHT, WIDTH, _legend, draw_curves

CURVE = [{"tokens": 1000.0 * i, "perplexity": 900 / (i + 1), "rate": 1e-3 / (i + 1), "norm": 2.0} for i in range(50)]


def test_lines_stay_inside_the_picture_and_fall_where_perplexity_falls() -> None:
    picture = ElementTree.fromstring(draw_curves(CURVE, [{"tokens": 100.0, "average": 500.0}]))
    width, height = int(picture.attrib["width"]), int(picture.attrib["height"])
    lines = picture.findall("{*}polyline")
    assert len(lines) == 4
    points = [[tuple(map(float, pair.split(","))) for pair in line.attrib["points"].split()] for line in lines]
    assert all(0 <= x <= width and 0 <= y <= height for line in points for x, y in line)
    assert points[0] == sorted(points[0])  # to the right, and downwards


@pytest.mark.parametrize("curve", [[], CURVE[:1], [{"tokens": 0, "perplexity": math.inf, "rate": 0.0, "norm": 0.0}]])
def test_next_to_nothing_is_drawn_too(curve: list[dict[str, float]]) -> None:
    assert ElementTree.fromstring(draw_curves(curve)).tag.endswith("svg")


@pytest.mark.parametrize("names", [["in training", "held out"], ["a", "a name of some length", "b"], ["held out"]])
def test_names_in_the_legend_lie_side_by_side(names: list[str]) -> None:
    parts = _legend([(name, "red") for name in names])
    legend = ElementTree.fromstring("<g>" + "".join(parts) + "</g>")
    begins = {text.text: int(text.attrib["x"]) for text in legend.findall("text")}
    dashes = sorted(int(path.attrib["d"][1:].split()[0]) for path in legend.findall("path"))
    assert sorted(begins, key=begins.__getitem__) == names
    ends = [begins[name] + 6 * len(name) for name in names]  # a letter takes less than six pixels on average
    assert all(end < dash for end, dash in zip(ends, dashes[1:]))
    assert all(dash + 14 < begins[name] for dash, name in zip(dashes, names))
    assert dashes[0] > LEFT
    assert ends[-1] <= WIDTH - RIGHT
