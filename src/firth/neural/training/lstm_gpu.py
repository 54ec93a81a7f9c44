"""The training pass of a biLM's LSTMs on a GPU: one layer at a time, both directions at once.

A step is one joined kernel and one product; the slopes of the weights wait for the end, when one product over all steps
makes them. `firth.neural.training.lstm.read_plainly` is the reference: same formulas, same clips, here in bfloat16.
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
    from firth.neural.training.lstm import Dropout

CELLS = 64  # of a tile on the way forward, which is 4 · CELLS sums wide
FORWARD = {"ROWS": 128, "CELLS": CELLS, "DEPTH": 64, "num_warps": 8, "num_stages": 4}
BACKWARD = {"ROWS": 32, "CELLS": 512, "num_warps": 4}
SIZE = 1024  # numbers of a block of the kernels without products


def fits(bilm: BiLM, device: torch.device) -> bool:
    """Whether these kernels are made for a biLM of these sizes on this device."""
    sizes = bilm.architecture
    whole = sizes.cell % CELLS == 0 and sizes.dim % 8 == 0 and sizes.dim != sizes.cell
    return whole and supports(device)


def read_streams(
    bilm: BiLM,
    forward: Tensor,
    backward: Tensor,
    state: BiLMState,
    dropout: Dropout | None = None,
    fresh: Tensor | None = None,
) -> tuple[Tensor, Tensor, BiLMState]:
    """As `lstm.read_streams`, in bfloat16. Dropout has the same law, but other numbers by chance."""
    vectors = torch.stack([forward, backward]).bfloat16()  # (2, steps, rows, dim)
    ends = []
    for depth, pair in enumerate(zip(bilm.forward_layers, bilm.backward_layers)):
        given = dropped(vectors, dropout, depth)
        spoken, *end = read_layer(pair, given, state.cell[:, depth], state.hidden[:, depth], fresh)  # type: ignore[arg-type]
        vectors = spoken + given if bilm.architecture.skip and depth > 0 else spoken
        ends.append(end)
    vectors = dropped(vectors, dropout, len(ends))
    return vectors[0], vectors[1], BiLMState(*(torch.stack(parts, 1) for parts in zip(*ends)))


def read_layer(
    pair: tuple[ProjectedLstm, ProjectedLstm], given: Tensor, cells: Tensor, said: Tensor, fresh: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """What a layer says, (2, steps, rows, dim), and its cells and words at the end, through which no slope goes."""
    norms = pair[0].norm, pair[1].norm
    if norms[0] is not None and norms[1] is not None:
        given = torch.stack([norms[0](given[0].float()), norms[1](given[1].float())])
    weights = [getattr(layer, name) for layer in pair for name in ("input", "recurrent", "bias", "projection")]
    clips = pair[0].cell_clip or torch.inf, pair[0].projection_clip or torch.inf
    read: tuple[Tensor, Tensor, Tensor] = BiLstmFunction.apply(given.bfloat16(), cells, said, fresh, clips, *weights)  # type: ignore[no-untyped-call]
    return read


class BiLstmFunction(torch.autograd.Function):
    """One layer over all steps. `heard` holds, step by step, what is given and beside it what was said before."""

    @staticmethod
    def forward(
        ctx: Any,
        given: Tensor,
        cells_before: Tensor,
        said_before: Tensor,
        fresh: Tensor | None,
        clips: tuple[float, float],
        *weights: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        _, steps, rows, inputs = given.shape
        dim, cell = weights[3].shape
        joined, bias, projection = joined_weights(weights)
        tiles, to_said = tiled(joined, cell), projection.transpose(1, 2)
        heard = given.new_empty(2, steps + 1, rows, inputs + dim)
        heard[:, :steps, :, :inputs] = given
        heard[:, 0, :, inputs:] = said_before
        cells = given.new_empty(2, steps + 1, rows, cell, dtype=torch.float16)
        cells[:, 0] = cells_before
        gates = given.new_empty(2, steps, rows, 4 * cell, dtype=torch.float16)
        opened, said = given.new_empty(2, steps, rows, cell), given.new_empty(2, steps, rows, dim)
        projected, forgets = given.new_empty(2, rows, dim), forgetting(fresh, given)
        if fresh is not None:
            heard[:, 0, :, inputs:] *= (forgets[0] == 0)[:, None]
        kept = bias, cells, gates, opened, forgets
        in_tiles = (
            describe_tiles(heard.view(-1, inputs + dim), FORWARD["ROWS"], FORWARD["DEPTH"]),
            describe_tiles(tiles.view(-1, inputs + dim), 4 * CELLS, FORWARD["DEPTH"]),
        )
        programs, small = processors(given.device), (blocks(rows * dim, SIZE), 2)
        how: dict[str, Any] = {"APPROXIMATE": given.is_cuda, "PROGRAMS": programs, **FORWARD}
        for t in range(steps):
            sizes = t, steps, rows, cell, inputs + dim, clips[0]
            kernel.step_forward[(programs,)](*in_tiles, *kept, *sizes, FORGETS=fresh is not None, **how)
            torch.bmm(opened[:, t], to_said, out=projected)
            sizes = t, steps, rows, dim, inputs + dim, clips[1]
            kernel.clip_said[small](projected, said, heard, forgets, *sizes, FORGETS=fresh is not None, SIZE=SIZE)
        ctx.save_for_backward(heard, cells, gates, opened, said, forgets, joined, projection)
        ctx.clips, ctx.forgets = clips, fresh is not None
        end = cells[:, steps].float(), said[:, -1].float()
        ctx.mark_non_differentiable(*end)
        return said, *end

    @staticmethod
    def backward(ctx: Any, *outers: Tensor) -> Any:
        heard, _, _, opened, said, _, joined, _ = ctx.saved_tensors
        slopes, said_slopes, bias_slope = slopes_of_steps(ctx, outers[0].contiguous())
        _, steps, rows, dim = said.shape
        inputs, places = heard.shape[3] - dim, steps * rows
        by_sums = slopes.view(2, places, -1)
        given_slope = torch.bmm(by_sums, joined[:, :, :inputs]).view(2, steps, rows, inputs)
        joined_slope = product(by_sums.transpose(1, 2), heard[:, :steps].view(2, places, -1))
        projection_slope = product(said_slopes.view(2, places, dim).transpose(1, 2), opened.view(2, places, -1))
        found = []
        for way in range(2):
            by_input, by_recurrent = joined_slope[way, :, :inputs], joined_slope[way, :, inputs:]
            found += [by_input, by_recurrent, bias_slope[way], projection_slope[way]]
        return given_slope, None, None, None, None, *found


def slopes_of_steps(ctx: Any, outer: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """From the last step to the first: slopes by the sums of the gates, by the projections, by the bias."""
    heard, cells, gates, opened, said, forgets, joined, projection = ctx.saved_tensors
    _, steps, rows, cell = opened.shape
    dim = said.shape[3]
    bounds = [torch.tensor(clip, dtype=kind).item() for clip, kind in zip(ctx.clips, (cells.dtype, said.dtype))]
    said_slopes, slopes = torch.empty_like(outer), torch.empty_like(gates, dtype=torch.bfloat16)
    recurrent, opened_slope = outer.new_zeros(2, rows, dim), outer.new_empty(2, rows, cell)
    cells_slope = outer.new_zeros(2, rows, cell, dtype=torch.float32)
    row_blocks = blocks(rows, BACKWARD["ROWS"])
    bias_slope = cells_slope.new_zeros(2, row_blocks, 4 * cell)
    to_said = joined[:, :, heard.shape[3] - dim :]
    grid, small = (blocks(cell, BACKWARD["CELLS"]), row_blocks, 2), (blocks(rows * dim, SIZE), 2)
    how: dict[str, Any] = {"FORGETS": ctx.forgets, "APPROXIMATE": outer.is_cuda, **BACKWARD}
    for t in reversed(range(steps)):
        sizes = t, steps, rows, dim, bounds[1]
        kernel.said_slopes[small](outer, recurrent, said, said_slopes, forgets, *sizes, FORGETS=ctx.forgets, SIZE=SIZE)
        torch.bmm(said_slopes[:, t], projection, out=opened_slope)
        sizes = t, steps, rows, cell, bounds[0]
        kernel.step_backward[grid](opened_slope, cells, gates, cells_slope, slopes, bias_slope, forgets, *sizes, **how)
        if t > 0:
            torch.bmm(slopes[:, t], to_said, out=recurrent)
    return slopes, said_slopes, bias_slope.sum(1)


def joined_weights(weights: tuple[Tensor, ...]) -> tuple[Tensor, Tensor, Tensor]:
    """Of both directions: input and recurrent weights side by side in bfloat16, the bias, the projection."""
    inputs, recurrents, biases, projections = (weights[place::4] for place in range(4))
    sums, given = inputs[0].shape
    joined = inputs[0].new_empty(2, sums, given + recurrents[0].shape[1], dtype=torch.bfloat16)
    for way in range(2):
        joined[way, :, :given] = inputs[way]
        joined[way, :, given:] = recurrents[way]
    return joined, torch.stack(biases).float(), torch.stack(projections).bfloat16()


def tiled(joined: Tensor, cell: int) -> Tensor:
    """Rows in the order of the tiles: of CELLS cells first the sums of i and f in turns, then those of g and o.

    So the sums of a cell's four gates meet in one thread.
    """
    parts = joined.view(2, 2, 2, cell // CELLS, CELLS, -1)  # direction, half, one of the half, tile, cell, input
    return parts.permute(0, 3, 1, 4, 2, 5).reshape(joined.shape)


def forgetting(fresh: Tensor | None, like: Tensor) -> Tensor:
    """Where steps forget all before them, (steps + 1, rows); after the last there is nothing to forget."""
    _, steps, rows, _ = like.shape
    forgets = torch.zeros(steps + 1, rows, dtype=torch.int8, device=like.device)
    if fresh is not None:
        forgets[:steps] = fresh
    return forgets


def product(left: Tensor, right: Tensor) -> Tensor:
    """The products of two stacks of bfloat16 matrices, in float32."""
    if left.is_cuda:
        return torch.bmm(left, right, out_dtype=torch.float32)
    return left.float() @ right.float()


def dropped(vectors: Tensor, dropout: Dropout | None, depth: int) -> Tensor:
    """Vectors (2, steps, rows, dim) without what dropout takes at this depth."""
    if dropout is None or not dropout.rate:
        return vectors
    kept: Tensor = DropoutFunction.apply(vectors, dropout, depth)  # type: ignore[no-untyped-call]
    return kept


class DropoutFunction(torch.autograd.Function):
    """Dropout whose masks are never written: the way back draws them again."""

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, dropout: Dropout, depth: int) -> Tensor:
        ctx.dropout, ctx.depth = dropout, depth
        return drop(vectors.contiguous(), dropout, depth)

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> Any:
        return drop(slopes[0].contiguous(), ctx.dropout, ctx.depth), None, None


def drop(vectors: Tensor, dropout: Dropout, depth: int) -> Tensor:
    """Both directions, (2, steps, rows, dim), each with its own chances."""
    into = torch.empty_like(vectors)
    _, steps, rows, dim = vectors.shape
    for way in range(2):
        chances = np.random.SeedSequence((dropout.seed, dropout.step, 2 * depth + way)).generate_state(1)
        kernel.drop[(blocks(steps * rows * dim // 4, SIZE),)](
            *(vectors[way], into[way], steps * rows * dim, dim, rows, dropout.rows, dropout.first_row),
            *(dropout.rate, int(chances[0]) >> 1),
            SIZE=SIZE,
        )
    return into
