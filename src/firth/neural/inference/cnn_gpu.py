"""The character CNN for inference on a GPU, by matrix products: convolutions there would round what they multiply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.nn import Parameter, functional

from firth.neural.inference.transfer import to_device
from firth.neural.layers import CharacterCnn


class CnnGpu:
    """A character CNN with its current weights."""

    def __init__(self, cnn: CharacterCnn) -> None:
        self.cnn = cnn

    def parameters(self) -> Iterator[Parameter]:
        """The weights of the CNN."""
        return self.cnn.parameters()

    def __call__(self, words: Sequence[str]) -> Tensor:
        """The vectors of words, (n, dim)."""
        cnn = self.cnn
        characters = functional.embedding(to_device(cnn.spell(words).numpy(), cnn.table.device), cnn.table)
        best = []
        weights = iter(cnn.filters.parameters())
        for weight, bias in zip(weights, weights):
            count, _, size = weight.shape
            windows = characters.unfold(1, size, 1).flatten(2)  # (n, positions, character_dim · size)
            best.append((windows @ weight.view(count, -1).t()).amax(1) + bias)
        return cnn.finish(torch.cat(best, 1))
