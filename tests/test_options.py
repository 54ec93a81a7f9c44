"""Recipes check their options once, and say what is wrong and what would be right."""

from __future__ import annotations

import dataclasses
import pydoc
from dataclasses import FrozenInstanceError, dataclass
from pathlib import Path
from typing import Literal

import pytest

from firth.errors import FormatError, OptionError
from firth.models.recipes import RECIPES
from firth.options import Recipe, option


@dataclass(frozen=True)
class Bread(Recipe):
    hours: float = option(2.5, "how long it rises", minimum=0, maximum=48)
    flour: Literal["rye", "wheat"] = option("rye", "what it is made of")
    seeds: tuple[str, ...] = option((), "what is strewn on it")
    salted: bool = option(True, "whether salt is in it")
    loaves: int | None = option(None, "how many, or as many as fit", minimum=1)


def test_a_recipe_travels_through_a_dict_unchanged() -> None:
    recipe = Bread(hours=3, seeds=("poppy",), loaves=2)
    assert Bread.from_dict(recipe.as_dict()) == recipe


def test_a_recipe_is_read_from_toml(tmp_path: Path) -> None:
    (tmp_path / "bread.toml").write_text('hours = 4\nseeds = ["sesame", "flax"]\n')
    assert Bread.from_toml(tmp_path / "bread.toml") == Bread(hours=4, seeds=("sesame", "flax"))


def test_broken_toml_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "bread.toml").write_text("hours = = 4")
    with pytest.raises(FormatError, match=r"bread\.toml: not a recipe in TOML"):
        Bread.from_toml(tmp_path / "bread.toml")


@pytest.mark.parametrize(
    "values, message",
    [
        ({"hours": -1}, "hours is -1, but must be at least 0"),
        ({"hours": float("nan")}, "hours is nan, but must be a finite number"),
        ({"hours": 49}, "must be at most 48"),
        ({"flour": "oat"}, "must be one of 'rye', 'wheat'"),
        ({"seeds": "poppy"}, "must be a list of text"),
        ({"salted": 1}, "must be true or false"),
        ({"loaves": True}, "must be a whole number or none"),
        ({"loaves": 0}, "must be at least 1"),
    ],
)
def test_a_wrong_value_is_refused_with_the_legal_ones(values: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Bread(**values)  # type: ignore[arg-type]


def test_a_recipe_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Bread().hours = 1  # type: ignore[misc]


@pytest.mark.parametrize("name", RECIPES)
def test_help_documents_every_option_of_a_recipe(name: str) -> None:
    recipe = RECIPES[name]
    page = recipe.__doc__ or ""
    for field in dataclasses.fields(recipe):
        entry = page.partition(f"\n{field.name} : ")[2]
        assert entry.splitlines()[1].split()[:3] == field.metadata["help"].split()[:3]
    assert page.count("Parameters\n----------\n") == 1
    assert "Dimension" not in page or "dim : int" in pydoc.render_doc(recipe, renderer=pydoc.plaintext)


def test_a_value_that_is_nested_too_deeply_is_an_error() -> None:
    deep: object = "poppy"
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(OptionError, match="Bread: a value is nested too deeply"):
        Bread.from_dict({"seeds": deep})
