"""Transfers between the CPU and a GPU through pinned memory, so that neither waits for the other.

Pinned memory comes from torch's allocator and returns to it with the last array that uses it. The allocator reuses a
piece only after the copies from and to it are done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Arrive = Callable[[], NDArray[Any]]


def to_device(array: NDArray[Any], device: torch.device) -> Tensor:
    """The array as a tensor on the device. A copy to a GPU is started, not waited for.

    >>> to_device(np.arange(3), torch.device("cpu"))
    tensor([0, 1, 2])
    """
    tensor = torch.from_numpy(np.ascontiguousarray(array))
    # A copy from pageable memory would wait for all work of the GPU.
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)


class PinnedTransfer:
    """Copies results to the CPU while computation goes on: on a GPU in a stream of its own."""

    def __init__(self, device: torch.device) -> None:
        self.stream = torch.cuda.Stream(device) if device.type == "cuda" else None  # type: ignore[no-untyped-call]

    def fetch(self, result: Tensor) -> Arrive:
        """Starts the copy. The result is a function that waits for it and returns the array.

        >>> PinnedTransfer(torch.device("cpu")).fetch(torch.ones(2))()
        array([1., 1.], dtype=float32)
        """
        if self.stream is None:
            return result.numpy
        host = torch.empty(result.shape, dtype=result.dtype, pin_memory=True)
        self.stream.wait_stream(torch.cuda.current_stream(result.device))
        with torch.cuda.stream(self.stream):
            host.copy_(result, non_blocking=True)
        copied = self.stream.record_event()
        result.record_stream(self.stream)  # keeps its memory from reuse until the copy is done

        def arrive() -> NDArray[Any]:
            copied.synchronize()
            return host.numpy()

        return arrive
