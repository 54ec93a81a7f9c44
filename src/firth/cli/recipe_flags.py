"""Flags made of recipes: every field of a recipe is one, with its name, its default and its sentence."""

import dataclasses
import typing
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from cyclopts import Parameter

from firth.options import Recipe


def flags_of(
    recipe: type[Recipe], defaults: Mapping[str, Any], prefix: str, group: str, *, hidden: Sequence[str] = ()
) -> type[Recipe]:
    """A recipe whose fields are flags with a prefix, but for those that are hidden, and which has other defaults."""
    kinds = typing.get_type_hints(recipe)
    fields = []
    for field in dataclasses.fields(recipe):
        names = [prefix + field.name.replace("_", "-")]
        if field.name == "architecture":
            names.append("network")
        shown = field.name not in hidden
        parameter = Parameter(name=names, group=group, show=shown, parse=shown, consume_multiple=True)
        default = defaults.get(field.name, field.default)
        changed = dataclasses.field(default=default, metadata=field.metadata)
        fields.append((field.name, Annotated[kinds[field.name], parameter], changed))
    space = {"__module__": __name__, "__doc__": recipe.__doc__}
    return dataclasses.make_dataclass(recipe.__name__, fields, bases=(recipe,), frozen=True, namespace=space)


def plain(recipe: Any) -> Any:
    """The recipe itself, without what made flags of its fields."""
    made: Any = type(recipe).__bases__[0]
    return made.from_dict(recipe.as_dict())
