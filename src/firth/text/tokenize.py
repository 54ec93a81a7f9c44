"""Tokenization and sentence segmentation, with the offsets of every word in the source.

Mode `running` is for raw text in any script; English is tokenized as in the Penn Treebank. docs/text.md has the rules.
Mode `whitespace` is for tokenized text: it splits words at ASCII white space and at zero
bytes, and a line is a sentence.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.kernels import characters as chars
from firth.kernels import token_lines as lines_kernel
from firth.kernels import tokenize as kernel
from firth.options import Recipe, option
from firth.text.abbreviations import abbreviation_table
from firth.text.code_points import code_points
from firth.text.languages import NORMALIZERS, Language, language_normalizer, language_rules
from firth.text.normalize import Normalizer, blocks
from firth.text.segmentation import Segment, Spans, find_segmenter, name_segment
from firth.text.vocabulary import to_bytes, to_word

Ids = NDArray[np.int64]
BLOCK = 1 << 18  # characters per block, so that the arrays of the kernels fit the processor cache
STANDARD = Normalizer()


class EncodedTokens(NamedTuple):
    """Tokens as UTF-8 without separators: the length of each in bytes, and whether it ends a sentence."""

    data: NDArray[np.uint8]
    lengths: NDArray[np.int32]
    last: NDArray[np.uint8]


class Token(NamedTuple):
    """A word and its span source[start:end]."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Tokenizer(Recipe):
    """Splits text into words and sentences.

    >>> tokenizer = Tokenizer()
    >>> tokenizer.words("Dr. Watson can't go. It's late!")
    ['Dr.', 'Watson', 'ca', "n't", 'go', '.', 'It', "'s", 'late', '!']
    >>> tokenizer.to_lines("Dr. Watson can't go. It's late!")
    b"Dr. Watson ca n't go .\\nIt 's late !\\n"
    >>> Tokenizer(mode="whitespace").words("can't  go.")
    ["can't", 'go.']
    >>> Tokenizer(language="french").words("L'eau coule-t-elle ?")
    ["L'", 'eau', 'coule', '-t-elle', '?']
    """

    mode: Literal["running", "whitespace"] = option("running", "Raw text (running) or tokenized text (whitespace).")
    normalizer: Normalizer | None = option(STANDARD, "Normalizer to apply first; none by default in whitespace mode.")
    paragraphs: bool = option(False, "Treat a single line end as a space; only an empty line ends a sentence.")
    abbreviations: tuple[str, ...] = option((), "More abbreviations, which keep their period, such as 'Bhf.'.")
    language: Language = option("any", "Language of the text: its abbreviations, elisions and normalizer.")
    rules: int = option(2, "Version of the rules; 1 is that of models stored before `language`.", minimum=1, maximum=2)
    segment: Segment | None = option(
        None,
        "Word segmentation of scripts without spaces, such as Chinese, Japanese and Thai: icu, jieba, sudachi, kiwi or "
        "pythainlp, the folder of a trained segmenter, or any function from a sentence to its words.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.segment is not None and self.mode == "whitespace":
            raise OptionError("Tokenizer: segment is for running text, but mode is 'whitespace'. Leave one of them out")
        # Tokenized text stays unchanged unless a normalizer is set explicitly.
        if self.normalizer is STANDARD and self.mode == "whitespace":
            object.__setattr__(self, "normalizer", None)
        elif self.normalizer is STANDARD and self.language in NORMALIZERS:
            object.__setattr__(self, "normalizer", language_normalizer(self.language))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The tokenizer with these options. One that was stored before `rules` keeps the first version of the rules.

        >>> Tokenizer.from_dict({"mode": "running"}).rules, Tokenizer.from_dict(Tokenizer().as_dict()).rules
        (1, 2)
        """
        return super().from_dict({"rules": 1, **values} if values else values)

    def as_dict(self) -> dict[str, Any]:
        """The options by name. A function that segments has no name to store: it is described instead.

        >>> Tokenizer(segment="icu").as_dict()["segment"], Tokenizer(segment=str.split).as_dict()["segment"]
        ('icu', '<function str.split>')
        """
        if self.segment is None or isinstance(self.segment, str):
            return super().as_dict()
        return replace(self, segment=name_segment(self.segment)).as_dict()

    def words(self, text: str) -> list[str]:
        """The words of a text, in order.

        >>> Tokenizer().words("¿Qué? می‌روم، 東京タワー")
        ['¿', 'Qué', '?', 'می\u200cروم', '،', '東', '京', 'タワー']
        """
        text = self._spell(text)
        starts, ends, _ = self._scan(code_points(text))
        words = [text[start:end] for start, end in zip(starts.tolist(), ends.tolist())]
        return words if self.normalizer is None or not self.normalizer.fold_case else list(map(self._fold, words))

    def spans(self, text: str) -> list[Token]:
        """The words of a text with their spans in it, also if the normalizer changes it.

        >>> Tokenizer().spans("I can't")
        [Token(text='I', start=0, end=1), Token(text='ca', start=2, end=4), Token(text="n't", start=4, end=7)]
        """
        return self._tokens(text)[0]

    def sentences(self, text: str) -> list[list[Token]]:
        """The sentences of a text, each a list of words with their spans.

        >>> [[token.text for token in sentence] for sentence in Tokenizer().sentences("He left. Why?")]
        [['He', 'left', '.'], ['Why', '?']]
        """
        tokens, last = self._tokens(text)
        edges = [0, *(np.flatnonzero(last) + 1).tolist()]
        return [tokens[start:end] for start, end in pairwise(edges)]

    def to_lines(self, text: str) -> bytes:
        """The text as UTF-8 with one space between tokens and one sentence per line; invalid bytes are kept.

        >>> Tokenizer(mode="whitespace").to_lines("a  b\\r\\n\\n c")
        b'a b\\nc\\n'
        """
        lines = []
        for data, lengths, last in self.encode(text):
            separators = np.where(last, ord("\n"), ord(" ")).astype(np.uint8)
            lines.append(np.insert(data, np.cumsum(lengths), separators).tobytes())
        return to_bytes(self._fold(to_word(b"".join(lines))))

    def encode(self, text: str) -> Iterator[EncodedTokens]:
        """The tokens of a text in blocks of whole sentences; case is not folded yet.

        >>> next(Tokenizer().encode("It's late")).lengths
        array([2, 2, 4], dtype=int32)
        """
        for block in self._blocks(text):
            yield self._encode_blocks([block])[0]

    def encode_documents(self, texts: Iterable[str]) -> Iterator[tuple[EncodedTokens, list[int]]]:
        """The tokens of many texts, of about a block of characters at a time, and the sentences of each text."""
        blocks_of: list[list[str]] = []
        size = 0
        for text in texts:
            blocks_of.append(list(self._blocks(text)))
            size += sum(map(len, blocks_of[-1]))
            if size > BLOCK:
                yield self._encode_texts(blocks_of)
                blocks_of, size = [], 0
        yield self._encode_texts(blocks_of)

    def _encode_texts(self, blocks_of: list[list[str]]) -> tuple[EncodedTokens, list[int]]:
        tokens, sentences = self._encode_blocks(list(itertools.chain(*blocks_of)))
        counts = iter(sentences)
        return tokens, [sum(itertools.islice(counts, len(parts))) for parts in blocks_of]

    def _encode_blocks(self, parts: list[str]) -> tuple[EncodedTokens, list[int]]:
        """The tokens of all blocks, one after another, and the number of sentences of each block."""
        codes = code_points("".join(parts))
        starts, ends = np.empty((2, len(codes)), np.int64)
        last = np.zeros(len(codes), np.uint8)
        firsts, counts, first, count = [], [], 0, 0
        for part in parts:
            place = slice(count, None)
            tokens = self._find(codes[first : first + len(part)], starts[place], ends[place], last[place])
            firsts.append(first)
            counts.append(tokens)
            first, count = first + len(part), count + tokens
        shifts = np.repeat(firsts, counts)
        starts, ends, last = starts[:count] + shifts, ends[:count] + shifts, last[:count].copy()
        data, lengths = np.empty(4 * len(codes), np.uint8), np.empty(count, np.int32)
        size = lines_kernel.write_tokens(codes, starts, ends, data, lengths)
        sentences = np.diff(np.append(0, np.cumsum(last, dtype=np.int64))[np.cumsum([0, *counts])])
        return EncodedTokens(data[:size].copy(), lengths, last), sentences.tolist()

    def _blocks(self, text: str) -> Iterable[str]:
        text = self._spell(text)
        return blocks(text, "\n\n" if self.paragraphs else "\n", BLOCK) if len(text) > BLOCK else (text,)

    def _spell(self, text: str) -> str:
        return text if self.normalizer is None else self.normalizer.spell(text)

    def _fold(self, word: str) -> str:
        # Case is folded last: sentence boundaries depend on capitals.
        return word if self.normalizer is None else self.normalizer.fold(word)

    def _tokens(self, text: str) -> tuple[list[Token], NDArray[np.uint8]]:
        spelled = self._spell(text)
        starts, ends, last = self._scan(code_points(spelled))
        sources, stops = starts, ends
        if self.normalizer is not None and spelled != text:
            offsets = self.normalizer.spell_aligned(text)[1]
            sources, stops = offsets[starts], _trim_ends(text, offsets[ends - 1] + 1, offsets[ends])
        words = [self._fold(spelled[start:end]) for start, end in zip(starts.tolist(), ends.tolist())]
        return [Token(*each) for each in zip(words, sources.tolist(), stops.tolist())], last

    def _scan(self, codes: NDArray[np.uint32]) -> tuple[Ids, Ids, NDArray[np.uint8]]:
        starts, ends = np.empty((2, len(codes)), np.int64)
        last = np.zeros(len(codes), np.uint8)
        count = self._find(codes, starts, ends, last)
        return starts[:count], ends[:count], last[:count]

    def _find(self, codes: NDArray[np.uint32], starts: Ids, ends: Ids, last: NDArray[np.uint8]) -> int:
        """Writes where tokens start and end and which end a sentence; returns the number of tokens."""
        if self.mode == "whitespace":
            return int(lines_kernel.split_whitespace(codes, self.paragraphs, starts, ends, last))
        from firth.text.character_classes import character_classes  # it runs a module of kernels

        classes = character_classes(self.rules > 1)
        keys, values = abbreviation_table(self.abbreviations, self.language if self.rules > 1 else "first")
        rules = language_rules(self.language) if self.rules > 1 else chars.CONTRACTIONS
        count = int(kernel.scan(codes, classes, keys, values, rules, self.paragraphs, starts, ends, last))
        if self.segment is None:
            return count
        spans = find_segmenter(self.segment).cut(codes, Spans(starts[:count], ends[:count], last[:count]))
        count = len(spans.starts)
        starts[:count], ends[:count] = spans.starts, spans.ends
        last[:count], last[count:] = spans.last, 0
        return count


TokenizerLike = (
    Tokenizer | Callable[[str], Iterable[str]]
)  # what takes the place of a tokenizer: any function to tokens


def as_tokenizer(tokenizer: TokenizerLike | None) -> Tokenizer:
    """The tokenizer, or one that splits each sentence by a function; the standard one for None.

    >>> as_tokenizer(str.split).words("Well-known? Yes!")
    ['Well-known?', 'Yes!']
    >>> as_tokenizer(None) == Tokenizer()
    True
    """
    if tokenizer is None:
        return Tokenizer()
    return tokenizer if isinstance(tokenizer, Tokenizer) else Tokenizer(segment=tokenizer)


def _trim_ends(text: str, firsts: Ids, ends: Ids) -> Ids:
    """The ends of tokens in the source, without the invisible characters after them that the normalizer removes."""
    trimmed = ends.copy()
    for i, (first, end) in enumerate(zip(firsts.tolist(), ends.tolist())):
        while end > first and unicodedata.category(text[end - 1]) in ("Cf", "Zs"):
            end -= 1
        trimmed[i] = end
    return trimmed
