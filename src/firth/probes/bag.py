"""The bag of context: a word is represented by the other words of its sentence alone."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from firth.neural.context import average_contexts, find_content
from firth.neural.substitutes import FREQUENT
from firth.tasks.static_words import StaticWords
from firth.vectors.words import WordVectors

BAG = "bag of context"


class BagReader:
    """The weighted mean of the static vectors of the other words in the sentence.

    Near words count more: the weight of a word is 1 / √distance. The `frequent` most frequent words of the vocabulary,
    punctuation, unknown words, and the word itself at each of its places in the sentence are left out. If no word is
    left, the vector is zero. This is the baseline of every contextual vector: it knows which words are near, and
    nothing else.

    >>> vectors = WordVectors(["the", "river", "muddy", "bank"], [[9, 9], [1, 0], [0, 1], [5, 5]])
    >>> BagReader("x", vectors, frequent=1).read([["The", "river", "bank"], ["Bank", "of", "bank"]])[0, 1:4]
    tensor([[5., 5.],
            [1., 0.],
            [0., 0.]])
    """

    def __init__(self, name: str, vectors: WordVectors, place: str = "cpu", frequent: int = FREQUENT) -> None:
        self.names: tuple[str, ...] = (f"{name}, {BAG}",)
        self.words = StaticWords(vectors).to(place)
        self.device = torch.device(place)
        self.vocabulary, self.frequent = vectors.vocabulary, frequent

    @torch.no_grad()
    def read(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """The vectors of the contexts of all words, (1, words, dim)."""
        words = [word for sentence in sentences for word in sentence]
        if not words:
            return torch.zeros(1, 0, self.words.size, device=self.device)
        vectors: Tensor = self.words(words)
        used = torch.tensor(find_content(words, self.vocabulary, self.frequent), device=self.device) & vectors.any(1)
        return average_contexts(vectors, sentences, used)[None]
