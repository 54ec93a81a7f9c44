"""An index of contextual vectors: each occurrence of a word in a text with its position and its vector there.

A contextual model has one vector for "play" on the stage and another for "play" on the field. A query is a word in its
sentence; the results are the occurrences in similar contexts. Vectors and words stay on disk, memory-mapped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.arguments import checked
from firth.errors import OptionError, UnknownWord
from firth.runtime import Runtime
from firth.serialization import Parts, check_array, check_pointers, check_range
from firth.show import notebook
from firth.show.numbers import format_bytes
from firth.text.model_tokenizer import ModelTokenizer
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary
from firth.vectors.rows import Ids, Rows, rows_from, rows_of, rows_to
from firth.vectors.search import NeighborIndex

FEW = 8  # up to this many queries, a full scan is cheaper than building the index


@dataclass(frozen=True)
class Occurrence:
    """A word in its sentence, with its cosine to the query; sentence and position count from 0."""

    word: str
    sentence: int
    position: int
    words: tuple[str, ...]
    cosine: float

    def marked(self) -> str:
        """The sentence with the word in brackets.

        >>> Occurrence("play", 0, 1, ("to", "play", "ball"), 1.0).marked()
        'to [play] ball'
        """
        before, after = self.words[: self.position], self.words[self.position + 1 :]
        return " ".join([*before, f"[{self.word}]", *after])


@checked
class Occurrences(notebook.FactSheet):
    """The word ids of a text, the starts of its sentences, and a row for each indexed occurrence.

    `places` has the position in the text of each row; None if every word has a row.

    >>> text = Occurrences(["play", "ball", "a"], [2, 0, 0, 1], [0, 2, 4], [[0, 1], [1, 0.5], [0, 1], [0, 0.5]])
    >>> [(near.marked(), round(near.cosine, 2)) for near in text.nearest([0.1, 1], topn=2, word="play")]
    [('[play] ball', 1.0), ('a [play]', 0.53)]
    """

    kind = "occurrences"

    def __init__(
        self,
        vocabulary: Vocabulary | Sequence[str],
        ids: NDArray[Any] | Sequence[int],
        starts: NDArray[Any] | Sequence[int],
        rows: Rows | NDArray[Any] | Sequence[Sequence[float]],
        *,
        places: NDArray[Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.vocabulary = vocabulary if isinstance(vocabulary, Vocabulary) else Vocabulary(vocabulary)
        self.ids, self.starts = np.asanyarray(ids, np.uint32), np.asanyarray(starts, np.int64)
        self.rows, self.places = rows_of(rows), places
        self.metadata: dict[str, Any] = dict(metadata or {})
        count = len(self.ids) if places is None else len(places)
        if self.rows.shape[0] != count:
            raise OptionError(f"{count} occurrences need as many rows, but there are {self.rows.shape[0]}")
        check_array("ids", self.ids, "u", None)
        check_range("ids", self.ids, 0, len(self.vocabulary) - 1)
        check_pointers("starts", check_array("starts", self.starts, "iu", None), 0, len(self.ids))
        if places is not None:
            check_range("places", check_array("places", places, "iu", None), 0, len(self.ids) - 1)

    def __len__(self) -> int:
        return self.rows.shape[0]

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return self.rows.shape[1]

    @cached_property
    def tokenizer(self) -> ModelTokenizer:
        """The tokenizer of the indexed text."""
        return ModelTokenizer.of(self.metadata, self.vocabulary)

    @cached_property
    def runtime(self) -> Runtime:
        """The threads of searches."""
        return Runtime.from_env()

    @cached_property
    def index(self) -> NeighborIndex:
        """The int8 index, built on first use."""
        return NeighborIndex.of(self.rows, self.runtime)

    def of(self, word: str) -> Ids:
        """The rows of a word's occurrences. The word is normalized as the indexed text was.

        >>> from firth.text.normalize import Normalizer
        >>> metadata = {"tokenizer": Tokenizer(normalizer=Normalizer(fold_case=True)).as_dict()}
        >>> text = Occurrences(["play", "ball"], [0, 1, 0], [0, 2, 3], [[0, 1], [1, 0], [0, 1]], metadata=metadata)
        >>> text.of("Play")
        array([0, 2])
        """
        id = int(self.tokenizer.find([word], self.vocabulary)[1][0])
        if id < 0:
            parts = self.tokenizer.words(word)
            if len(parts) != 1:
                raise OptionError(f"{word!r} is {len(parts)} words, but occurrences are those of one word")
            raise UnknownWord(word, self.vocabulary.near(word))
        words = self.ids if self.places is None else self.ids[self.places]
        return np.flatnonzero(words == id)

    def nearest(
        self, vector: NDArray[Any] | Sequence[float], topn: int = 10, *, word: str | None = None
    ) -> list[Occurrence]:
        """The occurrences nearest to a vector, of one word or of any, the nearest first."""
        return self.nearest_each(np.asarray(vector, np.float32)[None], topn, word=word)[0]

    def nearest_each(self, vectors: NDArray[Any], topn: int = 10, *, word: str | None = None) -> list[list[Occurrence]]:
        """`nearest` of every row."""
        allowed = None if word is None else self.of(word)
        ids, scores = self._search(len(vectors)).search(vectors, topn, allowed=allowed)
        return [
            [self.occurrence(row, cosine) for row, cosine in zip(rows.tolist(), cosines.tolist()) if row >= 0]
            for rows, cosines in zip(ids, scores)
        ]

    def _search(self, queries: int) -> NeighborIndex:
        if queries > FEW or "index" in self.__dict__:
            return self.index
        empty = np.empty(0, np.float32)
        return NeighborIndex(self.rows, np.empty(0, np.uint8), empty, empty, self.runtime)  # without codes: a full scan

    def occurrence(self, row: int, cosine: float = 1.0) -> Occurrence:
        """A row as a word in its sentence."""
        if not 0 <= row < len(self):
            raise OptionError(f"there is no row {row}: they are 0 to {len(self) - 1}")
        place = row if self.places is None else int(self.places[row])
        sentence = int(np.searchsorted(self.starts, place, side="right")) - 1
        start, stop = int(self.starts[sentence]), int(self.starts[sentence + 1])
        words = tuple(self.vocabulary[int(id)] for id in self.ids[start:stop])
        return Occurrence(words[place - start], sentence, place - start, words, cosine)

    def to_parts(self) -> Parts:
        """The config, arrays and vocabularies to save."""
        config, arrays = rows_to(self.rows)
        arrays |= {"ids": self.ids, "starts": self.starts}
        if self.places is not None:
            arrays["places"] = self.places
        return Parts(self.kind, {"rows": config, "metadata": self.metadata}, arrays, {"vocab": self.vocabulary})

    @classmethod
    def from_parts(cls, parts: Parts) -> Occurrences:
        """Inverse of `to_parts`."""
        return cls(
            parts.vocabulary,
            parts.ids("ids", None, below=len(parts.vocabulary)),
            parts.array("starts", "iu", None),
            rows_from(parts.table("rows"), parts.arrays),
            places=parts.array("places", "iu", None) if "places" in parts.arrays else None,
            metadata=parts.metadata,
        )

    def _facts(self) -> list[notebook.Fact]:
        return [
            ("occurrences", f"{len(self):,}"),
            ("words", f"{len(self.vocabulary):,}"),
            ("sentences", f"{len(self.starts) - 1:,}"),
            ("rows", f"{self.dim} × {self.rows.dtype_name}, {format_bytes(self.rows.nbytes)}"),
            ("model", str(self.metadata.get("model", ""))),
            ("layers", str(self.metadata.get("layers", ""))),
        ]

    def __repr__(self) -> str:
        return f"Occurrences({len(self):,} of {len(self.vocabulary):,} words × {self.dim})"


MARK = re.compile(r"\[([^\[\]]+)\]")


def find_marked_word(context: str, tokenizer: Tokenizer) -> tuple[list[str], int]:
    """The words of a sentence with one word in brackets, and the position of that word.

    >>> find_marked_word("She signed to do a Broadway [play].", Tokenizer())
    (['She', 'signed', 'to', 'do', 'a', 'Broadway', 'play', '.'], 6)
    """
    marks = list(MARK.finditer(context))
    if len(marks) != 1:
        found = "none is" if not marks else f"{len(marks)} are"
        raise OptionError(f"context: one word must be in brackets, but {found}. For example: 'a Broadway [play]'")
    [mark] = marks
    word = mark.group(1).strip()
    plain = context[: mark.start()] + mark.group(1) + context[mark.end() :]
    for place, token in enumerate(tokenizer.spans(plain)):
        if token.start >= mark.start() and token.end <= mark.end() - 2:
            if token.text != word and plain[token.start : token.end] != word:
                break
            return tokenizer.words(plain), place
    raise OptionError(f"context: {word!r} in brackets is not one word of the tokenizer")
