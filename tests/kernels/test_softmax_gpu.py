"""The softmax kernels on a GPU against their formulas.

Whole losses are compared with their references in tests/neural/training/test_softmax_gpu.py.
"""

from __future__ import annotations

import math

import pytest
import torch

from firth.kernels import softmax_gpu as kernel
from firth.kernels.triton_support import describe_tiles

ROWS, WORDS, DIM = 10, 40, 64


def draw_inputs() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    hidden, weight = torch.randn(ROWS, DIM, generator=generator), torch.randn(WORDS, DIM, generator=generator) / 4
    targets = torch.arange(ROWS)
    targets[3] = -1
    bias = torch.randn(WORDS, generator=generator)
    return hidden.bfloat16().cuda(), weight.bfloat16().cuda(), bias.cuda(), targets.cuda()


@pytest.mark.usefixtures("gpu")
def test_the_loss_is_the_logarithm_of_one_plus_the_exponentials() -> None:
    hidden, weight, bias, targets = draw_inputs()
    logits, e = torch.empty(ROWS, device="cuda"), hidden.new_empty(ROWS, WORDS)
    kernel.target_logits[(ROWS,)](hidden, weight, bias, targets, logits, DIM, DIM=DIM, num_warps=1)
    sums = torch.empty(1, ROWS, device="cuda")
    tiles = describe_tiles(hidden, 16, 64), describe_tiles(weight, 64, 64)
    kernel.exponentials[(4,)](
        *(*tiles, bias, logits, targets, e, sums, ROWS, WORDS, DIM, WORDS),
        MAX_EXPONENT=kernel.MAX_EXPONENT,
        PROGRAMS=4,
        ROWS=16,
        COLUMNS=64,
        DEPTH=64,
    )
    expected = torch.nn.functional.cross_entropy(
        hidden.float() @ weight.float().T + bias, targets, ignore_index=-1, reduction="none"
    )
    torch.testing.assert_close((1 + sums[0]).log(), expected, atol=1e-3, rtol=1e-3)
    assert logits[3] == torch.inf
    assert not e[3].any()


def test_the_largest_exponential_can_be_summed_over_any_vocabulary_in_float32() -> None:
    assert math.exp(kernel.MAX_EXPONENT) * 1e5 < torch.finfo(torch.float32).max
