"""A deep stack of LSTM layers with alternating directions, forward first, and a highway connection around each.

A gate r mixes the output of a layer with its input, so that eight layers can be trained:

    i, f, o, r, g = input · x + recurrent · hidden + bias      (sigmoid of the first four, tanh of g)
    cell ← f · cell + i · g
    hidden ← r · o · tanh(cell) + (1 - r) · (carry · x)

With `within`, the hidden state after the highway is the recurrent input of the next word. That is the network of He et
al. (2017). With `between`, the recurrent input is o · tanh(cell), and r depends on x alone: then the recurrence is that
of torch.nn.LSTM, which a GPU runs many times faster.

The bias of r starts negative, so that a layer passes most of its input on: with r at a half, a 256th of the input of
eight layers would reach the end, and the first epochs would be spent on undoing that.

Sentences are packed as torch packs them: longest first, and word by word the sentences that have this word. Nothing is
computed for padding.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from firth.neural.inference.transfer import to_device
from firth.neural.training.lstm_cpu import backpropagate_gates
from firth.tasks.layers import Packing, sequence_mask

Highway = Literal["within", "between"]
FORGET, CARRY = 1.0, -2.0  # initial biases: the forget gate is open, and a layer passes most of its input on


class PackedStep(NamedTuple):
    """One step of a direction: its packed words, and the words before them."""

    now: slice
    before: slice
    known: int  # number of rows of `now` that continue `before`; the others start a sentence


@dataclass(frozen=True)
class PackedPlan:
    """The steps over a packed batch."""

    sizes: Tensor  # sentences that have a first, second, ... word, on the CPU
    steps: tuple[list[PackedStep], list[PackedStep]]  # forwards, backwards
    previous: tuple[Tensor, Tensor]  # of each packed word the one before it, or their number where there is none
    mirror: Tensor  # of each packed word the one as far from the other end of its sentence
    row: Tensor  # of each packed word its sentence

    @classmethod
    def of(cls, sizes: Tensor, device: torch.device) -> PackedPlan:
        """The plan for the batch sizes of a packed sequence.

        >>> plan = PackedPlan.of(torch.tensor([2, 1, 1]), torch.device("cpu"))  # a0 b0 a1 a2
        >>> [step.now for step in plan.steps[1]], plan.previous[1].tolist(), plan.mirror.tolist()
        ([slice(3, 4, None), slice(2, 3, None), slice(0, 2, None)], [2, 4, 3, 4], [3, 1, 2, 0])
        """
        counts = sizes.tolist()
        starts = [0, *accumulate(counts)]
        total = starts.pop()
        every = torch.arange(total)
        step = torch.repeat_interleave(torch.arange(len(counts)), sizes)
        row = every - torch.tensor(starts)[step]
        lengths = torch.bincount(row)
        first = torch.tensor([*starts, total])
        mirror = first[lengths[row] - 1 - step] + row
        forwards = torch.where(step > 0, first[step - 1] + row, total)
        backwards = torch.where(step < lengths[row] - 1, first[step + 1] + row, total)
        places = [part.to(device, non_blocking=True) for part in (forwards, backwards, mirror, row)]
        both = _steps(counts, starts, False), _steps(counts, starts, True)
        return cls(sizes, both, (places[0], places[1]), places[2], places[3])


def _steps(counts: list[int], starts: list[int], backwards: bool) -> list[PackedStep]:
    order = list(range(len(counts)))
    if backwards:
        order.reverse()
    steps, before, size = [], 0, 0
    for t in order:
        known = min(counts[t], size)
        steps.append(PackedStep(slice(starts[t], starts[t] + counts[t]), slice(before, before + known), known))
        before, size = starts[t], counts[t]
    return steps


class HighwayLayer(nn.Module):
    """One layer in one direction, whose recurrence goes through the highway (`within`)."""

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.input = nn.Parameter(_draw_orthogonal(6, hidden, size))  # i, f, o, r, g and carry
        self.recurrent = nn.Parameter(_draw_orthogonal(5, hidden, hidden))
        self.bias = nn.Parameter(torch.zeros(6 * hidden))
        self.bias.data[hidden : 2 * hidden] = FORGET
        self.bias.data[3 * hidden : 4 * hidden] = CARRY

    def forward(self, vectors: Tensor, plan: PackedPlan, backwards: bool, mask: Tensor | None) -> Tensor:
        """The hidden state of each packed word. `mask`, (sentences, hidden), multiplies it, recurrent or not."""
        weights = self.input, self.recurrent, self.bias
        hidden: Tensor = HighwayFunction.apply(vectors, *weights, mask, plan, backwards)  # type: ignore[no-untyped-call]
        return hidden

    def step(self, inputs: Tensor, cell: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """One step, (sentences, ...): the reference of `HighwayFunction`, by the formulas above."""
        size = cell.shape[1]
        sums = nn.functional.linear(inputs, self.input, self.bias)
        gates, carried = sums[:, : 5 * size] + hidden @ self.recurrent.T, sums[:, 5 * size :]
        i, f, o, r = torch.sigmoid(gates[:, : 4 * size]).chunk(4, 1)
        cell = f * cell + i * torch.tanh(gates[:, 4 * size :])
        return cell, r * o * torch.tanh(cell) + (1 - r) * carried


class LstmLayer(nn.Module):
    """One layer in one direction: torch.nn.LSTM with a highway around it (`between`)."""

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(size, hidden)
        self.highway = nn.Linear(size, 2 * hidden)  # r and carry
        with torch.no_grad():
            weights = [_draw_orthogonal(4, hidden, size), _draw_orthogonal(4, hidden, hidden), torch.zeros(4 * hidden)]
            weights[2][hidden : 2 * hidden] = FORGET
            for parameter, value in zip(self.lstm.parameters(), [*weights, torch.zeros(4 * hidden)]):
                parameter.copy_(value)
            self.highway.weight.copy_(_draw_orthogonal(2, hidden, size))
            self.highway.bias.zero_()[:hidden] = CARRY

    def forward(self, vectors: Tensor, plan: PackedPlan, backwards: bool, mask: Tensor | None) -> Tensor:
        """The hidden state of each packed word. `mask`, (sentences, hidden), multiplies the outputs."""
        inputs = vectors[plan.mirror] if backwards else vectors
        output = self.lstm(PackedSequence(inputs, plan.sizes))[0].data
        if backwards:
            output = output[plan.mirror]
        r, carried = self.highway(vectors).chunk(2, 1)
        hidden = torch.lerp(carried, output, torch.sigmoid(r))
        return hidden if mask is None else hidden * mask[plan.row]


LAYERS = {"within": HighwayLayer, "between": LstmLayer}


class AlternatingLstm(nn.Module):
    """LSTM layers of alternating directions, forward first; each takes the outputs of the one before.

    >>> lstm = AlternatingLstm(3, 5, layers=2)
    >>> lstm(torch.ones(2, 4, 3), torch.tensor([4, 1])).shape  # (batch, time, hidden)
    torch.Size([2, 4, 5])
    """

    def __init__(
        self, size: int, hidden: int, *, layers: int = 8, dropout: float = 0.0, highway: Highway = "between"
    ) -> None:
        super().__init__()
        self.size, self.dropout = hidden, dropout
        sizes = [size] + [hidden] * (layers - 1)
        self.layers = nn.ModuleList(LAYERS[highway](one, hidden) for one in sizes)

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """The hidden states of the last layer, (batch, time, hidden), zero beyond a sentence. `lengths` is on the CPU.

        In training, dropout uses one mask for all words of a sentence.
        """
        packing = Packing.of(lengths, vectors)
        plan = PackedPlan.of(packing.sizes, vectors.device)
        hidden = packing.pack(vectors).data
        for depth, layer in enumerate(self.layers):
            hidden = layer(hidden, plan, depth % 2 == 1, self._draw_mask(hidden, len(lengths)))
        inside = to_device(sequence_mask(lengths, vectors.shape[1]).numpy(), vectors.device)
        return packing.unpack(hidden) * inside[:, :, None]

    def _draw_mask(self, like: Tensor, rows: int) -> Tensor | None:
        if not self.training or not self.dropout:
            return None
        return like.new_empty(rows, self.size).bernoulli_(1 - self.dropout).div_(1 - self.dropout)


class HighwayFunction(torch.autograd.Function):
    """A `HighwayLayer` over all packed words: `HighwayLayer.step`, with what is not recurrent done at once."""

    @staticmethod
    def forward(
        ctx: Any,
        vectors: Tensor,
        input: Tensor,
        recurrent: Tensor,
        bias: Tensor,
        mask: Tensor | None,
        plan: PackedPlan,
        backwards: bool,
    ) -> Tensor:
        size = recurrent.shape[1]
        gates = torch.addmm(bias, vectors, input.T)  # (words, 6 · hidden)
        cell, hidden = vectors.new_empty(len(vectors), size), vectors.new_empty(len(vectors), size)
        recurrent_t = recurrent.T
        for now, before, known in plan.steps[backwards]:
            sums = gates[now]
            if known:
                sums[:known, : 5 * size].addmm_(hidden[before], recurrent_t)
            sums[:, : 4 * size].sigmoid_()
            sums[:, 4 * size : 5 * size].tanh_()
            i, f, o, r, g, carried = sums.chunk(6, 1)
            new_cell = torch.mul(i, g, out=cell[now])
            if known:
                new_cell[:known].addcmul_(f[:known], cell[before])
            new_hidden = torch.lerp(carried, torch.tanh(new_cell).mul_(o), r, out=hidden[now])
            if mask is not None:
                new_hidden.mul_(mask[: len(new_hidden)])
        ctx.save_for_backward(vectors, input, recurrent, mask, gates, cell, hidden)
        ctx.plan, ctx.backwards = plan, backwards
        return hidden

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        vectors, input, recurrent, mask, gates, cell, hidden = ctx.saved_tensors
        size = recurrent.shape[1]
        grad_hidden = grads[0].clone()  # of each word; later words are added in the loop
        grad_gates = torch.empty_like(gates)
        grad_cell = torch.zeros_like(cell[: int(ctx.plan.sizes[0])])
        for now, before, known in reversed(ctx.plan.steps[ctx.backwards]):
            grad = grad_hidden[now] if mask is None else grad_hidden[now].mul_(mask[: now.stop - now.start])
            i, f, o, r, g, carried = gates[now].chunk(6, 1)
            grad_i, grad_f, grad_o, grad_r, grad_g, grad_carried = grad_gates[now].chunk(6, 1)
            torch.addcmul(-carried, o, torch.tanh(cell[now]), out=grad_r).mul_(grad).mul_(r).mul_(1 - r)
            grad_gated = grad * r
            torch.sub(grad, grad_gated, out=grad_carried)
            some, grads_of_gates = (i, f, g, o), (grad_i, grad_f, grad_g, grad_o)
            grad_cell[:known] = backpropagate_gates(
                grad_gated, grad_cell[: len(grad)], some, grads_of_gates, cell[now], cell[before]
            )
            if known:
                grad_hidden[before].addmm_(grad_gates[now][:known, : 5 * size], recurrent)
        hidden_before = torch.cat([hidden, hidden.new_zeros(1, size)])[ctx.plan.previous[ctx.backwards]]
        return (
            grad_gates @ input if ctx.needs_input_grad[0] else None,
            grad_gates.T @ vectors,
            grad_gates[:, : 5 * size].T @ hidden_before,
            grad_gates.sum(0),
            *(None, None, None),
        )


def _draw_orthogonal(blocks: int, rows: int, columns: int) -> Tensor:
    """Orthogonal weights, a block for each gate, (blocks · rows, columns)."""
    return torch.cat([nn.init.orthogonal_(torch.empty(rows, columns)) for _ in range(blocks)])
