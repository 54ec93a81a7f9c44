"""The LSTM layers of a biLM for training on a GPU: one layer at a time, both directions at once.

A step is one fused kernel and one product. The gradients of the weights are products over all steps at the end.
`firth.neural.training.lstm.run_layers_reference` is the reference: the same formulas and clips, here in bfloat16.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from firth.kernels import lstm_training_gpu as kernel
from firth.kernels.triton_support import blocks, describe_tiles, processors, supports
from firth.neural.layers import ProjectedLstm
from firth.neural.state import BiLMState

if TYPE_CHECKING:
    from firth.neural.bilm import BiLM
    from firth.neural.training.lstm import Dropout, LayerInputs

CELLS = 64  # of a tile in the forward pass, which is 4 · CELLS gates wide
FORWARD = {"ROWS": 128, "CELLS": CELLS, "DEPTH": 64, "num_warps": 8, "num_stages": 4}
BACKWARD = {"ROWS": 32, "CELLS": 512, "num_warps": 4}
SIZE = 1024  # numbers of a block of the kernels without products


def fits(bilm: BiLM, device: torch.device) -> bool:
    """Whether these kernels support a biLM of this size on this device."""
    sizes = bilm.architecture
    whole = sizes.cell % CELLS == 0 and sizes.dim % 8 == 0 and sizes.dim != sizes.cell
    return whole and supports(device)


def run_layers(bilm: BiLM, inputs: LayerInputs) -> tuple[Tensor, Tensor, BiLMState]:
    """As `lstm.run_layers`, in bfloat16. Dropout has the same distribution, but other random numbers."""
    state, dropout = inputs.state, inputs.dropout
    vectors = torch.stack([inputs.forward, inputs.backward]).bfloat16()  # (2, steps, rows, dim)
    ends = []
    for depth, pair in enumerate(zip(bilm.forward_layers, bilm.backward_layers)):
        dropped = apply_dropout(vectors, dropout, depth)
        hidden, *end = run_layer(pair, dropped, state.cell[:, depth], state.hidden[:, depth], inputs.fresh)  # type: ignore[arg-type]
        vectors = hidden + dropped if bilm.architecture.skip and depth > 0 else hidden
        ends.append(end)
    vectors = apply_dropout(vectors, dropout, len(ends))
    return vectors[0], vectors[1], BiLMState(*(torch.stack(parts, 1) for parts in zip(*ends)))


def run_layer(
    pair: tuple[ProjectedLstm, ProjectedLstm],
    inputs: Tensor,
    cell: Tensor,
    hidden: Tensor,
    fresh: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The hidden states of a layer, (2, steps, rows, dim), and its final cell and hidden state, without gradients."""
    norms = pair[0].norm, pair[1].norm
    if norms[0] is not None and norms[1] is not None:
        inputs = torch.stack([norms[0](inputs[0].float()), norms[1](inputs[1].float())])
    weights = [getattr(layer, name) for layer in pair for name in ("input", "recurrent", "bias", "projection")]
    clips = pair[0].cell_clip or torch.inf, pair[0].projection_clip or torch.inf
    outputs: tuple[Tensor, Tensor, Tensor] = BiLstmFunction.apply(
        inputs.bfloat16(), cell, hidden, fresh, clips, *weights
    )  # type: ignore[no-untyped-call]
    return outputs


class BiLstmFunction(torch.autograd.Function):
    """Both directions of a layer over all steps. `joined` has, step by step, the inputs and the hidden state before."""

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        first_cell: Tensor,
        first_hidden: Tensor,
        fresh: Tensor | None,
        clips: tuple[float, float],
        *weights: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        _, steps, rows, width = inputs.shape
        dim, size = weights[3].shape
        weight, bias, projection = join_weights(weights)
        tiles, projection_t = order_by_tile(weight, size), projection.transpose(1, 2)
        joined = inputs.new_empty(2, steps + 1, rows, width + dim)
        joined[:, :steps, :, :width] = inputs
        joined[:, 0, :, width:] = first_hidden
        cell = inputs.new_empty(2, steps + 1, rows, size, dtype=torch.float16)
        cell[:, 0] = first_cell
        gates = inputs.new_empty(2, steps, rows, 4 * size, dtype=torch.float16)
        gated, hidden = inputs.new_empty(2, steps, rows, size), inputs.new_empty(2, steps, rows, dim)
        projected, resets = inputs.new_empty(2, rows, dim), to_resets(fresh, inputs)
        if fresh is not None:
            joined[:, 0, :, width:] *= (resets[0] == 0)[:, None]
        tensors = bias, cell, gates, gated, resets
        in_tiles = (
            describe_tiles(joined.view(-1, width + dim), FORWARD["ROWS"], FORWARD["DEPTH"]),
            describe_tiles(tiles.view(-1, width + dim), 4 * CELLS, FORWARD["DEPTH"]),
        )
        programs, grid = processors(inputs.device), (blocks(rows * dim, SIZE), 2)
        how: dict[str, Any] = {"APPROXIMATE": inputs.is_cuda, "PROGRAMS": programs, **FORWARD}
        for t in range(steps):
            sizes = t, steps, rows, size, width + dim, clips[0]
            kernel.step_forward[(programs,)](*in_tiles, *tensors, *sizes, RESETS=fresh is not None, **how)
            torch.bmm(gated[:, t], projection_t, out=projected)
            sizes = t, steps, rows, dim, width + dim, clips[1]
            kernel.clip_hidden[grid](projected, hidden, joined, resets, *sizes, RESETS=fresh is not None, SIZE=SIZE)
        ctx.save_for_backward(joined, cell, gates, gated, hidden, resets, weight, projection)
        ctx.clips, ctx.resets = clips, fresh is not None
        end = cell[:, steps].float(), hidden[:, -1].float()
        ctx.mark_non_differentiable(*end)
        return hidden, *end

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        joined, _, _, gated, hidden, _, weight, _ = ctx.saved_tensors
        grad_gates, grad_hidden, grad_bias = backward_steps(ctx, grads[0].contiguous())
        _, steps, rows, dim = hidden.shape
        width, places = joined.shape[3] - dim, steps * rows
        flat = grad_gates.view(2, places, -1)
        grad_inputs = torch.bmm(flat, weight[:, :, :width]).view(2, steps, rows, width)
        grad_weight = multiply(flat.transpose(1, 2), joined[:, :steps].view(2, places, -1))
        grad_projection = multiply(grad_hidden.view(2, places, dim).transpose(1, 2), gated.view(2, places, -1))
        grad_weights = []
        for direction in range(2):
            grad_input, grad_recurrent = grad_weight[direction, :, :width], grad_weight[direction, :, width:]
            grad_weights += [grad_input, grad_recurrent, grad_bias[direction], grad_projection[direction]]
        return grad_inputs, None, None, None, None, *grad_weights


def backward_steps(ctx: Any, grad_output: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """From the last step to the first: the gradients of the gates, of the projections and of the bias."""
    joined, cell, gates, gated, hidden, resets, weight, projection = ctx.saved_tensors
    _, steps, rows, size = gated.shape
    dim = hidden.shape[3]
    limits = [torch.tensor(clip, dtype=one.dtype).item() for clip, one in zip(ctx.clips, (cell, hidden))]
    grad_hidden, grad_gates = torch.empty_like(grad_output), torch.empty_like(gates, dtype=torch.bfloat16)
    grad_recurrent, grad_gated = grad_output.new_zeros(2, rows, dim), grad_output.new_empty(2, rows, size)
    grad_cell = grad_output.new_zeros(2, rows, size, dtype=torch.float32)
    row_blocks = blocks(rows, BACKWARD["ROWS"])
    grad_bias = grad_cell.new_zeros(2, row_blocks, 4 * size)
    recurrent = weight[:, :, joined.shape[3] - dim :]
    grid, small = (blocks(size, BACKWARD["CELLS"]), row_blocks, 2), (blocks(rows * dim, SIZE), 2)
    how: dict[str, Any] = {"RESETS": ctx.resets, "APPROXIMATE": grad_output.is_cuda, **BACKWARD}
    for t in reversed(range(steps)):
        sizes = t, steps, rows, dim, limits[1]
        tensors = grad_output, grad_recurrent, hidden, grad_hidden, resets
        kernel.add_gradients[small](*tensors, *sizes, RESETS=ctx.resets, SIZE=SIZE)
        torch.bmm(grad_hidden[:, t], projection, out=grad_gated)
        sizes = t, steps, rows, size, limits[0]
        kernel.step_backward[grid](grad_gated, cell, gates, grad_cell, grad_gates, grad_bias, resets, *sizes, **how)
        if t > 0:
            torch.bmm(grad_gates[:, t], recurrent, out=grad_recurrent)
    return grad_gates, grad_hidden, grad_bias.sum(1)


def join_weights(weights: tuple[Tensor, ...]) -> tuple[Tensor, Tensor, Tensor]:
    """Of both directions: input and recurrent weights side by side in bfloat16, the bias, the projection."""
    inputs, recurrents, biases, projections = (weights[place::4] for place in range(4))
    gates, width = inputs[0].shape
    joined = inputs[0].new_empty(2, gates, width + recurrents[0].shape[1], dtype=torch.bfloat16)
    for direction in range(2):
        joined[direction, :, :width] = inputs[direction]
        joined[direction, :, width:] = recurrents[direction]
    return joined, torch.stack(biases).float(), torch.stack(projections).bfloat16()


def order_by_tile(weight: Tensor, size: int) -> Tensor:
    """Rows in the order of the tiles: of CELLS cells first i and f in turn, then g and o in turn.

    So the four gates of a cell are in one thread.
    """
    parts = weight.view(2, 2, 2, size // CELLS, CELLS, -1)  # direction, half, one of the half, tile, cell, input
    return parts.permute(0, 3, 1, 4, 2, 5).reshape(weight.shape)


def to_resets(fresh: Tensor | None, like: Tensor) -> Tensor:
    """Nonzero where the state is reset before a step, (steps + 1, rows); there is no reset after the last step."""
    _, steps, rows, _ = like.shape
    resets = torch.zeros(steps + 1, rows, dtype=torch.int8, device=like.device)
    if fresh is not None:
        resets[:steps] = fresh
    return resets


def multiply(left: Tensor, right: Tensor) -> Tensor:
    """The products of two stacks of bfloat16 matrices, in float32."""
    if left.is_cuda:
        return torch.bmm(left, right, out_dtype=torch.float32)
    return left.float() @ right.float()


def apply_dropout(vectors: Tensor, dropout: Dropout | None, depth: int) -> Tensor:
    """Vectors (2, steps, rows, dim) after dropout; each depth has its own masks."""
    if dropout is None or not dropout.rate:
        return vectors
    dropped: Tensor = DropoutFunction.apply(vectors, dropout, depth)  # type: ignore[no-untyped-call]
    return dropped


class DropoutFunction(torch.autograd.Function):
    """Dropout whose masks are never stored: the backward pass draws them again."""

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, dropout: Dropout, depth: int) -> Tensor:
        ctx.dropout, ctx.depth = dropout, depth
        return drop(vectors.contiguous(), dropout, depth)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        return drop(grads[0].contiguous(), ctx.dropout, ctx.depth), None, None


def drop(vectors: Tensor, dropout: Dropout, depth: int) -> Tensor:
    """Dropout of both directions, (2, steps, rows, dim), each with its own random numbers."""
    into = torch.empty_like(vectors)
    _, steps, rows, dim = vectors.shape
    for direction in range(2):
        seed = np.random.SeedSequence((dropout.seed, dropout.step, 2 * depth + direction)).generate_state(1)
        kernel.drop[(blocks(steps * rows * dim // 4, SIZE),)](
            *(vectors[direction], into[direction], steps * rows * dim, dim, rows, dropout.rows, dropout.first_row),
            *(dropout.rate, int(seed[0]) >> 1),
            SIZE=SIZE,
        )
    return into
