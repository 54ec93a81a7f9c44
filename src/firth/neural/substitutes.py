"""The words that a biLM predicts at a place from both sides, without seeing the word that stands there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from firth.neural.bilm import BiLM

FREQUENT = 150  # the most frequent words of the vocabulary, which are left out as stop words
CANDIDATES = 5000  # the most frequent of the other words
ROWS = 2048  # places whose substitutes are computed at a time


@dataclass(frozen=True)
class Substitutes:
    """The words that a biLM predicts at a place, and the mean of their output vectors by their probabilities there.

    Given both sides, p(w) ∝ p(w | left) · p(w | right) / p(w). Its square root is used, which has more than one likely
    word. Only the most frequent content words count.
    """

    words: tuple[str, ...]
    weight: Tensor  # (words, dim) of the softmax
    prior: Tensor  # (words,): twice the bias, minus the log count
    vectors: Tensor  # (words, dim): centered, of length 1

    @classmethod
    def of(cls, bilm: BiLM) -> Substitutes | None:
        """The substitutes of a biLM that has a full softmax."""
        if not isinstance(bilm.softmax, nn.Linear) or bilm.vocabulary is None:
            return None
        words = bilm.vocabulary.words[FREQUENT:]
        content = [row for row, word in enumerate(words, FREQUENT) if any(sign.isalnum() for sign in word)]
        rows = torch.tensor(content[:CANDIDATES])
        if not len(rows):
            return None
        weight, bias = (one.detach().float()[rows.to(one.device)] for one in (bilm.softmax.weight, bilm.softmax.bias))
        counts = torch.from_numpy(np.asarray(bilm.vocabulary.counts, np.float64)[rows.numpy()]).to(bias.device)
        prior = 2 * bias - (counts + 1).log().float()
        centered = normalize(weight - weight.mean(0), dim=-1)
        return cls(tuple(bilm.vocabulary[row] for row in rows.tolist()), weight, prior, centered)

    def probabilities(self, states: Tensor) -> Tensor:
        """The probability of each word at places with these neighbor states, (places, words)."""
        half = states.shape[1] // 2
        logits = (states[:, :half] + states[:, half:]) @ self.weight.T + self.prior
        return (logits / 2).softmax(1)

    def __call__(self, states: Tensor) -> Tensor:
        """The mean vectors at places with these neighbor states, (places, 2 · dim)."""
        found = torch.zeros(len(states), self.vectors.shape[1], device=states.device)
        for start in range(0, len(states), ROWS):
            found[start : start + ROWS] = self.probabilities(states[start : start + ROWS]) @ self.vectors
        return found


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
