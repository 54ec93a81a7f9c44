"""The layers of a biLM on a GPU, without padding: at each step only the sentences that still go on are computed.

Both directions run as one stack of products. The products of all words with a layer's input weights are made at once,
in the first layer once for each distinct word; at a step there remain the product with what was said before, the cells,
and the projection. The numbers are those of the reference, `BiLM.contextualize`, to rounding; in bfloat16 what is
multiplied is rounded, not what is remembered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.nn import Parameter, functional

from firth.errors import OptionError
from firth.kernels import lstm_gpu as kernel
from firth.kernels.triton_support import blocks, triton
from firth.neural.inference.lstm_cpu import Numbers, in_steps
from firth.neural.inference.transfer import to_device
from firth.neural.layers import CharacterCnn, ProjectedLstm, clip

if TYPE_CHECKING:
    from firth.neural.bilm import BiLM

KINDS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
SIZE = 1024  # cells of a block


class CnnGpu:
    """A character CNN by matrix products: a GPU's convolutions would round what they multiply."""

    def __init__(self, cnn: CharacterCnn) -> None:
        self.cnn = cnn

    def parameters(self) -> Iterator[Parameter]:
        """The numbers that the vectors depend on."""
        return self.cnn.parameters()

    def __call__(self, words: Sequence[str]) -> Tensor:
        """The vectors of words, (n, dim)."""
        cnn = self.cnn
        characters = functional.embedding(to_device(cnn.spell(words).numpy(), cnn.table.device), cnn.table)
        best = []
        weights = iter(cnn.filters.parameters())
        for weight, bias in zip(weights, weights):
            count, _, size = weight.shape
            windows = characters.unfold(1, size, 1).flatten(2)  # (n, places, character_dim · size)
            best.append((windows @ weight.view(count, -1).t()).amax(1) + bias)
        return cnn.finish(torch.cat(best, 1))


class LstmGpu:
    """One layer in both directions: weights as stacks that are multiplied from the right."""

    def __init__(self, pair: tuple[ProjectedLstm, ProjectedLstm], kind: torch.dtype) -> None:
        first = pair[0]
        self.cell, self.clips = first.cell, (first.cell_clip, first.projection_clip)
        self.norms = None if first.norm is None else [layer.norm for layer in pair if layer.norm is not None]
        self.input, self.recurrent = (
            torch.stack([getattr(layer, name).detach().t() for layer in pair]).to(kind)
            for name in ("input", "recurrent")
        )
        self.bias = torch.stack([layer.bias.detach() for layer in pair])[:, None].to(kind)
        projections = [layer.projection.detach().t() for layer in pair if layer.projection is not None]
        self.projection = torch.stack(projections).to(kind) if projections else None

    def hear(self, given: Tensor) -> Tensor:
        """What the gates hear of inputs (2, n, dim), bias included, (2, n, 4 · cell)."""
        if self.norms is not None:
            given = torch.stack([norm(side.float()) for norm, side in zip(self.norms, given)]).to(given.dtype)
        return torch.baddbmm(self.bias, given, self.input)

    def read(self, heard: Iterable[Tensor], said: Tensor) -> Tensor:
        """Fills `said` (2, words, dim), step by step, from what the gates hear at each step, (2, rows, 4 · cell).

        Rows become fewer from step to step. What was heard is used up: the sums of a step are made in its place.
        """
        end, before, cells = 0, said, said.new_empty(0)
        for gates in heard:
            start, end, rows = end, end + gates.shape[1], gates.shape[1]
            if start == 0:
                cells = gates.new_zeros(2, rows, self.cell, dtype=torch.float32)
            else:
                gates.baddbmm_(before[:, :rows], self.recurrent)
            before, opened = said[:, start:end], self.let_out(gates, cells)
            if self.projection is None:
                before.copy_(opened)
                continue
            torch.bmm(opened, self.projection, out=before)
            if self.clips[1]:
                before.clamp_(-self.clips[1], self.clips[1])
        return said

    def let_out(self, gates: Tensor, cells: Tensor) -> Tensor:
        """What the cells of the rows let out; the cells change in place."""
        rows = gates.shape[1]
        if gates.is_cuda and triton is not None:
            opened = gates.new_empty(2, rows, self.cell)
            sizes = rows * self.cell, self.cell, gates.stride(0), cells.stride(0), self.clips[0] or torch.inf
            kernel.let_out[(blocks(rows * self.cell, SIZE), 2)](gates, cells, opened, *sizes, SIZE=SIZE)
            return opened
        i, f, g, o = gates.float().chunk(4, dim=2)
        new = clip(torch.sigmoid(f) * cells[:, :rows] + torch.sigmoid(i) * torch.tanh(g), self.clips[0])
        cells[:, :rows] = new
        return (torch.sigmoid(o) * torch.tanh(new)).to(gates.dtype)


class LayersGpu:
    """The LSTMs of a biLM, as they are now, in float32 or bfloat16."""

    def __init__(self, bilm: BiLM, precision: str) -> None:
        if precision not in KINDS:
            raise OptionError(f"precision is {precision!r}, which a GPU does not have here. Use {' or '.join(KINDS)}")
        self.kind, self.skip = KINDS[precision], bilm.architecture.skip
        pairs = zip(bilm.forward_layers, bilm.backward_layers)
        self.layers = [LstmGpu(pair, self.kind) for pair in pairs]  # type: ignore[arg-type]

    def run(
        self, vectors: Tensor, lengths: Sequence[int] | Numbers, words: Sequence[int] | Numbers | None = None
    ) -> Tensor:
        """As `LayersCpu.run`: all layers of sentences that lie one behind the other, the longest first."""
        sizes, *ways = in_steps(np.asarray(lengths, np.int64))
        places = np.arange(len(vectors)) if words is None else np.asarray(words, np.int64)
        count, dim, device = len(places), vectors.shape[1], vectors.device
        heard_at = side_by_side(places[ways[0]], places[ways[1]] + len(vectors), sizes)
        plan = to_device(np.concatenate([places, *ways, heard_at]), device)
        here, ahead, back, heard_at_steps = torch.split(plan, [count, count, count, 2 * count])
        layers = vectors.new_empty(1 + len(self.layers), count, 2 * dim)
        layers[0, :, :dim] = layers[0, :, dim:] = vectors[here]
        # A word of the first layer is heard as it was heard before, so that its product is made once.
        table = self.layers[0].hear(vectors.to(self.kind).expand(2, -1, -1)).flatten(0, 1)
        heard = (table[rows].view(2, len(rows) // 2, -1) for rows in torch.split(heard_at_steps, (2 * sizes).tolist()))
        given = self.layers[0].read(heard, vectors.new_empty(2, count, dim, dtype=self.kind))
        for depth, layer in enumerate(self.layers, start=1):
            if depth > 1:
                said = layer.read(torch.split(layer.hear(given), sizes.tolist(), 1), torch.empty_like(given))
                given = said.add_(given) if self.skip else said
            layers[depth, ahead, :dim] = given[0].float()
            layers[depth, back, dim:] = given[1].float()
        return layers


def side_by_side(forwards: Numbers, backwards: Numbers, sizes: Numbers) -> Numbers:
    """What both directions have at each step, `sizes` of them in each: first the one's, then the other's.

    >>> side_by_side(np.array([1, 2, 3]), np.array([7, 8, 9]), np.array([2, 1])).tolist()
    [1, 2, 7, 8, 3, 9]
    """
    before = np.repeat(np.cumsum(sizes) - sizes, sizes)
    both = np.empty(2 * len(forwards), np.int64)
    own = np.arange(len(forwards)) + before
    both[own], both[own + np.repeat(sizes, sizes)] = forwards, backwards
    return both
