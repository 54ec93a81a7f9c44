"""Checks the arguments of public functions against their annotations.

`checked` decorates a class or a function. A value that its parameter cannot have is an OptionError that names the
parameter, the value and what it must be. Types of containers are checked before the call; their items only where the
call fails, so that a call with a million words costs nothing more.
"""

from __future__ import annotations

import types
import typing
from collections import abc
from collections.abc import Callable, Iterable, Mapping
from functools import update_wrapper
from inspect import Parameter, signature, unwrap
from numbers import Integral, Real
from os import PathLike
from typing import Any, Literal, TypeVar

from firth.errors import FirthError, OptionError

Item = TypeVar("Item", bound=Callable[..., Any])
FAILURES = (AttributeError, IndexError, KeyError, TypeError, ValueError, OverflowError)  # of a call with wrong values
VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
BYTES = (bytes, bytearray, memoryview)
CONTAINERS = (abc.Iterable, abc.Collection, abc.Sequence)  # where any iterable will do
WORDS: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    type(None): "none",
    None: "none",
}


def checked(item: Item) -> Item:
    """The same function, or the same class with its public methods and constructor, with checked arguments.

    >>> @checked
    ... def brew(minutes: int, leaf: Literal["black", "green"] = "black") -> str:
    ...     return f"{minutes} minutes of {leaf} tea"
    >>> brew(4), brew(minutes=2, leaf="green")
    ('4 minutes of black tea', '2 minutes of green tea')
    >>> brew("4")
    Traceback (most recent call last):
    firth.errors.OptionError: brew: minutes is '4', but must be a whole number
    """
    if not isinstance(item, type):
        return typing.cast(Item, _wrap(typing.cast(Any, item)))
    for name, member in list(vars(item).items()):
        if name.startswith("_") and name not in ("__init__", "__call__"):
            continue
        if isinstance(member, (classmethod, staticmethod)):
            function = typing.cast(types.FunctionType, member.__func__)
            setattr(item, name, type(member)(_wrap(function)))
        elif isinstance(member, types.FunctionType):
            setattr(item, name, _wrap(member))
    return item


def _wrap(function: types.FunctionType) -> Callable[..., Any]:
    kinds: dict[str, Any] = {}
    names: list[str] = []
    sequences: set[str] = set()
    undecided: set[str] = set()  # parameters whose value decides, not its type
    passed: set[tuple[Any, ...]] = set()  # types of arguments that passed, where types decide
    # Names of the closure: the wrapper has the globals of another module.
    failures, ours, types_of = FAILURES, FirthError, _types_of

    def check(values: tuple[Any, ...], options: Mapping[str, Any], deep: bool) -> None:
        if not kinds:
            names.extend(_positional_names(function))
            kinds.update(_parameter_kinds(function))
            sequences.update(name for name, kind in kinds.items() if _is_sequence(kind))
            undecided.update(name for name, kind in kinds.items() if not _is_decided_by_type(kind))
        for name, value in (*zip(names, values), *options.items()):
            kind = kinds.get(name)
            if kind is not None and type(value) is not kind and not fits(kind, value, deep):
                cure = f". For one write [{value!r:.80}]" if type(value) is str and _is_list(kind) else ""
                raise OptionError(f"{_place(function)}: {name} is {value!r:.80}, but must be {describe(kind)}{cure}")
            if deep and isinstance(value, str) and not is_printable(value):
                problem = f"{name} is {value!r:.80}, which has a null character or half of a surrogate pair"
                raise OptionError(f"{_place(function)}: {problem}")

    def prepare(values: tuple[Any, ...], options: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Iterators and sets as lists, where a function needs a sequence."""

        def as_list(name: str, value: Any) -> Any:
            return list(value) if name in sequences and _is_unordered(value) else value

        new = [as_list(name, value) for name, value in zip(names, values)]
        more = {name: as_list(name, value) for name, value in options.items()}
        return (*new, *values[len(new) :]), more

    def call(*values: Any, **options: Any) -> Any:
        given = types_of(values, options)
        if given not in passed:
            check(values, options, False)
            if sequences:
                values, options = prepare(values, options)
            if given == types_of(values, options) and undecided.isdisjoint((*names[: len(values)], *options)):
                passed.add(given)
        try:
            return function(*values, **options)
        except failures as error:
            if not isinstance(error, ours):
                check(values, options, True)
            raise

    # doctest looks for functions with the globals of their module.
    scope = typing.cast(types.FunctionType, unwrap(function)).__globals__
    wrapper = types.FunctionType(call.__code__, scope, function.__name__, None, call.__closure__)
    return update_wrapper(wrapper, function)


def _types_of(values: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
    return (*map(type, values), *options, *map(type, options.values()))


def _is_sequence(kind: Any) -> bool:
    return any(typing.get_origin(one) is abc.Sequence for one in (kind, *typing.get_args(kind)))


def _is_list(kind: Any) -> bool:
    return typing.get_origin(kind) in CONTAINERS


def _is_decided_by_type(kind: Any) -> bool:
    """Whether the type of a value says that it fits, as long as nobody looks at its items. Arrays have dimensions."""
    kind = resolve_alias(kind)
    if typing.get_origin(kind) is Literal or getattr(typing.get_origin(kind) or kind, "__module__", "") == "numpy":
        return False
    return all(map(_is_decided_by_type, typing.get_args(kind)))


def _is_unordered(value: Any) -> bool:
    return isinstance(value, (abc.Iterator, abc.Set, abc.Mapping))


def _place(function: types.FunctionType) -> str:
    return function.__qualname__.removesuffix(".__init__")


def is_printable(text: str) -> bool:
    """Whether a text can be a file name or written to a file: without null characters and lone surrogates."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _positional_names(function: Callable[..., Any]) -> list[str]:
    kinds = Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD
    return [one.name for one in signature(function).parameters.values() if one.kind in kinds]


def _parameter_kinds(function: types.FunctionType) -> dict[str, Any]:
    """The annotation of each parameter. Names that are imported for type checking only are not checked."""
    kinds: dict[str, Any] = {"return": None}
    scope = unwrap(function).__globals__
    for name, parameter in signature(function).parameters.items():
        if parameter.annotation is Parameter.empty or parameter.kind in VARIADIC:
            continue
        holder = types.SimpleNamespace(__annotations__={name: parameter.annotation})
        try:
            kinds |= typing.get_type_hints(holder, scope)
        except NameError:
            continue
    return kinds


def resolve_alias(kind: Any) -> Any:
    """What an alias of the `type` statement stands for, as NumPy's newer NDArray is; other types as they are.

    >>> resolve_alias(int)
    <class 'int'>
    """
    alias = typing.get_origin(kind) or kind
    return alias.__value__ if type(alias).__name__ == "TypeAliasType" else kind


def fits(kind: Any, value: Any, deep: bool = True) -> bool:
    """Whether a value is of an annotated type; `deep` looks at the items of containers too.

    A string is no list of strings, and bytes are never text.

    >>> fits(int | None, 3), fits(int, True), fits(Iterable[str], "tea"), fits(Iterable[str], ["tea", 3])
    (True, False, False, False)
    """
    kind = resolve_alias(kind)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any or kind is object:
        return True
    if kind is float:
        return isinstance(value, Real) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, Integral) and not isinstance(value, bool)
    if kind is None or kind is type(None):
        return value is None
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in arguments)
    if origin in (types.UnionType, typing.Union):
        if not deep and str in arguments and any(typing.get_origin(one) in CONTAINERS for one in arguments):
            return True  # texts, which `check_words` and `check_list` check; their errors explain how to pass texts
        return any(fits(one, value, deep) for one in arguments)
    if isinstance(kind, typing.ForwardRef) or not isinstance(origin or kind, type):
        return True  # a type variable, Any
    return _fits_class(origin or kind, arguments, value, deep)


def _fits_class(kind: Any, arguments: tuple[Any, ...], value: Any, deep: bool) -> bool:
    if kind.__module__ == "numpy":  # an array: lists may be converted to one
        if not deep:
            return isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) > 0
        return getattr(value, "ndim", 0) > 0 and value.dtype.kind in "biuf"
    if kind is abc.Callable:
        return callable(value)
    if kind is tuple:
        items = arguments[:1] if arguments[1:] in ((), (...,)) else ()
        return isinstance(value, tuple) and (not deep or all(fits(one, item) for one in items for item in value))
    if kind not in CONTAINERS:
        return getattr(kind, "_is_protocol", False) or isinstance(value, kind)
    if isinstance(value, (str, *BYTES)) or not isinstance(value, Iterable):
        return False
    if deep and arguments and isinstance(value, abc.Sized):
        return all(fits(arguments[0], item) for item in value)
    return True


def describe(kind: Any) -> str:
    """A type in words, for an error.

    >>> describe(int | None), describe(Literal["a", "b"]), describe(Iterable[str])
    ('a whole number or none', "one of 'a', 'b'", 'a list of texts')
    """
    kind = resolve_alias(kind)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind in WORDS:
        return WORDS[kind]
    if origin is Literal:
        return "one of " + ", ".join(map(repr, arguments))
    if origin in (types.UnionType, typing.Union):
        return " or ".join(dict.fromkeys(map(describe, arguments)))
    name = getattr(origin or kind, "__name__", str(kind))
    if origin is PathLike:
        return "a Path"
    if name == "ndarray":
        return "an array"
    if name == "Callable":
        return "a function"
    if origin in (tuple, list, *CONTAINERS) and arguments:
        return {str: "a list of texts", int: "a list of whole numbers", float: "a list of numbers"}.get(
            arguments[0], "a list"
        )
    return f"a {name}"
