"""Huffman's tree over words: the more frequent a word, the shorter its path."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from firth.kernels import hierarchical_softmax as kernel


@dataclass(frozen=True, eq=False)
class HuffmanTree:
    """Each word's path from the root. Word w turns at nodes[starts[w]:starts[w + 1]]: 0 is left, 1 is right.

    >>> tree = HuffmanTree.of_counts(np.array([8, 4, 2, 1]))
    >>> [tree.code(word) for word in range(4)]
    ['1', '01', '001', '000']
    """

    starts: NDArray[np.int64]
    nodes: NDArray[np.uint32]
    turns: NDArray[np.uint8]

    @classmethod
    def of_counts(cls, counts: NDArray[np.int64]) -> HuffmanTree:
        """The tree of words by falling count; it has one inner node less than there are words."""
        size = len(counts)
        parents, codes = kernel.join(np.asarray(counts, np.int64))
        starts = np.zeros(size + 1, np.int64)
        kernel.walk(parents, codes, size, starts, np.zeros(0, np.uint32), np.zeros(0, np.uint8))
        nodes, turns = np.zeros(starts[-1], np.uint32), np.zeros(starts[-1], np.uint8)
        kernel.walk(parents, codes, size, starts, nodes, turns)
        return cls(starts, nodes, turns)

    @cached_property
    def depth(self) -> int:
        """The number of turns on the longest path."""
        return int(np.diff(self.starts).max())

    def code(self, word: int) -> str:
        """A word's turns, as digits."""
        return "".join(map(str, self.turns[self.starts[word] : self.starts[word + 1]].tolist()))
