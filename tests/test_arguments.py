"""Arguments are compared with annotations; doctests of checked functions are still found."""

from __future__ import annotations

import doctest
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from firth.arguments import checked, fits
from firth.errors import FirthError, OptionError


@checked
class Kettle:
    """A class with methods of each kind."""

    def __init__(self, liters: float) -> None:
        self.liters = liters

    def brew(self, words: Sequence[str], minutes: int = 4) -> list[str]:
        """Tea.

        >>> Kettle(1).brew(["green"])
        ['green']
        """
        return [words[place].lower() for place in range(len(words))]

    @classmethod
    def of(cls, leaf: Literal["black", "green"]) -> Kettle:
        return cls({"black": 1.0, "green": 0.5}[leaf])

    @staticmethod
    def fill(row: NDArray[Any] | None = None) -> float:
        return 0.0 if row is None else float(np.asarray(row).sum())


@pytest.mark.parametrize(
    "call, problem",
    [
        (lambda: Kettle("1"), "Kettle: liters is '1', but must be a number"),
        (lambda: Kettle(True), "liters is True"),
        (lambda: Kettle(1).brew("tea"), "Kettle.brew: words is 'tea', but must be a list of texts"),
        (lambda: Kettle(1).brew([3]), r"words is \[3\], but must be a list of texts"),
        (lambda: Kettle(1).brew(["tea"], minutes=2.5), "minutes is 2.5, but must be a whole number"),
        (lambda: Kettle.of("white"), "Kettle.of: leaf is 'white', but must be one of 'black', 'green'"),
        (lambda: Kettle.fill("x"), "row is 'x', but must be an array or none"),
        (lambda: Kettle.fill(["x"]), r"row is \['x'\]"),
    ],
)
def test_a_value_that_a_parameter_cannot_have_is_named(call: Any, problem: str) -> None:
    with pytest.raises(OptionError, match=problem):
        call()


def test_right_values_pass_and_iterators_become_lists() -> None:
    kettle = Kettle(np.float32(1.5))
    assert kettle.brew(word for word in ("A", "B")) == ["a", "b"]
    assert kettle.brew({"A"}, np.int64(3)) == ["a"]
    assert Kettle.of("green").liters == 0.5
    assert Kettle.fill([1, 2]) == Kettle.fill(np.array([1, 2])) == 3


def test_an_error_of_the_function_itself_is_not_hidden() -> None:
    @checked
    def divide(a: int, b: int) -> float:
        return {1: a / b}[2]

    with pytest.raises(KeyError):
        divide(1, 2)
    with pytest.raises(ZeroDivisionError):
        divide(1, 0)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        divide(1)  # type: ignore[call-arg]


def test_a_path_with_a_null_character_is_an_error_of_firth() -> None:
    @checked
    def read(path: str | Path) -> bytes:
        return Path(path).read_bytes()

    with pytest.raises(FirthError, match="null character or half of a surrogate pair"):
        read("a\0b")


def test_doctests_of_checked_methods_are_found() -> None:
    module = sys.modules[__name__]
    found = {test.name.rpartition(".")[2] for test in doctest.DocTestFinder().find(module) if test.examples}
    assert "brew" in found


def test_types_that_are_not_known_at_run_time_are_not_checked() -> None:
    assert fits(Any, object())
    assert fits(Iterable[Any], [object()])
