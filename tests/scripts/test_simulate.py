"""The simulation of clusters: its examples, and the tables of docs/scale.md, which it must print to the letter."""

from __future__ import annotations

import doctest
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def simulation(load_script: Callable[[str], Any]) -> Any:
    return load_script("benchmarks/simulate.py")


def test_examples(simulation: Any) -> None:
    result = doctest.testmod(simulation)
    assert result.attempted > 5
    assert result.failed == 0


@pytest.mark.parametrize("command", [["plan"], ["tasks", "--lifetime", "20"]], ids=" ".join)
def test_the_page_has_the_tables_that_the_program_prints(
    simulation: Any, command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["simulate.py", *command])
    simulation.main()
    lines = [line for line in capsys.readouterr().out.splitlines() if line]
    assert len(lines) > 5
    assert [line for line in lines if line not in PAGE.splitlines()] == []


def test_a_lost_worker_costs_its_task_and_the_notice(simulation: Any) -> None:
    assert simulation.simulate([4.0, 4.0], 2) == 4.0
    assert simulation.simulate([4.0, 4.0], 2, losses=[1.0]) == 8.0  # the other worker does both
    assert simulation.simulate([4.0, 4.0], 2, losses=[1.0], notice=9.0) == 14.0  # from second 10 on
    assert simulation.simulate([1.0] * 6, 3, losses=[1.5, 1.5]) == 4.0
