"""Triton, the language of GPU kernels that work on tiles, where it is installed: torch for NVIDIA GPUs brings it along.

Without it the kernels stay plain functions that nobody calls, and their files can be read and imported all the same.
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
ROOM = 227 << 10  # bytes of shared memory that the tiles here need: what data-center GPUs have since Hopper
CHANGING = {"now", "words", "total_positions", "share", "seed", "first_row"}


def jit(kernel: Callable[..., Any]) -> Any:
    """A function as a Triton kernel. Numbers that are CHANGING from call to call have no kernels of their own."""
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
    """A matrix that the GPU copies in tiles of so many rows and columns by itself."""
    from triton.tools.tensor_descriptor import TensorDescriptor

    return TensorDescriptor.from_tensor(matrix, [rows, columns])


def blocks(count: int, size: int) -> int:
    """How many blocks of a size hold so many.

    >>> blocks(129, 64)
    3
    """
    return -(-count // size)


@cache
def processors(device: Any) -> int:
    """How many multiprocessors a GPU has: as many programs are at work at once."""
    import torch

    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 4
