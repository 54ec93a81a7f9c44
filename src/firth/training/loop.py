"""The one training loop: blocks of text, epochs, a falling learning rate, the loss, and checkpoints.

A `Learner` knows how one block of text changes its arrays; the loop knows everything else. The text is cut into blocks
of some 50,000 words. What a block does depends on its place alone (its learning rate, its random numbers), never on who
computes it or when, so one thread gives the same bits in every run, interrupted or not. Several threads take blocks as
they come and write to the same arrays without locks (Hogwild): rows of two blocks seldom meet.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from firth.errors import Diverged, OptionError
from firth.files import Name
from firth.kernels import random as random_kernel
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime
from firth.training.checkpoints import Position, interrupted_error, restore_checkpoint, save_checkpoint, stopping

BLOCK = 50_000
LOWEST_RATE = 1e-4  # of the first learning rate
RUNAWAY = 10.0  # times the loss of guessing
ORDER = 2**32 - 3  # the epoch whose random numbers are the order of the blocks
HELD_OUT = 2**32 - 2  # the epoch whose random numbers are for the held-out text


@dataclass(frozen=True)
class Block:
    """A run of words, with all that its training depends on. `ends` are the ends of its sentences, from its start."""

    ids: NDArray[np.uint32]
    ends: NDArray[np.int64]
    epoch: int
    number: int
    rate: float
    last_rate: float


@dataclass(frozen=True)
class Tally:
    """What training a block gave: the loss, summed, and the number of predictions that it is the sum of."""

    loss: float
    count: int


class Learner(Protocol):
    """What is trained. `arrays` are changed in place by `train`; `guess` is the loss of one prediction by chance."""

    @property
    def arrays(self) -> Mapping[str, NDArray[Any]]: ...
    @property
    def guess(self) -> float: ...
    def train(self, block: Block) -> Tally: ...


@dataclass(frozen=True)
class Schedule:
    """Which blocks are trained, and with which learning rate: it falls linearly over all epochs.

    With a seed every epoch has the blocks in another order: what a text says last would else count for more.

    >>> ids, sentences = np.zeros(10, np.uint32), np.array([0, 4, 10], np.uint64)
    >>> schedule = Schedule(ids, sentences, epochs=2, learning_rate=0.5, size=4)
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
        """Where blocks begin and end: at the end of a sentence, or within one that is longer than a block."""
        edges, total = [0], len(self.ids)
        while edges[-1] < total:
            furthest = min(edges[-1] + self.size, total)
            end = int(self.sentences[self._sentence(furthest, "right") - 1])
            edges.append(end if end > edges[-1] else furthest)
        return edges

    def _sentence(self, word: int, side: Literal["left", "right"]) -> int:
        """Where a place of the text belongs among the sentences."""
        # A number of another type than the array's would make NumPy convert the whole array for one look into it.
        return int(np.searchsorted(self.sentences, np.uint64(word), side))

    @property
    def words(self) -> int:
        """The number of words that all epochs read."""
        return self.epochs * len(self.ids)

    @property
    def steps(self) -> int:
        """The number of blocks of all epochs."""
        return self.epochs * (len(self.edges) - 1)

    def rate_at(self, words: int) -> float:
        """The learning rate after so many words."""
        return self.learning_rate * max(LOWEST_RATE, 1 - words / max(1, self.words))

    @cached_property
    def orders(self) -> list[NDArray[np.int64]]:
        """The order of the blocks in each epoch."""
        count = len(self.edges) - 1
        if self.seed is None:
            return [np.arange(count)] * self.epochs
        chances = [random_kernel.key(self.seed, ORDER, place) for place in range(self.epochs * count)]
        return list(np.argsort(np.array(chances, np.uint64).reshape(self.epochs, count), axis=1, kind="stable"))

    @cached_property
    def befores(self) -> list[list[int]]:
        """The number of words that each epoch has read before each of its blocks, and at its end."""
        sizes = np.diff(self.edges)
        return [[0, *np.cumsum(sizes[order]).tolist()] for order in self.orders]

    def words_before(self, step: int) -> int:
        """The number of words read before a step."""
        epoch, place = divmod(step, len(self.edges) - 1)
        return epoch * len(self.ids) + (self.befores[epoch][place] if place else 0)

    def block(self, step: int) -> Block:
        """The block of a step, counted over all epochs."""
        epoch, place = divmod(step, len(self.edges) - 1)
        number = int(self.orders[epoch][place])
        first, last = self.edges[number], self.edges[number + 1]
        inside = slice(self._sentence(first, "right"), self._sentence(last, "left"))
        ends = np.append(self.sentences[inside].astype(np.int64), last) - first
        rates = (self.rate_at(words) for words in (self.words_before(step), self.words_before(step + 1)))
        return Block(self.ids[first:last], ends, epoch, number, *rates)

    def blocks(self) -> Iterator[Block]:
        """All blocks of all epochs."""
        return map(self.block, range(self.steps))

    def end_of_epoch(self, step: int) -> int:
        """The step at which the epoch of a step is over."""
        length = len(self.edges) - 1
        return (step // length + 1) * length


@dataclass(frozen=True)
class HeldOut:
    """Text that is not trained on: its loss is taken at the end of each epoch, over the same random numbers each time.

    Training with a learning rate of 0 changes nothing and tells the loss; `learner` has the arrays of the one that is
    trained.
    """

    learner: Learner
    ids: NDArray[np.uint32]
    sentences: NDArray[np.uint64]

    def blocks(self) -> Iterator[Block]:
        """The blocks of the text, in an epoch of their own, with the learning rate 0."""
        for block in Schedule(self.ids, self.sentences, epochs=1, learning_rate=0.0).blocks():
            yield replace(block, epoch=HELD_OUT)

    def loss(self, runtime: Runtime) -> float:
        """The mean loss of a prediction."""
        tallies = list(runtime.stream(self.learner.train, self.blocks()))
        count = sum(tally.count for tally in tallies)
        if not count:
            raise OptionError("the held-out text has nothing that could be predicted: none of its words are known")
        return math.fsum(tally.loss for tally in tallies) / count


@dataclass(frozen=True)
class Run:
    """Who does the work, who watches, and where the state is kept, so that a run that was stopped goes on."""

    runtime: Runtime
    report: Report = silent
    checkpoint: Name | None = None
    resume: bool = True


def train(
    learner: Learner,
    schedule: Schedule,
    run: Run,
    *,
    held_out: HeldOut | None = None,
    identity: Mapping[str, Any] | None = None,
    every: float = 600.0,
) -> Position:
    """Trains on all blocks of a schedule; the position at the end tells the loss of each epoch.

    With a checkpoint the state is kept every so many seconds, and when Ctrl-C stops the run; a later run with the same
    `identity` goes on from it.
    """
    position = Position(0, [0.0] * schedule.epochs, [0] * schedule.epochs)
    text = {"epochs": schedule.epochs, "words": schedule.words, "block": schedule.size}
    identity = dict(identity or {}, learning_rate=schedule.learning_rate, **text)
    if run.checkpoint is not None and run.resume:
        position = restore_checkpoint(run.checkpoint, learner.arrays, identity) or position
    if held_out is not None and position.step == 0:
        held_out.loss(run.runtime)  # a text that cannot be used is told now, not after the first epoch
    with stopping(run.checkpoint is not None) as is_asked_to_stop:
        while position.step < schedule.steps:
            _round(learner, schedule, position, run, held_out, is_asked_to_stop, every)
            if run.checkpoint is not None:
                save_checkpoint(run.checkpoint, learner.arrays, identity, position)
            if is_asked_to_stop() and position.step < schedule.steps:
                raise interrupted_error(run.checkpoint)
    return position


def _round(
    learner: Learner,
    schedule: Schedule,
    position: Position,
    run: Run,
    held_out: HeldOut | None,
    is_asked_to_stop: Callable[[], bool],
    every: float,
) -> None:
    """Trains until it is time for a checkpoint, or for the held-out loss at the end of an epoch.

    All blocks that were begun are finished, so the place is exact.
    """
    until = time.monotonic() + every
    first = position.step  # the generator runs ahead of the results, so it must not see the position move
    last = schedule.steps if held_out is None else schedule.end_of_epoch(first)

    def due() -> Iterator[Block]:
        for step in range(first, last):
            if is_asked_to_stop():
                return
            yield schedule.block(step)
            if time.monotonic() > until:
                return

    def work(block: Block) -> tuple[Block, Tally]:
        return block, learner.train(block)

    for block, tally in run.runtime.stream(work, due()):
        position.step += 1
        position.losses[block.epoch] += tally.loss
        position.counts[block.epoch] += tally.count
        loss = tally.loss / max(1, tally.count)
        if not math.isfinite(loss) or loss > RUNAWAY * learner.guess:
            raise Diverged(schedule.words_before(position.step), schedule.learning_rate, loss)
        run.report(_progress(schedule, position))
    if held_out is not None and position.step == last:
        position.held_out.append(held_out.loss(run.runtime))
        run.report(_progress(schedule, position))


def _progress(schedule: Schedule, position: Position) -> Progress:
    """Where training stands after at least one step."""
    epoch = (position.step - 1) // (len(schedule.edges) - 1)
    words = schedule.words_before(position.step)
    values = {"loss": position.curve[epoch], "rate": schedule.rate_at(words), "epoch": epoch + 1}
    if position.held_out:
        values["held_out_loss"] = position.held_out[-1]
    return Progress("training", words, schedule.words, "words", values)
