"""Questions about passages, in the JSON form of SQuAD 1.1, and the two numbers that the official script counts.

A question's answer is a piece of the passage. It is kept as characters (what people marked) and as words (what a
network points at); the words know their places in the text, so whatever is answered is cut from the original.
"""

from __future__ import annotations

import json
import re
import string
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Any, Literal

from firth.errors import FormatError
from firth.files import Name, open_bytes
from firth.text.tokenize import Token, Tokenizer

Place = tuple[int, int]
Occurrences = Literal["given", "all"]
ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True)
class Passage:
    """A text and its words, shared by all the questions about it."""

    text: str = field(repr=False)
    words: tuple[str, ...]
    places: tuple[Place, ...] = field(repr=False)  # characters: a word was made from text[start:end]

    @classmethod
    def of(cls, text: str, tokenizer: Tokenizer) -> Passage:
        """The passage that a text is.

        >>> Passage.of("It's late.", Tokenizer()).words
        ('It', "'s", 'late', '.')
        """
        tokens = tokenizer.spans(text)
        return cls(text, tuple(token.text for token in tokens), tuple(map(_place, tokens)))

    def cut(self, first: int, last: int) -> str:
        """The original text from one word to another, the last included.

        >>> Passage.of("He paid US$75 (twice).", Tokenizer()).cut(1, 3)
        'paid US$75'
        """
        return self.text[self.places[first][0] : self.places[last][1]]

    def between(self, start: int, end: int) -> Place | None:
        """The first and the last word that characters start:end touch, or None where there is no word.

        >>> Passage.of("a 1,700 b", Tokenizer()).between(4, 7)
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
    """A question about a passage; gold answers as texts, and as first and last words where they stand."""

    passage: Passage
    words: tuple[str, ...]
    answers: tuple[str, ...] | None = None
    spans: tuple[Place, ...] = ()
    id: str = ""

    @property
    def sentences(self) -> tuple[tuple[str, ...], ...]:
        """The words to embed: the passage, then the question."""
        return self.passage.words, self.words


def read_questions(path: Name, tokenizer: Tokenizer, occurrences: Occurrences = "given") -> list[QaExample]:
    """The questions of a file, packed or not, in its order.

    With `occurrences="all"` an answer is held to stand wherever the passage has its words, not only where the file
    says.
    """
    found = []
    for place, context, records in _paragraphs(path):
        passage = Passage.of(context, tokenizer)
        if not passage.words:
            raise FormatError(path, f"{place}: the context has no words")
        for number, record in enumerate(records):
            found.append(_question(path, f"{place}.qas[{number}]", passage, record, tokenizer, occurrences))
    if not found:
        raise FormatError(path, "holds no questions")
    return found


def find_occurrences(passage: Passage, answer: str, start: int, occurrences: Occurrences) -> list[Place]:
    """Where an answer stands, as words: where it is said to begin, or wherever it begins and ends with whole words.

    >>> passage = Passage.of("At 280 m it forks; 2 km on, 2 roads meet.", Tokenizer())
    >>> find_occurrences(passage, "2", 3, "given"), find_occurrences(passage, "2", 3, "all")
    ([(1, 1)], [(6, 6), (10, 10)])
    """
    given = passage.between(start, start + len(answer))
    if given is None:
        return []
    if occurrences == "given":
        return [given]
    firsts, lasts = passage.edges
    spans = [(firsts.get(begin), lasts.get(begin + len(answer))) for begin in _places(passage.text, answer)]
    whole = [(first, last) for first, last in spans if first is not None and last is not None]
    return whole or [given]


def normalize_answer(answer: str) -> str:
    """An answer as the official script compares it: small letters, no punctuation, no articles, single blanks.

    >>> normalize_answer("The  U.S. Army's")
    'us armys'
    """
    return " ".join(ARTICLES.sub(" ", answer.lower().translate(PUNCTUATION)).split())


def exact_match(answer: str, gold: Sequence[str]) -> float:
    """1 where the answer is one of the gold answers after normalization.

    >>> exact_match("the Normans", ["Normans", "Vikings"])
    1.0
    """
    return float(any(normalize_answer(answer) == normalize_answer(one) for one in gold))


def token_f1(answer: str, gold: Sequence[str]) -> float:
    """F1 of the answer's words against the gold answer that suits it best.

    >>> token_f1("in Northern France", ["France", "northern Spain"])
    0.5
    """
    return max((_overlap(normalize_answer(answer).split(), normalize_answer(one).split()) for one in gold), default=0.0)


def _overlap(words: Sequence[str], gold: Sequence[str]) -> float:
    same = (Counter(words) & Counter(gold)).total()
    return 2 * same / (len(words) + len(gold)) if same else 0.0


def _places(text: str, piece: str) -> Iterator[int]:
    start = text.find(piece)
    while start >= 0:
        yield start
        start = text.find(piece, start + 1)


def _place(token: Token) -> Place:
    return token.start, token.end


def _paragraphs(path: Name) -> Iterator[tuple[str, str, Sequence[Any]]]:
    with open_bytes(path) as file:
        try:
            content = json.loads(file.read())
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise FormatError(path, f"not JSON: {error}") from error
    articles = _inside(path, "the file", content, "data", list)
    for i, article in enumerate(articles):
        for j, paragraph in enumerate(_inside(path, f"data[{i}]", article, "paragraphs", list)):
            place = f"data[{i}].paragraphs[{j}]"
            yield place, _inside(path, place, paragraph, "context", str), _inside(path, place, paragraph, "qas", list)


def _inside(path: Name, place: str, record: Any, name: str, kind: type) -> Any:
    value = record.get(name) if isinstance(record, Mapping) else None
    if isinstance(value, kind):
        return value
    cure = "The form is data → paragraphs → context and qas → question and answers → text and answer_start"
    raise FormatError(path, f"{place} has no {name!r}", cure=cure)


def _question(
    path: Name, place: str, passage: Passage, record: Any, tokenizer: Tokenizer, occurrences: Occurrences
) -> QaExample:
    words = tuple(tokenizer.words(_inside(path, place, record, "question", str)))
    if not words:
        raise FormatError(path, f"{place}: the question has no words")
    id = str(record.get("id", ""))
    if record.get("is_impossible"):
        cure = "Questions are answered as in SQuAD 1.1: leave out those that are marked is_impossible"
        raise FormatError(path, f"{place} has no answer", cure=cure)
    if "answers" not in record:
        return QaExample(passage, words, id=id)
    texts, spans = [], []
    for answer in _inside(path, place, record, "answers", list):
        text = _inside(path, f"{place}.answers", answer, "text", str)
        start = _start(path, place, passage.text, text, _inside(path, f"{place}.answers", answer, "answer_start", int))
        texts.append(text)
        spans += find_occurrences(passage, text, start, occurrences)
    if not spans:
        raise FormatError(path, f"{place}: no answer holds a word of the passage")
    return QaExample(passage, words, tuple(texts), tuple(sorted(set(spans))), id)


def _start(path: Name, place: str, context: str, answer: str, start: int) -> int:
    """Where the answer begins: translated sets are often off by some characters, and then it is the nearest place."""
    if context.startswith(answer, start) and answer:
        return start
    places = list(_places(context, answer)) if answer else []
    if not places:
        cure = "An answer is a piece of the context, letter by letter"
        raise FormatError(path, f"{place}: the answer {answer!r} is not in the context", cure=cure)
    return min(places, key=lambda begin: abs(begin - start))
