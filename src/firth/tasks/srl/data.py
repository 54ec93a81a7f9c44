"""Sentences with predicates and their roles, in the columns of CoNLL-2005 and CoNLL-2012.

A file has a column of brackets for each predicate of a sentence; these columns are recognized by their `(V*)`.
"""

from __future__ import annotations

from dataclasses import dataclass

from firth.errors import FormatError
from firth.files import Name
from firth.tasks.columns import (
    PREDICATE,
    ColumnRow,
    find_word_column,
    is_predicate_column,
    parse_brackets,
    read_sentences,
)
from firth.tasks.tags import Span
from firth.tasks.task import SentenceExample, require_gold


@dataclass(frozen=True)
class SrlExample(SentenceExample):
    """A sentence and one of its predicates, with gold labels where they are known.

    Without a predicate (None) all predicates of the sentence are to be found. A sentence of a file that has none is
    such an example.
    """

    predicate: int | None = None
    roles: tuple[Span, ...] | None = None
    predicates: tuple[int, ...] | None = None  # all of the sentence

    @property
    def gold(self) -> tuple[Span, ...]:
        """The roles of the predicate, which must be known; none where there is no predicate."""
        return () if self.predicate is None else require_gold(self.roles, self.words)


def read_frames(path: Name) -> list[SrlExample]:
    """One example for each predicate of each sentence, and one for each sentence without predicates."""
    examples = [example for rows in read_sentences(path) for example in _read_sentence(path, rows)]
    if not any(example.predicates for example in examples):
        cure = "A file has a column of brackets, with (V*) at the predicate, for each predicate of a sentence"
        raise FormatError(path, "the file has no predicates", cure=cure)
    return examples


def _read_sentence(path: Name, rows: list[ColumnRow]) -> list[SrlExample]:
    column = find_word_column(rows)
    words = tuple(row.fields[column] for row in rows)
    frames = []
    for column in range(1, len(rows[0].fields)):
        if is_predicate_column(rows, column):
            roles = parse_brackets(path, rows, column)
            start = next((role.start for role in roles if role.label == PREDICATE), None)
            if start is None:  # it is inside another bracket
                problem = f"column {column} has its predicate inside another span"
                raise FormatError(path, problem, line=rows[0].line, cure="Close the span before (V*)")
            frames.append((start, tuple(roles)))
    if not frames:
        return [SrlExample(words, predicates=())]
    predicates = tuple(sorted({predicate for predicate, _ in frames}))
    return [SrlExample(words, predicate, roles, predicates) for predicate, roles in frames]
