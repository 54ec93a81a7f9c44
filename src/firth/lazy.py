"""Import on first use. A place is "module:Name"; its module, and torch with it, is imported when the name is needed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar

from firth.errors import MissingExtra, MissingPackage, OptionError, suggest

Item = TypeVar("Item")


def import_name(place: str, purpose: str, extra: str) -> Any:
    """The object at a place. If torch or a module of others is missing, the error names the extra to install.

    >>> import_name("collections:OrderedDict", "the table", "all").__name__
    'OrderedDict'
    """
    module, _, name = place.partition(":")
    try:
        imported = import_module(module)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing == "firth" or missing not in ("torch", module.partition(".")[0]):
            raise
        raise MissingExtra(purpose, extra) from error
    return getattr(imported, name) if name else imported


def import_package(place: str, purpose: str) -> Any:
    """The object at a place in a package that is no extra of firth. If it is missing, the error names it.

    >>> import_package("teapot", "an infusion")
    Traceback (most recent call last):
    firth.errors.MissingPackage: an infusion needs a package: pip install teapot
    """
    package = place.partition(":")[0].partition(".")[0]
    try:
        return import_name(place, purpose, "all")
    except MissingExtra as error:
        raise MissingPackage(purpose, package) from error


class Registry(dict[str, str], Generic[Item]):
    """The places of classes by name. `kind` is what the names stand for, `extra` installs what the classes need.

    >>> Registry("table", "all", ordered="collections:OrderedDict").find("orderd")
    Traceback (most recent call last):
    firth.errors.OptionError: no table is called 'orderd'. Did you mean 'ordered'?
    """

    def __init__(self, kind: str, extra: str, **places: str) -> None:
        super().__init__(places)
        self.kind, self.extra = kind, extra

    def find(self, name: str) -> type[Item]:
        """The class of a name, imported now."""
        if name not in self:
            raise OptionError(f"no {self.kind} is called {name!r}. {suggest(name, self)}")
        item: type[Item] = import_name(self[name], f"the {self.kind} {name}", self.extra)
        return item


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


def read_docstring(place: str) -> str:
    """The docstring of a class or function, read from its source file without importing it.

    >>> read_docstring("firth.errors:OptionError")
    'An option has a value that it cannot have.'
    """
    return ast.get_docstring(_find(place)) or ""


def read_literal(place: str, name: str, default: Any = None) -> Any:
    """A constant in the body of a class or module, such as `commands = ("a", "b")`, read without an import."""
    for node in _find(place).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return ast.literal_eval(node.value)  # type: ignore[attr-defined]
    return default


def read_imports(module: str) -> dict[str, str]:
    """The places of the names that a module imports under `if TYPE_CHECKING:`.

    >>> read_imports("firth")["Corpus"]
    'firth.text.corpus:Corpus'
    """
    blocks = [node for node in _parse(module).body if isinstance(node, ast.If)]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    places: dict[str, str] = {}
    for node in imports:
        places |= {alias.name: f"{node.module}:{alias.name}" for alias in node.names}
    return places


def _find(place: str) -> ast.ClassDef | ast.FunctionDef | ast.Module:
    module, _, name = place.partition(":")
    tree = _parse(module)
    if not name:
        return tree
    nodes = (node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name)
    return next(nodes)


@cache
def _parse(module: str) -> ast.Module:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no source file of {module}", name=module)
    return ast.parse(Path(spec.origin).read_bytes())
