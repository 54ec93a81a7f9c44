"""The layers of a biLM on a CPU, fast. The numbers are those of the reference, `BiLM.contextualize`, to 1e-6.

What makes it fast, and is exact: nothing is computed for padding; the product of a word's vector with the first layer's
weights is made once for each distinct word; the gates are worked out while their sums are still near the processor
(see `kernels/lstm.py`); each direction runs in a thread of its own. Two lower precisions are there to be asked for:
bfloat16 and int8 round what is multiplied, not what is summed up or remembered.

A row's numbers do not depend on the other rows, not even in the last bit.
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
TOGETHER = 96  # rows that are read at the same time: enough to be worth fetching the weights for
AHEAD = 64  # words whose products with a layer's weights are made at once, where there is no table of all words
TABLE = 192 << 20  # bytes of such a table, for one direction


class LstmCpu:
    """One direction of one layer, its weights packed for `kernels/lstm.py`."""

    def __init__(self, lstm: ProjectedLstm, precision: str) -> None:
        self.dim, self.cell = lstm.dim, lstm.cell
        self.norm = lstm.norm
        self.input = matmul.pack(kernel.interleave(numbers_of(lstm.input)), precision)
        self.bias = kernel.interleave(numbers_of(lstm.bias)).reshape(-1, BLOCK)
        self.recurrent = matmul.pack(kernel.interleave(numbers_of(lstm.recurrent)), precision)
        projection = np.zeros((0, lstm.cell), np.float32) if lstm.projection is None else numbers_of(lstm.projection)
        self.projection = matmul.pack(projection, precision)
        self.clips = tuple(np.float32(clip or np.inf) for clip in (lstm.cell_clip, lstm.projection_clip))

    def table(self, vectors: Floats) -> Floats:
        """What the gates hear of each input, bias included, a row for each of them in each block of columns."""
        if self.norm is not None:
            weight, bias = self.norm.weight.detach(), self.norm.bias.detach()
            scaled = functional.layer_norm(torch.from_numpy(vectors), weight.shape, weight, bias, self.norm.eps)
            vectors = scaled.numpy()
        blocks, count = len(self.bias), len(vectors)
        table = np.empty((blocks * count, BLOCK), np.float32)
        room = matmul.room(count, self.input[0])
        matmul.write_down(vectors, count, room)
        matmul.multiply(self.input, self.bias, (0, blocks), room, count, table, 1, count)
        return table

    def read(self, sizes: Numbers, words: Numbers, vectors: Floats, table: Floats | None = None) -> Floats:
        """What it says to the words, which are rows of the vectors, step by step, (words, dim).

        Without a table that is made already, there is never more of it than for the next few steps.
        """
        outputs = np.empty((len(words), self.dim), np.float32)
        reader = LstmScratch(self, int(sizes[0]))
        if table is not None:
            reader.read(sizes, words, table, outputs)
            return outputs
        end = 0
        for steps in parts(sizes, AHEAD):
            start, end = end, end + int(steps.sum())
            ahead = self.table(vectors[words[start:end]])
            reader.read(steps, np.arange(end - start), ahead, outputs[start:end])
        return outputs


class LstmScratch:
    """What a layer remembers while it reads, and room to work in."""

    def __init__(self, lstm: LstmCpu, rows: int) -> None:
        self.lstm = lstm
        cell = stride(lstm.cell)
        said = len(lstm.projection[0]) * BLOCK or cell
        self.memory = [matrix(rows, width) for width in (cell, cell, said)]
        self.heard, self.shown = matmul.room(rows, lstm.recurrent[0]), matmul.room(rows, lstm.projection[0])

    def read(self, sizes: Numbers, words: Numbers, table: Floats, outputs: Floats) -> None:
        lstm, (cells, let_out, said) = self.lstm, self.memory
        multiplied = lstm.recurrent, self.heard, lstm.projection, self.shown
        kernel.read(sizes, words, table, *multiplied, lstm.clips, cells, let_out, said, outputs)


class LayersCpu:
    """The LSTMs of a biLM, as they are now, in float32, bfloat16 or int8.

    >>> from firth.neural.bilm import Architecture, BiLM
    >>> fast = LayersCpu(BiLM(Architecture.named("tiny")))
    >>> vectors = np.ones((2, 16), np.float32)  # of two words
    >>> fast.run(vectors, [3, 1], [0, 1, 0, 1]).shape  # two sentences: three words, then one
    (3, 4, 32)
    """

    def __init__(self, bilm: BiLM, precision: str = "float32", runtime: Runtime | None = None) -> None:
        self.runtime = runtime or Runtime.from_env()
        self.skip = bilm.architecture.skip
        layers = [layer for layer in (*bilm.forward_layers, *bilm.backward_layers) if isinstance(layer, ProjectedLstm)]
        packed = self.runtime.map(lambda layer: LstmCpu(layer, precision), layers)
        self.directions = packed[: len(packed) // 2], packed[len(packed) // 2 :]

    def run(
        self, vectors: Floats, lengths: Sequence[int] | Numbers, words: Sequence[int] | Numbers | None = None
    ) -> Floats:
        """All layers, (layers + 1, tokens, 2 · dim), of sentences that lie one behind the other without padding.

        `vectors` are those of distinct words, and `words` says which of them stands where; without it, each token has
        its own.
        """
        vectors = np.ascontiguousarray(vectors, np.float32)
        places = np.arange(len(vectors)) if words is None else np.asarray(words, np.int64)
        dim = self.directions[0][0].dim
        layers = np.empty((1 + len(self.directions[0]), len(places), 2 * dim), np.float32)
        layers[0] = np.tile(vectors, 2)[places]
        tables = self.runtime.map(lambda lstms: first_table(lstms[0], vectors), self.directions)

        def read(task: tuple[int, Numbers, Numbers]) -> None:
            direction, sizes, tokens = task
            lstms, side = self.directions[direction], slice(direction * dim, (direction + 1) * dim)
            said = lstms[0].read(sizes, places[tokens], vectors, tables[direction])
            layers[1, tokens, side] = said
            for depth, lstm in enumerate(lstms[1:], start=2):
                new = lstm.read(sizes, np.arange(len(said)), said)
                said = new + said if self.skip else new
                layers[depth, tokens, side] = said

        self.runtime.map(read, self.tasks(np.asarray(lengths, np.int64)))
        return layers

    def tasks(self, lengths: Numbers) -> Iterator[tuple[int, Numbers, Numbers]]:
        """Sentences of like length in groups, each once in each direction: its steps' sizes, and the tokens in order.

        >>> from firth.neural.bilm import Architecture, BiLM
        >>> for task in LayersCpu(BiLM(Architecture.named("tiny"))).tasks(np.array([1, 3])): print(*task)
        0 [2 1 1] [1 0 2 3]
        1 [2 1 1] [3 0 2 1]
        """
        order = np.argsort(-lengths, kind="stable")
        starts = np.cumsum(lengths) - lengths
        groups = max(-(-len(order) // TOGETHER), min(self.runtime.threads // 2, len(order) // 12))
        for group in np.array_split(order[lengths[order] > 0], max(1, groups)):
            if len(group) == 0:
                continue
            sizes, *ways = in_steps(lengths[group], starts[group])
            for direction, tokens in enumerate(ways):
                yield direction, sizes, tokens


def in_steps(lengths: Numbers, starts: Numbers | None = None) -> tuple[Numbers, Numbers, Numbers]:
    """The tokens of sentences, the longest first, in the order in which they are read side by side.

    How many sentences go on at each step; then the places of the tokens, read forwards, and read backwards. `starts`
    says where the sentences begin; without it, they lie one behind the other.

    >>> [order.tolist() for order in in_steps(np.array([3, 1]))]
    [[2, 1, 1], [0, 3, 1, 2], [2, 3, 1, 0]]
    """
    starts = np.cumsum(lengths) - lengths if starts is None else starts
    sizes = np.searchsorted(-lengths, -np.arange(lengths[0]))  # sentences longer than 0, 1, 2, …
    time = np.repeat(np.arange(len(sizes)), sizes)
    rows = np.concatenate([np.arange(size) for size in sizes])
    return sizes, starts[rows] + time, starts[rows] + lengths[rows] - 1 - time


def first_table(lstm: LstmCpu, vectors: Floats) -> Floats | None:
    """The table of all words, where it is not too large."""
    return lstm.table(vectors) if len(vectors) * lstm.bias.nbytes <= TABLE else None


def parts(sizes: Numbers, most: int) -> Iterator[Numbers]:
    """Steps in parts of about `most` words, each at least one step.

    >>> list(parts(np.array([3, 3, 2, 1, 1]), 4))
    [array([3]), array([3]), array([2, 1, 1])]
    """
    start, total = 0, 0
    for step, size in enumerate(sizes):
        if total and total + size > most:
            yield sizes[start:step]
            start, total = step, 0
        total += int(size)
    yield sizes[start:]


def numbers_of(parameter: Tensor) -> Floats:
    """A parameter as an array."""
    array: Floats = parameter.detach().float().numpy()
    return array
