"""The words that a biLM predicts at a place from both sides, without seeing the word that stands there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from firth.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from firth.neural.bilm import BiLM

FREQUENT = 150  # the most frequent words of the vocabulary, which are left out as stop words
CANDIDATES = 5000  # the most frequent of the other words
ROWS = 2048  # places whose substitutes are computed at a time
SMALLEST = 1e-3  # smallest variance in whitening, as a share of the largest one


@dataclass(frozen=True)
class Whitening:
    """A linear map after which the dimensions of a sample are uncorrelated and have variance 1, but for the smallest.

    >>> sample = torch.tensor([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> Whitening.fit(sample)(sample).var(0, unbiased=False)
    tensor([0.9990, 0.9960])
    """

    center: Tensor
    matrix: Tensor

    @classmethod
    def fit(cls, sample: Tensor, weights: Tensor | None = None) -> Whitening:
        """The whitening of a sample, (rows, dim). With `weights`, some rows count more."""
        sample = sample.double()
        shares = sample.new_ones(len(sample)) if weights is None else weights.double()
        shares = shares / shares.sum()
        center = shares @ sample
        rows = sample - center
        values, vectors = torch.linalg.eigh((rows * shares[:, None]).T @ rows)
        scales = (values + SMALLEST * values.max()).rsqrt()
        return cls(center.float(), (vectors * scales @ vectors.T).float())

    def __call__(self, rows: Tensor) -> Tensor:
        return (rows - self.center) @ self.matrix


@dataclass(frozen=True)
class Substitutes:
    """The words that a biLM predicts at a place, and the mean of their output vectors by their probabilities there.

    Given both sides, p(w) ∝ p(w | left) · p(w | right) / p(w). Its square root is used, which has more than one likely
    word. Only the most frequent content words count.
    """

    words: tuple[str, ...]
    weight: Tensor  # (words, dim) of the softmax
    prior: Tensor  # (words,): twice the bias, minus the log count
    vectors: Tensor  # (words, dim): the output vectors

    @classmethod
    def of(cls, bilm: BiLM, vectors: Tensor | None = None) -> Substitutes | None:
        """The substitutes of a biLM that has a full softmax. `vectors` are its output vectors if they are known."""
        vectors = find_output_vectors(bilm) if vectors is None else vectors
        if vectors is None or bilm.vocabulary is None or not isinstance(bilm.softmax, nn.Linear):
            return None
        words = bilm.vocabulary.words[FREQUENT:]
        content = [row for row, word in enumerate(words, FREQUENT) if any(sign.isalnum() for sign in word)]
        rows = torch.tensor(content[:CANDIDATES])
        if not len(rows):
            return None
        weight, bias = (one.detach().float()[rows.to(one.device)] for one in (bilm.softmax.weight, bilm.softmax.bias))
        counts = find_counts(bilm.vocabulary)[rows].to(bias.device)
        prior = 2 * bias - counts.log().float()
        words = tuple(bilm.vocabulary[row] for row in rows.tolist())
        return cls(words, weight, prior, vectors[rows.to(vectors.device)])

    def probabilities(self, states: Tensor) -> Tensor:
        """The probability of each word at places with these neighbor states, (places, words)."""
        half = states.shape[1] // 2
        logits = (states[:, :half] + states[:, half:]) @ self.weight.T + self.prior
        return (logits / 2).softmax(1)

    def __call__(self, states: Tensor) -> Tensor:
        """The mean vectors at places with these neighbor states, (places, dim)."""
        found = torch.zeros(len(states), self.vectors.shape[1], device=states.device)
        for start in range(0, len(states), ROWS):
            found[start : start + ROWS] = self.probabilities(states[start : start + ROWS]) @ self.vectors
        return found


def find_output_vectors(bilm: BiLM) -> Tensor | None:
    """The rows of a full softmax as vectors of its words, (words, dim): of length 1, then whitened.

    Without whitening, a few directions that most words share outweigh the rest. Words count by their frequency, and the
    most frequent ones not at all, as in a text of content words.
    """
    if not isinstance(bilm.softmax, nn.Linear) or bilm.vocabulary is None or len(bilm.vocabulary) <= FREQUENT:
        return None
    weight = bilm.softmax.weight.detach().float()
    rows = normalize(weight - weight.mean(0), dim=-1)
    counts = find_counts(bilm.vocabulary)
    counts[:FREQUENT] = 0
    return Whitening.fit(rows, counts.to(rows.device))(rows)


def find_counts(vocabulary: Vocabulary) -> Tensor:
    """How often each word occurs, plus one; by Zipf's law where the vocabulary has no counts.

    >>> find_counts(Vocabulary(["the", "tea"], [9, 2])).tolist(), find_counts(Vocabulary(["the", "tea"])).tolist()
    ([10.0, 3.0], [1.0, 0.5])
    """
    if vocabulary.counts is None:
        return 1 / torch.arange(1, len(vocabulary) + 1, dtype=torch.float64)
    return torch.from_numpy(np.array(vocabulary.counts, np.float64)) + 1


def shift_states(layers: Tensor, lengths: Sequence[int]) -> Tensor:
    """The neighbor states of each word: the forward state of the previous word and the backward state of the next one.

    They are zero outside of the sentence.

    >>> shift_states(torch.tensor([[[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]]), [2, 1]).tolist()
    [[[0.0, 20.0], [1.0, 0.0], [0.0, 0.0]]]
    """
    half, shifted, start = layers.shape[-1] // 2, torch.zeros_like(layers), 0
    for length in lengths:
        stop = start + length
        shifted[:, start + 1 : stop, :half] = layers[:, start : max(start, stop - 1), :half]
        shifted[:, start : max(start, stop - 1), half:] = layers[:, start + 1 : stop, half:]
        start = stop
    return shifted
