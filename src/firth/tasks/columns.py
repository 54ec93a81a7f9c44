"""Files of columns, as in the shared tasks of CoNLL: a word on each line, an empty line between sentences.

Columns are separated by tabs or, in lines without tabs, by spaces. Lines that mark documents (`-DOCSTART-`,
`#begin document`) end a sentence and are left out. So are comments of CoNLL-U (`# sent_id = 1`, `# newdoc`), which
stand before a sentence. A line that begins with # and could be both, such as `#a=b O`, is a word if it has as many
columns as the other lines of its sentence, and a comment otherwise. Where it stands alone, the sentence before it
decides, or the next one if there is none; in a file without any other sentence it is a word if it has two columns or
more. A comment with a blank after # or around =, and without tabs, is never a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from firth.errors import FormatError
from firth.files import Name, read_lines
from firth.tasks.tags import Span

MARK = re.compile(r"-DOCSTART-(\s|$)|#(begin|end) document\b")
COMMENT = re.compile(r"-DOCSTART-(\s|$)|#(begin|end) document\b|#\s*[\w.:]+\s*=|#\s*newdoc\b|#\s*newpar\b")
PLAIN_COMMENT = re.compile(r"# [^\t]*$|#[\w.:]+ = [^\t]*$")  # no word, whatever its columns
SPACES = re.compile(r"[ \t]+")
BRACKETS = re.compile(r"((?:\([^()*\s]+)*)\*[^()*\s]*(\)*)")
PREDICATE = "V"
LONGEST_SENTENCE = 100_000  # words


class ColumnRow(NamedTuple):
    """The line of a word: its number in the file, and its fields."""

    line: int
    fields: tuple[str, ...]


def read_sentences(path: Name) -> Iterator[list[ColumnRow]]:
    """The sentences of a file, compressed or not. All lines of a sentence have the same number of columns.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "two.conll"
    >>> _ = file.write_text("-DOCSTART- O\\n\\nMary I-PER\\nleft O\\n\\nWhy O\\n")
    >>> [[row.fields for row in sentence] for sentence in read_sentences(file)]
    [[('Mary', 'I-PER'), ('left', 'O')], [('Why', 'O')]]
    """
    rows: list[ColumnRow] = []
    unsure: list[ColumnRow] = []  # lines before the sentence that may be its first words, or comments
    waiting: list[list[ColumnRow]] = []  # such lines before the first sentence, of which they may be others
    columns = 0  # of the sentence before
    for number, line in read_lines(path):
        row = ColumnRow(number, split_fields(line))
        if not line.strip() or MARK.match(line) or (COMMENT.match(line) and PLAIN_COMMENT.match(line)):
            rows = rows or [one for one in unsure if len(one.fields) == columns]
            if rows:
                yield rows
                columns = len(rows[0].fields)
            elif unsure and not columns:
                waiting.append(unsure)
            rows, unsure = [], []
            continue
        if COMMENT.match(line) and not rows:
            unsure.append(row)
            if len(unsure) + len(waiting) > LONGEST_SENTENCE:
                problem = f"more than {LONGEST_SENTENCE:,} lines before a sentence may be comments or words"
                raise FormatError(path, problem, line=number, cure="Write comments with a blank after #")
            continue
        if not rows:
            columns = columns or len(row.fields)
            yield from _select_sentences(waiting, columns)
            waiting = []
            rows = [one for one in unsure if len(one.fields) == len(row.fields)]
        if rows and len(row.fields) != len(rows[0].fields):
            problem = f"expected {len(rows[0].fields)} columns as in line {rows[0].line}, found {len(row.fields)}"
            raise FormatError(path, problem, line=number, cure="Separate sentences by an empty line")
        if len(rows) == LONGEST_SENTENCE:
            problem = f"the sentence from line {rows[0].line} has more than {LONGEST_SENTENCE:,} words"
            raise FormatError(path, problem, line=number, cure="Separate sentences by an empty line")
        rows.append(row)
    if rows:
        yield rows
        return
    waiting.append(unsure)
    if not columns:  # there is no other sentence
        columns = max([2, *(len(row.fields) for part in waiting for row in part)])
    yield from _select_sentences(waiting, columns)


def _select_sentences(parts: Sequence[Sequence[ColumnRow]], columns: int) -> Iterator[list[ColumnRow]]:
    """Those of the parts that have lines of so many columns, with these lines."""
    for part in parts:
        rows = [row for row in part if len(row.fields) == columns]
        if rows:
            yield rows


def split_fields(line: str) -> tuple[str, ...]:
    """The fields of a line.

    >>> split_fields("New York\\tB-LOC"), split_fields("EU  NNP B-NP B-ORG")
    (('New York', 'B-LOC'), ('EU', 'NNP', 'B-NP', 'B-ORG'))
    """
    if "\t" in line:
        return tuple(field.strip(" ") for field in line.rstrip().split("\t"))
    return tuple(SPACES.split(line.strip(" ")))


def select_field(path: Name, row: ColumnRow, column: int) -> str:
    """One field of a row; a negative column counts from the last."""
    if not -len(row.fields) <= column < len(row.fields):
        problem = f"there is no column {column}: the line has {len(row.fields)}, counted from 0"
        raise FormatError(path, problem, line=row.line, cure="Choose another column, or -1 for the last")
    return row.fields[column]


def parse_brackets(path: Name, rows: Sequence[ColumnRow], column: int) -> list[Span]:
    """The spans of a column of brackets; of nested spans, the outermost.

    >>> rows = [ColumnRow(1, ("(ARG0*",)), ColumnRow(2, ("*)",)), ColumnRow(3, ("(V*)",)), ColumnRow(4, ("*",))]
    >>> parse_brackets("f", rows, 0)
    [Span(label='ARG0', start=0, end=2), Span(label='V', start=2, end=3)]
    """
    spans: list[Span] = []
    stack: list[str] = []  # labels of the open brackets
    start = 0
    for place, row in enumerate(rows):
        if row.fields[column] == "*":
            continue
        match = BRACKETS.fullmatch(row.fields[column])
        if match is None:
            problem = f"column {column} has {row.fields[column]!r}, expected brackets such as (ARG0* or *)"
            raise FormatError(path, problem, line=row.line)
        opened, closed = match[1].split("(")[1:], len(match[2])
        if opened and not stack:
            start = place
        stack += opened
        if closed > len(stack):
            raise FormatError(path, f"column {column} closes a bracket that is not open", line=row.line)
        if closed and closed == len(stack):
            spans.append(Span(stack[0], start, place + 1))
        del stack[len(stack) - closed :]
    if stack:
        problem = f"column {column} opens ({stack[0]}* in line {rows[start].line} and does not close it"
        raise FormatError(path, problem, line=rows[-1].line)
    return spans


def is_predicate_column(rows: Sequence[ColumnRow], column: int) -> bool:
    """Whether a column has the roles of one predicate: brackets throughout, and one of them is (V*).

    Parses and entities are bracketed too, but none of their labels is V.
    """
    fields = [row.fields[column] for row in rows]
    if not any(text.startswith(f"({PREDICATE}*") for text in fields):
        return False
    return all(text == "*" or BRACKETS.fullmatch(text) for text in fields)


def find_word_column(rows: Sequence[ColumnRow]) -> int:
    """The column of the words: the one after their numbers, or the first where there are no numbers.

    >>> find_word_column([ColumnRow(1, ("doc", "0", "0", "The")), ColumnRow(2, ("doc", "0", "1", "cat"))])
    3
    """
    zero_based, one_based = ([str(first + n) for n in range(len(rows))] for first in (0, 1))
    for column in (2, 1):  # 2 first: in a sentence of one word, column 1 may look like a number too
        if column + 1 < len(rows[0].fields):
            numbers = [row.fields[column] for row in rows]
            if numbers in (zero_based, one_based):
                return column + 1
    return 0
