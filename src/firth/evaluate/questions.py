"""Readers of test sets: word pairs with ratings, analogies by section, words by category.

The format is detected: fields are separated by tabs, commas (with quotes as in CSV) or spaces. A byte-order mark, blank
lines, lines that start with `#` and a header line are skipped. Any other line that does not fit is an error.
"""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple, cast

from firth import data
from firth.errors import FormatError, OptionError
from firth.files import Name, read_lines

Separator = Literal["\t", ",", " "]
SEPARATORS: tuple[Separator, ...] = ("\t", ",", " ")
SENSES = re.compile(r"[^\t]+\t[TF]\t[^\t]*\[[^\t]+\][^\t]*\t[^\t]+")
LONGEST = 1 << 16  # bytes of a line; a file with a longer line is not a test set
MOST_QUESTIONS = 1_000_000  # of relation tables; published ones give about 100,000


class RatedPair(NamedTuple):
    """Two words and their human similarity rating."""

    first: str
    second: str
    score: float


class AnalogyQuestion(NamedTuple):
    """a is to b as c is to expected."""

    a: str
    b: str
    c: str
    expected: str


class Member(NamedTuple):
    """A word and its category."""

    category: str
    word: str


class TextRow(NamedTuple):
    """The fields of one line of a file and its line number."""

    line: int
    fields: list[str]


def read_pairs(source: Name) -> list[RatedPair]:
    """The pairs of a similarity set, by name or path. The rating is the first number after the two words.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "pairs.csv"
    >>> _ = file.write_text("word 1,word 2,POS,mean\\ntea,coffee,N,7.5\\n")
    >>> read_pairs(file)
    [RatedPair(first='tea', second='coffee', score=7.5)]
    """
    path = data.find(source)
    rows = _rows(path, least=3)
    column = _number_column(rows[0])
    if column is None and len(rows) > 1:  # the first line is a header
        rows = rows[1:]
        column = _number_column(rows[0])
    if column is None:
        raise FormatError(path, "expected a score after two words", line=rows[0].line)
    return [_pair(path, row, column) for row in rows]


def _pair(path: Path, row: TextRow, column: int) -> RatedPair:
    if len(row.fields) <= column:
        problem = f"expected two words and a score in column {column + 1}, found {len(row.fields)} fields"
        raise FormatError(path, problem, line=row.line)
    score = _number(row.fields[column])
    if score is None:
        raise FormatError(path, f"expected a number as score, found {row.fields[column]!r}", line=row.line)
    first, second = _words(path, row, row.fields[:2])
    return RatedPair(first, second, score)


def read_analogies(source: Name) -> dict[str, list[AnalogyQuestion]]:
    """The questions of an analogy set, by section, in the order of the file.

    A section starts with a line `: name`, or is the first of five fields. Questions outside of sections are in a
    section with an empty name. Lines of two words are a relation table: every two pairs of a section give two
    questions.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "analogies.txt"
    >>> _ = file.write_text(": capital\\nAthens Greece Oslo Norway\\n")
    >>> read_analogies(file)
    {'capital': [AnalogyQuestion(a='Athens', b='Greece', c='Oslo', expected='Norway')]}
    >>> _ = file.write_text(": capital\\nAthens Greece\\nOslo Norway\\n")
    >>> [" ".join(question) for question in read_analogies(file)["capital"]]
    ['Athens Greece Oslo Norway', 'Oslo Norway Athens Greece']
    """
    path = data.find(source)
    rows = _rows(path, least=4, titles=True, fewer=2)
    if all(len(row.fields) == 2 for row in rows):
        return _read_relations(path, rows)
    sections: dict[str, list[AnalogyQuestion]] = {}
    name = ""
    for row in rows:
        fields = row.fields
        if fields[:1] == [":"] and len(fields) == 2:
            name = fields[1]
            sections.setdefault(name, [])
            continue
        if len(fields) == 5:
            name, fields = fields[0], fields[1:]
        if len(fields) != 4:
            raise FormatError(path, f"expected four words, found {len(fields)}", line=row.line)
        sections.setdefault(name, []).append(AnalogyQuestion(*_words(path, row, fields)))
    if not any(sections.values()):
        raise FormatError(path, "contains no questions")
    return sections


def _read_relations(path: Path, rows: list[TextRow]) -> dict[str, list[AnalogyQuestion]]:
    """The questions of relation tables; one whose answer is a word of the question is left out."""
    tables: dict[str, list[list[str]]] = {}
    name = ""
    for row in rows:
        if row.fields[0] == ":":
            name = row.fields[1]
            tables.setdefault(name, [])
        else:
            tables.setdefault(name, []).append(_words(path, row, row.fields))
    if sum(len(table) ** 2 for table in tables.values()) > MOST_QUESTIONS:
        raise FormatError(path, f"every two pairs of a table are a question, and there are over {MOST_QUESTIONS:,}")
    sections = {
        name: [
            AnalogyQuestion(*known, *asked)
            for known in table
            for asked in table
            if known is not asked and asked[1] not in (*known, asked[0])
        ]
        for name, table in tables.items()
    }
    if not any(sections.values()):
        raise FormatError(path, "contains no questions: a table needs at least two pairs")
    return sections


def read_categories(source: Name, *, category_column: Literal[1, 2] | None = None) -> list[Member]:
    """The words of a categorization set, without duplicates.

    By default, the column with fewer distinct values is the category, or the first one if they are equal.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "categories.txt"
    >>> _ = file.write_text("cat animal\\ndog animal\\ntea drink\\n")
    >>> read_categories(file)[0]
    Member(category='animal', word='cat')
    """
    if category_column not in (None, 1, 2):
        raise OptionError(f"category_column is {category_column!r}, but must be 1 or 2")
    path = data.find(source)
    rows = _rows(path, least=2)
    for row in rows:
        if len(row.fields) != 2:
            raise FormatError(path, f"expected a category and a word, found {len(row.fields)} fields", line=row.line)
    header = [field.lower() for field in rows[0].fields]
    if sorted(header) == ["category", "word"] and len(rows) > 1:
        rows = rows[1:]
        category_column = category_column or (1 if header[0] == "category" else 2)
    if category_column is None:
        distinct = [len({row.fields[i] for row in rows}) for i in range(2)]
        category_column = 1 if distinct[0] <= distinct[1] else 2
    members = []
    for row in rows:
        fields = _words(path, row, row.fields)
        members.append(Member(fields[category_column - 1], fields[2 - category_column]))
    return list(dict.fromkeys(members))


def task_of(source: Name) -> data.Task:
    """The task of a set: by its name, or else by the format of its first two lines.

    >>> task_of("google")
    'analogy'
    """
    known = data.SETS.get(os.fspath(source))
    if known is not None:
        return cast(data.Task, known.task)
    path = data.find(source)
    head = [text for (_, text), _ in zip(_lines(path), range(2))]
    if not head:
        raise FormatError(path, "contains no questions")
    tasks = [_task_of_line(text) for text in head]
    task: data.Task | None = "similarity" if "similarity" in tasks else tasks[0]  # the first line may be a header
    if task is None:
        cure = "Formats: word, word, score; four words; category, word"
        raise FormatError(path, "not a known format of a test set", line=1, cure=cure)
    return task


def _task_of_line(text: str) -> data.Task | None:
    if text.startswith(":"):
        return "analogy"
    if SENSES.fullmatch(text):
        return "senses"
    for separator in SEPARATORS:
        fields = _split(text, separator)
        if _number_column(TextRow(0, fields)) is not None:
            return "similarity"
        if len(fields) in (4, 5):
            return "analogy"
        if len(fields) == 2:
            return "categories"
    return None


def words_of(source: Name) -> list[str]:
    """The distinct words of a set, in file order."""
    task = task_of(source)
    if task == "similarity":
        words = [word for pair in read_pairs(source) for word in pair[:2]]
    elif task == "analogy":
        words = [word for section in read_analogies(source).values() for question in section for word in question]
    else:
        words = [member.word for member in read_categories(source)]
    return list(dict.fromkeys(words))


def _words(path: Path, row: TextRow, fields: list[str]) -> list[str]:
    if not all(fields):
        raise FormatError(path, "a word is empty", line=row.line)
    return fields


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _number_column(row: TextRow) -> int | None:
    """The first column after two words that is a number."""
    return next((i for i, text in enumerate(row.fields) if i >= 2 and _number(text) is not None), None)


def _rows(path: Path, least: int, titles: bool = False, fewer: int | None = None) -> list[TextRow]:
    """The lines of a file, split by the separator that gives the first line at least `least` fields, or else `fewer`.

    With `titles`, a line `: name` has the fields ":" and name.
    """
    rows = []
    separator: Separator | None = None
    for number, text in _lines(path):
        if titles and text.startswith(":"):
            rows.append(TextRow(number, [":", text[1:].strip()]))
            continue
        if separator is None:
            separator = _separator(path, number, text, least, fewer)
        rows.append(TextRow(number, _split(text, separator)))
    if not rows:
        raise FormatError(path, "contains no questions")
    return rows


def _separator(path: Path, number: int, text: str, least: int, fewer: int | None) -> Separator:
    for size in (least, fewer or least):
        for separator in SEPARATORS:
            if len(_split(text, separator)) >= size:
                return separator
    raise FormatError(path, f"expected at least {least} fields separated by tabs, commas or spaces", line=number)


def _split(text: str, separator: Separator) -> list[str]:
    if separator == " ":
        return text.split()
    if separator == "\t":
        return [field.strip() for field in text.split("\t")]
    try:
        return [field.strip() for field in next(csv.reader([text], skipinitialspace=True))]
    except csv.Error:  # a carriage return, or a field that is too long: not CSV
        return [field.strip() for field in text.split(",")]


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that are neither blank nor comments, with their numbers."""
    return ((number, text) for number, text in read_lines(path, LONGEST, blank=False) if not text.startswith("#"))
