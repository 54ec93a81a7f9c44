"""The kernels of LSTM training on a GPU against their formulas.

Whole layers are compared with their reference in tests/neural/training/test_lstm_gpu.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from firth.kernels import lstm_training_gpu as kernel
from firth.kernels.triton_support import blocks

STEPS, ROWS, DIM, SIZE = 3, 5, 16, 64


def draw_bfloat16(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).bfloat16().cuda()


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("resets", [False, True])
def test_the_clipped_projection_becomes_the_next_input_unless_the_state_is_reset(resets: bool) -> None:
    width, step, limit = 24 + DIM, 1, 0.5
    projected = draw_bfloat16(2, ROWS, DIM, seed=1)
    hidden = torch.zeros(2, STEPS, ROWS, DIM, dtype=torch.bfloat16, device="cuda")
    inputs = torch.zeros(2, STEPS + 1, ROWS, width, dtype=torch.bfloat16, device="cuda")
    fresh = torch.zeros(STEPS + 1, ROWS, dtype=torch.int8, device="cuda")
    fresh[step + 1, 2] = 1
    sizes = step, STEPS, ROWS, DIM, width, limit
    grid = blocks(ROWS * DIM, SIZE), 2
    kernel.clip_hidden[grid](projected, hidden, inputs, fresh, *sizes, RESETS=resets, SIZE=SIZE)
    expected = projected.clamp(-limit, limit)
    assert torch.equal(hidden[:, step], expected)
    if resets:
        expected[:, 2] = 0
    assert torch.equal(inputs[:, step + 1, :, -DIM:], expected)
    assert not inputs[:, :, :, :-DIM].any()


@pytest.mark.usefixtures("gpu")
def test_gradients_are_added_where_the_projection_was_not_clipped() -> None:
    step, limit = 1, 1.0
    outer, hidden = (draw_bfloat16(2, STEPS, ROWS, DIM, seed=seed) for seed in (1, 2))
    hidden = hidden.clamp(-limit, limit)
    recurrent, found = draw_bfloat16(2, ROWS, DIM, seed=3), torch.zeros_like(outer)
    fresh = torch.zeros(STEPS + 1, ROWS, dtype=torch.int8, device="cuda")
    fresh[step + 1, 2] = 1
    grid = blocks(ROWS * DIM, SIZE), 2
    sizes = step, STEPS, ROWS, DIM, limit
    kernel.add_gradients[grid](outer, recurrent, hidden, found, fresh, *sizes, RESETS=True, SIZE=SIZE)
    recurrent[:, 2] = 0
    total = (outer[:, step].float() + recurrent.float()) * (hidden[:, step].abs() < limit)
    assert torch.equal(found[:, step], total.bfloat16())


def test_tanh_without_approximation_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "tl", np)
    tanh: Any = getattr(kernel.tanh, "fn", kernel.tanh)
    x = np.linspace(-5, 5, 41)
    np.testing.assert_allclose(tanh(x, False), np.tanh(x), atol=1e-12)
