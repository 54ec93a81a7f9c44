"""Premise and hypothesis with a label, in the formats of the published sets. The file itself tells its format:

    JSON lines     SNLI and MultiNLI as published: sentence1, sentence2, gold_label
    header         tab-separated columns with names: SICK, FarsTail, GLUE, the tables beside SNLI's JSON
    no header      label, premise, hypothesis, separated by tabs

A text that contains a tab or a quote may be quoted as in CSV. A pair without agreement of the annotators, whose label
is `-`, is left out, as in published results.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

from firth.errors import FormatError
from firth.files import Name, parse_json, read_lines
from firth.tasks.located_text import LocatedText
from firth.tasks.task import require_gold
from firth.text.tokenize import Tokenizer

SNLI_LABELS = ("entailment", "neutral", "contradiction")
NO_AGREEMENT = "-"
PREMISES = ("sentence1", "premise", "sentence_a")
HYPOTHESES = ("sentence2", "hypothesis", "sentence_b", "hypo")
LABELS = ("gold_label", "label", "entailment_judgment", "entailment_label")
SPELLINGS = {"e": "entailment", "n": "neutral", "c": "contradiction", "contradictory": "contradiction"}


@dataclass(frozen=True)
class EntailmentExample:
    """A premise, a hypothesis and, where it is known, the label of the pair."""

    premise: tuple[str, ...]
    hypothesis: tuple[str, ...]
    label: str | None = None
    origins: tuple[LocatedText, LocatedText] | None = field(default=None, kw_only=True, compare=False, repr=False)

    @property
    def sentences(self) -> tuple[tuple[str, ...], ...]:
        """The two inputs: the premise, then the hypothesis."""
        return self.premise, self.hypothesis

    def with_sentences(self, sentences: Sequence[tuple[str, ...]]) -> EntailmentExample:
        """The pair with other spellings of its words."""
        return replace(self, premise=sentences[0], hypothesis=sentences[1])

    @property
    def gold(self) -> str:
        """The label, which must be known."""
        return require_gold(self.label, (*self.premise, "=>", *self.hypothesis))


class TextPair(NamedTuple):
    """A pair as it is in a file; the label is None where the file has no column for it."""

    premise: str
    hypothesis: str
    label: str | None


class PairColumns(NamedTuple):
    """The columns of a table, and how many it has."""

    premise: int
    hypothesis: int
    label: int | None
    fields: int


def read_examples(path: Name, tokenizer: Tokenizer) -> list[EntailmentExample]:
    """The pairs of a file, tokenized."""
    words = cache(tokenizer.words)  # a premise occurs in several pairs
    return [
        EntailmentExample(tuple(words(pair.premise)), tuple(words(pair.hypothesis)), pair.label)
        for pair in read_pairs(path)
    ]


def read_pairs(path: Name) -> list[TextPair]:
    """The pairs of a file, compressed or not, in any of the formats above.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "pairs.tsv"
    >>> _ = file.write_text("neutral\\tA dog runs.\\tA dog is late.\\n-\\tA cat.\\tA pet?\\n")
    >>> read_pairs(file)
    [TextPair(premise='A dog runs.', hypothesis='A dog is late.', label='neutral')]
    """
    lines = read_lines(path, blank=False)
    first = next(lines, None)
    if first is None:
        raise FormatError(path, "the file has no pairs")
    pairs = _json_lines(path, chain([first], lines)) if first[1].startswith("{") else _table(path, first, lines)
    return [pair for pair in pairs if pair.label != NO_AGREEMENT]


def normalize_label(label: str) -> str:
    """A label in the spelling of SNLI.

    >>> normalize_label("ENTAILMENT"), normalize_label("c")
    ('entailment', 'contradiction')
    """
    label = label.strip().lower()
    return SPELLINGS.get(label, label)


def _json_lines(path: Name, lines: Iterable[tuple[int, str]]) -> Iterator[TextPair]:
    for number, text in lines:
        record = parse_json(text, path, line=number)
        if not isinstance(record, dict):
            raise FormatError(path, f"expected an object, found {text[:30]!r}", line=number)
        premise, hypothesis = _value(record, PREMISES), _value(record, HYPOTHESES)
        label = _value(record, LABELS)
        if not isinstance(premise, str) or not isinstance(hypothesis, str):
            cure = f"A pair has {PREMISES[0]} and {HYPOTHESES[0]}, or {PREMISES[1]} and {HYPOTHESES[1]}"
            raise FormatError(
                path, f"expected two texts, found {', '.join(record) or 'nothing'}", line=number, cure=cure
            )
        if label is not None and not isinstance(label, str):
            cure = "Write labels as words, such as 'neutral': numbers differ between sets"
            raise FormatError(path, f"the label is {label!r:.60}", line=number, cure=cure)
        yield TextPair(premise, hypothesis, None if label is None else normalize_label(label))


def _value(record: dict[str, Any], names: Sequence[str]) -> Any:
    return next((record[name] for name in names if name in record), None)


def _table(path: Name, first: tuple[int, str], lines: Iterable[tuple[int, str]]) -> Iterator[TextPair]:
    columns = _header(first[1])
    if columns is None:
        columns = PairColumns(premise=1, hypothesis=2, label=0, fields=3)
        lines = chain([first], lines)
    for number, text in lines:
        fields = _fields(text, columns.fields)
        if len(fields) != columns.fields:
            cure = "Without a header, a line is label, premise, hypothesis, separated by tabs"
            problem = f"expected {columns.fields} tab-separated fields, found {len(fields)}"
            raise FormatError(path, problem, line=number, cure=cure)
        label = None if columns.label is None else normalize_label(fields[columns.label])
        if label == "":
            raise FormatError(path, "the label is empty", line=number)
        yield TextPair(fields[columns.premise].strip(), fields[columns.hypothesis].strip(), label)


def _header(line: str) -> PairColumns | None:
    names = [name.strip().lower() for name in line.split("\t")]
    premise, hypothesis, label = (
        next((names.index(name) for name in wanted if name in names), None) for wanted in (PREMISES, HYPOTHESES, LABELS)
    )
    if premise is None or hypothesis is None:
        return None
    return PairColumns(premise, hypothesis, label, len(names))


def _fields(text: str, count: int) -> list[str]:
    """The fields of a line, unquoted where that gives the expected number of fields.

    >>> _fields('"say ""no""\\tor not"\\te', 2)
    ['say "no"\\tor not', 'e']
    >>> _fields('"No" he says\\te', 2)
    ['"No" he says', 'e']
    """
    plain = text.split("\t")
    if '"' not in text:
        return plain
    try:
        unquoted = next(csv.reader([text], delimiter="\t", strict=True))
    except csv.Error:  # a literal quotation mark
        return plain
    return unquoted if len(unquoted) == count else plain
