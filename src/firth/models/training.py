"""The one training loop: blocks of text, epochs, a falling learning rate, the loss, and checkpoints.

A `Learner` knows how one block of text changes its arrays; the loop knows everything else. The text is cut into blocks
of some 50,000 words. What a block does depends on its place alone (its learning rate, its random numbers), never on who
computes it or when, so one thread gives the same bits in every run, interrupted or not. Several threads take blocks as
they come and write to the same arrays without locks (Hogwild): rows of two blocks seldom meet.
"""

from __future__ import annotations

import json
import math
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from firth.errors import Diverged, FormatError, OptionError
from firth.files import Name, whole_folder
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime

BLOCK = 50_000
LOWEST_RATE = 1e-4  # of the first learning rate
RUNAWAY = 10.0  # times the loss of guessing
CONFIG, ARRAYS = "config.json", "state.safetensors"


class Text(Protocol):
    """Ids and the sentences among them, as a `TokenFile` has them."""

    @property
    def ids(self) -> NDArray[np.uint32]: ...
    @property
    def sentences(self) -> NDArray[np.uint64]: ...


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

    @cached_property
    def edges(self) -> list[int]:
        """Where blocks begin and end: at the end of a sentence, or within one that is longer than a block."""
        edges, total = [0], len(self.ids)
        while edges[-1] < total:
            furthest = min(edges[-1] + self.size, total)
            end = int(self.sentences[np.searchsorted(self.sentences, furthest, side="right") - 1])
            edges.append(end if end > edges[-1] else furthest)
        return edges

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

    def words_before(self, step: int) -> int:
        """The number of words read before a step."""
        epoch, number = divmod(step, len(self.edges) - 1)
        return epoch * len(self.ids) + self.edges[number]

    def block(self, step: int) -> Block:
        """The block of a step, counted over all epochs."""
        epoch, number = divmod(step, len(self.edges) - 1)
        first, last = self.edges[number], self.edges[number + 1]
        inside = slice(np.searchsorted(self.sentences, first, "right"), np.searchsorted(self.sentences, last, "left"))
        ends = np.append(self.sentences[inside].astype(np.int64), last) - first
        done = epoch * len(self.ids)
        return Block(self.ids[first:last], ends, epoch, number, self.rate_at(done + first), self.rate_at(done + last))

    def blocks(self, first: int = 0) -> Iterator[Block]:
        """All blocks from a step on."""
        return map(self.block, range(first, self.steps))


@dataclass
class Position:
    """How far training has come: steps done, and the loss and count of each epoch so far."""

    step: int
    losses: list[float]
    counts: list[int]

    @property
    def curve(self) -> list[float]:
        """The mean loss of a prediction, by epoch."""
        return [loss / max(1, count) for loss, count in zip(self.losses, self.counts)]


def train(
    learner: Learner,
    schedule: Schedule,
    *,
    runtime: Runtime | None = None,
    report: Report = silent,
    checkpoint: Name | None = None,
    resume: bool = True,
    identity: Mapping[str, Any] | None = None,
    every: float = 600.0,
) -> list[float]:
    """Trains on all blocks of a schedule; returns the mean loss of a prediction in each epoch.

    With `checkpoint`, a folder, the state is kept there every so many seconds, and when Ctrl-C stops the run; a later
    run with the same `identity` goes on from it.
    """
    runtime = runtime or Runtime.from_env()
    position = Position(0, [0.0] * schedule.epochs, [0] * schedule.epochs)
    identity = dict(identity or {}, epochs=schedule.epochs, learning_rate=schedule.learning_rate, words=schedule.words)
    if checkpoint is not None and resume and (Path(checkpoint) / CONFIG).exists():
        position = restore(checkpoint, learner.arrays, identity)
    with stopping(checkpoint is not None) as is_asked_to_stop:
        while position.step < schedule.steps:
            _round(learner, schedule, position, runtime, report, is_asked_to_stop, every)
            if checkpoint is not None:
                keep(checkpoint, learner.arrays, identity, position)
            if is_asked_to_stop() and position.step < schedule.steps:
                raise KeyboardInterrupt
    return position.curve


def _round(
    learner: Learner,
    schedule: Schedule,
    position: Position,
    runtime: Runtime,
    report: Report,
    is_asked_to_stop: Any,
    every: float,
) -> None:
    """Trains until it is time for a checkpoint. All blocks that were begun are finished, so the place is exact."""
    until = time.monotonic() + every

    def due() -> Iterator[Block]:
        for block in schedule.blocks(position.step):
            if is_asked_to_stop():
                return
            yield block
            if time.monotonic() > until:
                return

    def work(block: Block) -> tuple[Block, Tally]:
        return block, learner.train(block)

    # The generator runs ahead of the results, so it must not see the position move: it reads it once, at its start.
    for block, tally in runtime.stream(work, due()):
        position.step += 1
        position.losses[block.epoch] += tally.loss
        position.counts[block.epoch] += tally.count
        words = schedule.words_before(position.step)
        loss = tally.loss / max(1, tally.count)
        if not math.isfinite(loss) or loss > RUNAWAY * learner.guess:
            raise Diverged(words, schedule.learning_rate, loss)
        mean = position.losses[block.epoch] / max(1, position.counts[block.epoch])
        values = {"loss": mean, "rate": block.last_rate, "epoch": block.epoch + 1}
        report(Progress("training", words, schedule.words, "words", values))


@contextmanager
def stopping(wanted: bool) -> Iterator[Any]:
    """A function that says whether Ctrl-C was pressed; a second Ctrl-C stops at once.

    A block that is interrupted in the middle could be neither counted nor repeated, so the first Ctrl-C waits for it.
    """
    asked = threading.Event()
    if not wanted or threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return

    def on_interrupt(number: int, frame: Any) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, before)


def keep(folder: Name, arrays: Mapping[str, NDArray[Any]], identity: Mapping[str, Any], position: Position) -> None:
    """Writes a checkpoint, which takes the place of the one before only when it is whole."""
    with whole_folder(folder) as draft:
        state = {"library": "firth", "kind": "checkpoint", "identity": identity, **vars(position)}
        (draft / CONFIG).write_text(json.dumps(state, indent=2) + "\n", encoding="ascii")
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, draft / ARRAYS)


def restore(folder: Name, arrays: Mapping[str, NDArray[Any]], identity: Mapping[str, Any]) -> Position:
    """Fills the arrays from a checkpoint and says how far it had come."""
    path = Path(folder) / CONFIG
    try:
        state = json.loads(path.read_bytes())
    except ValueError as error:
        raise FormatError(path, f"is not JSON: {error}") from error
    if not isinstance(state, dict) or state.get("kind") != "checkpoint":
        raise OptionError(f"{folder}: holds something else than a checkpoint. Choose another folder")
    wanted = json.loads(json.dumps(identity))
    different = [name for name in wanted if state["identity"].get(name) != wanted[name]]
    if different:
        raise OptionError(
            f"{folder}: the checkpoint is of another training: it differs in {', '.join(different)}. "
            "Choose another folder, or start anew with resume=False"
        )
    try:
        with safe_open(Path(folder) / ARRAYS, framework="numpy") as file:
            for name, array in arrays.items():
                array[...] = file.get_tensor(name)
    except (OSError, SafetensorError, ValueError) as error:
        raise FormatError(Path(folder) / ARRAYS, f"does not hold the arrays of this training: {error}") from error
    return Position(state["step"], state["losses"], state["counts"])
