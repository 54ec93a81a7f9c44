"""`fit(progress=True)` shows a bar in a terminal and in a notebook, lines elsewhere, and nothing by default."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

import firth
from firth.models.recipes import RECIPES
from firth.progress import Progress
from firth.show import terminal


class Recorded:
    """A stand-in for the bars of rich: their steps, and the console they are drawn on."""

    drawn: list[tuple[str, bool]] = []

    def __init__(self, *columns: object, console: Console, transient: bool) -> None:
        self.console = console

    def __enter__(self) -> Recorded:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def add_task(self, step: str, **values: object) -> int:
        self.drawn.append((step, self.console.is_jupyter))
        return 0

    def update(self, task: int, **values: object) -> None:
        pass


@pytest.mark.parametrize("kind", ["force_terminal", "force_jupyter"])
def test_fit_with_progress_draws_bars(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "Console", lambda stderr: Console(file=io.StringIO(), **{kind: True}))
    monkeypatch.setattr(terminal, "Bars", Recorded)
    monkeypatch.setattr(Recorded, "drawn", [])
    firth.Ngram(order=2).fit(["hot tea", "cold tea"])
    assert Recorded.drawn == []
    firth.Ngram(order=2).fit(["hot tea", "cold tea"], progress=True)
    assert ("reading", kind == "force_jupyter") in Recorded.drawn


def test_a_function_of_the_caller_has_precedence() -> None:
    seen: list[Progress] = []
    firth.Ngram(order=2).fit(["hot tea"], progress=True, report=seen.append)
    assert seen


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_has_the_parameter(name: str) -> None:
    recipe: Any = RECIPES[name]
    with pytest.raises(firth.FirthError, match="progress is 'yes', but must be true or false"):
        recipe().fit(["hot tea"], progress="yes")
