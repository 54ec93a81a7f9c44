"""One column of a table in a text file: CSV, or values separated by tabs, semicolons or bars."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Literal

from firth.errors import FormatError, OptionError, suggest
from firth.files import Name, decode, iterate_lines, open_bytes

DELIMITERS = ",\t;|"
CURE = 'Use errors="replace" to read such bytes as U+FFFD'


def read_column(
    path: Name, column: str | int, *, errors: Literal["strict", "replace"] = "strict"
) -> Iterator[tuple[int, str]]:
    """The cells of a column, each with the number of its first line. Blank lines are left out.

    A column is a name in the first line, or a number from 1 if the table has no line of names. The first line decides
    on the delimiter. Commas, semicolons and bars may stand in quoted cells, as may line ends; between tabs, quotes are
    ordinary characters. A record with more or fewer cells than the first one is an error.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "menu.csv"
    >>> _ = file.write_text('id,text\\n1,"tea, black"\\n2,milk\\n')
    >>> list(read_column(file, "text"))
    [(2, 'tea, black'), (3, 'milk')]
    >>> list(read_column(file, 1))[0]
    (1, 'id')
    >>> list(read_column(file, "txt"))
    Traceback (most recent call last):
    firth.errors.OptionError: ...menu.csv: no column is called 'txt'. Did you mean 'text'?
    """
    records = read_records(path, errors)
    first = next(records, None)
    if first is None:
        raise FormatError(path, "is an empty table")
    number, cells = first
    if isinstance(column, int) or column.isdecimal():
        place = int(column) - 1
        if not 0 <= place < len(cells):
            raise OptionError(f"{path}: has {len(cells)} columns, but column {column} was asked for. They count from 1")
        yield number, cells[place]
    else:
        names = [cell.strip() for cell in cells]
        if names.count(column) != 1:
            problem = "two columns are" if column in names else "no column is"
            raise OptionError(f"{path}: {problem} called {column!r}. {suggest(column, names)}")
        place = names.index(column)
    for number, record in records:
        if len(record) != len(cells):
            problem = f"the record has {len(record)} columns, the first one has {len(cells)}"
            raise FormatError(path, problem, line=number, cure="Quote cells with a delimiter, or mend the line")
        yield number, record[place]


def read_names(path: Name) -> list[str]:
    """The cells of the first line of a table, which often are the names of the columns."""
    return next(read_records(path, "replace"), (0, []))[1]


def read_records(path: Name, errors: Literal["strict", "replace"]) -> Iterator[tuple[int, list[str]]]:
    """The records of a table that are not blank, each with the number of its first line."""
    with open_bytes(path) as file:
        lines = (decode(raw, path, line=number, errors=errors, cure=CURE) for number, raw in iterate_lines(file, path))
        first = next(lines, "")
        delimiter = max(DELIMITERS, key=first.count)
        if delimiter == "\t":
            for number, line in enumerate(_chain(first, lines), 1):
                if line.strip():
                    yield number, line.rstrip("\r\n").split("\t")
            return
        reader = csv.reader(_chain(first, lines), delimiter=delimiter, strict=True)
        start = 1
        try:
            for record in reader:
                if any(cell.strip() for cell in record) or len(record) > 1:
                    yield start, record
                start = reader.line_num + 1
        except csv.Error as error:
            problem = f"the record that starts here is not CSV: {error}"
            cure = "Close its quotes and double those inside a cell"
            if "field limit" in str(error):
                problem = f"a cell has more than {csv.field_size_limit():,} characters"
                cure = 'Write the texts as JSON lines and use field="text"'
            raise FormatError(path, problem, line=start, cure=cure) from error


def _chain(first: str, rest: Iterator[str]) -> Iterator[str]:
    if first:
        yield first
    yield from rest
