"""A deep stack of LSTMs that read a sentence in turns, one forwards, the next backwards, with highways around them.

Each layer lets a gate r decide how much of its input goes past it, so that eight layers can be trained:

    i, f, o, r, g = input · x + recurrent · h + bias      (sigmoid of the first four, tanh of g)
    c ← f · c + i · g
    h ← r · o · tanh(c) + (1 - r) · (carry · x)

h is what the layer says and, `within`, also what it hears of itself at the next word. That is the network of He et al.
(2017). With `between` the LSTM inside hears its own o · tanh(c), and r sees x alone: then the recurrence is that of
torch.nn.LSTM, which a GPU runs many times faster.

At first r is small, and most of x goes past each layer: with r at a half, a 256th of what goes past the first of eight
layers would reach the end, and training would spend its first epochs on undoing that.

Sentences are packed, as torch packs them: longest first, and word by word the sentences that are still going on. No
step computes anything for padding.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from firth.tasks.layers import sequence_mask

Highway = Literal["within", "between"]
FORGET, PAST = 1.0, -2.0  # biases at first: the forget gate is open, and most of the input goes past a layer


class Step(NamedTuple):
    """One step of a direction: the packed words that it reads, and those before, of the sentences that go on."""

    now: slice
    before: slice
    goes_on: int  # the first so many of `now` continue `before`, the others begin


@dataclass(frozen=True)
class Plan:
    """How a packed batch is read."""

    sizes: Tensor  # sentences that have a first, second, ... word, on the CPU
    steps: tuple[list[Step], list[Step]]  # forwards, backwards
    heard: tuple[Tensor, Tensor]  # for each packed word the one read before it, or their number where there is none
    mirror: Tensor  # for each packed word the one as far from the other end of its sentence
    row: Tensor  # for each packed word its sentence

    @classmethod
    def of(cls, sizes: Tensor, device: torch.device) -> Plan:
        """The plan for batches of such sizes.

        >>> plan = Plan.of(torch.tensor([2, 1, 1]), torch.device("cpu"))  # a0 b0 a1 a2
        >>> [step.now for step in plan.steps[1]], plan.heard[1].tolist(), plan.mirror.tolist()
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


def _steps(counts: list[int], starts: list[int], backwards: bool) -> list[Step]:
    order = list(range(len(counts)))
    if backwards:
        order.reverse()
    steps, before, size = [], 0, 0
    for t in order:
        goes_on = min(counts[t], size)
        steps.append(Step(slice(starts[t], starts[t] + counts[t]), slice(before, before + goes_on), goes_on))
        before, size = starts[t], counts[t]
    return steps


class HighwayLayer(nn.Module):
    """One layer, in one direction, whose recurrence goes through the highway (`within`)."""

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.input = nn.Parameter(_orthogonal(6, hidden, size))  # i, f, o, r, g and carry
        self.recurrent = nn.Parameter(_orthogonal(5, hidden, hidden))
        self.bias = nn.Parameter(torch.zeros(6 * hidden))
        self.bias.data[hidden : 2 * hidden] = FORGET
        self.bias.data[3 * hidden : 4 * hidden] = PAST

    def forward(self, vectors: Tensor, plan: Plan, backwards: bool, kept: Tensor | None) -> Tensor:
        """What it says at each packed word. `kept`, (sentences, hidden), is multiplied to all it says and hears."""
        weights = self.input, self.recurrent, self.bias
        said: Tensor = ReadHighway.apply(vectors, *weights, kept, plan, backwards)  # type: ignore[no-untyped-call]
        return said

    def step(self, vectors: Tensor, cells: Tensor, said: Tensor) -> tuple[Tensor, Tensor]:
        """One word further, (sentences, ...): the formulas as they stand above, which `ReadHighway` must equal."""
        size = cells.shape[1]
        sums = nn.functional.linear(vectors, self.input, self.bias)
        gates, carried = sums[:, : 5 * size] + said @ self.recurrent.T, sums[:, 5 * size :]
        i, f, o, r = torch.sigmoid(gates[:, : 4 * size]).chunk(4, 1)
        cells = f * cells + i * torch.tanh(gates[:, 4 * size :])
        return cells, r * o * torch.tanh(cells) + (1 - r) * carried


class LstmLayer(nn.Module):
    """One layer, in one direction: torch's own LSTM, and a highway around it (`between`)."""

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(size, hidden)
        self.highway = nn.Linear(size, 2 * hidden)  # r and carry
        with torch.no_grad():
            weights = [_orthogonal(4, hidden, size), _orthogonal(4, hidden, hidden), torch.zeros(4 * hidden)]
            weights[2][hidden : 2 * hidden] = FORGET
            for parameter, value in zip(self.lstm.parameters(), [*weights, torch.zeros(4 * hidden)]):
                parameter.copy_(value)
            self.highway.weight.copy_(_orthogonal(2, hidden, size))
            self.highway.bias.zero_()[:hidden] = PAST

    def forward(self, vectors: Tensor, plan: Plan, backwards: bool, kept: Tensor | None) -> Tensor:
        """What it says at each packed word. `kept`, (sentences, hidden), is multiplied to all it says."""
        read = vectors[plan.mirror] if backwards else vectors
        out = self.lstm(PackedSequence(read, plan.sizes))[0].data
        if backwards:
            out = out[plan.mirror]
        r, carried = self.highway(vectors).chunk(2, 1)
        said = torch.lerp(carried, out, torch.sigmoid(r))
        return said if kept is None else said * kept[plan.row]


LAYERS = {"within": HighwayLayer, "between": LstmLayer}


class AlternatingLstm(nn.Module):
    """Layers that read in turns, forwards first; each hears what the one before it said.

    >>> reader = AlternatingLstm(3, 5, layers=2)
    >>> reader(torch.ones(2, 4, 3), torch.tensor([4, 1])).shape  # (batch, time, hidden)
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
        """What the last layer says, (batch, time, hidden), zeros beyond a sentence's length. Lengths lie on the CPU.

        In training each sentence leaves out a share of each layer's numbers, the same at all its words.
        """
        time = vectors.shape[1]
        # An empty sentence is read as one word of padding, which is taken out below.
        packed = pack_padded_sequence(vectors, lengths.clamp(min=1), batch_first=True, enforce_sorted=False)
        plan = Plan.of(packed.batch_sizes, vectors.device)
        said = packed.data
        for depth, layer in enumerate(self.layers):
            said = layer(said, plan, depth % 2 == 1, self._kept(said, len(lengths)))
        packed = PackedSequence(said, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices)
        padded, _ = pad_packed_sequence(packed, batch_first=True, total_length=time)
        return padded * sequence_mask(lengths, time).to(padded.device)[:, :, None]

    def _kept(self, like: Tensor, rows: int) -> Tensor | None:
        if not self.training or not self.dropout:
            return None
        return like.new_empty(rows, self.size).bernoulli_(1 - self.dropout).div_(1 - self.dropout)


class ReadHighway(torch.autograd.Function):
    """A `HighwayLayer` over all packed words: `HighwayLayer.step`, with what needs no recurrence done at once."""

    @staticmethod
    def forward(
        ctx: Any,
        vectors: Tensor,
        input: Tensor,
        recurrent: Tensor,
        bias: Tensor,
        kept: Tensor | None,
        plan: Plan,
        backwards: bool,
    ) -> Tensor:
        size = recurrent.shape[1]
        gates = torch.addmm(bias, vectors, input.T)  # (words, 6 · hidden)
        cells, said = vectors.new_empty(len(vectors), size), vectors.new_empty(len(vectors), size)
        heard_by = recurrent.T
        for now, before, goes_on in plan.steps[backwards]:
            sums = gates[now]
            if goes_on:
                sums[:goes_on, : 5 * size].addmm_(said[before], heard_by)
            sums[:, : 4 * size].sigmoid_()
            sums[:, 4 * size : 5 * size].tanh_()
            i, f, o, r, g, carried = sums.chunk(6, 1)
            held = torch.mul(i, g, out=cells[now])
            if goes_on:
                held[:goes_on].addcmul_(f[:goes_on], cells[before])
            spoken = torch.lerp(carried, torch.tanh(held).mul_(o), r, out=said[now])
            if kept is not None:
                spoken.mul_(kept[: len(spoken)])
        ctx.save_for_backward(vectors, input, recurrent, kept, gates, cells, said)
        ctx.plan, ctx.backwards = plan, backwards
        return said

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        vectors, input, recurrent, kept, gates, cells, said = ctx.saved_tensors
        size = recurrent.shape[1]
        to_said = grads[0].clone()  # of each word, and then with what later words add
        to_gates = torch.empty_like(gates)
        to_cells = torch.zeros_like(cells[: int(ctx.plan.sizes[0])])
        for now, before, goes_on in reversed(ctx.plan.steps[ctx.backwards]):
            slope = to_said[now] if kept is None else to_said[now].mul_(kept[: now.stop - now.start])
            slopes = to_gates[now]
            held_before = cells[before]
            _through_the_gates(slope, to_cells, gates[now], cells[now], held_before, goes_on, slopes)
            if goes_on:
                to_said[before].addmm_(slopes[:goes_on, : 5 * size], recurrent)
        heard = torch.cat([said, said.new_zeros(1, size)])[ctx.plan.heard[ctx.backwards]]
        return (
            to_gates @ input if ctx.needs_input_grad[0] else None,
            to_gates.T @ vectors,
            to_gates[:, : 5 * size].T @ heard,
            to_gates.sum(0),
            *(None, None, None),
        )


def _through_the_gates(
    slope: Tensor, to_cells: Tensor, gates: Tensor, held: Tensor, held_before: Tensor, goes_on: int, slopes: Tensor
) -> None:
    """The slopes of one step's gates, before their sigmoid or tanh; `to_cells` becomes that of the cells before.

    `slope` is that of h, and `to_cells` holds what the next step wants of c.
    """
    size = held.shape[1]
    i, f, o, r, g, carried = gates.chunk(6, 1)
    to_i, to_f, to_o, to_r, to_g, to_carried = slopes.chunk(6, 1)
    shown = torch.tanh(held)
    torch.addcmul(-carried, o, shown, out=to_r).mul_(slope)
    passed = slope * r
    torch.sub(slope, passed, out=to_carried)
    torch.mul(passed, shown, out=to_o)
    to_held = torch.ops.aten.tanh_backward(passed.mul_(o), shown).add_(to_cells[: len(held)])
    torch.mul(to_held, g, out=to_i)
    torch.mul(to_held[:goes_on], held_before, out=to_f[:goes_on])
    to_f[goes_on:] = 0
    to_g.copy_(torch.ops.aten.tanh_backward(to_held * i, g))
    block = slopes[:, : 4 * size]
    block.copy_(torch.ops.aten.sigmoid_backward(block, gates[:, : 4 * size]))
    torch.mul(to_held[:goes_on], f[:goes_on], out=to_cells[:goes_on])


def _orthogonal(blocks: int, rows: int, columns: int) -> Tensor:
    """Blocks of orthogonal weights, one for each gate, (blocks · rows, columns)."""
    return torch.cat([nn.init.orthogonal_(torch.empty(rows, columns)) for _ in range(blocks)])
