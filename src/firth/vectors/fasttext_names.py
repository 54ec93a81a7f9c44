"""The methods of fastText's Python module, under its names, on models with character n-grams.

As in fastText, a text is split at white space.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from firth.arguments import checked
from firth.errors import OptionError
from firth.text.subwords import Subwords
from firth.text.vocabulary import Vocabulary
from firth.vectors.neighbors import unit_rows
from firth.vectors.rows import Floats, ProductRows
from firth.vectors.words import WordVectors

LABEL_PREFIX = "__label__"
SENTENCE_END = "</s>"
BLANKS = re.compile(r"[ \t\n\v\f\r\0]+")
LINE_END = re.compile(r"(?<![^ \t\v\f\r\0])</s>(?![^ \t\v\f\r\0])")
Counted = tuple[list[str], NDArray[np.int64]]


@checked
class FastTextNames(WordVectors):
    """Word vectors with the methods of a fastText model."""

    subwords: Subwords

    @property
    def words(self) -> list[str]:
        """The words of the vocabulary."""
        return list(self.vocabulary)

    @property
    def labels(self) -> list[str]:
        """The labels of a supervised model; the words of another one."""
        return list(self._outputs)

    @property
    def _outputs(self) -> Vocabulary:
        return self.vocabulary

    @property
    def _label_prefix(self) -> str:
        return LABEL_PREFIX

    @overload
    def get_words(self, include_freq: Literal[False] = False) -> list[str]: ...

    @overload
    def get_words(self, include_freq: bool) -> list[str] | Counted: ...

    def get_words(self, include_freq: bool = False) -> list[str] | Counted:
        """The words of the vocabulary; with `include_freq` also their counts."""
        return with_counts(self.vocabulary) if include_freq else self.words

    @overload
    def get_labels(self, include_freq: Literal[False] = False) -> list[str]: ...

    @overload
    def get_labels(self, include_freq: bool) -> list[str] | Counted: ...

    def get_labels(self, include_freq: bool = False) -> list[str] | Counted:
        """The labels of a supervised model, the words of another one; with `include_freq` also their counts."""
        return with_counts(self._outputs) if include_freq else self.labels

    def get_dimension(self) -> int:
        """The length of a vector."""
        return self.dim

    def is_quantized(self) -> bool:
        """Whether the rows are product-quantized."""
        return isinstance(self.rows, ProductRows)

    def get_word_id(self, word: str) -> int:
        """The id of a word, or -1."""
        return self.vocabulary.find(word)

    def get_subword_id(self, subword: str) -> int:
        """The row of an n-gram, such as `<te`; -1 if it has none."""
        row = self.subwords.row_of(subword)
        return -1 if row < 0 else len(self) + row

    def get_word_vector(self, word: str) -> Floats:
        """The vector of a word; zeros for an unseen word without n-grams."""
        return np.asarray(self.of_or_zeros([word])[0])

    def get_input_vector(self, index: int) -> Floats:
        """A row of the input matrix: that of a word, or after these of an n-gram."""
        if not 0 <= index < self.rows.shape[0]:
            raise OptionError(f"index is {index}, but the rows are numbered from 0 to {self.rows.shape[0] - 1}")
        return np.asarray(self.rows.take([index])[0])

    def get_input_matrix(self) -> Floats:
        """The rows of all words and n-grams."""
        return self.rows.block(0, self.rows.shape[0])

    def get_subwords(self, word: str) -> tuple[list[str], NDArray[np.int64]]:
        """The pieces of a word, itself first if it is known, and their rows."""
        id = self.get_word_id(word)
        pieces = [(word, id)] if id >= 0 else []
        pieces += [(ngram, len(self) + row) for ngram, row in self.subwords.pairs(word)]
        return [piece for piece, _ in pieces], np.array([row for _, row in pieces], np.int64)

    @overload
    def get_line(self, text: str) -> tuple[list[str], list[str]]: ...

    @overload
    def get_line(self, text: list[str] | tuple[str, ...]) -> tuple[list[list[str]], list[list[str]]]: ...

    def get_line(self, text: str | Sequence[str]) -> Any:
        """The words of a line, with its end, and its known labels; for a list, the lists of both."""
        if not isinstance(text, str):
            lines = [self.get_line(line) for line in text]
            return [words for words, _ in lines], [labels for _, labels in lines]
        check_line(text)
        words: list[str] = []
        labels: list[str] = []
        for word in split_line(text):
            if not word.startswith(self._label_prefix):
                words.append(word)
            elif word in self._outputs:
                labels.append(word)
        return words, labels

    def get_sentence_vector(self, text: str) -> Floats:
        """The mean of the unit vectors of the words; in a supervised model, of the rows of the line."""
        check_line(text)
        vectors = self.of_or_zeros(text.split())
        vectors = unit_rows(vectors[vectors.any(axis=1)])
        return vectors.mean(axis=0) if len(vectors) else np.zeros(self.dim, np.float32)

    def get_nearest_neighbors(self, word: str, k: int = 10) -> list[tuple[float, str]]:
        """The nearest words, each after its cosine."""
        return [(cosine, other) for other, cosine in self.most_similar(word, topn=k)]

    def get_analogies(self, a: str, b: str, c: str, k: int = 10) -> list[tuple[float, str]]:
        """The words nearest to a - b + c, each after its cosine."""
        return [(cosine, other) for other, cosine in self.most_similar([a, c], [b], topn=k)]

    def predict(self, text: str | Sequence[str], k: int = 1, threshold: float = 0.0) -> Any:
        """The most probable labels of a line; only supervised models have any."""
        raise self._no_labels()

    def test(self, path: str | PathLike[str], k: int = 1, threshold: float = 0.0) -> tuple[int, float, float]:
        """The scores on labeled lines; only supervised models have any."""
        raise self._no_labels()

    def _no_labels(self) -> OptionError:
        return OptionError("this model has no labels. Train one with `firth train classifier` on lines with labels")


def with_counts(vocabulary: Vocabulary) -> Counted:
    """The words and their counts, which are 1 where they are not known."""
    counts = np.ones(len(vocabulary), np.int64) if vocabulary.counts is None else vocabulary.counts
    return list(vocabulary), counts


def check_line(text: str) -> None:
    """Refuses a text of several lines."""
    if "\n" in text:
        raise OptionError("a sentence must be one line, but this one has several. Join or split it first")


def cut_line(text: str) -> str:
    """The text before the first word `</s>`, which ends a line in fastText.

    >>> cut_line("hot tea </s> rain"), cut_line("hot</s> tea")
    ('hot tea ', 'hot</s> tea')
    """
    if SENTENCE_END not in text:
        return text
    found = LINE_END.search(text)
    return text[: found.start()] if found else text


def split_line(text: str) -> list[str]:
    """The words of a line and its end, split as in fastText.

    >>> split_line("hot\\ttea </s> rain")
    ['hot', 'tea', '</s>']
    """
    return [*filter(None, BLANKS.split(cut_line(text))), SENTENCE_END]
