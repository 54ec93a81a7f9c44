"""Questions about passages, in the JSON format of SQuAD 1.1.

An answer is a span of the passage, given by characters in a file and by words in the network. Each word knows its
characters, so the text of an answer is cut from the original passage.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import Any, Literal

from firth.errors import FormatError
from firth.files import Name, read_json
from firth.tasks.located_text import LocatedText
from firth.tasks.task import require_gold
from firth.text.tokenize import Tokenizer

WordSpan = tuple[int, int]  # the first and the last word
Occurrences = Literal["given", "all"]


@dataclass(frozen=True)
class Passage(LocatedText):
    """A text and its words, shared by all the questions about it."""

    def cut(self, first: int, last: int) -> str:
        """The original text from the first to the last word, both included.

        >>> Passage.of("He paid US$75 (twice).", Tokenizer()).cut(1, 3)
        'paid US$75'
        """
        return self.text[self.places[first][0] : self.places[last][1]]

    def words_between(self, start: int, end: int) -> WordSpan | None:
        """The first and the last word that overlap the characters start:end; None where there is no word.

        >>> Passage.of("a 1,700 b", Tokenizer()).words_between(4, 7)
        (1, 1)
        """
        first = bisect_right(self.places, start, key=itemgetter(1))
        last = bisect_left(self.places, end, key=itemgetter(0)) - 1
        return (first, last) if first <= last else None

    @cached_property
    def edges(self) -> tuple[dict[int, int], dict[int, int]]:
        """The word that begins at a character, and the word that ends before one."""
        words = range(len(self.places))
        starts, ends = map(itemgetter(0), self.places), map(itemgetter(1), self.places)
        return dict(zip(starts, words)), dict(zip(ends, words))


@dataclass(frozen=True)
class QaExample:
    """A question about a passage, with the texts of its gold answers and their word spans where they are known."""

    passage: Passage
    words: tuple[str, ...]
    answers: tuple[str, ...] | None = None
    spans: tuple[WordSpan, ...] = ()
    id: str = ""
    origin: LocatedText | None = field(default=None, kw_only=True, compare=False, repr=False)  # of the question

    @property
    def sentences(self) -> tuple[tuple[str, ...], ...]:
        """The two inputs: the passage, then the question."""
        return self.passage.words, self.words

    def with_sentences(self, sentences: Sequence[tuple[str, ...]]) -> QaExample:
        """The question with other spellings of the words of the passage and its own; the text of the passage stays."""
        return replace(self, passage=replace(self.passage, words=sentences[0]), words=sentences[1])

    @property
    def gold(self) -> tuple[str, ...]:
        """The gold answers, which must be known."""
        return require_gold(self.answers, self.words)


def read_questions(path: Name, tokenizer: Tokenizer, occurrences: Occurrences = "given") -> list[QaExample]:
    """The questions of a file, compressed or not, in its order.

    With `occurrences="all"` the gold spans of an answer are all its occurrences in the passage, not only the one that
    the file gives.
    """
    examples = []
    for place, context, records in _read_paragraphs(path):
        passage = Passage.of(context, tokenizer)
        if not passage.words:
            raise FormatError(path, f"{place}: the context has no words")
        for number, record in enumerate(records):
            examples.append(_parse_question(path, f"{place}.qas[{number}]", passage, record, tokenizer, occurrences))
    if not examples:
        raise FormatError(path, "the file has no questions")
    return examples


def find_occurrences(passage: Passage, answer: str, start: int, occurrences: Occurrences) -> list[WordSpan]:
    """The word spans of an answer: the one at its given start, or all that begin and end with whole words.

    >>> passage = Passage.of("At 280 m it forks; 2 km on, 2 roads meet.", Tokenizer())
    >>> find_occurrences(passage, "2", 3, "given"), find_occurrences(passage, "2", 3, "all")
    ([(1, 1)], [(6, 6), (10, 10)])
    """
    span = passage.words_between(start, start + len(answer))
    if span is None:
        return []
    if occurrences == "given":
        return [span]
    firsts, lasts = passage.edges
    spans = [(firsts.get(begin), lasts.get(begin + len(answer))) for begin in _find_all(passage.text, answer)]
    whole = [(first, last) for first, last in spans if first is not None and last is not None]
    return whole or [span]


def _find_all(text: str, piece: str) -> Iterator[int]:
    start = text.find(piece)
    while start >= 0:
        yield start
        start = text.find(piece, start + 1)


def _read_paragraphs(path: Name) -> Iterator[tuple[str, str, Sequence[Any]]]:
    articles = _require(path, "the file", read_json(path), "data", list)
    for i, article in enumerate(articles):
        for j, paragraph in enumerate(_require(path, f"data[{i}]", article, "paragraphs", list)):
            place = f"data[{i}].paragraphs[{j}]"
            yield place, _require(path, place, paragraph, "context", str), _require(path, place, paragraph, "qas", list)


def _require(path: Name, place: str, record: Any, name: str, kind: type) -> Any:
    value = record.get(name) if isinstance(record, Mapping) else None
    if isinstance(value, kind):
        return value
    cure = "The format is data → paragraphs → context and qas → question and answers → text and answer_start"
    raise FormatError(path, f"{place} has no {name!r}", cure=cure)


def _parse_question(
    path: Name, place: str, passage: Passage, record: Any, tokenizer: Tokenizer, occurrences: Occurrences
) -> QaExample:
    words = tuple(tokenizer.words(_require(path, place, record, "question", str)))
    if not words:
        raise FormatError(path, f"{place}: the question has no words")
    id = str(record.get("id", ""))
    if record.get("is_impossible"):
        cure = "Only questions with answers are supported, as in SQuAD 1.1: leave out those marked is_impossible"
        raise FormatError(path, f"{place} has no answer", cure=cure)
    if "answers" not in record:
        return QaExample(passage, words, id=id)
    texts, spans = [], []
    for answer in _require(path, place, record, "answers", list):
        text = _require(path, f"{place}.answers", answer, "text", str)
        start = _require(path, f"{place}.answers", answer, "answer_start", int)
        texts.append(text)
        spans += find_occurrences(passage, text, _find_start(path, place, passage.text, text, start), occurrences)
    if not spans:
        raise FormatError(path, f"{place}: no answer contains a word of the passage")
    return QaExample(passage, words, tuple(texts), tuple(sorted(set(spans))), id)


def _find_start(path: Name, place: str, context: str, answer: str, start: int) -> int:
    """The start of the occurrence nearest to the given one: translated sets are often off by a few characters."""
    if context.startswith(answer, start) and answer:
        return start
    starts = list(_find_all(context, answer)) if answer else []
    if not starts:
        cure = "An answer is an exact part of the context"
        raise FormatError(path, f"{place}: the answer {answer!r} is not in the context", cure=cure)
    return min(starts, key=lambda begin: abs(begin - start))
