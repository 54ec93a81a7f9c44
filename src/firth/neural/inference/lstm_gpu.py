"""The LSTM layers of a biLM for inference on a GPU, without padding: a step computes only the sentences that reach it.

Both directions run as one stack of products. The products of all words with a layer's input weights are made at once,
in the first layer once for each distinct word. A step has the product with the hidden state, the cell and the
projection. The values are those of the reference, `BiLM.contextualize`, to rounding. bfloat16 rounds what is
multiplied; the cell stays in float32.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from firth.errors import OptionError
from firth.kernels import lstm_gpu as kernel
from firth.kernels.triton_support import blocks, triton
from firth.neural.inference.lstm_cpu import Numbers, order_by_step
from firth.neural.inference.transfer import to_device
from firth.neural.layers import ProjectedLstm, clip

if TYPE_CHECKING:
    from firth.neural.bilm import BiLM

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
SIZE = 1024  # cells of a block


class LstmGpu:
    """Both directions of one layer: the weights as stacks that are multiplied from the right."""

    def __init__(self, pair: tuple[ProjectedLstm, ProjectedLstm], dtype: torch.dtype) -> None:
        first = pair[0]
        self.cell, self.clips = first.cell, (first.cell_clip, first.projection_clip)
        self.norms = None if first.norm is None else [layer.norm for layer in pair if layer.norm is not None]
        self.input, self.recurrent = (
            torch.stack([getattr(layer, name).detach().t() for layer in pair]).to(dtype)
            for name in ("input", "recurrent")
        )
        self.bias = torch.stack([layer.bias.detach() for layer in pair])[:, None].to(dtype)
        projections = [layer.projection.detach().t() for layer in pair if layer.projection is not None]
        self.projection = torch.stack(projections).to(dtype) if projections else None

    def multiply_inputs(self, inputs: Tensor) -> Tensor:
        """The products of inputs (2, n, dim) for the gates, with the bias, (2, n, 4 · cell)."""
        if self.norms is not None:
            inputs = torch.stack([norm(side.float()) for norm, side in zip(self.norms, inputs)]).to(inputs.dtype)
        return torch.baddbmm(self.bias, inputs, self.input)

    def run(self, steps: Iterable[Tensor], outputs: Tensor) -> Tensor:
        """Fills `outputs` (2, words, dim) with hidden states, from the input products of steps, (2, rows, 4 · cell).

        Later steps have fewer rows. The input products are overwritten: the gates of a step are summed in their place.
        """
        end, hidden, cell = 0, outputs, outputs.new_empty(0)
        for gates in steps:
            start, end, rows = end, end + gates.shape[1], gates.shape[1]
            if start == 0:
                cell = gates.new_zeros(2, rows, self.cell, dtype=torch.float32)
            else:
                gates.baddbmm_(hidden[:, :rows], self.recurrent)
            hidden, gated = outputs[:, start:end], self.step(gates, cell)
            if self.projection is None:
                hidden.copy_(gated)
                continue
            torch.bmm(gated, self.projection, out=hidden)
            clip(hidden, self.clips[1], out=hidden)
        return outputs

    def step(self, gates: Tensor, cell: Tensor) -> Tensor:
        """sigmoid(o) · tanh(cell), after `cell` is updated in place."""
        rows = gates.shape[1]
        if gates.is_cuda and triton is not None:
            gated = gates.new_empty(2, rows, self.cell)
            sizes = rows * self.cell, self.cell, gates.stride(0), cell.stride(0), self.clips[0] or torch.inf
            kernel.step[(blocks(rows * self.cell, SIZE), 2)](gates, cell, gated, *sizes, SIZE=SIZE)
            return gated
        i, f, g, o = gates.float().chunk(4, dim=2)
        new = clip(torch.sigmoid(f) * cell[:, :rows] + torch.sigmoid(i) * torch.tanh(g), self.clips[0])
        cell[:, :rows] = new
        return (torch.sigmoid(o) * torch.tanh(new)).to(gates.dtype)


class LayersGpu:
    """The LSTM layers of a biLM with their current weights, in float32 or bfloat16."""

    def __init__(self, bilm: BiLM, precision: str) -> None:
        if precision not in DTYPES:
            raise OptionError(f"precision is {precision!r}, which is not available on a GPU. Use {' or '.join(DTYPES)}")
        self.dtype, self.skip = DTYPES[precision], bilm.architecture.skip
        pairs = zip(bilm.forward_layers, bilm.backward_layers)
        self.layers = [LstmGpu(pair, self.dtype) for pair in pairs]  # type: ignore[arg-type]

    def run(
        self,
        vectors: Tensor,
        lengths: Sequence[int] | Numbers,
        words: Sequence[int] | Numbers | None = None,
        depth: int | None = None,
    ) -> Tensor:
        """As `LayersCpu.run`: all layers of sentences one after another, the longest first."""
        running = self.layers[:depth]
        sizes, *orders = order_by_step(np.asarray(lengths, np.int64))
        places = np.arange(len(vectors)) if words is None else np.asarray(words, np.int64)
        count, dim, device = len(places), vectors.shape[1], vectors.device
        table_rows = interleave_steps(places[orders[0]], places[orders[1]] + len(vectors), sizes)
        plan = to_device(np.concatenate([places, *orders, table_rows]), device)
        here, forward, backward, rows_of_steps = torch.split(plan, [count, count, count, 2 * count])
        layers = vectors.new_empty(1 + len(running), count, 2 * dim)
        layers[0, :, :dim] = layers[0, :, dim:] = vectors[here]
        if not running:
            return layers
        # The input product of a word in the first layer does not depend on its place, so it is made once.
        table = self.layers[0].multiply_inputs(vectors.to(self.dtype).expand(2, -1, -1)).flatten(0, 1)
        steps = (table[rows].view(2, len(rows) // 2, -1) for rows in torch.split(rows_of_steps, (2 * sizes).tolist()))
        hidden = self.layers[0].run(steps, vectors.new_empty(2, count, dim, dtype=self.dtype))
        for number, layer in enumerate(running, start=1):
            if number > 1:
                output = layer.run(
                    torch.split(layer.multiply_inputs(hidden), sizes.tolist(), 1), torch.empty_like(hidden)
                )
                hidden = output.add_(hidden) if self.skip else output
            layers[number, forward, :dim] = hidden[0].float()
            layers[number, backward, dim:] = hidden[1].float()
        return layers


def interleave_steps(forward: Numbers, backward: Numbers, sizes: Numbers) -> Numbers:
    """The numbers of both directions step by step, `sizes` of them at each: those of forward, then of backward.

    >>> interleave_steps(np.array([1, 2, 3]), np.array([7, 8, 9]), np.array([2, 1])).tolist()
    [1, 2, 7, 8, 3, 9]
    """
    before = np.repeat(np.cumsum(sizes) - sizes, sizes)
    both = np.empty(2 * len(forward), np.int64)
    own = np.arange(len(forward)) + before
    both[own], both[own + np.repeat(sizes, sizes)] = forward, backward
    return both
