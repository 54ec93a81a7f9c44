"""CUDA kernels at run time: arguments and errors on a CPU, a whole kernel where there is a GPU."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
import torch

from firth.kernels import cuda

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU and a torch built for it")
SOURCE = """
extern "C" __global__ void add(float *x, int count, float step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) x[i] += step * TIMES;
}
"""


def test_arguments_have_their_types_in_c() -> None:
    tensor = torch.zeros(3)
    values = [cuda.as_c(argument) for argument in (np.uint64(2**63), -5, 0.5, tensor)]
    assert [type(value) for value in values] == [ctypes.c_uint64, ctypes.c_int32, ctypes.c_float, ctypes.c_void_p]
    assert [value.value for value in values] == [2**63, -5, 0.5, tensor.data_ptr()]


def test_success_is_no_error() -> None:
    cuda.check(0)


@needs_gpu
def test_an_error_of_the_driver_has_its_text() -> None:
    with pytest.raises(RuntimeError, match=r"CUDA: invalid argument \(1\)"):
        cuda.check(1)


@needs_gpu
def test_a_source_is_compiled_with_its_constants_and_run() -> None:
    x = torch.arange(100, dtype=torch.float32, device="cuda")
    cuda.compile_source(SOURCE, ["add"], {"TIMES": 3})["add"](2, 64, x, 99, 0.5)
    assert x.tolist() == [*(number + 1.5 for number in range(99)), 99.0]


@needs_gpu
def test_a_source_with_an_error_is_refused_with_the_log_of_the_compiler() -> None:
    with pytest.raises(RuntimeError, match=r"does not compile:[^$]*TIMES"):
        cuda.compile_source(SOURCE, ["add"], {})
