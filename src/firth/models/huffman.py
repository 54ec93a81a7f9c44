"""The Huffman tree of a vocabulary: the more frequent a word, the shorter its path."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from firth.kernels import hierarchical_softmax as kernel


@dataclass(frozen=True, eq=False)
class HuffmanTree:
    """The path of each word from the root: inner nodes[starts[w]:starts[w + 1]] with their turns (0 left, 1 right).

    >>> tree = HuffmanTree.of_counts(np.array([8, 4, 2, 1]))
    >>> [tree.code(word) for word in range(4)]
    ['1', '01', '001', '000']
    """

    starts: NDArray[np.int64]
    nodes: NDArray[np.uint32]
    turns: NDArray[np.uint8]

    @classmethod
    def of_counts(cls, counts: NDArray[np.int64]) -> HuffmanTree:
        """The tree of words in descending order of count; n words have n - 1 inner nodes."""
        size = len(counts)
        parents, codes = kernel.join(np.asarray(counts, np.int64))
        starts = np.zeros(size + 1, np.int64)
        kernel.walk(parents, codes, size, starts, np.zeros(0, np.uint32), np.zeros(0, np.uint8))
        nodes, turns = np.zeros(starts[-1], np.uint32), np.zeros(starts[-1], np.uint8)
        kernel.walk(parents, codes, size, starts, nodes, turns)
        return cls(starts, nodes, turns)

    @property
    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint8]]:
        """The tree as kernels take it."""
        return self.starts, self.nodes, self.turns

    @cached_property
    def depth(self) -> int:
        """The number of turns on the longest path."""
        return int(np.diff(self.starts).max())

    def code(self, word: int) -> str:
        """The Huffman code of a word: its turns as digits."""
        return "".join(map(str, self.turns[self.starts[word] : self.starts[word + 1]].tolist()))
