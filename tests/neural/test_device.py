"""Work sizes by device."""

from __future__ import annotations

from dataclasses import asdict

import torch

from firth.neural import device


def test_a_gpu_gets_larger_pieces_of_work_than_a_cpu() -> None:
    cpu, gpu = (asdict(device.work_sizes(torch.device(name))) for name in ("cpu", "cuda"))
    assert all(gpu[name] > size for name, size in cpu.items())


def test_the_sizes_of_a_gpu_do_not_depend_on_its_number() -> None:
    assert device.work_sizes(torch.device("cuda:1")) == device.work_sizes(torch.device("cuda"))
