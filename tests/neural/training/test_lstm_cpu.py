"""One LSTM layer for training on a CPU against its reference, and its gradients by finite differences."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from firth.neural.initialization import draw
from firth.neural.layers import ProjectedLstm
from firth.neural.training.lstm import run_layer_reference
from firth.neural.training.lstm_cpu import reset, run_layer

STEPS, ROWS, DIM = 5, 3, 4


def make_layer(cell: int, cell_clip: float, projection_clip: float) -> ProjectedLstm:
    layer = ProjectedLstm(DIM, cell, cell_clip=cell_clip, projection_clip=projection_clip)
    draw(layer, 3)
    return layer.double()


def draw_inputs(cell: int) -> tuple[Tensor, tuple[Tensor, Tensor], Tensor]:
    rng = torch.Generator().manual_seed(1)
    inputs, first_cell, first_hidden = (
        torch.randn(*shape, generator=rng, dtype=torch.float64)
        for shape in ((STEPS, ROWS, DIM), (ROWS, cell), (ROWS, DIM))
    )
    return inputs.requires_grad_(), (first_cell, first_hidden), torch.rand(STEPS, ROWS, generator=rng) < 0.3


@pytest.mark.parametrize("resets", [False, True])
@pytest.mark.parametrize("sizes", [(6, 0.0, 0.0), (6, 0.3, 0.1), (4, 3.0, 3.0)], ids=["unclipped", "clipped", "square"])
def test_a_layer_has_the_values_and_gradients_of_the_reference(sizes: tuple[int, float, float], resets: bool) -> None:
    layer = make_layer(*sizes)
    inputs, state, fresh = draw_inputs(sizes[0])
    results = []
    for run in (run_layer_reference, run_layer):
        hidden, after = run(layer, inputs, state, fresh if resets else None)
        results.append([hidden, *after, *torch.autograd.grad(hidden.square().sum(), [inputs, *layer.parameters()])])
    for expected, found in zip(*results):
        assert torch.allclose(found, expected, atol=1e-12)


def test_gradients_are_those_of_finite_differences() -> None:
    layer = make_layer(6, 3.0, 3.0)
    inputs, state, fresh = draw_inputs(6)
    assert torch.autograd.gradcheck(lambda x: run_layer(layer, x, state, fresh)[0], (inputs,))


def test_a_reset_zeroes_fresh_rows_and_leaves_the_stored_state() -> None:
    states, fresh = torch.ones(2, 3, 2), torch.tensor([[False, False, False], [True, False, True]])
    assert reset(states, 1, fresh).tolist() == [[0, 0], [1, 1], [0, 0]]
    assert states.min() == 1
    assert reset(states, 1, None).tolist() == [[1, 1]] * 3
