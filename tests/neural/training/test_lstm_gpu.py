"""The LSTM layers for training on a GPU against the reference: hidden states, final state and gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.neural.state import BiLMState
from firth.neural.training import lstm_gpu
from firth.neural.training.lstm import Dropout, LayerInputs, run_layers_reference

Compare = Callable[[Tensor, Tensor], float]

DIM, CELL, ROWS, STEPS = 64, 256, 70, 4


def make_bilm(clip: float = 3.0, **sizes: object) -> BiLM:
    generator = torch.Generator().manual_seed(5)
    options = {"dim": DIM, "cell": CELL, "character_dim": 4, "filters": ((1, 4),), "highways": 0} | sizes
    bilm = BiLM(Architecture(cell_clip=clip, projection_clip=clip / 2, **options))  # type: ignore[arg-type]
    for layers in (bilm.forward_layers, bilm.backward_layers):
        for parameter in layers.parameters():
            parameter.data = (torch.randn(parameter.shape, generator=generator) * 0.12).bfloat16().float()
    return bilm.cuda()


def draw_streams(bilm: BiLM, seed: int = 7) -> tuple[list[Tensor], BiLMState, Tensor]:
    generator, sizes = torch.Generator().manual_seed(seed), bilm.architecture
    inputs = [torch.randn(STEPS, ROWS, sizes.dim, generator=generator).bfloat16().float().cuda() for _ in range(2)]
    parts = [torch.randn(2, sizes.layers, ROWS, size, generator=generator) for size in (sizes.cell, sizes.dim)]
    state = BiLMState(*((part * 0.2).bfloat16().float().cuda() for part in parts))
    return [one.requires_grad_() for one in inputs], state, torch.rand(STEPS, ROWS, generator=generator).cuda()


def compute_gradients(outputs: tuple[Tensor, Tensor], inputs: list[Tensor], bilm: BiLM) -> tuple[Tensor, ...]:
    weights = [one for layers in (bilm.forward_layers, bilm.backward_layers) for one in layers.parameters()]
    factor = torch.linspace(-1, 1, outputs[0].numel(), device="cuda").view(outputs[0].shape)
    return torch.autograd.grad(sum((output.float() * factor).sum() for output in outputs), [*inputs, *weights])  # type: ignore[arg-type]


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("resets", [False, True])
@pytest.mark.parametrize("sizes", [{}, {"skip": False}, {"normalized": True}, {"layers": 1}, {"dim": 16, "cell": 64}])
def test_the_gpu_has_the_values_and_gradients_of_the_reference(
    sizes: dict[str, object], resets: bool, relative_error: Compare
) -> None:
    bilm = make_bilm(**sizes)
    inputs, state, chance = draw_streams(bilm)
    fresh = chance < 0.3 if resets else None
    expected = run_layers_reference(bilm, LayerInputs(*inputs, state, None, fresh))
    found = lstm_gpu.run_layers(bilm, LayerInputs(*inputs, state, None, fresh))
    for mine, theirs in zip((*found[:2], *found[2].parts), (*expected[:2], *expected[2].parts)):
        assert relative_error(mine, theirs) < 0.01
    for mine, theirs in zip(compute_gradients(found[:2], inputs, bilm), compute_gradients(expected[:2], inputs, bilm)):
        assert relative_error(mine, theirs) < 0.02


@pytest.mark.usefixtures("gpu")
def test_the_gpu_clips_cells_and_projections_where_the_reference_does(relative_error: Compare) -> None:
    bilm = make_bilm(clip=0.5)
    inputs, state, _ = draw_streams(bilm)
    expected = run_layers_reference(bilm, LayerInputs(*inputs, state))
    found = lstm_gpu.run_layers(bilm, LayerInputs(*inputs, state))
    assert found[2].cell.abs().max() == 0.5
    assert found[2].hidden.abs().max() == 0.25
    assert ((found[2].cell.abs() == 0.5) == (expected[2].cell.abs() == 0.5)).float().mean() > 0.99
    # Rounding decides which cells near the limit are clipped, and only the others have a gradient.
    for mine, theirs in zip(compute_gradients(found[:2], inputs, bilm), compute_gradients(expected[:2], inputs, bilm)):
        assert relative_error(mine, theirs) < 0.1


@pytest.mark.usefixtures("gpu")
def test_two_passes_that_carry_the_state_are_one_long_pass() -> None:
    bilm = make_bilm()
    inputs, state, _ = draw_streams(bilm)
    whole = lstm_gpu.run_layers(bilm, LayerInputs(*inputs, state))
    half = STEPS // 2
    first = lstm_gpu.run_layers(bilm, LayerInputs(*(one[:half] for one in inputs), state))
    second = lstm_gpu.run_layers(bilm, LayerInputs(*(one[half:] for one in inputs), first[2]))
    for way in range(2):
        assert torch.equal(torch.cat([first[way], second[way]]), whole[way])


@pytest.mark.usefixtures("gpu")
def test_dropout_drops_its_share_and_the_gradient_has_the_same_mask() -> None:
    x = torch.ones(2, 8, 16, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    whole = Dropout(0.25, seed=1, step=2, rows=32)
    kept = lstm_gpu.apply_dropout(x, whole, 0)
    assert (kept == 0).float().mean().item() == pytest.approx(0.25, abs=0.02)
    (gradient,) = torch.autograd.grad(kept.float().sum(), x)
    assert torch.equal(gradient == 0, kept == 0)
    assert not torch.equal(lstm_gpu.apply_dropout(x, whole, 1), kept)
    wide = torch.ones(2, 8, 32, 64, device="cuda", dtype=torch.bfloat16)
    part = lstm_gpu.apply_dropout(x, Dropout(0.25, seed=1, step=2, rows=32, first_row=16), 0)
    assert torch.equal(part, lstm_gpu.apply_dropout(wide, whole, 0)[:, :, 16:])


def test_a_tile_holds_the_four_gates_of_its_cells() -> None:
    cell = 2 * lstm_gpu.CELLS
    gate, of = np.divmod(np.arange(4 * cell), cell)
    rows = torch.from_numpy(np.stack([gate, of], 1)).expand(2, -1, -1)
    tile = lstm_gpu.order_by_tile(rows, cell).view(2, 2, 2, lstm_gpu.CELLS, 2, 2)  # way, tile, half, cell, one, what
    for half in range(2):
        for one in range(2):
            assert (tile[:, :, half, :, one, 0] == 2 * half + one).all()
            assert torch.equal(tile[0, 1, half, :, one, 1], lstm_gpu.CELLS + torch.arange(lstm_gpu.CELLS))


def test_input_weights_are_joined_before_recurrent_weights() -> None:
    weights = [torch.full(size, float(number)) for number, size in enumerate(((8, 3), (8, 2), (8,), (2, 2)) * 2)]
    joined, bias, projection = lstm_gpu.join_weights(tuple(weights))
    assert joined[:, 0].tolist() == [[0, 0, 0, 1, 1], [4, 4, 4, 5, 5]]
    assert (bias[:, 0].tolist(), projection[:, 0, 0].tolist()) == ([2, 6], [3, 7])
