"""An option is a field of a recipe: its name, type, default and help text are written once.

A `Recipe` is a frozen dataclass. Its fields are keyword arguments in Python, flags on the command line and keys of a
TOML file. This module checks their values.
"""

from __future__ import annotations

import dataclasses
import tomllib
import types
import typing
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from firth.errors import FormatError, OptionError, suggest


def option(default: Any, help: str, *, minimum: float | None = None, maximum: float | None = None) -> Any:
    """A field of a recipe: its default, its help text and, for numbers, its range."""
    metadata = {"help": help, "minimum": minimum, "maximum": maximum}
    return dataclasses.field(default=default, metadata=metadata)


def redefine(recipe: type[Recipe], name: str, default: Any) -> Any:
    """The option of another recipe with another default. Its help text and its range are taken over."""
    return dataclasses.field(default=default, metadata=recipe.__dataclass_fields__[name].metadata)


@dataclasses.dataclass(frozen=True)
class Recipe:
    """A set of options as a value: checked when it is made, and never changed.

    Where a recipe has a command, the first line of its docstring describes the command, `commands` are examples of it,
    and `on_gpu` says whether it has a flag `--device`.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Tea(Recipe):
    ...     minutes: int = option(4, "Brewing time.", minimum=1)
    ...     leaf: Literal["black", "green"] = option("black", "Kind of tea.")
    >>> Tea(minutes=3).as_dict()
    {'minutes': 3, 'leaf': 'black'}
    >>> Tea(minutes=0)
    Traceback (most recent call last):
    firth.errors.OptionError: Tea: minutes is 0, but must be at least 1
    >>> Tea.from_dict({"minute": 3})
    Traceback (most recent call last):
    firth.errors.OptionError: Tea: no option is called 'minute'. Did you mean 'minutes'?
    """

    commands: ClassVar[tuple[str, ...]] = ()
    on_gpu: ClassVar[bool] = False

    def __post_init__(self) -> None:
        kinds = typing.get_type_hints(type(self))
        for field in dataclasses.fields(self):
            _check(type(self).__name__, field, kinds[field.name], getattr(self, field.name))

    def as_dict(self) -> dict[str, Any]:
        """The options by name."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The recipe with these options. An unknown name is an error; lists become tuples, tables become recipes."""
        names = [field.name for field in dataclasses.fields(cls)]
        for name in values:
            if name not in names:
                raise OptionError(f"{cls.__name__}: no option is called {name!r}. {suggest(name, names)}")
        kinds = typing.get_type_hints(cls)
        return cls(**{name: _restore(kinds[name], value) for name, value in values.items()})

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> Self:
        """The recipe in a TOML file."""
        return cls.from_dict(read_toml(path))


def read_toml(path: str | PathLike[str]) -> dict[str, Any]:
    """The keys and values of a TOML file."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise FormatError(path, f"not a recipe in TOML: {error}") from error


def _restore(kind: Any, value: Any) -> Any:
    """The value of an option from JSON or TOML."""
    if isinstance(value, (list, tuple)):
        return tuple(_restore(kind, item) for item in value)
    recipes = [one for one in (kind, *typing.get_args(kind)) if isinstance(one, type) and issubclass(one, Recipe)]
    return recipes[0].from_dict(value) if recipes and isinstance(value, Mapping) else value


def _check(recipe: str, field: dataclasses.Field[Any], kind: Any, value: Any) -> None:
    if not _fits(kind, value):
        raise OptionError(f"{recipe}: {field.name} is {value!r}, but must be {_in_words(kind)}")
    minimum, maximum = field.metadata.get("minimum"), field.metadata.get("maximum")
    if value is None or isinstance(value, (str, bool, tuple)):
        return
    if minimum is not None and not value >= minimum:
        raise OptionError(f"{recipe}: {field.name} is {value!r}, but must be at least {minimum}")
    if maximum is not None and not value <= maximum:
        raise OptionError(f"{recipe}: {field.name} is {value!r}, but must be at most {maximum}")


def _fits(kind: Any, value: Any) -> bool:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return value in arguments
    if origin in (types.UnionType, typing.Union):
        return any(_fits(one, value) for one in arguments)
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(arguments[0], item) for item in value)
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if kind is type(None):
        return value is None
    return isinstance(value, kind)


def _in_words(kind: Any) -> str:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return "one of " + ", ".join(map(repr, arguments))
    if origin in (types.UnionType, typing.Union):
        return " or ".join(_in_words(one) for one in arguments)
    if origin is tuple:
        return f"a list of {_in_words(arguments[0])}"
    return {int: "a whole number", float: "a number", bool: "true or false", str: "text", type(None): "none"}.get(
        kind, str(kind)
    )
