"""A text as a biLM reads it in training: rows of words without end, cut into batches, in both directions at once.

Each of the rows takes the next sentence when it has read its last, so nothing is padded; a sentence that a batch cuts
off goes on in the next. Forwards <S> w1 … wn is read and w1 … wn </S> is to be told; backwards </S> wn … w1 is read
and wn … w1 <S> is to be told. Both directions have the same sentences in the same places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from firth.errors import OptionError
from firth.kernels import streams as kernel
from firth.runtime import map_ahead
from firth.text.tokenfile import TokenFile

LONGEST = 1000  # words; what is longer is no sentence, and is cut
AHEAD = 2  # batches that are made before they are asked for
Ids = NDArray[np.int64]
Made = TypeVar("Made")


@dataclass(frozen=True)
class StreamBatch:
    """Some steps of some rows. `words` are the distinct words, by the length of their spelling; both directions name
    a word by its place there. A target is a place in the softmax's vocabulary, or -1 where nothing is to be told.
    `fresh` is true where a sentence begins, the same in both directions.
    """

    words: Tensor  # (distinct) int64, numbers of the token file's vocabulary; then <S> and </S>
    forward: Tensor  # (steps, rows) int64
    backward: Tensor  # (steps, rows) int64
    forward_targets: Tensor  # (steps, rows) int64
    backward_targets: Tensor  # (steps, rows) int64
    fresh: Tensor  # (steps, rows) bool

    @property
    def tokens(self) -> int:
        """How many words are read in each direction."""
        return self.forward.numel()

    @property
    def targets(self) -> Tensor:
        """The targets of both directions, one after another."""
        return torch.cat([self.forward_targets, self.backward_targets]).flatten()

    def to(self, device: str | torch.device) -> StreamBatch:
        """The same batch on a device."""
        return StreamBatch(*(getattr(self, name).to(device, non_blocking=True) for name in self.__dataclass_fields__))

    def pinned(self) -> StreamBatch:
        """The same batch in memory that a GPU can copy from while it works."""
        return StreamBatch(*(getattr(self, name).pin_memory() for name in self.__dataclass_fields__))


@dataclass(frozen=True)
class StreamLayout:
    """Which sentences a row reads, and at which place of the row each begins; rows lie one after another."""

    row_starts: Ids
    sentences: Ids
    places: Ids
    steps: int  # places of the longest row


class Streams:
    """A token file in rows.

    `targets` says what each word of the token file's vocabulary is in the softmax, and then <S> and </S>. `lengths`
    are the lengths of their spellings, by which the distinct words of a batch are sorted. What a batch holds depends
    on its number, the seed and the epoch alone. `mine` are the rows that this process reads, in so many `parts`.

    >>> from firth.text.corpus import Corpus
    >>> tokens = Corpus.of(["tea and rain . rain"]).tokens()
    >>> tokens.vocabulary.words
    ('rain', '.', 'and', 'tea')
    >>> streams = Streams(tokens, np.arange(6), rows=1, steps=4)
    >>> batch = streams.batch(0)
    >>> batch.words[batch.forward][:, 0].tolist()  # <S> is 4, </S> is 5
    [4, 3, 2, 0]
    >>> batch.forward_targets[:, 0].tolist(), batch.backward_targets[:, 0].tolist()
    ([3, 2, 0, 1], [0, 1, 0, 2])
    """

    def __init__(
        self,
        tokens: TokenFile,
        targets: NDArray[np.integer],
        *,
        rows: int,
        steps: int,
        lengths: NDArray[np.integer] | None = None,
        seed: int = 1,
        shuffled: bool = False,
        whole: bool = False,
        mine: slice | None = None,
        parts: int = 1,
    ) -> None:
        self.ids, self.types = tokens.ids, len(tokens.vocabulary)
        self.edges = cut_long(tokens.sentences.astype(np.int64), LONGEST)
        self.targets = np.append(np.asarray(targets, np.int64), -1)  # so that the target of "nothing" is nothing
        self.lengths = np.zeros(self.types + 2, np.int64) if lengths is None else np.asarray(lengths, np.int64)
        self.rows, self.steps, self.seed, self.shuffled, self.whole = rows, steps, seed, shuffled, whole
        here = range(rows)[slice(0, rows) if mine is None else mine]
        self.shares = [here[len(here) * part // parts : len(here) * (part + 1) // parts] for part in range(parts)]
        self.place_of = np.full(self.types + 2, -1, np.int32)
        self.laid: tuple[int, StreamLayout] | None = None
        if not self.batches:
            raise OptionError(
                f"the text is smaller than one batch: {self.places:,} words and sentence ends do not fill {rows:,} "
                f"rows of {steps:,}. Use a smaller batch or unroll, or more text"
            )

    @property
    def places(self) -> int:
        """How many places the text fills: its words and the ends of its sentences."""
        return len(self.ids) + len(self.edges) - 1

    @property
    def batches(self) -> int:
        """The number of batches of an epoch; what does not fill one is left out, unless the `whole` text is read."""
        if self.whole:
            return -(-self.layout(0).steps // self.steps)
        return self.places // (self.rows * self.steps)

    def layout(self, epoch: int) -> StreamLayout:
        """Who reads which sentence in an epoch."""
        epoch = epoch if self.shuffled else 0
        if self.laid is None or self.laid[0] != epoch:
            self.laid = epoch, self._lay(epoch)
        return self.laid[1]

    def _lay(self, epoch: int) -> StreamLayout:
        order = np.arange(len(self.edges) - 1)
        if self.shuffled:
            np.random.default_rng([self.seed, epoch]).shuffle(order)
        until = 0 if self.whole else self.batches * self.steps
        filled = np.zeros(self.rows, np.int64)
        dealt = kernel.deal(order, self.edges, self.steps, until, filled, np.zeros(0, np.int32))
        row_of = np.empty(dealt, np.int32)
        kernel.deal(order, self.edges, self.steps, until, filled, row_of)
        laid = np.empty(self.rows + 1, np.int64), np.empty(dealt, np.int64), np.empty(dealt, np.int64)
        kernel.lay(order, self.edges, row_of, *laid)
        return StreamLayout(*laid, int(filled.max(initial=0)))

    def batch(self, number: int, part: int = 0) -> StreamBatch:
        """One batch, or a part of its rows; numbers go on from epoch to epoch."""
        rows = self.shares[part]
        epoch, place = divmod(number, self.batches)
        layout = self.layout(epoch)
        inputs = np.empty((2, self.steps, len(rows)), np.int64)
        nexts, fresh = np.empty_like(inputs), np.empty(inputs.shape[1:], np.bool_)
        laid = layout.row_starts, layout.sentences, layout.places
        where = rows.start, place * self.steps
        marks = self.types, self.types + 1
        kernel.fill(self.ids, self.edges, *laid, *where, marks, inputs, nexts, fresh)
        found = np.empty(inputs.size, np.int64)
        found = found[: kernel.distinct(inputs.reshape(-1), self.place_of, found)]
        order = np.lexsort((found, self.lengths[found]))
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        words, read, told = (torch.from_numpy(part) for part in (found[order], rank[inputs], self.targets[nexts]))
        return StreamBatch(words, read[0], read[1], told[0], told[1], torch.from_numpy(fresh))

    def read(self, first: int, last: int | None = None) -> Iterator[StreamBatch]:
        """The batches from one number to another, part by part, each made while the one before is worked on."""
        return self.each(lambda batch, number: batch, first, last)

    def each(self, finish: Callable[[StreamBatch, int], Made], first: int, last: int | None = None) -> Iterator[Made]:
        """What is made of the batches from one number to another, part by part, in a thread that keeps ahead."""
        last = self.batches if last is None else last
        wanted = ((number, part) for number in range(first, last) for part in range(len(self.shares)))

        def make(wanted: tuple[int, int]) -> Made:
            return finish(self.batch(*wanted), wanted[0])

        return map_ahead(make, wanted, threads=1, ahead=AHEAD)  # one thread: `place_of` is not to be shared


def cut_long(edges: Ids, longest: int) -> Ids:
    """The edges of sentences, with more of them inside those that are too long.

    >>> cut_long(np.array([0, 2, 9]), 3)
    array([0, 2, 5, 8, 9])
    """
    pieces = np.maximum(1, -(-np.diff(edges) // longest))
    if pieces.max(initial=1) == 1:
        return edges
    firsts = np.repeat(np.cumsum(pieces) - pieces, pieces)
    inside = np.arange(len(firsts)) - firsts
    return np.append(np.repeat(edges[:-1], pieces) + longest * inside, edges[-1])
