"""The losses of softmax.py on a GPU, in bfloat16: what they share is one kernel and two products.

e, in which every word is compared with the row's own (see kernels/softmax_cuda.py), exists for as many rows at a time
as TABLE bytes hold. Gradients are taken at once, while it is there.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from firth.kernels import softmax_gpu as kernel
from firth.kernels.triton_support import blocks, describe_tiles, processors, supports, triton

TABLE = 2 << 30
TILE = {"ROWS": 128, "COLUMNS": 256, "DEPTH": 64, "num_warps": 8, "num_stages": 4}
APART = 64  # columns beside the hidden numbers, the first of which gives the slope of the bias


def fits(hidden: Tensor) -> bool:
    """Whether these kernels are made for what was said."""
    return hidden.shape[1] % 8 == 0 and supports(hidden.device)


class CrossEntropyGpu(torch.autograd.Function):
    """Σ -log softmax(weight · h + bias)[target], summed over the rows of `hidden`, (n, dim). A target of -1 is none."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, learning: bool) -> Tensor:
        words, dim = weight.shape
        wide, offset, narrow = padded(weight.bfloat16()), bias.float(), hidden.bfloat16().contiguous()
        total = torch.zeros((), device=hidden.device)
        to_hidden = torch.empty_like(hidden)
        to_weight = torch.zeros(len(wide), dim + APART, device=hidden.device) if learning else None
        start = 0
        for some, wanted in rows_at_a_time(len(wide), narrow, targets):
            logits = logits_of(some, wide, offset, wanted)
            e, s = compared(some, wide, offset, words, logits, wanted)
            total += s.log().sum()
            if to_weight is not None:
                e.scatter_(1, wanted.clamp(min=0)[:, None], (1 - s).to(e.dtype)[:, None])  # p - 1, times s
                torch.mul(e @ wide, 1 / s[:, None], out=to_hidden[start : start + len(some)])
                add_product(to_weight, e.T, beside(some, 1 / s))
            start += len(some)
        if to_weight is not None:
            ctx.save_for_backward(to_hidden, to_weight[:words, :dim], to_weight[:words, dim])
        return total

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        hidden, weight, bias = ctx.saved_tensors
        return hidden * grads[0].to(hidden.dtype), weight * grads[0], bias * grads[0], None, None


class SampledLossGpu(torch.autograd.Function):
    """Σ -log (e^own / (e^own + Σ e^others)), as `firth.neural.softmax.SampledLoss`."""

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, against: Tensor, own: Tensor, learning: bool
    ) -> Tensor:
        dim, narrow, offset = weight.shape[1], hidden.bfloat16().contiguous(), bias.float()
        others, other_offset = padded(weight[against].bfloat16()), offset[against]
        column = torch.full((len(weight),), -1, dtype=torch.int64, device=hidden.device)
        column[against] = torch.arange(len(against), device=hidden.device)
        total = torch.zeros((), device=hidden.device)
        to_hidden, to_weight, to_bias = torch.empty_like(hidden), torch.zeros_like(weight), torch.zeros_like(offset)
        to_others = torch.zeros(len(others), dim + APART, device=hidden.device)
        start = 0
        for some, word in rows_at_a_time(len(others), narrow, own):
            logits = logits_of(some, weight, offset, word)
            e, s = compared(some, others, other_offset, len(against), logits, column[word.clamp(min=0)])
            total += s.log().sum()
            if learning:
                slopes = to_hidden[start : start + len(some)], to_weight, to_bias
                kernel.own_part[(len(some),)](
                    some, weight, word, s, e @ others, *slopes, dim, DIM=triton.next_power_of_2(dim), num_warps=1
                )
                add_product(to_others, e.T, beside(some, 1 / s))
            start += len(some)
        if learning:
            to_weight.index_add_(0, against, to_others[: len(against), :dim])
            to_bias.index_add_(0, against, to_others[: len(against), dim])
            ctx.save_for_backward(to_hidden, to_weight, to_bias)
        return total

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        hidden, weight, bias = ctx.saved_tensors
        return hidden * grads[0].to(hidden.dtype), weight * grads[0], bias * grads[0], None, None, None


def padded(weight: Tensor) -> Tensor:
    """Rows of zeros are added until their number suits the products."""
    return functional.pad(weight, (0, 0, 0, -len(weight) % APART))


def rows_at_a_time(width: int, hidden: Tensor, own: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Runs of rows, about equally long, few enough that a table of them × width has at most TABLE bytes."""
    runs = blocks(len(hidden), max(TILE["ROWS"], TABLE // (2 * width)))
    step = max(1, blocks(blocks(len(hidden), max(1, runs)), TILE["ROWS"])) * TILE["ROWS"]
    starts = range(0, len(hidden), step)
    return [(hidden[start : start + step], own[start : start + step]) for start in starts]


def logits_of(hidden: Tensor, weight: Tensor, offset: Tensor, own: Tensor) -> Tensor:
    """weight[own] · h + offset[own], (n); infinite where there is no own word."""
    rows, dim = hidden.shape
    logits = torch.empty(rows, device=hidden.device)
    kernel.own_logits[(rows,)](hidden, weight, offset, own, logits, dim, DIM=triton.next_power_of_2(dim), num_warps=1)
    return logits


def compared(
    hidden: Tensor, weight: Tensor, offset: Tensor, columns: int, logits: Tensor, left_out: Tensor
) -> tuple[Tensor, Tensor]:
    """e, (rows, columns of `weight`), and s, (rows)."""
    rows, dim = hidden.shape
    column_blocks = blocks(len(weight), TILE["COLUMNS"])
    e, sums = hidden.new_empty(rows, len(weight)), torch.empty(column_blocks, rows, device=hidden.device)
    tiles = describe_tiles(hidden, TILE["ROWS"], TILE["DEPTH"]), describe_tiles(weight, TILE["COLUMNS"], TILE["DEPTH"])
    sizes, programs = (rows, columns, dim, len(weight)), processors(hidden.device)
    kernel.exponentials[(programs,)](
        *(*tiles, offset, logits, left_out, e, sums, *sizes), MOST=kernel.MOST, PROGRAMS=programs, **TILE
    )
    return e, 1 + sums.sum(0)


def beside(hidden: Tensor, scale: Tensor) -> Tensor:
    """Rows times their scales, and beside them the scale, and zeros that fill up."""
    rows, dim = hidden.shape
    scaled = hidden.new_zeros(rows, dim + APART)
    torch.mul(hidden, scale[:, None], out=scaled[:, :dim])
    scaled[:, dim] = scale
    return scaled


def add_product(total: Tensor, left: Tensor, right: Tensor) -> None:
    """total += left · right, of bfloat16 matrices, in float32."""
    if left.is_cuda:
        total += torch.mm(left, right, out_dtype=torch.float32)
    else:
        total += left.float() @ right.float()
