"""The output of a command: tables for people, and one record a line for programs, from the same values."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from firth.show import terminal
from firth.show.json import to_json

Record = Sequence[object]


def answer(values: object, picture: RenderableType, as_json: bool, records: Iterable[Record] | None = None) -> None:
    """Prints the picture in a terminal and records in a pipe or a file, or the values as JSON.

    Records are lines of tab-separated values; by default they are the rows of the tables in the picture. In a pipe the
    JSON of a list is one line for each element.
    """
    in_terminal = sys.stdout.isatty()
    if as_json and in_terminal:
        sys.stdout.write(json.dumps(to_json(values), ensure_ascii=False, indent=2, allow_nan=False) + "\n")
    elif as_json:
        sys.stdout.writelines(map(json_line, values if isinstance(values, list) else [values]))
    elif in_terminal:
        terminal.stdout().print(picture, crop=False)  # what must not be wrapped is whole
    else:
        rows = find_records(values, picture) if records is None else records
        sys.stdout.writelines(map(terminal.tab_separated, rows))


def json_line(values: object) -> str:
    """The values as one line of JSON."""
    return json.dumps(to_json(values), ensure_ascii=False, allow_nan=False) + "\n"


def find_records(values: object, picture: RenderableType) -> Iterator[Record]:
    """The rows of the tables and the lines of the texts in a picture, or names and values.

    >>> list(find_records({"dim": 3}, "")), list(find_records({}, Group(Text("two"), Text("lines"))))
    ([('dim', 3)], [('two',), ('lines',)])
    """
    if isinstance(picture, Group):
        for part in picture.renderables:
            yield from find_records(values, part)
    elif isinstance(picture, terminal.DataTable):
        yield from picture.records
    elif isinstance(picture, Text):
        yield from ((line,) for line in picture.plain.splitlines())
    elif isinstance(values, Mapping):
        yield from (
            (name, value if isinstance(value, (str, int, float)) else json_line(value))
            for name, value in values.items()
        )
