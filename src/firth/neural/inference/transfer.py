"""Between the host and a GPU, both ways by pinned memory, so that neither waits for the other.

Pinned memory comes from torch's own store and goes back to it when the last array that looks at it is gone; the store
gives a piece out again only when the copies that were begun with it are done.
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
    """The array as a tensor of the device; the way to a GPU is begun, not waited for.

    >>> to_device(np.arange(3), torch.device("cpu"))
    tensor([0, 1, 2])
    """
    tensor = torch.from_numpy(np.ascontiguousarray(array))
    # Copied from ordinary memory it would first wait until the GPU has done all it was told to do.
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)


class PinnedTransfer:
    """Brings results to the host, beside the work that goes on: on a GPU in a stream of its own."""

    def __init__(self, device: torch.device) -> None:
        self.stream = torch.cuda.Stream(device) if device.type == "cuda" else None  # type: ignore[no-untyped-call]

    def fetch(self, result: Tensor) -> Arrive:
        """A function that waits for the result and gives it as an array; its way to the host begins now.

        >>> PinnedTransfer(torch.device("cpu")).fetch(torch.ones(2))()
        array([1., 1.], dtype=float32)
        """
        if self.stream is None:
            return result.numpy
        host = torch.empty(result.shape, dtype=result.dtype, pin_memory=True)
        self.stream.wait_stream(torch.cuda.current_stream(result.device))
        with torch.cuda.stream(self.stream):
            host.copy_(result, non_blocking=True)
        arrived = self.stream.record_event()
        result.record_stream(self.stream)  # its memory must not be used again before the copy is done

        def arrive() -> NDArray[Any]:
            arrived.synchronize()
            return host.numpy()

        return arrive
