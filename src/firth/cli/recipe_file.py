"""`firth train --recipe my.toml`: the options in a file become flags. Flags on the command line take precedence."""

from typing import Any

from firth.errors import OptionError
from firth.models.recipes import RECIPES
from firth.options import read_toml

FLAG = "--recipe"


def expand_recipe_file(arguments: list[str]) -> list[str]:
    """The arguments with `--recipe FILE` replaced by the flags in the file.

    The file names its recipe (`name = "word2vec"`) unless the command line does.
    """
    if FLAG not in arguments:
        return arguments
    at = arguments.index(FLAG)
    if at + 1 == len(arguments):
        raise OptionError(f"{FLAG} needs the name of a TOML file")
    path, rest = arguments[at + 1], [*arguments[1:at], *arguments[at + 2 :]]
    values = read_toml(path)
    name = values.pop("name", None)
    if rest[:1] and rest[0] in RECIPES:
        if name not in (None, rest[0]):
            raise OptionError(f"{path}: is a recipe for {name}, but the command is {rest[0]}")
        name, rest = rest[0], rest[1:]
    if not isinstance(name, str) or name not in RECIPES:
        raise OptionError(f"{path}: names no recipe. Add a line name = one of {', '.join(map(repr, RECIPES))}")
    RECIPES[name].from_dict(values)  # reports a wrong name or value as an error of the file
    return ["train", name, *rest, *make_flags(values, rest)]


def expand_labels(arguments: list[str]) -> list[str]:
    """The arguments with `train fasttext … --labels` replaced by `train classifier …`.

    >>> expand_labels(["train", "fasttext", "a.txt", "--labels"])
    ['train', 'classifier', 'a.txt']
    """
    if arguments[:2] != ["train", "fasttext"] or "--labels" not in arguments:
        return arguments
    return ["train", "classifier", *(one for one in arguments[2:] if one != "--labels")]


def make_flags(values: dict[str, Any], arguments: list[str]) -> list[str]:
    """Options as flags, without those that are given already.

    >>> make_flags({"dim": 50, "cbow_mean": False, "prune": [0, 1]}, ["--dim", "100"])
    ['--no-cbow-mean', '--prune=0', '--prune=1']
    """
    flags = []
    for name, value in values.items():
        flag = name.replace("_", "-")
        if any(one.split("=")[0] in (f"--{flag}", f"--no-{flag}") for one in arguments):
            continue
        if isinstance(value, bool):
            flags.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            flags += [f"--{flag}={one}" for one in (value if isinstance(value, list) else [value])]
    return flags
