"""The types that `firth.load` promises are those that it returns."""

from __future__ import annotations

import inspect
import typing
from pathlib import Path

import pytest

import firth
from firth import opening
from firth.pretrained import shipped

PROMISES = [
    ("WordVectorsName", "WordVectors"),
    ("FastTextName", "SubwordVectors"),
    ("BiLMName", "BiLM"),
    ("TaskName", "TaskModel"),
]


def names_of(alias: str) -> list[str]:
    """The names in a type alias, a literal or a union of literals."""
    kind = getattr(opening, alias)
    parts = [kind] if typing.get_origin(kind) is typing.Literal else typing.get_args(kind)
    return [name for part in parts for name in typing.get_args(part)]


@pytest.mark.parametrize("names, kind", PROMISES)
def test_a_shipped_name_opens_the_type_of_its_overload(names: str, kind: str) -> None:
    name = names_of(names)[0]
    assert type(firth.load(name)).__name__ == kind


def test_every_shipped_model_has_an_overload() -> None:
    known = {name for names, _ in PROMISES for name in names_of(names)}
    assert known == {*shipped.SHIPPED, *shipped.tasks()}
    overloads = typing.get_overloads(opening.load)
    promised = [inspect.signature(one).return_annotation for one in overloads]
    assert promised == [*(kind for _, kind in PROMISES), "AnyModel"]


def test_other_models_are_opened_by_path(tmp_path: Path) -> None:
    firth.save(firth.WordVectors(["tea"], [[1.0, 2.0]]), tmp_path / "tea.txt")
    assert firth.load(tmp_path / "tea.txt", limit=1)["tea"].tolist() == [1, 2]
