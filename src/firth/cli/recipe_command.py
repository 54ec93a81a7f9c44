"""Commands whose flags are the fields of recipes. The description and the examples come from the recipe's class."""

import dataclasses
import inspect
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any

from cyclopts import App, Parameter

from firth.lazy import read_docstring, read_literal
from firth.options import Recipe

Command = Callable[..., None]


def recipe_command(body: Command, recipes: Mapping[str, type[Recipe]], *, without: Collection[str] = ()) -> Command:
    """A command that calls `body`. Its parameters in `recipes` take the flags of a class that `recipe_flags` made.

    Parameters in `without` are not flags and keep their defaults.
    """
    hints = typing.get_type_hints(body, include_extras=True)
    parameters = []
    for parameter in inspect.signature(body).parameters.values():
        if parameter.name in recipes:
            flags = recipes[parameter.name]
            parameters.append(parameter.replace(annotation=Annotated[flags, Parameter(name="*")], default=flags()))
        elif parameter.name not in without:
            parameters.append(parameter.replace(annotation=hints[parameter.name]))

    def command(*arguments: Any, **options: Any) -> None:
        chosen = {name: options.pop(name, flags()) for name, flags in recipes.items()}
        body(*arguments, **{name: _as_recipe(flags) for name, flags in chosen.items()}, **options)

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def command_help(place: str, examples: Sequence[str] = ()) -> str:
    """The help text of a recipe's command: the prose of the class's docstring, and its `commands` or other examples.

    >>> print(command_help("firth.models.ngram:Ngram").splitlines()[-1].strip())
    firth train ngram corpus.txt --order 5 --prune 0 0 1 --out model/
    """
    prose = read_docstring(place).partition(">>>")[0].strip()
    commands = read_literal(place, "commands", examples)
    return prose + ("\n\nFor example:\n\n" + "\n".join(f"    {command}" for command in commands) if commands else "")


def lazy_group(module: str, description: str, places: Mapping[str, str]) -> App:
    """The group of commands in a module: an attribute for each recipe in a table of places, made when it runs."""
    group = module.rpartition(".")[2]
    app = App(name=group, help=description, help_format="markdown")
    for name, place in places.items():
        app.command(f"{module}:{name}", name=name, help=command_help(place, [f"firth {group} {name} --out {name}/"]))
    return app


def recipe_flags(
    recipe: type[Recipe],
    group: str,
    *,
    defaults: Mapping[str, Any] = MappingProxyType({}),
    prefix: str = "",
    hidden: Collection[str] = (),
    aliases: Mapping[str, str] = MappingProxyType({}),
    renamed: Mapping[str, str] = MappingProxyType({}),
) -> type[Recipe]:
    """A recipe class whose fields are flags of a group in the help, with other names and defaults where given.

    `aliases` are accepted beside the name of a field; `renamed` are shown in its place, and the old name is accepted.
    """
    kinds = typing.get_type_hints(recipe)
    fields = []
    for field in dataclasses.fields(recipe):
        names = [prefix + field.name.replace("_", "-")]
        if field.name in aliases:
            names.append(aliases[field.name])
        if field.name in renamed:
            names.insert(0, renamed[field.name])
        text = field.metadata["help"].replace("<", "\\<")  # Markdown would read <unk> as a tag
        shown = field.name not in hidden
        parameter = Parameter(name=names, group=group, show=shown, parse=shown, consume_multiple=True, help=text)
        default = defaults.get(field.name, field.default)
        changed = dataclasses.field(default=default, metadata=field.metadata)
        fields.append((field.name, Annotated[kinds[field.name], parameter], changed))
    space = {"__module__": __name__, "__doc__": recipe.__doc__}
    return dataclasses.make_dataclass(recipe.__name__, fields, bases=(recipe,), frozen=True, namespace=space)


def _as_recipe(flags: Recipe) -> Recipe:
    """The recipe itself, of the class that the flags were made from."""
    recipe: type[Recipe] = type(flags).__bases__[0]
    return recipe.from_dict(flags.as_dict())
