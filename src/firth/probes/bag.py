"""The bag of context: a word is represented by the other words of its sentence alone, in any order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from firth.models.stop_words import ENGLISH_STOP_WORDS
from firth.tasks.static_words import StaticWords
from firth.vectors.words import WordVectors

BAG = "bag of context"
STOP_WORDS = frozenset(ENGLISH_STOP_WORDS)


class BagReader:
    """The mean of the static vectors of the other words in the sentence, without stop words and punctuation.

    The word itself is left out at each of its places in the sentence. A word with no other known word is all zeros.
    This is the baseline of every contextual vector: it knows which words are near, and nothing else.

    >>> vectors = WordVectors(["river", "muddy", "bank"], [[1, 0], [0, 1], [5, 5]])
    >>> BagReader("x", vectors).read([["The", "muddy", "river", "bank"], ["Bank", "of", "bank"]])
    tensor([[[2.0000, 2.0000],
             [3.0000, 2.5000],
             [2.5000, 3.0000],
             [0.5000, 0.5000],
             [0.0000, 0.0000],
             [5.0000, 5.0000],
             [0.0000, 0.0000]]])
    """

    def __init__(self, name: str, vectors: WordVectors, place: str = "cpu") -> None:
        self.names: tuple[str, ...] = (f"{name}, {BAG}",)
        self.words = StaticWords(vectors).to(place)
        self.device = torch.device(place)

    @torch.no_grad()
    def read(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """The vectors of the contexts of all words, (1, words, dim)."""
        lengths = [len(sentence) for sentence in sentences]
        words = [word for sentence in sentences for word in sentence]
        if not words:
            return torch.zeros(1, 0, self.words.size, device=self.device)
        vectors: Tensor = self.words(words)
        used = torch.tensor([is_content(word) for word in words], device=self.device) & vectors.any(1)
        vectors = torch.cat([vectors, vectors.new_ones(len(words), 1)], 1) * used[:, None]  # the last column counts
        owners = np.repeat(np.arange(len(sentences)), lengths)
        forms = group_forms(words, owners)
        others = add_up(vectors, owners) - add_up(vectors, forms)
        return (others[:, :-1] / others[:, -1:].clamp(min=1))[None]


def is_content(word: str) -> bool:
    """Whether a word has letters or digits and is no stop word.

    >>> [word for word in ("The", "river", "'s", "—", "1999") if is_content(word)]
    ['river', '1999']
    """
    return word.lower() not in STOP_WORDS and any(sign.isalnum() for sign in word)


def group_forms(words: Sequence[str], owners: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """A number for each form of each sentence: equal for the places of one word, in any case, in one sentence.

    >>> group_forms(["Tea", "or", "tea", "Tea"], [0, 0, 0, 1]).tolist()
    [0, 1, 0, 2]
    """
    numbers: dict[tuple[int, str], int] = {}
    pairs = zip(np.asarray(owners).tolist(), words)
    return np.array([numbers.setdefault((owner, word.lower()), len(numbers)) for owner, word in pairs], np.int64)


def add_up(vectors: Tensor, groups: NDArray[np.int64]) -> Tensor:
    """The sum of the vectors of each group, at the place of each of its members."""
    rows = torch.from_numpy(groups).to(vectors.device)
    sums = vectors.new_zeros(int(groups.max()) + 1, vectors.shape[1]).index_add_(0, rows, vectors)
    return sums[rows]
