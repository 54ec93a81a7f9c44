"""The losses of softmax.py on a GPU, in bfloat16: one kernel and two products.

e, the exponentials relative to the target (see kernels/softmax_gpu.py), exists for as many rows at a time as fit in
TABLE bytes. Gradients are computed in the forward pass, while it exists.
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
EXTRA = 64  # columns after the hidden state; the first gives the gradient of the bias


def fits(hidden: Tensor) -> bool:
    """Whether these kernels support hidden states of this size on their device."""
    return hidden.shape[1] % 8 == 0 and supports(hidden.device)


class LossFunction(torch.autograd.Function):
    """A loss whose forward pass saves the gradients of its first three arguments: hidden, weight and bias."""

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        hidden, weight, bias = ctx.saved_tensors
        others = [None] * (len(ctx.needs_input_grad) - 3)
        return hidden * grads[0].to(hidden.dtype), weight * grads[0], bias * grads[0], *others


class CrossEntropyGpu(LossFunction):
    """Σ -log softmax(weight · h + bias)[target], summed over the rows of `hidden`, (n, dim). A target of -1 is none."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, needs_grad: bool) -> Tensor:
        words, dim = weight.shape
        weight16, bias32, hidden16 = pad_words(weight.bfloat16()), bias.float(), hidden.bfloat16().contiguous()
        total = torch.zeros((), device=hidden.device)
        grad_hidden = torch.empty_like(hidden)
        grad_weight = torch.zeros(len(weight16), dim + EXTRA, device=hidden.device) if needs_grad else None
        start = 0
        for rows, target in split_rows(len(weight16), hidden16, targets):
            logits = target_logits(rows, weight16, bias32, target)
            e, s = exponentials(rows, weight16, bias32, words, logits, target)
            total += s.log().sum()
            if grad_weight is not None:
                e.scatter_(1, target.clamp(min=0)[:, None], (1 - s).to(e.dtype)[:, None])  # p - 1, times s
                torch.mul(e @ weight16, 1 / s[:, None], out=grad_hidden[start : start + len(rows)])
                add_product(grad_weight, e.T, append_scale(rows, 1 / s))
            start += len(rows)
        if grad_weight is not None:
            ctx.save_for_backward(grad_hidden, grad_weight[:words, :dim], grad_weight[:words, dim])
        return total


class SampledLossGpu(LossFunction):
    """Σ -log (e^target / (e^target + Σ e^negatives)), as `firth.neural.softmax.SampledLoss`."""

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, negatives: Tensor, targets: Tensor, needs_grad: bool
    ) -> Tensor:
        dim, hidden16, bias32 = weight.shape[1], hidden.bfloat16().contiguous(), bias.float()
        negative_weight, negative_bias = pad_words(weight[negatives].bfloat16()), bias32[negatives]
        column = column_of(negatives, len(weight))
        total = torch.zeros((), device=hidden.device)
        grad_hidden, grad_weight = torch.empty_like(hidden), torch.zeros_like(weight)
        grad_bias = torch.zeros_like(bias32)
        grad_negatives = torch.zeros(len(negative_weight), dim + EXTRA, device=hidden.device)
        start = 0
        for rows, target in split_rows(len(negative_weight), hidden16, targets):
            logits = target_logits(rows, weight, bias32, target)
            columns = column[target.clamp(min=0)]
            e, s = exponentials(rows, negative_weight, negative_bias, len(negatives), logits, columns)
            total += s.log().sum()
            if needs_grad:
                known = rows, weight, target, s, e @ negative_weight
                into = grad_hidden[start : start + len(rows)], grad_weight, grad_bias
                size = triton.next_power_of_2(dim)
                kernel.target_gradients[(len(rows),)](*known, *into, dim, DIM=size, num_warps=1)
                add_product(grad_negatives, e.T, append_scale(rows, 1 / s))
            start += len(rows)
        if needs_grad:
            grad_weight.index_add_(0, negatives, grad_negatives[: len(negatives), :dim])
            grad_bias.index_add_(0, negatives, grad_negatives[: len(negatives), dim])
            ctx.save_for_backward(grad_hidden, grad_weight, grad_bias)
        return total


def column_of(negatives: Tensor, words: int) -> Tensor:
    """The place of each word among the negatives, or -1, (words)."""
    column = torch.full((words,), -1, dtype=torch.int64, device=negatives.device)
    column[negatives] = torch.arange(len(negatives), device=negatives.device)
    return column


def pad_words(weight: Tensor) -> Tensor:
    """The weights with rows of zeros added, to a number of rows that suits the products."""
    return functional.pad(weight, (0, 0, 0, -len(weight) % EXTRA))


def split_rows(width: int, hidden: Tensor, targets: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Runs of rows of similar size, few enough that a table of rows × width has at most TABLE bytes."""
    runs = blocks(len(hidden), max(TILE["ROWS"], TABLE // (2 * width)))
    step = max(1, blocks(blocks(len(hidden), max(1, runs)), TILE["ROWS"])) * TILE["ROWS"]
    starts = range(0, len(hidden), step)
    return [(hidden[start : start + step], targets[start : start + step]) for start in starts]


def target_logits(hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
    """weight[target] · h + bias[target], (n); infinite where there is no target."""
    rows, dim = hidden.shape
    logits = torch.empty(rows, device=hidden.device)
    kernel.target_logits[(rows,)](
        hidden, weight, bias, targets, logits, dim, DIM=triton.next_power_of_2(dim), num_warps=1
    )
    return logits


def exponentials(
    hidden: Tensor, weight: Tensor, bias: Tensor, columns: int, logits: Tensor, target_columns: Tensor
) -> tuple[Tensor, Tensor]:
    """e, (rows, rows of `weight`), and s, (rows)."""
    rows, dim = hidden.shape
    column_blocks = blocks(len(weight), TILE["COLUMNS"])
    e, sums = hidden.new_empty(rows, len(weight)), torch.empty(column_blocks, rows, device=hidden.device)
    tiles = describe_tiles(hidden, TILE["ROWS"], TILE["DEPTH"]), describe_tiles(weight, TILE["COLUMNS"], TILE["DEPTH"])
    sizes, programs = (rows, columns, dim, len(weight)), processors(hidden.device)
    kernel.exponentials[(programs,)](
        *(*tiles, bias, logits, target_columns, e, sums, *sizes),
        MAX_EXPONENT=kernel.MAX_EXPONENT,
        PROGRAMS=programs,
        **TILE,
    )
    return e, 1 + sums.sum(0)


def append_scale(hidden: Tensor, scale: Tensor) -> Tensor:
    """Rows times their scales, followed by the scale and zeros, (n, dim + EXTRA)."""
    rows, dim = hidden.shape
    scaled = hidden.new_zeros(rows, dim + EXTRA)
    torch.mul(hidden, scale[:, None], out=scaled[:, :dim])
    scaled[:, dim] = scale
    return scaled


def add_product(total: Tensor, left: Tensor, right: Tensor) -> None:
    """total += left · right, of bfloat16 matrices, in float32."""
    if left.is_cuda:
        total += torch.mm(left, right, out_dtype=torch.float32)
    else:
        total += left.float() @ right.float()
