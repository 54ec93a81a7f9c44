"""Charts: from corner to corner, without what is not a number."""

from __future__ import annotations

import re

from firth.explorer.chart import draw_chart, format_level


def test_a_curve_runs_from_corner_to_corner_and_leaves_out_what_is_not_finite() -> None:
    shown = draw_chart([(0, 2.0), (5, float("nan")), (10, 1.0)], "loss", "step")
    found = re.search(r'points="([^"]*)"', shown)
    assert found is not None
    assert found[1] == "52.0,12.0 410.0,166.0"
    assert "loss: 2 → 1" in shown
    assert "polyline" not in draw_chart([(0, float("inf"))], "loss")
    assert draw_chart([(0, 1.0)], "loss").count("<circle") == 1
    assert format_level(1.23456) == "1.235"
