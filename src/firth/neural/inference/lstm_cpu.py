"""The LSTM layers of a biLM for inference on a CPU: the values of the reference, `BiLM.contextualize`, to 1e-6.

It is fast because nothing is computed for padding, the product of a word's vector with the first layer's weights is
made once for each distinct word, the gates are computed while their sums are in registers (see `kernels/lstm.py`), and
each direction runs in its own thread. The precisions bfloat16 and int8 round what is multiplied; sums and states stay
in float32.

The values of a row do not depend on the other rows, not even in the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from firth.kernels import lstm as kernel
from firth.kernels import matmul
from firth.kernels.matmul import BLOCK
from firth.kernels.simd_float import matrix, stride
from firth.neural.layers import ProjectedLstm
from firth.runtime import Runtime

if TYPE_CHECKING:
    from firth.neural.bilm import BiLM

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]
TOGETHER = 96  # sentences that run together: enough to be worth loading the weights
AHEAD = 64  # words whose input products are made at once, where there is no table of all words
TABLE = 192 << 20  # bytes of such a table, for one direction


class LstmCpu:
    """One direction of one layer, its weights packed for `kernels/lstm.py`."""

    def __init__(self, lstm: ProjectedLstm, precision: str) -> None:
        self.dim, self.cell = lstm.dim, lstm.cell
        self.norm = lstm.norm
        self.input = matmul.pack(kernel.interleave(to_array(lstm.input)), precision)
        self.bias = kernel.interleave(to_array(lstm.bias)).reshape(-1, BLOCK)
        self.recurrent = matmul.pack(kernel.interleave(to_array(lstm.recurrent)), precision)
        projection = np.zeros((0, lstm.cell), np.float32) if lstm.projection is None else to_array(lstm.projection)
        self.projection = matmul.pack(projection, precision)
        self.clips = tuple(np.float32(clip or np.inf) for clip in (lstm.cell_clip, lstm.projection_clip))

    def multiply_inputs(self, vectors: Floats) -> Floats:
        """The products of inputs for the gates, with the bias: a row for each input in each block of columns."""
        if self.norm is not None:
            weight, bias = self.norm.weight.detach(), self.norm.bias.detach()
            scaled = functional.layer_norm(torch.from_numpy(vectors), weight.shape, weight, bias, self.norm.eps)
            vectors = scaled.numpy()
        blocks, count = len(self.bias), len(vectors)
        table = np.empty((blocks * count, BLOCK), np.float32)
        rows = matmul.allocate_rows(count, self.input[0])
        matmul.convert_rows(vectors, count, rows)
        matmul.multiply(self.input, self.bias, (0, blocks), rows, count, table, 1, count)
        return table

    def run(self, sizes: Numbers, words: Numbers, vectors: Floats, table: Floats | None = None) -> Floats:
        """The hidden states of words, which are rows of the vectors, step by step, (words, dim).

        Without a `table` of input products, they are made for a few steps at a time.
        """
        outputs, rows, cell = np.empty((len(words), self.dim), np.float32), int(sizes[0]), stride(self.cell)
        hidden_rows, gated_rows = (matmul.allocate_rows(rows, one[0]) for one in (self.recurrent, self.projection))
        state = matrix(rows, cell), matrix(rows, cell), matrix(rows, len(self.projection[0]) * BLOCK or cell)
        layer = self.recurrent, hidden_rows, self.projection, gated_rows, self.clips, *state  # cell, gated, hidden
        if table is not None:
            kernel.run(sizes, words, table, *layer, outputs)
            return outputs
        end = 0
        for steps in split_steps(sizes, AHEAD):
            start, end = end, end + int(steps.sum())
            ahead = self.multiply_inputs(vectors[words[start:end]])
            kernel.run(steps, np.arange(end - start), ahead, *layer, outputs[start:end])
        return outputs


class LayersCpu:
    """The LSTM layers of a biLM with their current weights, in float32, bfloat16 or int8.

    >>> from firth.neural.bilm import Architecture, BiLM
    >>> layers = LayersCpu(BiLM(Architecture.named("tiny")))
    >>> vectors = torch.ones(2, 16)  # of two words
    >>> layers.run(vectors, [3, 1], [0, 1, 0, 1]).shape  # two sentences: three words, then one
    torch.Size([3, 4, 32])
    """

    def __init__(self, bilm: BiLM, precision: str = "float32", runtime: Runtime | None = None) -> None:
        self.runtime = runtime or Runtime.from_env()
        self.skip = bilm.architecture.skip
        layers = [layer for layer in (*bilm.forward_layers, *bilm.backward_layers) if isinstance(layer, ProjectedLstm)]
        packed = self.runtime.map(lambda layer: LstmCpu(layer, precision), layers)
        self.directions = packed[: len(packed) // 2], packed[len(packed) // 2 :]

    def run(
        self,
        vectors: Tensor,
        lengths: Sequence[int] | Numbers,
        words: Sequence[int] | Numbers | None = None,
        depth: int | None = None,
    ) -> Tensor:
        """All layers, (layers + 1, tokens, 2 · dim), of sentences one after another, without padding.

        `vectors` are those of distinct words and `words` gives the row of each token; without it each token has a row.
        With `depth`, only the first LSTM layers run, so many of them.
        """
        inputs = np.ascontiguousarray(vectors.numpy(), np.float32)
        places = np.arange(len(inputs)) if words is None else np.asarray(words, np.int64)
        dim = self.directions[0][0].dim
        depth = len(self.directions[0]) if depth is None else depth
        layers = np.empty((1 + depth, len(places), 2 * dim), np.float32)
        layers[0] = np.tile(inputs, 2)[places]
        if depth == 0:
            return torch.from_numpy(layers)
        tables: list[Floats] | list[None] = [None, None]
        if len(inputs) * self.directions[0][0].bias.nbytes <= TABLE:
            tables = self.runtime.map(lambda lstms: lstms[0].multiply_inputs(inputs), self.directions)

        def run_group(task: tuple[int, Numbers, Numbers]) -> None:
            direction, sizes, tokens = task
            lstms, side = self.directions[direction], slice(direction * dim, (direction + 1) * dim)
            hidden = lstms[0].run(sizes, places[tokens], inputs, tables[direction])
            layers[1, tokens, side] = hidden
            for layer, lstm in enumerate(lstms[1:depth], start=2):
                output = lstm.run(sizes, np.arange(len(hidden)), hidden)
                hidden = output + hidden if self.skip else output
                layers[layer, tokens, side] = hidden

        self.runtime.map(run_group, self.groups(np.asarray(lengths, np.int64)))
        return torch.from_numpy(layers)

    def groups(self, lengths: Numbers) -> Iterator[tuple[int, Numbers, Numbers]]:
        """Groups of sentences of similar length, once for each direction: the sizes of its steps, its tokens in order.

        >>> from firth.neural.bilm import Architecture, BiLM
        >>> for group in LayersCpu(BiLM(Architecture.named("tiny"))).groups(np.array([1, 3])): print(*group)
        0 [2 1 1] [1 0 2 3]
        1 [2 1 1] [3 0 2 1]
        """
        order = np.argsort(-lengths, kind="stable")
        starts = np.cumsum(lengths) - lengths
        groups = max(-(-len(order) // TOGETHER), min(self.runtime.threads // 2, len(order) // 12))
        for group in np.array_split(order[lengths[order] > 0], max(1, groups)):
            if len(group) == 0:
                continue
            sizes, *orders = order_by_step(lengths[group], starts[group])
            for direction, tokens in enumerate(orders):
                yield direction, sizes, tokens


def order_by_step(lengths: Numbers, starts: Numbers | None = None) -> tuple[Numbers, Numbers, Numbers]:
    """The order in which steps run over the tokens of sentences, the longest sentence first.

    The number of sentences at each step; then the tokens in forward order, and in backward order. `starts` are the
    first tokens of the sentences; by default they follow one another.

    >>> [order.tolist() for order in order_by_step(np.array([3, 1]))]
    [[2, 1, 1], [0, 3, 1, 2], [2, 3, 1, 0]]
    """
    starts = np.cumsum(lengths) - lengths if starts is None else starts
    sizes = np.searchsorted(-lengths, -np.arange(lengths[0]))  # sentences longer than 0, 1, 2, …
    time = np.repeat(np.arange(len(sizes)), sizes)
    rows = np.concatenate([np.arange(size) for size in sizes])
    return sizes, starts[rows] + time, starts[rows] + lengths[rows] - 1 - time


def split_steps(sizes: Numbers, most: int) -> Iterator[Numbers]:
    """Steps in parts of about `most` words, each at least one step.

    >>> list(split_steps(np.array([3, 3, 2, 1, 1]), 4))
    [array([3]), array([3]), array([2, 1, 1])]
    """
    start, total = 0, 0
    for step, size in enumerate(sizes):
        if total and total + size > most:
            yield sizes[start:step]
            start, total = step, 0
        total += int(size)
    yield sizes[start:]


def to_array(parameter: Tensor) -> Floats:
    """A parameter as an array."""
    array: Floats = parameter.detach().float().numpy()
    return array
