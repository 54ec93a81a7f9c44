"""The LSTM cell on a GPU against its formulas; its elementwise functions on a CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from firth.kernels import lstm_gpu as kernel
from firth.kernels.triton_support import blocks


def to_plain(monkeypatch: pytest.MonkeyPatch, function: Any) -> Any:
    """The function behind a kernel, with NumPy in place of Triton's language."""
    monkeypatch.setattr(kernel, "tl", np)
    return getattr(function, "fn", function)


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("limit", [float("inf"), 0.5])
def test_a_step_is_its_formulas(limit: float) -> None:
    rows, size = 5, 24
    generator = torch.Generator("cuda").manual_seed(1)
    gates = torch.randn(2, rows, 4 * size, generator=generator, device="cuda")
    cell = torch.randn(2, rows, size, generator=generator, device="cuda")
    i, f, g, o = gates.chunk(4, 2)
    expected_cell = (f.sigmoid() * cell + i.sigmoid() * g.tanh()).clamp(-limit, limit)
    expected = o.sigmoid() * expected_cell.tanh()
    gated = torch.empty_like(cell)
    sizes = rows * size, size, gates.stride(0), cell.stride(0), limit
    kernel.step[(blocks(rows * size, 64), 2)](gates, cell, gated, *sizes, SIZE=64)
    torch.testing.assert_close(cell, expected_cell, atol=1e-5, rtol=0)
    torch.testing.assert_close(gated, expected, atol=1e-5, rtol=0)


def test_clipping_has_a_gradient_inside_its_limits_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.array([-3.0, -1.0, 0.5, 1.0, 2.0])
    clipped = to_plain(monkeypatch, kernel.clip)(x, 1.0)
    assert clipped.tolist() == [-1, -1, 0.5, 1, 1]
    assert to_plain(monkeypatch, kernel.clip_gradient)(np.ones(5), clipped, 1.0).tolist() == [0, 0, 1, 0, 0]
    assert to_plain(monkeypatch, kernel.clip)(x, np.inf).tolist() == x.tolist()


def test_the_sigmoid_is_its_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    found = to_plain(monkeypatch, kernel.sigmoid)(np.array([0.0, np.log(3), -np.log(3)]))
    assert found.tolist() == pytest.approx([0.5, 0.75, 0.25])
