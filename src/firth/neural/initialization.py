"""The initial weights of a biLM, drawn as in the original."""

from __future__ import annotations

import torch
from torch import nn

from firth.neural.adaptive_softmax import AdaptiveSoftmax
from firth.neural.layers import CharacterCnn, CharacterRnn, Highway, ProjectedLstm, WordEmbedding


def draw(model: nn.Module, seed: int) -> None:
    """Initializes every layer of a model. The same seed gives the same weights; global generators are not used."""
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
                layer.gate.bias.fill_(-2)  # at first the layer passes its input on
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
    """Filters before relu are uniform and small, those before tanh normal with variance 1 / inputs."""
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
    """As torch initializes an LSTM."""
    layer.table.uniform_(-1, 1, generator=rng)
    layer.table[0] = 0
    bound = layer.lstm.hidden_size**-0.5
    for parameter in layer.lstm.parameters():
        parameter.uniform_(-bound, bound, generator=rng)
    draw_linear(layer.projection, rng)


def draw_lstm(layer: ProjectedLstm, rng: torch.Generator) -> None:
    """Glorot uniform, with input and recurrent weights as one matrix; the bias of the forget gate is 1."""
    bound = (6 / (layer.input.shape[1] + layer.dim + 4 * layer.cell)) ** 0.5
    layer.input.uniform_(-bound, bound, generator=rng)
    layer.recurrent.uniform_(-bound, bound, generator=rng)
    layer.bias.zero_()
    layer.bias[layer.cell : 2 * layer.cell] = 1
    if layer.projection is not None:
        nn.init.xavier_uniform_(layer.projection, generator=rng)
    if layer.norm is not None:
        layer.norm.reset_parameters()
