"""Initial weights: seeds, and the distributions of the original."""

from __future__ import annotations

import dataclasses

import torch
from torch import nn

from firth.neural.architecture import PRESETS
from firth.neural.bilm import BiLM
from firth.neural.initialization import draw_linear
from firth.neural.layers import CharacterCnn, Highway, ProjectedLstm

TINY = PRESETS["tiny"]


def test_the_same_seed_draws_the_same_numbers_and_touches_nothing_else() -> None:
    before = torch.random.get_rng_state()
    one, same, other = (BiLM(TINY, seed=seed) for seed in (5, 5, 6))
    assert torch.equal(torch.random.get_rng_state(), before)
    for name, tensor in one.state_dict().items():
        assert torch.equal(tensor, same.state_dict()[name])
        assert torch.isfinite(tensor).all()
    assert not torch.equal(one.forward_layers[0].input, other.forward_layers[0].input)  # type: ignore[arg-type]
    assert not torch.equal(one.forward_layers[0].input, one.backward_layers[0].input)  # type: ignore[arg-type]


def test_biases_are_zero_but_for_forget_gates_and_highway_gates() -> None:
    for layer in BiLM(TINY, seed=5).modules():
        if isinstance(layer, Highway):
            assert (layer.gate.bias == -2).all()
            assert not layer.transform.bias.any()
        elif isinstance(layer, ProjectedLstm):
            gates = layer.bias.view(4, layer.cell)  # i, f, g, o
            assert (gates[1] == 1).all()
            assert not gates[[0, 2, 3]].any()


def test_padding_has_the_zero_vector_and_filters_are_drawn_for_their_activation() -> None:
    for activation in ("relu", "tanh"):
        encoder = BiLM(dataclasses.replace(TINY, activation=activation), seed=5).encoder
        assert isinstance(encoder, CharacterCnn)
        assert not encoder.table[0].any()
        assert encoder.table[1:].abs().max() <= 1
        largest = max(float(conv.weight.detach().abs().max()) for conv in encoder.filters)  # type: ignore[arg-type, union-attr]
        assert (largest <= 0.05) == (activation == "relu")


def test_a_linear_layer_keeps_the_variance_of_its_inputs() -> None:
    linear = nn.Linear(400, 500)
    with torch.no_grad():
        draw_linear(linear, torch.Generator().manual_seed(1))
        outputs = linear(torch.randn(100, 400, generator=torch.Generator().manual_seed(2)))
    assert abs(outputs.var().item() - 1) < 0.05
