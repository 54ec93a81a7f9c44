"""Charts: from corner to corner, without what is not a number."""

from __future__ import annotations

import re

import numpy as np

from firth.explorer.chart import draw_chart, format_level, round_levels


def test_a_curve_runs_from_corner_to_corner_and_leaves_out_what_is_not_finite() -> None:
    shown = draw_chart([(0, 2.0), (5, float("nan")), (10, 1.0)], "loss", "step")
    found = re.search(r'points="([^"]*)"', shown)
    assert found is not None
    assert found[1] == "52.0,12.0 410.0,166.0"
    assert "loss: 2 → 1" in shown
    assert "polyline" not in draw_chart([(0, float("inf"))], "loss")
    assert draw_chart([(0, 1.0)], "loss").count("<circle") == 1
    assert format_level(1.23456) == "1.235"


def test_lines_of_the_grid_stand_at_round_numbers_within_the_curve() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        low = float(rng.normal() * 10.0 ** int(rng.integers(-3, 6)))
        high = low + float(rng.uniform(0.5, 9)) * 10.0 ** int(rng.integers(-2, 4))
        levels = round_levels(low, high)
        assert 2 <= len(levels) <= 6
        assert low - 1e-6 * abs(low) <= levels[0] < levels[-1] <= high + 1e-6 * abs(high)
    assert re.findall(r">([\d.]+)</text>", draw_chart([(0, 2.821), (4, 2.718)], "loss"))[:2] == ["2.75", "2.8"]
