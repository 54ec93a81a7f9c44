"""Names that stand for classes in files which are imported when the name is asked for, and torch with them."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Mapping
from importlib import import_module
from importlib.abc import InspectLoader
from importlib.util import find_spec
from typing import Any

from firth.errors import MissingExtra, OptionError


def import_class(places: Mapping[str, str], name: str, kind: str, extra: str) -> Any:
    """What a table of `module:Class` has under a name; `kind` is what the names stand for, `extra` what they may need.

    >>> import_class({"ordered": "collections:OrderedDict"}, "ordered", "table", "all").__name__
    'OrderedDict'
    >>> import_class({"ordered": "collections:OrderedDict"}, "orderd", "table", "all")
    Traceback (most recent call last):
    firth.errors.OptionError: no table is called 'orderd'. Did you mean 'ordered'?
    """
    if name not in places:
        near = difflib.get_close_matches(name, places, 1)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(places)}"
        raise OptionError(f"no {kind} is called {name!r}. {hint}")
    module, made = places[name].split(":")
    try:
        return getattr(import_module(module), made)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtra(f"the {kind} {name}", extra) from error


def describe_class(places: Mapping[str, str], name: str) -> str:
    """The first line of the docstring of a class in a table of `module:Class`, read from its source without an import.

    >>> describe_class({"ordered": "collections:OrderedDict"}, "ordered")
    'Dictionary that remembers insertion order'
    """
    module, kind = places[name].split(":")
    spec = find_spec(module)
    source = spec.loader.get_source(module) if spec and isinstance(spec.loader, InspectLoader) else None
    [node] = [node for node in ast.parse(source or "").body if isinstance(node, ast.ClassDef) and node.name == kind]
    return (ast.get_docstring(node) or "").partition("\n")[0]
