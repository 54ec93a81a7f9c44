"""The training text of a biLM as streams: rows of words, cut into batches, in both directions at once.

A row takes the next sentence when its last one ends, so there is no padding; a sentence that a batch cuts continues in
the next. Forward, the inputs <S> w1 … wn have the targets w1 … wn </S>; backward, </S> wn … w1 have wn … w1 <S>. Both
directions have the same sentences at the same positions.

A text of more than `WINDOW` sentences is read window by window: the order of the windows is shuffled, and within a
window the order of its sentences. Memory holds the layout of one window, whatever the size of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
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
WINDOW = 1 << 24  # sentences that are shuffled together; their layout takes 0.6 GB
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
    """The sentences of each row, one row after another, and the position in its row where each begins.

    `edges` are the offsets of the sentences of the window in the token file.
    """

    edges: Ids
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
        self.ids, self.types, self.sentences = tokens.ids, len(tokens.vocabulary), tokens.sentences
        count = len(tokens.sentences) - 1
        windows = 1 if whole else max(1, -(-count // WINDOW))
        self.windows = np.array([count * place // windows for place in range(windows + 1)], np.int64)
        self.targets = np.append(np.asarray(targets, np.int64), -1)  # so that id -1 has the target -1
        self.lengths = np.zeros(self.types + 2, np.int64) if lengths is None else np.asarray(lengths, np.int64)
        self.rows, self.steps, self.seed, self.shuffled, self.whole = rows, steps, seed, shuffled, whole
        here = range(rows)[slice(0, rows) if mine is None else mine]
        self.shares = [here[len(here) * part // parts : len(here) * (part + 1) // parts] for part in range(parts)]
        self.place_of = np.full(self.types + 2, -1, np.int32)
        self.last_layout: tuple[tuple[int, int], StreamLayout] | None = None
        self.last_edges: tuple[int, Ids] | None = None
        if not self.batches:
            raise OptionError(
                f"the text is smaller than one batch: {self.places:,} words and sentence ends do not fill {rows:,} "
                f"rows of {steps:,}. Use a smaller batch or unroll, or more text"
            )

    @property
    def places(self) -> int:
        """The number of positions of the text: its words and sentence ends."""
        return int(self.places_of.sum())

    @cached_property
    def places_of(self) -> Ids:
        """The number of positions of each window. Of several windows only the borders are read, so that a sentence that
        is cut counts as one: the last positions of such a window are left out.
        """
        if len(self.windows) == 2:
            return np.array([len(self.ids) + len(self.edges_of(0)) - 1])
        offsets = self.sentences[self.windows].astype(np.int64)
        return np.diff(offsets) + np.diff(self.windows)

    def edges_of(self, window: int) -> Ids:
        """The offsets of the sentences of a window in the token file."""
        if self.last_edges is None or self.last_edges[0] != window:
            self.last_edges = None
            own = self.sentences[self.windows[window] : self.windows[window + 1] + 1]
            self.last_edges = window, cut_long(own.astype(np.int64), LONGEST)
        return self.last_edges[1]

    @cached_property
    def batches_of(self) -> Ids:
        """The number of batches of each window; a last partial batch is left out, unless the `whole` text is needed."""
        if self.whole:
            return np.array([-(-self.layout(0).steps // self.steps)])
        return self.places_of // (self.rows * self.steps)

    @property
    def batches(self) -> int:
        """The number of batches of an epoch."""
        return int(self.batches_of.sum())

    def find_window(self, number: int) -> tuple[int, int, int]:
        """The epoch of a batch, its window, and its place among the batches of the window."""
        epoch, place = divmod(number, self.batches)
        order = np.arange(len(self.windows) - 1)
        if self.shuffled and len(order) > 1:
            np.random.default_rng([self.seed, epoch, len(order)]).shuffle(order)
        ends = np.cumsum(self.batches_of[order])
        turn = int(np.searchsorted(ends, place, "right"))
        window = int(order[turn])
        return epoch, window, place - int(ends[turn] - self.batches_of[window])

    def layout(self, epoch: int, window: int = 0) -> StreamLayout:
        """The sentences of each row in a window, in an epoch."""
        epoch = epoch if self.shuffled else 0
        if self.last_layout is None or self.last_layout[0] != (epoch, window):
            self.last_layout = None  # two need not be in memory
            self.last_layout = (epoch, window), self._make_layout(epoch, window)
        return self.last_layout[1]

    def _make_layout(self, epoch: int, window: int) -> StreamLayout:
        edges = self.edges_of(window)
        order = np.arange(len(edges) - 1)
        if self.shuffled:
            np.random.default_rng([self.seed, epoch, *([window] if window else [])]).shuffle(order)
        until = 0 if self.whole else int(self.batches_of[window]) * self.steps
        filled = np.zeros(self.rows, np.int64)
        dealt = kernel.deal(order, edges, self.steps, until, filled, np.zeros(0, np.int32))
        row_of = np.empty(dealt, np.int32)
        kernel.deal(order, edges, self.steps, until, filled, row_of)
        arrays = np.empty(self.rows + 1, np.int64), np.empty(dealt, np.int64), np.empty(dealt, np.int64)
        kernel.sort_by_row(order, edges, row_of, *arrays)
        return StreamLayout(edges, *arrays, int(filled.max(initial=0)))

    def batch(self, number: int, part: int = 0) -> StreamBatch:
        """One batch, or a part of its rows. Numbers count through all epochs."""
        rows = self.shares[part]
        epoch, window, place = self.find_window(number)
        layout = self.layout(epoch, window)
        inputs = np.empty((2, self.steps, len(rows)), np.int64)
        nexts, fresh = np.empty_like(inputs), np.empty(inputs.shape[1:], np.bool_)
        sentences = layout.row_starts, layout.sentences, layout.places
        where = rows.start, place * self.steps
        marks = self.types, self.types + 1
        kernel.fill(self.ids, layout.edges, *sentences, *where, marks, inputs, nexts, fresh)
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
