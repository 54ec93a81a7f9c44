"""The output of a command: tables for people or JSON for programs, from the same values."""

import json
import sys

from rich.console import RenderableType

from firth.show import terminal
from firth.show.json import to_json


def answer(values: object, picture: RenderableType, as_json: bool) -> None:
    """Prints the values as JSON, or the picture."""
    if as_json:
        sys.stdout.write(json.dumps(to_json(values), ensure_ascii=False, indent=2, allow_nan=False) + "\n")
    else:
        terminal.stdout().print(picture)


def json_line(values: object) -> str:
    """The values as one line of JSON."""
    return json.dumps(to_json(values), ensure_ascii=False, allow_nan=False) + "\n"
