"""The picture of a training: well-formed, inside its frame, and drawable from next to nothing."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest

from firth.curves import draw_curves

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
