"""An option is a field of a recipe: its name, type, default and help text are written once.

A `Recipe` is a frozen dataclass. Its fields are keyword arguments in Python, flags on the command line and keys of a
TOML file. This module checks their values.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
import textwrap
import tomllib
import typing
from collections.abc import Hashable, Mapping
from functools import cache
from numbers import Number
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Self, cast

from firth.arguments import checked, describe, fits
from firth.errors import FormatError, MissingFile, OptionError, suggest

LONGEST_TOML = 1 << 20  # bytes
LARGEST = (1 << 31) - 1  # of a whole number whose option names no maximum
HEADING = "Parameters\n----------"  # as numpydoc, which editors and notebooks read
LITERAL = re.compile(r"Literal\[([^\]]*)\]")


def option(default: Any, help: str, *, minimum: float | None = None, maximum: float | None = None) -> Any:
    """A field of a recipe: its default, its help text and, for numbers, its range."""
    metadata = {"help": help, "minimum": minimum, "maximum": maximum}
    return dataclasses.field(default=default, metadata=metadata)


def redefine(recipe: type[Recipe], name: str, default: Any) -> Any:
    """The option of another recipe with another default. Its help text and its range are taken over."""
    return dataclasses.field(default=default, metadata=recipe.__dataclass_fields__[name].metadata)


@checked
@dataclasses.dataclass(frozen=True)
class Recipe:
    """A set of options as a value: checked when it is made, and never changed.

    Where a recipe has a command, the first line of its docstring describes the command, `commands` are examples of it,
    and `on_gpu` says whether it has a flag `--device`.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Tea(Recipe):
    ...     minutes: int = option(4, "Brewing time.", minimum=1)
    ...     leaf: str = option("black", "Kind of tea.")
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

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        checked(cls)
        cls.__doc__ = document_options(cls)

    def __post_init__(self) -> None:
        kinds = _annotations(cast(Hashable, type(self)))
        for field in dataclasses.fields(self):
            value = _convert(kinds[field.name], getattr(self, field.name))
            object.__setattr__(self, field.name, value)
            _check(type(self).__name__, field, kinds[field.name], value)

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
        kinds = _annotations(cast(Hashable, cls))
        try:
            return cls(**{name: _restore(kinds[name], value) for name, value in values.items()})
        except RecursionError as error:
            raise OptionError(f"{cls.__name__}: a value is nested too deeply") from error

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> Self:
        """The recipe in a TOML file."""
        return cls.from_dict(read_toml(path))


@cache
def _annotations(recipe: Hashable) -> dict[str, Any]:
    """The types of the options of a recipe class."""
    return typing.get_type_hints(recipe)


def document_options(recipe: type) -> str:
    """The docstring of a class with its options below: name, type, default and help text of each.

    >>> from firth.text.normalize import Normalizer
    >>> print(*document_options(Normalizer).partition("Parameters")[2].splitlines()[2:4], sep="\\n")
    fold_case : bool, default False
        Apply full Unicode case folding.
    """
    text = inspect.cleandoc(recipe.__doc__ or "")
    options: dict[str, dataclasses.Field[Any]] = {}
    kinds: dict[str, str] = {}
    for base in reversed(recipe.__mro__):  # the class itself is not yet a dataclass
        own = vars(base).get("__dataclass_fields__", vars(base))
        if not any(isinstance(value, dataclasses.Field) for value in own.values()):
            continue
        for name, kind in inspect.get_annotations(base).items():
            field = own.get(name)
            if isinstance(field, dataclasses.Field) and "help" in field.metadata:
                options[name], kinds[name] = field, kind if isinstance(kind, str) else getattr(kind, "__name__", "")
    if not options or HEADING in text:
        return text
    lines = [text, "", *HEADING.split("\n")]
    for name, field in options.items():
        kind = LITERAL.sub(r"{\1}", kinds[name])
        lines.append(f"{name} : {kind}, default {field.default!r}")
        lines += textwrap.wrap(field.metadata["help"], 100, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines) + "\n"


def read_toml(path: str | PathLike[str]) -> dict[str, Any]:
    """The keys and values of a TOML file."""
    if not Path(path).is_file():
        raise MissingFile(path)
    with open(path, "rb") as file:
        data = file.read(LONGEST_TOML + 1)
    if len(data) > LONGEST_TOML:
        raise FormatError(path, f"has more than {LONGEST_TOML:,} bytes, so it is not a recipe in TOML")
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError and TOMLDecodeError are kinds of ValueError
        raise FormatError(path, f"not a recipe in TOML: {error}") from error


def _restore(kind: Any, value: Any) -> Any:
    """The value of an option from JSON or TOML."""
    if isinstance(value, (list, tuple)):
        return tuple(_restore(kind, item) for item in value)
    recipes = [one for one in (kind, *typing.get_args(kind)) if isinstance(one, type) and issubclass(one, Recipe)]
    return recipes[0].from_dict(value) if recipes and isinstance(value, Mapping) else value


def _convert(kind: Any, value: Any) -> Any:
    """The value of an option as it is stored: a list as a tuple, a NumPy number as a number."""
    if isinstance(value, (list, set, frozenset)) and any(_is_tuple(one) for one in (kind, *typing.get_args(kind))):
        return tuple(value if isinstance(value, list) else sorted(value))
    if type(value).__module__ == "numpy" and isinstance(value, Number):
        return value.item()  # type: ignore[attr-defined]
    return value


def _is_tuple(kind: Any) -> bool:
    return typing.get_origin(kind) is tuple


def _check(recipe: str, field: dataclasses.Field[Any], kind: Any, value: Any) -> None:
    if not fits(kind, value):
        raise OptionError(f"{recipe}: {field.name} is {value!r:.80}, but must be {describe(kind)}")
    minimum, maximum = field.metadata.get("minimum"), field.metadata.get("maximum")
    if value is None or isinstance(value, (str, bool, tuple)):
        return
    if isinstance(value, float) and not math.isfinite(value):
        raise OptionError(f"{recipe}: {field.name} is {value!r}, but must be a finite number")
    if maximum is None and isinstance(value, int):
        maximum = LARGEST
    if minimum is not None and not value >= minimum:
        raise OptionError(f"{recipe}: {field.name} is {value!r}, but must be at least {minimum}")
    if maximum is not None and not value <= maximum:
        raise OptionError(f"{recipe}: {field.name} is {value!r}, but must be at most {maximum}")
