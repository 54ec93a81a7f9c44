"""Colors of charts."""

from __future__ import annotations

from firth.show.chart_style import COLORS, darken, lightness, mix


def test_mixing_with_full_strength_changes_nothing_and_with_none_gives_the_ground() -> None:
    assert mix("#4c8dae", 1.0) == "#4c8dae"
    assert mix("#4c8dae", 0.0) == "#ffffff"
    assert mix("#4c8dae", 0.0, ground=0) == "#000000"


def test_letters_are_never_light() -> None:
    assert all(lightness(darken(color)) <= 0.6 for color in COLORS)
    assert darken("#000000") == "#000000"
