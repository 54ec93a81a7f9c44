"""Files of columns, as the shared tasks of CoNLL have them: a line a word, an empty line between sentences.

Columns are parted by tabs or, in lines without any, by blanks. Lines that only say where a document begins or ends
(`-DOCSTART-`, `#begin document`) and comments of CoNLL-U (`# sent_id = 1`) end a sentence and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from firth.errors import FormatError
from firth.files import Name, read_lines
from firth.tasks.tags import Span

COMMENT = re.compile(r"-DOCSTART-(\s|$)|#(begin|end) document\b|#\s*[\w.:]+\s*=|#\s*newdoc\b|#\s*newpar\b")
BLANKS = re.compile(r"[ \t]+")
BRACKETS = re.compile(r"((?:\([^()*\s]+)*)\*[^()*\s]*(\)*)")
PREDICATE = "V"


class ColumnRow(NamedTuple):
    """A word's line: its number in the file, and its fields."""

    line: int
    fields: tuple[str, ...]


def read_sentences(path: Name) -> Iterator[list[ColumnRow]]:
    """The sentences of a file, packed or not; each has as many columns in all its lines.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "two.conll"
    >>> _ = file.write_text("-DOCSTART- O\\n\\nMary I-PER\\nleft O\\n\\nWhy O\\n")
    >>> [[row.fields for row in sentence] for sentence in read_sentences(file)]
    [[('Mary', 'I-PER'), ('left', 'O')], [('Why', 'O')]]
    """
    found: list[ColumnRow] = []
    for number, line in read_lines(path):
        if not line.strip() or COMMENT.match(line):
            if found:
                yield found
            found = []
            continue
        row = ColumnRow(number, split_fields(line))
        if found and len(row.fields) != len(found[0].fields):
            problem = f"expected {len(found[0].fields)} columns as in line {found[0].line}, found {len(row.fields)}"
            raise FormatError(path, problem, line=number, cure="An empty line parts sentences")
        found.append(row)
    if found:
        yield found


def split_fields(line: str) -> tuple[str, ...]:
    """The fields of a line.

    >>> split_fields("New York\\tB-LOC"), split_fields("EU  NNP B-NP B-ORG")
    (('New York', 'B-LOC'), ('EU', 'NNP', 'B-NP', 'B-ORG'))
    """
    if "\t" in line:
        return tuple(field.strip(" ") for field in line.rstrip().split("\t"))
    return tuple(BLANKS.split(line.strip(" ")))


def select_field(path: Name, row: ColumnRow, column: int) -> str:
    """One field of a row; negative columns count from the last."""
    if not -len(row.fields) <= column < len(row.fields):
        problem = f"there is no column {column}: the line has {len(row.fields)}, counted from 0"
        raise FormatError(path, problem, line=row.line, cure="Name another column, or -1 for the last")
    return row.fields[column]


def parse_brackets(path: Name, rows: Sequence[ColumnRow], column: int) -> list[Span]:
    """The spans that a column of brackets tells; of spans within spans, the outermost.

    >>> rows = [ColumnRow(1, ("(ARG0*",)), ColumnRow(2, ("*)",)), ColumnRow(3, ("(V*)",)), ColumnRow(4, ("*",))]
    >>> parse_brackets("f", rows, 0)
    [Span(label='ARG0', start=0, end=2), Span(label='V', start=2, end=3)]
    """
    found: list[Span] = []
    open_labels: list[str] = []
    start = 0
    for place, row in enumerate(rows):
        if row.fields[column] == "*":
            continue
        match = BRACKETS.fullmatch(row.fields[column])
        if match is None:
            problem = f"column {column} holds {row.fields[column]!r}, which is no brackets such as (ARG0* or *)"
            raise FormatError(path, problem, line=row.line)
        opened, closed = match[1].split("(")[1:], len(match[2])
        if opened and not open_labels:
            start = place
        open_labels += opened
        if closed > len(open_labels):
            raise FormatError(path, f"column {column} closes a bracket that was never opened", line=row.line)
        if closed and closed == len(open_labels):
            found.append(Span(open_labels[0], start, place + 1))
        del open_labels[len(open_labels) - closed :]
    if open_labels:
        problem = f"column {column} opens ({open_labels[0]}* in line {rows[start].line} and never closes it"
        raise FormatError(path, problem, line=rows[-1].line)
    return found


def is_predicate_column(rows: Sequence[ColumnRow], column: int) -> bool:
    """Whether a column holds the roles of one predicate: brackets throughout, and one of them is (V*).

    Parses and names are bracketed too, but no phrase and no name is called V.
    """
    fields = [row.fields[column] for row in rows]
    if not any(text.startswith(f"({PREDICATE}*") for text in fields):
        return False
    return all(text == "*" or BRACKETS.fullmatch(text) for text in fields)


def find_word_column(rows: Sequence[ColumnRow]) -> int:
    """Where words stand: after the column that numbers them, and first where there is none.

    >>> find_word_column([ColumnRow(1, ("doc", "0", "0", "The")), ColumnRow(2, ("doc", "0", "1", "cat"))])
    3
    """
    zero_based, one_based = ([str(first + n) for n in range(len(rows))] for first in (0, 1))
    for column in (2, 1):  # in a sentence of one word its own number, before it, looks the same
        if column + 1 < len(rows[0].fields):
            numbers = [row.fields[column] for row in rows]
            if numbers in (zero_based, one_based):
                return column + 1
    return 0
