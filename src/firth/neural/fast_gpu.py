"""The layers of a biLM on a GPU, without padding: at each step only the sentences that still go on are computed.

Both directions run as one stack of products. The products of all words with a layer's input weights are made at once;
at a step there remain the product with what was said before, the cells, and the projection. The numbers are those of
the reference, `BiLM.contextualize`, to rounding; in bfloat16 what is multiplied is rounded, not what is remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import Parameter, functional

from firth.errors import OptionError
from firth.kernels import lstm_reading_cuda as kernel
from firth.kernels.tiles import blocks, triton
from firth.neural.fast import in_steps
from firth.neural.layers import CharacterCnn, ProjectedLstm, clip

if TYPE_CHECKING:
    from firth.neural.bilm import BiLM

KINDS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
SIZE = 1024  # cells of a block


class GpuCnn:
    """A character CNN by matrix products: a GPU's convolutions would round what they multiply."""

    def __init__(self, cnn: CharacterCnn) -> None:
        self.cnn = cnn

    def parameters(self) -> Iterator[Parameter]:
        """The numbers that the vectors depend on."""
        return self.cnn.parameters()

    def __call__(self, words: Sequence[str]) -> Tensor:
        """The vectors of words, (n, dim)."""
        cnn = self.cnn
        characters = functional.embedding(cnn.spell(words).to(cnn.table.device), cnn.table)
        best = []
        weights = iter(cnn.filters.parameters())
        for weight, bias in zip(weights, weights):
            count, _, size = weight.shape
            windows = characters.unfold(1, size, 1).flatten(2)  # (n, places, character_dim · size)
            best.append((windows @ weight.view(count, -1).t()).amax(1) + bias)
        return cnn.finish(torch.cat(best, 1))


class GpuLstm:
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

    def read(self, given: Tensor, sizes: Sequence[int]) -> Tensor:
        """What it says to the words given (2, words, dim), which lie step by step, `sizes` words in each."""
        if self.norms is not None:
            given = torch.stack([norm(side.float()) for norm, side in zip(self.norms, given)]).to(given.dtype)
        heard = torch.baddbmm(self.bias, given, self.input)
        cells = given.new_zeros(2, sizes[0], self.cell, dtype=torch.float32)
        said = torch.empty_like(given)
        before, end = given.new_zeros(2, sizes[0], given.shape[2]), 0
        for size in sizes:
            start, end = end, end + size
            gates = torch.baddbmm(heard[:, start:end], before[:, :size], self.recurrent)
            opened = self.let_out(gates, cells)
            before = opened if self.projection is None else clip(opened @ self.projection, self.clips[1])
            said[:, start:end] = before
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


class GpuLayers:
    """The LSTMs of a biLM, as they are now, in float32 or bfloat16."""

    def __init__(self, bilm: BiLM, precision: str) -> None:
        if precision not in KINDS:
            raise OptionError(f"precision is {precision!r}, which a GPU does not have here. Use {' or '.join(KINDS)}")
        self.kind, self.skip = KINDS[precision], bilm.architecture.skip
        pairs = zip(bilm.forward_layers, bilm.backward_layers)
        self.layers = [GpuLstm(pair, self.kind) for pair in pairs]  # type: ignore[arg-type]

    def run(self, vectors: Tensor, lengths: Sequence[int], words: Sequence[int] | None = None) -> Tensor:
        """As `FastLayers.run`: all layers of sentences that lie one behind the other, the longest first."""
        sizes, *ways = in_steps(np.asarray(lengths, np.int64))
        places = np.arange(len(vectors)) if words is None else np.asarray(words, np.int64)
        dim, device = vectors.shape[1], vectors.device
        tokens = torch.from_numpy(np.stack(ways)).to(device)
        layers = vectors.new_empty(1 + len(self.layers), len(places), 2 * dim)
        layers[0] = vectors.repeat(1, 2)[torch.from_numpy(places).to(device)]
        given = layers[0, tokens.flatten(), :dim].view(2, len(places), dim).to(self.kind)
        for depth, layer in enumerate(self.layers, start=1):
            said = layer.read(given, sizes.tolist())
            given = said + given if self.skip and depth > 1 else said
            layers[depth, tokens[0], :dim] = given[0].float()
            layers[depth, tokens[1], dim:] = given[1].float()
        return layers


def arriving(result: Tensor) -> Callable[[], NDArray[np.float32]]:
    """A function that waits for a result of the GPU and gives it as an array; its way to the host has begun already."""
    host = torch.empty(result.shape, dtype=result.dtype, pin_memory=True)
    host.copy_(result, non_blocking=True)
    arrived = torch.cuda.Event()  # type: ignore[no-untyped-call]
    arrived.record()

    def arrive() -> NDArray[np.float32]:
        arrived.synchronize()
        array: NDArray[np.float32] = host.numpy()
        return array

    return arrive
