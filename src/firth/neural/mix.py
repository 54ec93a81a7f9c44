"""One vector a word from all layers of a biLM: a weighted mean whose weights a task can learn."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from firth.errors import OptionError

TINY = 1e-12


class ScalarMix(nn.Module):
    """γ · Σ s_j · layer_j, where s = softmax(w).

    With w = 0 and γ = 1 it is the mean of the layers, and it begins there. A task trains `weights` and `gamma` along
    with its own parameters, and may add `penalty(strength)` to its loss, which holds the mix near the mean. Several
    mixes can share one pass: each is a module of its own.

    >>> layers = torch.tensor([1.0, 2.0, 6.0]).reshape(3, 1, 1, 1)  # (layers, batch, time, dim)
    >>> ScalarMix(3)(layers).item()
    3.0
    >>> ScalarMix.of_layer(2, 3)(layers).item()
    6.0
    """

    def __init__(
        self,
        layers: int,
        *,
        weights: Sequence[float] | None = None,
        gamma: float = 1.0,
        normalized: bool = False,
        dropout: float = 0.0,
        trainable: bool = True,
    ) -> None:
        super().__init__()
        values = [0.0] * layers if weights is None else list(weights)
        if len(values) != layers:
            raise OptionError(f"a mix of {layers} layers needs as many weights, but {len(values)} were given")
        self.weights = nn.Parameter(torch.tensor(values), requires_grad=trainable)
        self.gamma = nn.Parameter(torch.tensor(float(gamma)), requires_grad=trainable)
        self.normalized = normalized
        self.dropout = nn.Dropout(dropout)

    @classmethod
    def of_layer(cls, layer: int, layers: int) -> ScalarMix:
        """The mix that is one layer of so many, and stays so; a task may still scale it by `gamma`."""
        if not 0 <= layer < layers:
            raise OptionError(f"there is no layer {layer}: they are 0 to {layers - 1}")
        chosen = cls(layers, weights=[0.0 if j == layer else -torch.inf for j in range(layers)])
        chosen.weights.requires_grad_(False)
        return chosen

    @property
    def shares(self) -> Tensor:
        """The part that each layer has; they sum to one."""
        return torch.softmax(self.weights, 0)

    def forward(self, layers: Tensor, mask: Tensor | None = None) -> Tensor:
        """Layers (layers, ..., dim) mixed, (..., dim). The mask, (...), is true where a word stands.

        Only the normalization needs the mask, and it needs it wherever there is padding.
        """
        dropped: Tensor = self.dropout(self.mixed(layers, mask))
        return dropped

    def mixed(self, layers: Tensor, mask: Tensor | None = None) -> Tensor:
        """As `forward`, without dropout even in training."""
        if len(layers) != len(self.weights):
            raise OptionError(f"a mix of {len(self.weights)} layers was given {len(layers)}")
        shares = self.shares
        if self.normalized:
            layers = torch.stack([normalize(layer, mask) for layer in layers])
        mixed = shares[0] * layers[0]
        for share, layer in zip(shares[1:], layers[1:]):
            mixed = mixed + share * layer
        return self.gamma * mixed

    def penalty(self, strength: float) -> Tensor:
        """strength · ‖w‖²: a term for a task's loss. The stronger, the nearer to the plain mean."""
        return strength * self.weights.square().sum()


def normalize(layer: Tensor, mask: Tensor | None = None) -> Tensor:
    """A layer (..., dim) with mean 0 and variance 1 over all words of the batch together, as the original has it.

    So what a word gets depends on the words beside it, and on whether <S> and </S> are among them.
    """
    words = layer.reshape(-1, layer.shape[-1]) if mask is None else layer[mask]
    mean, variance = words.mean(), words.var(correction=0)
    return (layer - mean) / torch.sqrt(variance + TINY)
