"""Which blocks of text a training reads, in which order, and at which learning rate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from firth.kernels import random as random_kernel

BLOCK = 50_000  # words
LOWEST_RATE = 1e-4  # as a fraction of the initial learning rate
ORDER = 2**32 - 3  # the epoch number whose random numbers order the blocks


@dataclass(frozen=True)
class TextBlock:
    """Consecutive words and everything their training depends on. `ends` are sentence ends, counted from the start.

    The learning rate falls linearly from `rate` to `last_rate` within the block. `first` is the number of words before
    it in the text.
    """

    ids: NDArray[np.uint32]
    ends: NDArray[np.int64]
    epoch: int
    number: int
    rate: float
    last_rate: float
    first: int


@dataclass(frozen=True)
class BlockSchedule:
    """The blocks of all epochs. The learning rate falls linearly to 0 over the whole training.

    With a seed, each epoch visits the blocks in another order; without one, the end of the text would have more
    influence than its beginning.

    >>> ids, sentences = np.zeros(10, np.uint32), np.array([0, 4, 10], np.uint64)
    >>> schedule = BlockSchedule(ids, sentences, epochs=2, learning_rate=0.5, size=4)
    >>> [(block.epoch, len(block.ids), block.ends.tolist(), round(block.rate, 3)) for block in schedule.blocks()]
    [(0, 4, [4], 0.5), (0, 4, [4], 0.4), (0, 2, [2], 0.3), (1, 4, [4], 0.25), (1, 4, [4], 0.15), (1, 2, [2], 0.05)]
    """

    ids: NDArray[np.uint32]
    sentences: NDArray[np.uint64]
    epochs: int
    learning_rate: float
    size: int = BLOCK
    seed: int | None = None

    @cached_property
    def edges(self) -> list[int]:
        """Where blocks begin and end: at a sentence end, or inside a sentence that is longer than a block."""
        edges, total = [0], len(self.ids)
        while edges[-1] < total:
            furthest = min(edges[-1] + self.size, total)
            end = int(self.sentences[self._sentence(furthest, "right") - 1])
            edges.append(end if end > edges[-1] else furthest)
        return edges

    def _sentence(self, word: int, side: Literal["left", "right"]) -> int:
        """The index of a text position among the sentence boundaries."""
        # A scalar of another type than the array's would make NumPy convert the whole array for one look-up.
        return int(np.searchsorted(self.sentences, np.uint64(word), side))

    @property
    def identity(self) -> dict[str, Any]:
        """What a checkpoint of this schedule must agree with."""
        text = {"epochs": self.epochs, "words": self.words, "block": self.size}
        return {"learning_rate": self.learning_rate, **text}

    @property
    def words(self) -> int:
        """The number of words in all epochs together."""
        return self.epochs * len(self.ids)

    @property
    def steps(self) -> int:
        """The number of blocks in all epochs together."""
        return self.epochs * self.blocks_per_epoch

    @property
    def blocks_per_epoch(self) -> int:
        return len(self.edges) - 1

    def rate_at(self, words: int) -> float:
        """The learning rate after `words` words."""
        return self.learning_rate * max(LOWEST_RATE, 1 - words / max(1, self.words))

    @cached_property
    def orders(self) -> list[NDArray[np.int64]]:
        """The order of the blocks in each epoch."""
        count = self.blocks_per_epoch
        if self.seed is None:
            return [np.arange(count)] * self.epochs
        keys = [random_kernel.key(self.seed, ORDER, place) for place in range(self.epochs * count)]
        return list(np.argsort(np.array(keys, np.uint64).reshape(self.epochs, count), axis=1, kind="stable"))

    @cached_property
    def offsets(self) -> list[list[int]]:
        """For each epoch, the number of words before each of its blocks, and at its end."""
        sizes = np.diff(self.edges)
        return [[0, *np.cumsum(sizes[order]).tolist()] for order in self.orders]

    def words_before(self, step: int) -> int:
        """The number of words read before a step."""
        epoch, place = divmod(step, self.blocks_per_epoch)
        return epoch * len(self.ids) + (self.offsets[epoch][place] if place else 0)

    def block(self, step: int) -> TextBlock:
        """The block of a step; steps are counted over all epochs."""
        epoch, place = divmod(step, self.blocks_per_epoch)
        number = int(self.orders[epoch][place])
        first, last = self.edges[number], self.edges[number + 1]
        inside = slice(self._sentence(first, "right"), self._sentence(last, "left"))
        ends = np.append(self.sentences[inside].astype(np.int64), last) - first
        rate, last_rate = (self.rate_at(words) for words in (self.words_before(step), self.words_before(step + 1)))
        return TextBlock(self.ids[first:last], ends, epoch, number, rate, last_rate, first)

    def blocks(self) -> Iterator[TextBlock]:
        """All blocks of all epochs."""
        return map(self.block, range(self.steps))

    def epoch_end(self, step: int) -> int:
        """The step at which the epoch of a step ends."""
        return (step // self.blocks_per_epoch + 1) * self.blocks_per_epoch
