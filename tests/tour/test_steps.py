"""The steps of the tour in order."""

from __future__ import annotations

from pathlib import Path

import pytest

from firth.tour import steps
from firth.tour.counting import tokenize
from firth.tour.materials import TourStep


def test_every_step_is_visited_with_its_number_as_soon_as_it_is_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(steps, "STEPS", (tokenize, tokenize))
    visited: list[tuple[int, TourStep]] = []
    made = steps.run_tour((), lambda number, step: visited.append((number, step)))
    assert visited == [(1, made[0]), (2, made[1])]
    assert made[0].title == "Tokens"
    assert steps.run_tour() == made
