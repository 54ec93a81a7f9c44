"""Texts with the place of each word, so that an answer can be traced to the characters it is about.

A text is a string as the user passed it. A list of tokens is the text of its tokens joined by single blanks. Offsets
are counted from 0 and exclude their end, as in Python: of characters (code points) in the text of the user, and of
tokens in the sentence or document of the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from os import PathLike
from typing import Any, ClassVar, Self

from firth.text.corpus import Corpus, check_not_a_file, check_words
from firth.text.model_tokenizer import ModelTokenizer, TextLike
from firth.text.tokenize import Tokenizer


@dataclass(frozen=True)
class AnswerSpan:
    """A part of a text in an answer: characters start:end of the input, tokens token_start:token_end of the answer.

    `text` is exactly the part of the input, with its spelling and its blanks.
    """

    text: str
    start: int
    end: int
    token_start: int
    token_end: int
    probability: float | None  # None where it is not known

    columns: ClassVar[tuple[str, ...]] = ("text", "start", "end", "token_start", "token_end", "probability")

    def as_dict(self) -> dict[str, Any]:
        """The fields, ready for JSON."""
        return asdict(self)


def span_row(span: Mapping[str, Any] | None) -> list[Any]:
    """The columns of a span in a table; empty columns for None.

    >>> span_row(LocatedText.of_tokens(["Tea"]).span(0, 1, 0.5).as_dict())
    ['Tea', 0, 3, 0, 1, 0.5]
    >>> span_row(None)
    [None, None, None, None, None, None]
    """
    return [None if span is None else span[name] for name in AnswerSpan.columns]


@dataclass(frozen=True)
class LocatedText:
    """A text of the user, and the words of one of its sentences or of all; word i is text[start:end] of places[i].

    >>> first, second = LocatedText.split("Tea?  Ann's tea.", Tokenizer())
    >>> second.words, second.sentence, second.span(0, 2, 0.9).text
    (('Ann', "'s", 'tea', '.'), 1, "Ann's")
    """

    text: str = field(repr=False)
    words: tuple[str, ...]
    places: tuple[tuple[int, int], ...] = field(repr=False)
    input: int = 0  # number of the text among those that were passed together, from 0
    sentence: int = 0  # number of the sentence in the text, from 0

    @classmethod
    def of(cls, text: TextLike, tokenizer: Tokenizer, input: int = 0) -> Self:
        """All words of a text, or of a list of tokens.

        >>> LocatedText.of("It's late.", Tokenizer()).words, LocatedText.of(["It", "is"], Tokenizer()).places
        (('It', "'s", 'late', '.'), ((0, 2), (3, 5)))
        """
        if not isinstance(text, (str, PathLike)):
            return cls.of_tokens(check_words(text, "the text"), input)
        text = read_text(text)
        tokens = ModelTokenizer(tokenizer).running.spans(text)
        return cls(text, tuple(token.text for token in tokens), tuple(token[1:] for token in tokens), input)

    @classmethod
    def of_tokens(cls, tokens: Sequence[str], input: int = 0) -> Self:
        """Tokens joined by single blanks."""
        ends = list(accumulate(len(token) + 1 for token in tokens))
        places = tuple((end - 1 - len(token), end - 1) for token, end in zip(tokens, ends))
        return cls(" ".join(tokens), tuple(tokens), places, input)

    @classmethod
    def split(cls, text: TextLike, tokenizer: Tokenizer, input: int = 0) -> list[Self]:
        """The sentences of a text, at least one, which may have no words. A list of tokens is one sentence."""
        if not isinstance(text, (str, PathLike)):
            return [cls.of_tokens(check_words(text, "the text"), input)]
        if isinstance(text, str):
            check_not_a_file(text)
        text = read_text(text)
        sentences = ModelTokenizer(tokenizer).running.sentences(text) or [[]]
        return [
            cls(text, tuple(token.text for token in tokens), tuple(token[1:] for token in tokens), input, number)
            for number, tokens in enumerate(sentences)
        ]

    @classmethod
    def split_all(cls, texts: Iterable[TextLike], tokenizer: Tokenizer) -> list[Self]:
        """The sentences of texts, with the number of their text."""
        return [sentence for input, text in enumerate(texts) for sentence in cls.split(text, tokenizer, input)]

    def span(self, token_start: int, token_end: int, probability: float | None) -> AnswerSpan:
        """The span of some of the words: at least one."""
        start, end = self.places[token_start][0], self.places[token_end - 1][1]
        return AnswerSpan(self.text[start:end], start, end, token_start, token_end, probability)

    @property
    def record(self) -> dict[str, Any]:
        """What an answer says of its input: its number, its text and the tokens of the answer."""
        return {"input": self.input, "text": self.text, "tokens": list(self.words)}

    @property
    def sentence_record(self) -> dict[str, Any]:
        """What the answer to a sentence says of its input: `text` is the sentence alone, characters start:end of it.

        So the answers to a long text are not longer than the text.

        >>> LocatedText.split("Tea?  Ann's tea.", Tokenizer())[1].sentence_record
        {'input': 0, 'sentence': 1, 'start': 6, 'end': 16, 'text': "Ann's tea.", 'tokens': ['Ann', "'s", 'tea', '.']}
        """
        start, end = (self.places[0][0], self.places[-1][1]) if self.places else (0, len(self.text))
        place = {"input": self.input, "sentence": self.sentence, "start": start, "end": end}
        return place | {"text": self.text[start:end], "tokens": list(self.words)}


def read_text(text: str | PathLike[str]) -> str:
    """A string, or the text of a file."""
    return text if isinstance(text, str) else "\n".join(Corpus(text).texts())
