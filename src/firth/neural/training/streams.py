"""The training text of a biLM as streams: rows of words, cut into batches, in both directions at once.

A row takes the next sentence when its last one ends, so there is no padding; a sentence that a batch cuts continues in
the next. Forward, the inputs <S> w1 … wn have the targets w1 … wn </S>; backward, </S> wn … w1 have wn … w1 <S>. Both
directions have the same sentences at the same positions.
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
from firth.neural.device import TensorRecord
from firth.runtime import map_ahead
from firth.text.tokenfile import TokenFile

LONGEST = 1000  # words; longer sentences are cut
AHEAD = 2  # batches that are made before they are needed
Ids = NDArray[np.int64]
Result = TypeVar("Result")


@dataclass(frozen=True)
class StreamBatch(TensorRecord):
    """Some steps of some rows. `words` are the distinct words, by length; `forward` and `backward` are places there.
    A target is an id in the vocabulary of the softmax, or -1 for none. `fresh` is true where a sentence begins, in
    both directions.
    """

    words: Tensor  # (distinct) int64, ids in the vocabulary of the token file; then <S> and </S>
    forward: Tensor  # (steps, rows) int64
    backward: Tensor  # (steps, rows) int64
    forward_targets: Tensor  # (steps, rows) int64
    backward_targets: Tensor  # (steps, rows) int64
    fresh: Tensor  # (steps, rows) bool

    @property
    def tokens(self) -> int:
        """The number of tokens of each direction."""
        return self.forward.numel()

    @property
    def targets(self) -> Tensor:
        """The targets of both directions, one after another."""
        return torch.cat([self.forward_targets, self.backward_targets]).flatten()


@dataclass(frozen=True)
class StreamLayout:
    """The sentences of each row, one row after another, and the position in its row where each begins."""

    row_starts: Ids
    sentences: Ids
    places: Ids
    steps: int  # positions of the longest row


class Streams:
    """A token file in rows.

    `targets` are the ids in the softmax of the words of the token file's vocabulary, then of <S> and </S>. `lengths`
    are their lengths in characters, by which the distinct words of a batch are sorted. A batch depends on its number,
    the seed and the epoch alone. `mine` are the rows of this process, in `parts` parts.

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
        self.targets = np.append(np.asarray(targets, np.int64), -1)  # so that id -1 has the target -1
        self.lengths = np.zeros(self.types + 2, np.int64) if lengths is None else np.asarray(lengths, np.int64)
        self.rows, self.steps, self.seed, self.shuffled, self.whole = rows, steps, seed, shuffled, whole
        here = range(rows)[slice(0, rows) if mine is None else mine]
        self.shares = [here[len(here) * part // parts : len(here) * (part + 1) // parts] for part in range(parts)]
        self.place_of = np.full(self.types + 2, -1, np.int32)
        self.last_layout: tuple[int, StreamLayout] | None = None
        if not self.batches:
            raise OptionError(
                f"the text is smaller than one batch: {self.places:,} words and sentence ends do not fill {rows:,} "
                f"rows of {steps:,}. Use a smaller batch or unroll, or more text"
            )

    @property
    def places(self) -> int:
        """The number of positions of the text: its words and sentence ends."""
        return len(self.ids) + len(self.edges) - 1

    @property
    def batches(self) -> int:
        """The number of batches of an epoch; a last partial batch is left out, unless the `whole` text is needed."""
        if self.whole:
            return -(-self.layout(0).steps // self.steps)
        return self.places // (self.rows * self.steps)

    def layout(self, epoch: int) -> StreamLayout:
        """The sentences of each row in an epoch."""
        epoch = epoch if self.shuffled else 0
        if self.last_layout is None or self.last_layout[0] != epoch:
            self.last_layout = epoch, self._make_layout(epoch)
        return self.last_layout[1]

    def _make_layout(self, epoch: int) -> StreamLayout:
        order = np.arange(len(self.edges) - 1)
        if self.shuffled:
            np.random.default_rng([self.seed, epoch]).shuffle(order)
        until = 0 if self.whole else self.batches * self.steps
        filled = np.zeros(self.rows, np.int64)
        dealt = kernel.deal(order, self.edges, self.steps, until, filled, np.zeros(0, np.int32))
        row_of = np.empty(dealt, np.int32)
        kernel.deal(order, self.edges, self.steps, until, filled, row_of)
        arrays = np.empty(self.rows + 1, np.int64), np.empty(dealt, np.int64), np.empty(dealt, np.int64)
        kernel.sort_by_row(order, self.edges, row_of, *arrays)
        return StreamLayout(*arrays, int(filled.max(initial=0)))

    def batch(self, number: int, part: int = 0) -> StreamBatch:
        """One batch, or a part of its rows. Numbers count through all epochs."""
        rows = self.shares[part]
        epoch, place = divmod(number, self.batches)
        layout = self.layout(epoch)
        inputs = np.empty((2, self.steps, len(rows)), np.int64)
        nexts, fresh = np.empty_like(inputs), np.empty(inputs.shape[1:], np.bool_)
        sentences = layout.row_starts, layout.sentences, layout.places
        where = rows.start, place * self.steps
        marks = self.types, self.types + 1
        kernel.fill(self.ids, self.edges, *sentences, *where, marks, inputs, nexts, fresh)
        distinct = np.empty(inputs.size, np.int64)
        distinct = distinct[: kernel.number_distinct(inputs.reshape(-1), self.place_of, distinct)]
        order = np.lexsort((distinct, self.lengths[distinct]))
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        words, read, targets = (torch.from_numpy(part) for part in (distinct[order], rank[inputs], self.targets[nexts]))
        return StreamBatch(words, read[0], read[1], targets[0], targets[1], torch.from_numpy(fresh))

    def read(self, first: int, last: int | None = None) -> Iterator[StreamBatch]:
        """The batches from number `first` to `last`, part by part, made in a thread ahead of their use."""
        return self.each(lambda batch, number: batch, first, last)

    def each(
        self, finish: Callable[[StreamBatch, int], Result], first: int, last: int | None = None
    ) -> Iterator[Result]:
        """`finish` of each batch from number `first` to `last`, part by part, made in a thread ahead of use."""
        last = self.batches if last is None else last
        wanted = ((number, part) for number in range(first, last) for part in range(len(self.shares)))

        def make(wanted: tuple[int, int]) -> Result:
            return finish(self.batch(*wanted), wanted[0])

        return map_ahead(make, wanted, threads=1, ahead=AHEAD)  # one thread, since `place_of` must not be shared


def cut_long(edges: Ids, longest: int) -> Ids:
    """The edges of sentences, with more edges inside sentences that are too long.

    >>> cut_long(np.array([0, 2, 9]), 3)
    array([0, 2, 5, 8, 9])
    """
    pieces = np.maximum(1, -(-np.diff(edges) // longest))
    if pieces.max(initial=1) == 1:
        return edges
    firsts = np.repeat(np.cumsum(pieces) - pieces, pieces)
    inside = np.arange(len(firsts)) - firsts
    return np.append(np.repeat(edges[:-1], pieces) + longest * inside, edges[-1])
