"""Sentences with named entities, in the columns of CoNLL-2003: a word and its tag on each line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from firth.errors import FormatError, OptionError
from firth.files import Name
from firth.tasks.columns import ColumnRow, read_sentences, select_field
from firth.tasks.tags import Span, decode_spans, split_tag
from firth.tasks.task import SentenceExample, require_gold
from firth.tasks.tokenization import Letters, normalize_words


@dataclass(frozen=True)
class NerExample(SentenceExample):
    """A sentence and, where they are known, its entities."""

    entities: tuple[Span, ...] | None = None

    @property
    def gold(self) -> tuple[Span, ...]:
        """The entities, which must be known."""
        return require_gold(self.entities, self.words)


def read_entities(path: Name, word: int, tag: int, letters: Letters) -> list[NerExample]:
    """The sentences of a file. `word` and `tag` are columns, counted from 0 or, if negative, from the last.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "one.conll"
    >>> _ = file.write_text("Ann B-PER\\nleft O\\n")
    >>> read_entities(file, 0, -1, "keep")
    [NerExample(words=('Ann', 'left'), entities=(Span(label='PER', start=0, end=1),))]
    """
    examples = []
    for rows in read_sentences(path):
        words = normalize_words([select_field(path, row, word) for row in rows], letters)
        examples.append(NerExample(tuple(words), tuple(decode_spans(_read_tags(path, rows, tag)))))
    if not examples:
        raise FormatError(path, "the file has no sentences")
    return examples


def _read_tags(path: Name, rows: Sequence[ColumnRow], column: int) -> list[str]:
    tags = [select_field(path, row, column) for row in rows]
    for row, tag in zip(rows, tags):
        try:
            split_tag(tag)
        except OptionError as error:
            cure = "Set the option tag to the column of the tags"
            raise FormatError(path, str(error), line=row.line, cure=cure) from error
    return tags
