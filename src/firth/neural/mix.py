"""The scalar mix of ELMo: a weighted mean of the layers of a biLM whose weights a task learns."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from firth.arguments import checked
from firth.errors import OptionError
from firth.show import notebook

TINY = 1e-12


@checked
class ScalarMix(nn.Module):
    """γ · Σ s_j · layer_j, where s = softmax(w).

    Initially w = 0 and γ = 1, which is the mean of the layers. A task trains `weights` and `gamma` with its own
    parameters, and may add `penalty(strength)` to its loss, which keeps the mix near the mean. Several mixes can share
    one run of the biLM: each is a module of its own.

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
        if not layers >= 1 or not 0 <= dropout <= 1:
            raise OptionError(f"a mix needs at least one layer and a dropout from 0 to 1, not {layers} and {dropout}")
        values = [0.0] * layers if weights is None else list(weights)
        if len(values) != layers:
            raise OptionError(f"a mix of {layers} layers needs as many weights, but got {len(values)}")
        self.weights = nn.Parameter(torch.tensor(values), requires_grad=trainable)
        self.gamma = nn.Parameter(torch.tensor(float(gamma)), requires_grad=trainable)
        self.normalized = normalized
        self.dropout = nn.Dropout(dropout)

    @classmethod
    def of_layer(cls, layer: int, layers: int) -> ScalarMix:
        """The fixed mix that selects one layer; a task may still train `gamma`."""
        if not 0 <= layer < layers:
            raise OptionError(f"there is no layer {layer}: they are 0 to {layers - 1}")
        chosen = cls(layers, weights=[0.0 if j == layer else -torch.inf for j in range(layers)])
        chosen.weights.requires_grad_(False)
        return chosen

    @property
    def shares(self) -> Tensor:
        """The weight of each layer after the softmax; they sum to one."""
        return torch.softmax(self.weights, 0)

    def forward(self, layers: Tensor, mask: Tensor | None = None) -> Tensor:
        """The mix of layers (layers, ..., dim), (..., dim). The mask, (...), is true for words and false for padding.

        Only normalization uses the mask, and needs it where there is padding.
        """
        dropped: Tensor = self.dropout(self.mixed(layers, mask))
        return dropped

    def mixed(self, layers: Tensor, mask: Tensor | None = None) -> Tensor:
        """As `forward`, without dropout."""
        if len(layers) != len(self.weights):
            raise OptionError(f"a mix of {len(self.weights)} layers got {len(layers)}")
        shares = self.shares
        if self.normalized:
            layers = torch.stack([normalize(layer, mask) for layer in layers])
        mixed = shares[0] * layers[0]
        for share, layer in zip(shares[1:], layers[1:]):
            mixed = mixed + share * layer
        return self.gamma * mixed

    def _repr_html_(self) -> str:
        return notebook.html_layers(f"ScalarMix, γ = {self.gamma.item():.4g}", self.shares.detach().tolist())

    def penalty(self, strength: float) -> Tensor:
        """strength · ‖w‖²: a term for the loss of a task. A larger strength keeps the mix closer to the mean."""
        return float(strength) * self.weights.square().sum()


def normalize(layer: Tensor, mask: Tensor | None = None) -> Tensor:
    """A layer (..., dim) with mean 0 and variance 1 over all words of the batch together, as in the original.

    So the result for a word depends on the other words of the batch, and on whether <S> and </S> are among them.
    """
    words = layer.reshape(-1, layer.shape[-1]) if mask is None else layer[mask]
    mean, variance = words.mean(), words.var(correction=0)
    return (layer - mean) / torch.sqrt(variance + TINY)
