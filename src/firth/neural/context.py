"""The context of a word as a vector, without the word itself: `layers="context"`.

A layer of the biLM at a word says as much about the word as about its context. This vector has two other halves. The
first is the mean of the words that the biLM predicts at the place from both sides, by their probabilities. The second
is the mean of the words that stand around the place, near ones more. Both consist of the output vectors of the softmax,
and so follow from the weights of the model alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from firth.errors import OptionError
from firth.neural.inference.transfer import to_device
from firth.neural.substitutes import FREQUENT, ROWS, Substitutes, find_output_vectors
from firth.text.vocabulary import Vocabulary, match_case

if TYPE_CHECKING:
    from firth.neural.bilm import BiLM

AROUND = 2**0.5  # length of the second half; that of the first is 1


@dataclass(frozen=True)
class ContextVectors:
    """Computes the contexts of the words of a sentence.

    >>> from firth.neural.bilm import Architecture, BiLM
    >>> words = [f"word-{number}" for number in range(200)]
    >>> contexts = ContextVectors.of(BiLM(Architecture.named("tiny"), vocabulary=Vocabulary(words)))
    >>> contexts(["a", "word-180"], torch.ones(4, 32)).norm(dim=1)  # "a" is unknown: around the second is no word
    tensor([1.7321, 1.0000])
    """

    substitutes: Substitutes
    vocabulary: Vocabulary
    vectors: Tensor  # (words of the vocabulary, dim)

    @classmethod
    def of(cls, bilm: BiLM) -> ContextVectors:
        """The contexts of a biLM that has a full softmax."""
        vectors = find_output_vectors(bilm)
        substitutes = None if vectors is None else Substitutes.of(bilm, vectors)
        if substitutes is None or vectors is None or bilm.vocabulary is None:
            raise OptionError(
                "layers is 'context', which needs a full softmax over words, but this biLM has none. Use 'top'"
            )
        return cls(substitutes, bilm.vocabulary, vectors)

    def __call__(self, words: Sequence[str], top: Tensor) -> Tensor:
        """The contexts of words, (words, 2 · dim), from the top layer of their sentence with <S> and </S>.

        The sentence is computed by itself, so that the result does not depend on others in the last bit either.
        """
        half = top.shape[1] // 2
        expected = self.substitutes(torch.cat([top[:-2, :half], top[2:, half:]], 1))
        return torch.cat([normalize(expected, dim=1), AROUND * normalize(self.average_around(words), dim=1)], 1)

    def average_around(self, words: Sequence[str]) -> Tensor:
        """The weighted mean of the known content words around each word, (words, dim)."""
        ids = self.vocabulary.ids(match_case(words, self.vocabulary))
        is_used = np.array(find_content(words, self.vocabulary), bool) & (ids >= 0)
        vectors = self.vectors[to_device(np.maximum(ids, 0), self.vectors.device)]
        return average_contexts(vectors, [words], to_device(is_used, self.vectors.device))


def average_contexts(vectors: Tensor, sentences: Sequence[Sequence[str]], used: Tensor) -> Tensor:
    """The weighted mean of the other words of each word's sentence, (words, dim); zeros where there are none.

    `vectors` and `used` have the words of all sentences; only words that are `used` are in a mean. The weight of a word
    is 1 / √distance. The word itself is left out at all of its places.

    >>> vectors = torch.tensor([[1.0, 0.0], [9.0, 9.0], [0.0, 1.0]])
    >>> average_contexts(vectors, [["muddy", "bank", "river"]], torch.tensor([True, True, True]))[1]
    tensor([0.5000, 0.5000])
    """
    contexts, start = torch.zeros_like(vectors), 0
    for sentence in sentences:
        stop = start + len(sentence)
        numbers: dict[str, int] = {}
        forms = torch.tensor([numbers.setdefault(word.lower(), len(numbers)) for word in sentence])
        forms, places = forms.to(vectors.device), torch.arange(len(sentence), device=vectors.device)
        for rows in torch.split(places, ROWS):
            distances = (rows[:, None] - places).abs().clamp(min=1)
            weights = (forms[rows, None] != forms) * distances**-0.5 * used[start:stop]
            sums = weights @ vectors[start:stop]
            contexts[start + rows] = sums / weights.sum(1, keepdim=True).clamp(min=1e-9)
        start = stop
    return contexts


def find_content(words: Sequence[str], vocabulary: Vocabulary, frequent: int = FREQUENT) -> list[bool]:
    """Whether each word has letters or digits and is not among the most frequent ones.

    >>> find_content(["The", "muddy", "river", "."], Vocabulary(["the", "of", "river"]), frequent=2)
    [False, True, True, False]
    """
    ids = vocabulary.ids(match_case(words, vocabulary))
    is_frequent = ((ids >= 0) & (ids < frequent)).tolist()
    return [not one and any(sign.isalnum() for sign in word) for word, one in zip(words, is_frequent)]
