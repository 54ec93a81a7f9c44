"""Triton, the language of GPU kernels that work on tiles. It is installed with torch for NVIDIA GPUs.

Without it the kernels are plain functions that are never called; their modules can still be imported.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or find_spec("triton") is not None:
    import triton
    import triton.language as tl
else:
    triton = tl = None

__all__ = ["jit", "tl", "triton"]
ROOM = 227 << 10  # bytes of shared memory that the tiles here need; data-center GPUs have them since Hopper
CHANGING = {"now", "words", "total_positions", "share", "seed", "first_row"}


def jit(kernel: Callable[..., Any]) -> Any:
    """A function as a Triton kernel. It is not specialized for the values of arguments in CHANGING."""
    if triton is None:
        return kernel
    names = kernel.__code__.co_varnames[: kernel.__code__.co_argcount]
    return triton.jit(kernel, do_not_specialize=[name for name in names if name in CHANGING])


@cache
def supports(device: Any) -> bool:
    """Whether kernels with these tiles run on a device."""
    if triton is None or device.type != "cuda":
        return False
    import torch

    return bool(torch.cuda.get_device_properties(device).shared_memory_per_block_optin >= ROOM)


def describe_tiles(matrix: Any, rows: int, columns: int) -> Any:
    """The descriptor of a matrix for copies in tiles of `rows` × `columns`."""
    from triton.tools.tensor_descriptor import TensorDescriptor

    return TensorDescriptor.from_tensor(matrix, [rows, columns])


def blocks(count: int, size: int) -> int:
    """The number of blocks of `size` that hold `count` items.

    >>> blocks(129, 64)
    3
    """
    return -(-count // size)


@cache
def processors(device: Any) -> int:
    """The number of multiprocessors of a GPU, which is the number of programs that run at once."""
    import torch

    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 4
