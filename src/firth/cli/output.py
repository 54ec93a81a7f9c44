"""How a command answers: a picture for people, JSON for programs, always from the same values."""

import json
import sys

from rich.console import RenderableType

from firth.errors import OptionError
from firth.formats.registry import load
from firth.show import terminal
from firth.show.json import to_json
from firth.vectors.words import WordVectors


def answer(values: object, picture: RenderableType, as_json: bool) -> None:
    """Prints the values as JSON, or the picture."""
    if as_json:
        sys.stdout.write(json.dumps(to_json(values), ensure_ascii=False, indent=2, allow_nan=False) + "\n")
    else:
        terminal.stdout().print(picture)


def json_line(values: object) -> str:
    """The values as one line of JSON."""
    return json.dumps(to_json(values), ensure_ascii=False, allow_nan=False) + "\n"


def load_vectors(path: str) -> WordVectors:
    """The word vectors in a file; another kind of model is an error that says what it is."""
    model = load(path)
    if not isinstance(model, WordVectors):
        raise OptionError(f"{path}: holds a {type(model).__name__}, but this command needs word vectors")
    return model
