"""Import on first use. A place is "module:Name"; its module, and torch with it, is imported when the name is needed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from firth.errors import MissingExtra, OptionError, suggest


def import_name(place: str, purpose: str, extra: str) -> Any:
    """The object at a place. If torch is missing, the error names the purpose and the extra to install.

    >>> import_name("collections:OrderedDict", "the table", "all").__name__
    'OrderedDict'
    """
    module, _, name = place.partition(":")
    try:
        imported = import_module(module)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtra(purpose, extra) from error
    return getattr(imported, name) if name else imported


def import_class(places: Mapping[str, str], name: str, kind: str, extra: str) -> Any:
    """The class that a table of places has under a name; `kind` is what the names stand for in errors.

    >>> import_class({"ordered": "collections:OrderedDict"}, "orderd", "table", "all")
    Traceback (most recent call last):
    firth.errors.OptionError: no table is called 'orderd'. Did you mean 'ordered'?
    """
    if name not in places:
        raise OptionError(f"no {kind} is called {name!r}. {suggest(name, places)}")
    return import_name(places[name], f"the {kind} {name}", extra)


def lazy_attributes(module: str, names: Iterable[str], make: Callable[[str], Any]) -> Callable[[str], Any]:
    """A `__getattr__` for a module whose attributes of these names are made when they are first used (PEP 562).

    >>> lazy_attributes("tea", ["green"], str.upper)("green")
    'GREEN'
    """
    known = frozenset(names)

    def find(name: str) -> Any:
        if name not in known:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return make(name)

    return find


def summarize(place: str) -> str:
    """The first line of the docstring of a class or function, read from the source file without importing it.

    >>> summarize("firth.errors:OptionError")
    'An option has a value that it cannot have.'
    """
    module, _, name = place.partition(":")
    return _docstrings(module).get(name, "").partition("\n")[0]


@cache
def _docstrings(module: str) -> dict[str, str]:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return {}
    tree = ast.parse(Path(spec.origin).read_bytes())
    named = [node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))]
    return {node.name: ast.get_docstring(node) or "" for node in named}
