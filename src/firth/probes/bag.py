"""The bag of context: a word is represented by the other words of its sentence alone."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from firth.neural.substitutes import FREQUENT
from firth.tasks.static_words import StaticWords, match_case
from firth.text.vocabulary import Vocabulary
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
        return average_contexts(vectors[None], sentences, used)


def average_contexts(vectors: Tensor, sentences: Sequence[Sequence[str]], used: Tensor) -> Tensor:
    """The weighted mean of the other words of each word's sentence, by layer: (layers, words, dim).

    `vectors` and `used` have the words of all sentences; only words that are `used` are in a mean.
    """
    contexts, start = torch.zeros_like(vectors), 0
    for sentence in sentences:
        places = slice(start, start + len(sentence))
        weights = weigh_words(sentence, used.device) * used[places]
        contexts[:, places] = weights @ vectors[:, places] / weights.sum(1, keepdim=True).clamp(min=1e-9)
        start += len(sentence)
    return contexts


def weigh_words(sentence: Sequence[str], device: torch.device) -> Tensor:
    """The weight of each word in the context of each word, (words, words); 0 between places of the same word."""
    numbers: dict[str, int] = {}
    forms = torch.tensor([numbers.setdefault(word.lower(), len(numbers)) for word in sentence], device=device)
    places = torch.arange(len(sentence), device=device)
    distances = (places[:, None] - places).abs().clamp(min=1)
    return (forms[:, None] != forms) * distances**-0.5


def find_content(words: Sequence[str], vocabulary: Vocabulary, frequent: int = FREQUENT) -> list[bool]:
    """Whether each word has letters or digits and is not among the most frequent ones.

    >>> find_content(["The", "muddy", "river", "."], Vocabulary(["the", "of", "river"]), frequent=2)
    [False, True, True, False]
    """
    ids = vocabulary.ids(match_case(words, vocabulary))
    is_frequent = ((ids >= 0) & (ids < frequent)).tolist()
    return [not one and any(sign.isalnum() for sign in word) for word, one in zip(words, is_frequent)]
