"""One LSTM layer over streams of words on a CPU, with its gradients: `lstm.run_layer_reference`, faster.

The inputs are multiplied with their weights for all steps at once; the loop over steps has only what depends on the
step before. In the backward pass the loop follows the state, and each weight gradient is one product over all steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from firth.neural.layers import CellState, ProjectedLstm, clip, clip_gradient

Gates = Sequence[Tensor]  # i, f, g, o


def run_layer(layer: ProjectedLstm, inputs: Tensor, state: CellState, fresh: Tensor | None) -> tuple[Tensor, CellState]:
    """One layer over inputs (steps, rows, dim): its hidden states, (steps, rows, dim), and the final state."""
    weights = layer.input, layer.recurrent, layer.bias, layer.projection
    clips = layer.cell_clip, layer.projection_clip
    hidden, cell = LstmFunction.apply(inputs, *weights, *state, fresh, clips)  # type: ignore[no-untyped-call]
    return hidden, (cell, hidden[-1])


class LstmFunction(torch.autograd.Function):
    """The whole layer as one function of its inputs and weights. Its first state has no gradient."""

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        input: Tensor,
        recurrent: Tensor,
        bias: Tensor,
        projection: Tensor | None,
        first_cell: Tensor,
        first_hidden: Tensor,
        fresh: Tensor | None,
        clips: tuple[float, float],
    ) -> tuple[Tensor, Tensor]:
        steps, rows, _ = inputs.shape
        gates = torch.addmm(bias, inputs.flatten(0, 1), input.T).view(steps, rows, -1)  # (steps, rows, 4 · cell)
        cell = inputs.new_empty(steps + 1, rows, first_cell.shape[1])  # before each step, and after the last
        hidden = inputs.new_empty(steps + 1, rows, first_hidden.shape[1])
        gated = inputs.new_empty(steps, rows, first_cell.shape[1])
        cell[0], hidden[0] = first_cell, first_hidden
        for step in range(steps):
            i, f, g, o = gates[step].addmm_(reset(hidden, step, fresh), recurrent.T).chunk(4, 1)
            for gate in (i, f, o):
                gate.sigmoid_()
            g.tanh_()
            new_cell = torch.mul(f, reset(cell, step, fresh), out=cell[step + 1]).addcmul_(i, g)
            clip(new_cell, clips[0], out=new_cell)
            torch.tanh(new_cell, out=gated[step]).mul_(o)
            if projection is None:
                hidden[step + 1] = gated[step]
                continue
            new_hidden = torch.mm(gated[step], projection.T, out=hidden[step + 1])
            clip(new_hidden, clips[1], out=new_hidden)
        ctx.save_for_backward(inputs, input, recurrent, projection, gates, cell, hidden, gated, fresh)
        ctx.clips = clips
        last_cell = cell[-1].clone()
        ctx.mark_non_differentiable(last_cell)
        return hidden[1:].clone(), last_cell

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        inputs, input, recurrent, projection, gates, cell, hidden, gated, fresh = ctx.saved_tensors
        grad_hidden = grads[0].clone()  # of each step; later steps are added in the loop
        grad_gates = torch.empty_like(gates)
        grad_cell = torch.zeros_like(cell[0])
        for step in reversed(range(len(inputs))):
            grad_gated = grad_hidden[step]
            if projection is not None:
                grad_gated = clip_gradient(grad_hidden[step], hidden[step + 1], ctx.clips[1]) @ projection
            both, before = (gates[step].chunk(4, 1), grad_gates[step].chunk(4, 1)), reset(cell, step, fresh)
            grad_cell = backpropagate_gates(grad_gated, grad_cell, *both, cell[step + 1], before, ctx.clips[0])
            if fresh is not None:
                grad_cell.masked_fill_(fresh[step][:, None], 0)
            if step:
                grad_before = grad_gates[step] @ recurrent
                grad_hidden[step - 1] += (
                    grad_before if fresh is None else grad_before.masked_fill_(fresh[step][:, None], 0)
                )
        flat = grad_gates.flatten(0, 1)
        hidden_before = hidden[:-1] if fresh is None else hidden[:-1].masked_fill(fresh[:, :, None], 0)
        return (
            (flat @ input).view_as(inputs) if ctx.needs_input_grad[0] else None,
            flat.T @ inputs.flatten(0, 1),
            flat.T @ hidden_before.flatten(0, 1),
            flat.sum(0),
            None if projection is None else grad_hidden.flatten(0, 1).T @ gated.flatten(0, 1),
            *(None, None, None, None),
        )


def reset(states: Tensor, step: int, fresh: Tensor | None) -> Tensor:
    """The state before a step, zero in the rows that are `fresh`."""
    return states[step] if fresh is None else states[step].masked_fill(fresh[step][:, None], 0)


def backpropagate_gates(
    grad_gated: Tensor,
    grad_cell: Tensor,
    gates: Gates,
    grad_gates: Gates,
    cell: Tensor,
    cell_before: Tensor,
    cell_clip: float = 0.0,
) -> Tensor:
    """Writes the gradients of one step's gates i, f, g, o, before their sigmoid or tanh; returns that of `cell_before`.

    `grad_gated` is the gradient of o · tanh(cell), `grad_cell` that of the cell from the next step. Where `cell_before`
    has fewer rows, the others have none: their state starts with this step.
    """
    i, f, g, o = gates
    grad_i, grad_f, grad_g, grad_o = grad_gates
    tanh, known = torch.tanh(cell), len(cell_before)
    torch.mul(grad_gated, tanh, out=grad_o).mul_(o).mul_(1 - o)
    grad_cell = clip_gradient(grad_cell.addcmul(grad_gated * o, 1 - tanh * tanh), cell, cell_clip)
    torch.mul(grad_cell, g, out=grad_i).mul_(i).mul_(1 - i)
    if known < len(cell):
        grad_f[known:] = 0
        f, grad_f = f[:known], grad_f[:known]
    torch.mul(grad_cell[:known], cell_before, out=grad_f).mul_(f).mul_(1 - f)
    torch.mul(grad_cell, i, out=grad_g).mul_(1 - g * g)
    return grad_cell[:known].mul_(f)
