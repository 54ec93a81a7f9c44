"""Compiles CUDA source at run time: NVRTC compiles it for the current GPU, the driver starts the kernels.

Both are called through their C interfaces; memory and streams are those of torch.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np


class Kernel:
    """A function on the GPU. It takes tensors (as pointers), whole numbers of 32 bits, np.uint64, and float32."""

    def __init__(self, function: ctypes.c_void_p, module: ctypes.c_void_p) -> None:
        self.function, self.module = function, module

    def __call__(self, blocks: int, threads: int, *arguments: Any) -> None:
        """Starts the kernel on torch's current stream; it runs while Python goes on."""
        import torch

        values = [as_c(argument) for argument in arguments]
        places = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        check(driver().cuLaunchKernel(self.function, blocks, 1, 1, threads, 1, 1, 0, stream, places, None))


def as_c(argument: Any) -> Any:
    """An argument of a kernel as a C value."""
    if isinstance(argument, np.uint64):
        return ctypes.c_uint64(int(argument))
    if isinstance(argument, int):
        return ctypes.c_int32(argument)
    if isinstance(argument, float):
        return ctypes.c_float(argument)
    return ctypes.c_void_p(argument.data_ptr())


def compile_source(source: str, names: Sequence[str], constants: Mapping[str, int]) -> dict[str, Kernel]:
    """The named kernels of a source, compiled with these constants for the current GPU."""
    import torch

    torch.cuda.init()
    torch.empty(1, device="cuda")  # creates the context that the driver needs to load code
    major, minor = torch.cuda.get_device_capability()
    flags = [f"--gpu-architecture=sm_{major}{minor}", "--std=c++17", *(f"-D{k}={v}" for k, v in constants.items())]
    binary = translate(source, flags)
    module = ctypes.c_void_p()
    check(driver().cuModuleLoadData(ctypes.byref(module), binary))
    kernels = {}
    for name in names:
        function = ctypes.c_void_p()
        check(driver().cuModuleGetFunction(ctypes.byref(function), module, name.encode()))
        kernels[name] = Kernel(function, module)
    return kernels


def translate(source: str, flags: Sequence[str]) -> bytes:
    """The machine code of a source."""
    library = compiler()
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernels.cu", 0, None, None)
    options = (ctypes.c_char_p * len(flags))(*(flag.encode() for flag in flags))
    if library.nvrtcCompileProgram(program, len(flags), options) != 0:
        library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        library.nvrtcGetProgramLog(program, log)
        raise RuntimeError(f"the CUDA source does not compile:\n{log.value.decode(errors='replace')}")
    library.nvrtcGetCUBINSize(program, ctypes.byref(size))
    binary = ctypes.create_string_buffer(size.value)
    library.nvrtcGetCUBIN(program, binary)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return binary.raw


@cache
def driver() -> ctypes.CDLL:
    """The library of the driver."""
    return ctypes.CDLL("libcuda.so.1")


@cache
def compiler() -> ctypes.CDLL:
    """NVRTC, of torch's own version: loaded by its name, or from the packages that torch was installed with."""
    import torch

    name = f"libnvrtc.so.{str(torch.version.cuda).split('.')[0]}"
    installed = Path(torch.__file__).parents[1].glob(f"nvidia/*/lib/{name}")
    for place in (name, *map(str, installed)):
        try:
            return ctypes.CDLL(place)
        except OSError:
            continue
    raise OSError(f"{name}, which compiles CUDA sources, is not installed. Install the package nvidia-cuda-nvrtc")


def check(status: int) -> None:
    """Turns an error of the driver into an exception."""
    if status == 0:
        return
    text = ctypes.c_char_p()
    driver().cuGetErrorString(status, ctypes.byref(text))
    raise RuntimeError(f"CUDA: {(text.value or b'unknown error').decode()} ({status})")
