"""Support of Triton: what depends on the device, and what holds without it."""

from __future__ import annotations

import pytest
import torch

from firth.kernels import triton_support
from firth.kernels.triton_support import blocks, jit, processors, supports


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 1000])
def test_blocks_hold_all_and_no_block_is_empty(count: int) -> None:
    found = blocks(count, 64)
    assert 64 * (found - 1) < count <= 64 * found


def test_a_cpu_is_not_supported() -> None:
    assert not supports(torch.device("cpu"))
    assert processors(torch.device("cpu")) == 4


def test_without_triton_a_kernel_stays_a_plain_function(monkeypatch: pytest.MonkeyPatch) -> None:
    def kernel(x: int, now: int) -> int:
        return x + now

    monkeypatch.setattr(triton_support, "triton", None)
    assert jit(kernel) is kernel


@pytest.mark.skipif(triton_support.triton is None, reason="needs Triton")
def test_numbers_that_change_from_call_to_call_are_not_specialized() -> None:
    def kernel(x, now, seed):
        pass

    assert list(jit(kernel).do_not_specialize) == ["now", "seed"]
