"""The character CNN for inference on a CPU: the values of `CharacterCnn` to 1e-6, faster.

The filters add rows of a table (see `kernels/character_cnn.py`), which is less work than the highway layers after them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from firth.kernels import character_cnn as kernel
from firth.kernels import matmul
from firth.kernels.matmul import BLOCK
from firth.kernels.simd_float import LANES, matrix
from firth.neural.inference.lstm_cpu import to_array
from firth.neural.layers import CharacterCnn, Highway
from firth.runtime import Runtime
from firth.text.character_ids import FILL

Floats = NDArray[np.float32]
SIDES = BLOCK // 2  # features whose gates and transforms fill a block


class CnnCpu:
    """A character CNN with its current weights packed.

    >>> cnn = CharacterCnn(4, filters=((1, 4), (2, 8)), highways=1)
    >>> CnnCpu(cnn)(["tea", "rain"]).shape
    torch.Size([2, 4])
    """

    def __init__(self, cnn: CharacterCnn, runtime: Runtime | None = None) -> None:
        self.runtime = runtime or Runtime.from_env()
        self.cnn = cnn
        self.filters = [FilterTable(cnn.table, conv) for conv in cnn.filters if isinstance(conv, nn.Conv1d)]
        self.features = sum(filters.count for filters in self.filters)
        self.highways = [PackedLinear(*interleave(highway)) for highway in cnn.highways if isinstance(highway, Highway)]
        self.projection = None if cnn.projection is None else PackedLinear(*weights_of(cnn.projection))

    def parameters(self) -> Iterator[nn.Parameter]:
        """The weights of the CNN."""
        return self.cnn.parameters()

    def __call__(self, words: Sequence[str]) -> Tensor:
        """The vectors of words, (n, dim)."""
        ids = self.cnn.spelling.of(words)
        lengths = (ids != FILL).sum(1)
        shares = self.runtime.shares(len(words))
        vectors = self.runtime.map(lambda share: self.encode(ids[share], lengths[share]), shares)
        dim = self.features if self.projection is None else self.projection.columns
        return torch.from_numpy(np.concatenate([np.zeros((0, dim), np.float32), *vectors]))

    def encode(self, ids: NDArray[np.int32], lengths: NDArray[np.int64]) -> Floats:
        """The vectors of words from their character ids, (n, dim)."""
        x = matrix(len(ids), -(-self.features // SIDES) * SIDES)
        end = 0
        for filters in self.filters:
            end += filters.count
            x[:, end - filters.count : end] = filters.max_pool(ids, lengths)
        if self.cnn.activation is torch.relu:
            np.maximum(x, 0, out=x)
        else:
            np.tanh(x, out=x)
        for highway in self.highways:
            kernel.highway(highway(x), x)
        return x[:, : self.features] if self.projection is None else self.projection(x)[:, : self.projection.columns]


class FilterTable:
    """The filters of one width."""

    def __init__(self, characters: Tensor, conv: nn.Conv1d) -> None:
        self.count, _, self.width = conv.weight.shape
        # The product of each filter with each character at each position: (positions · characters, filters).
        products = torch.einsum("cd,fdj->jcf", characters.detach().double(), conv.weight.detach().double())
        self.table = matrix(self.width * len(characters), self.count)
        self.table[:, : self.count] = products.reshape(-1, self.count).float().numpy()
        self.bias = np.zeros(self.count, np.float32) if conv.bias is None else to_array(conv.bias)

    def max_pool(self, ids: NDArray[np.int32], lengths: NDArray[np.int64]) -> Floats:
        """The maximum of each filter over the windows of each word."""
        highest = np.empty((len(ids), self.table.shape[1]), np.float32)
        kernel.max_pool(ids, lengths, self.table, self.width, highest)
        return highest[:, : self.count] + self.bias


class PackedLinear:
    """weight · x + bias for many x, in float32."""

    def __init__(self, weight: Floats, bias: Floats) -> None:
        self.columns = len(weight)
        self.matrix = matmul.pack(weight, "float32")
        self.bias = np.zeros((len(self.matrix[0]), BLOCK), np.float32)
        self.bias.reshape(-1)[: self.columns] = bias

    def __call__(self, x: Floats) -> Floats:
        """The products, (n, columns padded to whole blocks)."""
        blocks, count = len(self.bias), len(x)
        out = np.empty((count, blocks * BLOCK), np.float32)
        rows = matmul.allocate_rows(count, self.matrix[0])
        matmul.convert_rows(x, count, rows)
        matmul.multiply(self.matrix, self.bias, (0, blocks), rows, count, out.reshape(-1, BLOCK), blocks, 1)
        return out


def interleave(highway: Highway) -> tuple[Floats, Floats]:
    """Weight and bias of a highway layer: 16 rows of the transform and 16 of the gate in turn."""
    both = []
    for part in zip(weights_of(highway.transform), weights_of(highway.gate)):
        size = len(part[0])
        padded = np.zeros((2, -(-size // SIDES) * SIDES, *part[0].shape[1:]), np.float32)
        padded[:, :size] = part
        groups = padded.reshape(2, -1, LANES, *part[0].shape[1:]).swapaxes(0, 1)
        both.append(groups.reshape(-1, *part[0].shape[1:]))
    return both[0], both[1]


def weights_of(linear: nn.Linear) -> tuple[Floats, Floats]:
    return to_array(linear.weight), to_array(linear.bias)
