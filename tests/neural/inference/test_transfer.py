"""Transfers between the CPU and a device: what arrives is what was sent."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from firth.neural.inference.transfer import PinnedTransfer, to_device

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU and a torch built for it")
DEVICES = ["cpu", pytest.param("cuda", marks=needs_gpu)]


@pytest.mark.parametrize("device", DEVICES)
def test_an_array_returns_as_it_was_sent(device: str) -> None:
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    tensor = to_device(array[:, ::2], torch.device(device))  # not contiguous
    assert tensor.device.type == device
    assert PinnedTransfer(torch.device(device)).fetch(tensor)().tolist() == array[:, ::2].tolist()


@pytest.mark.parametrize("device", DEVICES)
def test_several_copies_can_be_under_way_at_once(device: str) -> None:
    transfer = PinnedTransfer(torch.device(device))
    arrivals = [transfer.fetch(torch.full((1000,), float(number), device=device)) for number in range(5)]
    assert [set(arrive().tolist()) for arrive in reversed(arrivals)] == [{4.0}, {3.0}, {2.0}, {1.0}, {0.0}]
