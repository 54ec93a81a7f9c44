"""One LSTM layer over streams of words, with its gradients: the numbers of `recurrent.step_by_step`, sooner.

Inputs meet their weights for all steps at once. In the loop over steps remains what depends on the step before. On the
way back the loop only follows the state; what the weights are to change is summed over all steps in one product each.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from firth.neural.layers import CellState, ProjectedLstm


def read_layer(
    layer: ProjectedLstm, vectors: Tensor, state: CellState, fresh: Tensor | None
) -> tuple[Tensor, CellState]:
    """One layer over vectors (steps, rows, dim): what it says, (steps, rows, dim), and what it remembers at the end."""
    weights = layer.input, layer.recurrent, layer.bias, layer.projection
    clips = layer.cell_clip, layer.projection_clip
    said, cells = LstmFunction.apply(vectors, *weights, *state, fresh, clips)  # type: ignore[no-untyped-call]
    return said, (cells, said[-1])


class LstmFunction(torch.autograd.Function):
    """The whole layer as one function of its inputs and weights. The state it begins with has no gradient."""

    @staticmethod
    def forward(
        ctx: Any,
        vectors: Tensor,
        input: Tensor,
        recurrent: Tensor,
        bias: Tensor,
        projection: Tensor | None,
        cells: Tensor,
        said: Tensor,
        fresh: Tensor | None,
        clips: tuple[float, float],
    ) -> tuple[Tensor, Tensor]:
        steps, rows, _ = vectors.shape
        gates = torch.addmm(bias, vectors.flatten(0, 1), input.T).view(steps, rows, -1)  # (steps, rows, 4 · cell)
        held = vectors.new_empty(steps + 1, rows, cells.shape[1])  # in the cells before each step, and after the last
        spoken = vectors.new_empty(steps + 1, rows, said.shape[1])
        let_out = vectors.new_empty(steps, rows, cells.shape[1])
        held[0], spoken[0] = cells, said
        for step in range(steps):
            i, f, g, o = gates[step].addmm_(forgotten(spoken, step, fresh), recurrent.T).chunk(4, 1)
            for gate in (i, f, o):
                gate.sigmoid_()
            g.tanh_()
            now = torch.mul(f, forgotten(held, step, fresh), out=held[step + 1]).addcmul_(i, g)
            if clips[0]:
                now.clamp_(-clips[0], clips[0])
            torch.tanh(now, out=let_out[step]).mul_(o)
            if projection is None:
                spoken[step + 1] = let_out[step]
                continue
            torch.mm(let_out[step], projection.T, out=spoken[step + 1])
            if clips[1]:
                spoken[step + 1].clamp_(-clips[1], clips[1])
        ctx.save_for_backward(vectors, input, recurrent, projection, gates, held, spoken, let_out, fresh)
        ctx.clips = clips
        cells = held[-1].clone()
        ctx.mark_non_differentiable(cells)
        return spoken[1:].clone(), cells

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        vectors, input, recurrent, projection, gates, held, spoken, let_out, fresh = ctx.saved_tensors
        steps = len(vectors)
        to_said = grads[0].clone()  # of each step, and then with what later steps add
        to_gates = torch.empty_like(gates)
        to_cells = torch.zeros_like(held[0])
        for step in reversed(range(steps)):
            to_let_out = to_said[step]
            if projection is not None:
                if ctx.clips[1]:
                    to_said[step].mul_(spoken[step + 1].abs() < ctx.clips[1])
                to_let_out = to_said[step] @ projection
            to_cells = through_the_gates(
                to_let_out, to_cells, gates[step], held, step, fresh, ctx.clips, to_gates[step]
            )
            if step:
                to_heard = to_gates[step] @ recurrent
                to_said[step - 1] += to_heard if fresh is None else to_heard.masked_fill_(fresh[step][:, None], 0)
        flat = to_gates.flatten(0, 1)
        heard = spoken[:-1] if fresh is None else spoken[:-1].masked_fill(fresh[:, :, None], 0)
        return (
            (flat @ input).view_as(vectors) if ctx.needs_input_grad[0] else None,
            flat.T @ vectors.flatten(0, 1),
            flat.T @ heard.flatten(0, 1),
            flat.sum(0),
            None if projection is None else to_said.flatten(0, 1).T @ let_out.flatten(0, 1),
            *(None, None, None, None),
        )


def forgotten(kept: Tensor, step: int, fresh: Tensor | None) -> Tensor:
    """What is kept before a step, without the rows in which something new begins."""
    return kept[step] if fresh is None else kept[step].masked_fill(fresh[step][:, None], 0)


def through_the_gates(
    to_let_out: Tensor,
    to_cells: Tensor,
    gates: Tensor,
    held: Tensor,
    step: int,
    fresh: Tensor | None,
    clips: tuple[float, float],
    to_gates: Tensor,
) -> Tensor:
    """The gradient of one step's gates, before their sigmoid or tanh, into `to_gates`; gives that of the cells before.

    `to_let_out` is the gradient of o · tanh(c), `to_cells` what the next step wants of c.
    """
    i, f, g, o = gates.chunk(4, 1)
    to_i, to_f, to_g, to_o = to_gates.chunk(4, 1)
    shown = torch.tanh(held[step + 1])
    torch.mul(to_let_out, shown, out=to_o).mul_(o).mul_(1 - o)
    to_cells = to_cells.addcmul(to_let_out * o, 1 - shown * shown)
    if clips[0]:
        to_cells.mul_(held[step + 1].abs() < clips[0])
    torch.mul(to_cells, g, out=to_i).mul_(i).mul_(1 - i)
    torch.mul(to_cells, forgotten(held, step, fresh), out=to_f).mul_(f).mul_(1 - f)
    torch.mul(to_cells, i, out=to_g).mul_(1 - g * g)
    to_cells.mul_(f)
    return to_cells if fresh is None else to_cells.masked_fill_(fresh[step][:, None], 0)
