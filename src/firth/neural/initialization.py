"""How the numbers of a new biLM are drawn, before it has learnt anything: as the original drew them."""

from __future__ import annotations

import torch
from torch import nn

from firth.neural.adaptive_softmax import AdaptiveSoftmax
from firth.neural.layers import CharacterCnn, CharacterRnn, Highway, ProjectedLstm, WordEmbedding


def draw(model: nn.Module, seed: int) -> None:
    """Fills every layer of a model; the same seed gives the same numbers, and nothing else is touched."""
    rng = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for layer in model.modules():
            if isinstance(layer, CharacterCnn):
                draw_cnn(layer, rng)
            elif isinstance(layer, CharacterRnn):
                draw_rnn(layer, rng)
            elif isinstance(layer, Highway):
                draw_linear(layer.gate, rng)
                draw_linear(layer.transform, rng)
                layer.gate.bias.fill_(-2)  # at first it steps aside
            elif isinstance(layer, WordEmbedding):
                layer.table.normal_(0, layer.table.shape[1] ** -0.5, generator=rng)
            elif isinstance(layer, ProjectedLstm):
                draw_lstm(layer, rng)
        for layer in model.children():
            if isinstance(layer, nn.Linear):  # the softmax
                draw_linear(layer, rng)
            elif isinstance(layer, AdaptiveSoftmax):
                for part in layer.modules():
                    if isinstance(part, nn.Linear):
                        draw_linear(part, rng)


def draw_linear(linear: nn.Linear, rng: torch.Generator) -> None:
    """Weights of variance 1 / inputs, no bias."""
    linear.weight.normal_(0, linear.in_features**-0.5, generator=rng)
    if linear.bias is not None:
        linear.bias.zero_()


def draw_cnn(layer: CharacterCnn, rng: torch.Generator) -> None:
    """Filters of relu are drawn evenly and small, those of tanh with variance 1 / inputs."""
    layer.table.uniform_(-1, 1, generator=rng)
    layer.table[0] = 0
    for filters in layer.filters.children():
        weight, bias = filters.parameters()
        if layer.activation is torch.relu:
            weight.uniform_(-0.05, 0.05, generator=rng)
        else:
            weight.normal_(0, weight[0].numel() ** -0.5, generator=rng)
        bias.zero_()
    if layer.projection is not None:
        draw_linear(layer.projection, rng)


def draw_rnn(layer: CharacterRnn, rng: torch.Generator) -> None:
    """As torch draws an LSTM."""
    layer.table.uniform_(-1, 1, generator=rng)
    layer.table[0] = 0
    reach = layer.lstm.hidden_size**-0.5
    for parameter in layer.lstm.parameters():
        parameter.uniform_(-reach, reach, generator=rng)
    draw_linear(layer.projection, rng)


def draw_lstm(layer: ProjectedLstm, rng: torch.Generator) -> None:
    """Glorot's even weights, input and recurrent taken as one matrix; the forget gate begins open."""
    reach = (6 / (layer.input.shape[1] + layer.dim + 4 * layer.cell)) ** 0.5
    layer.input.uniform_(-reach, reach, generator=rng)
    layer.recurrent.uniform_(-reach, reach, generator=rng)
    layer.bias.zero_()
    layer.bias[layer.cell : 2 * layer.cell] = 1
    if layer.projection is not None:
        nn.init.xavier_uniform_(layer.projection, generator=rng)
    if layer.norm is not None:
        layer.norm.reset_parameters()
