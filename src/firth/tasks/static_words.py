"""Word vectors without context: static, learned, or computed from characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from firth.neural.inference.token_vectors import TokenVectors
from firth.neural.inference.transfer import to_device
from firth.neural.layers import CharacterCnn
from firth.text.vocabulary import Vocabulary, match_case
from firth.vectors.words import WordVectors

FREQUENT = 4096  # words that the scale factor is computed from
MOST_ROWS = 1 << 17  # words whose rows are kept
CHARACTER_DIM, FILTER = 16, 3  # as in the tagger of the ELMo paper


class StaticWords(nn.Module):
    """Frozen word vectors. A word without a vector is looked up in lowercase; otherwise its vector is zero.

    >>> StaticWords(WordVectors(["tea"], [[1, 2]]))(["Tea", "milk"])
    tensor([[1., 2.],
            [0., 0.]])

    `stretched` scales all vectors by one factor to a mean square of one.

    >>> StaticWords(WordVectors(["tea", "rain"], [[0.1, 0.0], [0.0, 0.1]]), stretched=True)(["tea"])
    tensor([[1.4142, 0.0000]])
    """

    def __init__(self, vectors: WordVectors, stretched: bool = False) -> None:
        super().__init__()
        self.size = vectors.dim
        self.file, self.cache = VectorFile(vectors, scale_factor(vectors) if stretched else 1.0), TokenVectors()

    def forward(self, words: Sequence[str]) -> Tensor:
        return self.cache.of(self.file, words)


class VectorFile(nn.Module):
    """Reads word vectors from their file to the device of this module."""

    def __init__(self, vectors: WordVectors, factor: float = 1.0) -> None:
        super().__init__()
        self.vectors, self.factor = vectors, factor
        self.anchor = nn.Parameter(torch.zeros(0), requires_grad=False)  # has the device of the module

    def forward(self, words: Sequence[str]) -> Tensor:
        spelled = match_case(words, self.vectors.vocabulary)
        vectors = torch.from_numpy(self.vectors.of_or_zeros(spelled)).to(self.anchor.device)
        return vectors if self.factor == 1 else vectors * self.factor


def scale_factor(vectors: WordVectors) -> float:
    """The factor that gives the vectors of the most frequent words a mean square of one."""
    some = vectors.rows.take(np.arange(min(FREQUENT, len(vectors))))
    mean = float(np.square(some, dtype=np.float64).mean()) if some.size else 0.0
    return mean**-0.5 if mean else 1.0


class LearnedWords(nn.Module):
    """A learned vector for each word of a vocabulary, also looked up in lowercase. Row 0 is for all other words.

    With `added`, the vectors are added to static ones: they are initialized to zero, and row 0 stays zero.
    """

    def __init__(self, vocabulary: Vocabulary, size: int, *, added: bool) -> None:
        super().__init__()
        self.vocabulary, self.size = vocabulary, size
        self.rows = VocabularyRows(vocabulary)
        self.table = nn.Embedding(len(vocabulary) + 1, size, padding_idx=0 if added else None)
        if added:
            nn.init.zeros_(self.table.weight)
        else:
            nn.init.normal_(self.table.weight, 0, size**-0.5)

    def forward(self, words: Sequence[str]) -> Tensor:
        vectors: Tensor = self.table(to_device(self.rows.of(words), self.table.weight.device))
        return vectors


class VocabularyRows(dict[str, int]):
    """The row of each word in a table that has a row for each word of a vocabulary, after row 0 for all others.

    >>> VocabularyRows(Vocabulary(["tea", "Rain"])).of(["Tea", "Rain", "rain"])
    array([1, 2, 0])
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary

    def of(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The rows of words; those of frequent ones were found before."""
        if len(self) > MOST_ROWS:
            self.clear()
        return np.array([self[word] for word in words], np.int64)

    def __missing__(self, word: str) -> int:
        row = self[word] = int(self.vocabulary.ids(match_case([word], self.vocabulary))[0]) + 1
        return row


class CharacterWords(nn.Module):
    """A CNN over the characters of a word: filters of width three, then max pooling."""

    def __init__(self, filters: int) -> None:
        super().__init__()
        self.size = filters
        self.cnn = CharacterCnn(filters, character_dim=CHARACTER_DIM, filters=((FILTER, filters),), highways=0)
        nn.init.uniform_(self.cnn.table, -1, 1)

    def forward(self, words: Sequence[str]) -> Tensor:
        vectors: Tensor = self.cnn(words)
        return vectors


def build_vocabulary(sentences: Iterable[Sequence[str]], min_count: int = 1) -> Vocabulary:
    """The words of sentences that occur at least `min_count` times, by falling count.

    >>> build_vocabulary([["to", "be"], ["or", "not", "to", "be"]], min_count=2).words
    ('be', 'to')
    """
    return Vocabulary.from_counts(Counter(word for words in sentences for word in words)).cut(min_count)
