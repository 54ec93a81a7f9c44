"""The training loop of static models over blocks of text: epochs, learning rate, loss, checkpoints.

A `Learner` defines how one block of text changes its arrays; the loop does everything else. What a block does depends
on its place alone (learning rate, random numbers), never on the thread or the time. With one thread every run gives
the same bits, interrupted or not. Several threads train blocks in parallel and write to the same arrays without locks
(Hogwild): two blocks rarely change the same row at the same time.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from firth.errors import Diverged, OptionError
from firth.progress import Progress
from firth.runtime import Runtime
from firth.training.averaging import BlockTrainer, average, blocks_per_round
from firth.training.checkpoints import SAVE_SECONDS, pause_before_next
from firth.training.monitor import Monitor
from firth.training.record import EpochRecord
from firth.training.schedule import BlockSchedule, TextBlock

RUNAWAY = 10.0  # a loss beyond this multiple of the loss by chance has diverged
AFRESH = "Choose another folder, or empty this one to start again"
HELD_OUT = 2**32 - 2  # the epoch number whose random numbers belong to the held-out text


@dataclass(frozen=True)
class BlockLoss:
    """The result of training a block: the summed loss and the number of predictions."""

    loss: float
    count: int


class Learner(Protocol):
    """What is trained. `train` changes `arrays` in place; `chance_loss` is the loss of a prediction by chance."""

    @property
    def arrays(self) -> Mapping[str, NDArray[Any]]: ...
    @property
    def chance_loss(self) -> float: ...
    def train(self, block: TextBlock) -> BlockLoss: ...


@dataclass(frozen=True)
class HeldOutBlocks:
    """Text that is not trained on. Its loss is measured after each epoch, with the same random numbers each time.

    Training with a learning rate of 0 changes nothing and returns the loss. `learner` shares its arrays with the one
    that is trained.
    """

    learner: Learner
    ids: NDArray[np.uint32]
    sentences: NDArray[np.uint64]

    def blocks(self) -> Iterator[TextBlock]:
        """The blocks of the text, in an epoch of their own, with a learning rate of 0."""
        for block in BlockSchedule(self.ids, self.sentences, epochs=1, learning_rate=0.0).blocks():
            yield replace(block, epoch=HELD_OUT)

    def loss(self, runtime: Runtime) -> float:
        """The mean loss of a prediction."""
        losses = list(runtime.stream(self.learner.train, self.blocks()))
        count = sum(block.count for block in losses)
        if not count:
            raise OptionError("the held-out text has nothing to predict: none of its words are in the vocabulary")
        return math.fsum(block.loss for block in losses) / count


def train(
    learner: Learner,
    schedule: BlockSchedule,
    runtime: Runtime,
    monitor: Monitor,
    *,
    held_out: HeldOutBlocks | None = None,
    save_seconds: float = SAVE_SECONDS,
    on_epoch: Callable[[EpochRecord], None] | None = None,
) -> EpochRecord:
    """Trains on all blocks of a schedule. The record has the loss of each epoch; `on_epoch` is called after each.

    With checkpoints, the state is saved every `save_seconds` (less often if saving takes long), at the end, and when
    Ctrl-C stops the run.
    """
    record = EpochRecord(losses=[0.0] * schedule.epochs, counts=[0] * schedule.epochs)
    checkpoints = monitor.checkpoints
    if checkpoints is not None:
        state = checkpoints.restore_into(learner.arrays)
        if state is not None:
            record = EpochRecord.restore(state)
            if record.step > schedule.steps or not len(record.losses) == len(record.counts) == schedule.epochs:
                raise OptionError(f"{checkpoints.folder}: the checkpoint does not fit the training. {AFRESH}")
    if held_out is not None and record.step == 0:
        held_out.loss(runtime)  # an unusable text is an error now, not after the first epoch
    pause = save_seconds
    while record.step < schedule.steps:
        until_save = _train_rounds if runtime.workers else _train_until_save
        until_save(learner, schedule, record, runtime, monitor, held_out, pause, on_epoch is not None)
        epoch, rest = divmod(record.step, schedule.blocks_per_epoch)
        if on_epoch is not None and rest == 0 and epoch > record.epochs_done:
            record.epochs_done = epoch
            on_epoch(record)
        if checkpoints is not None:
            start = time.monotonic()
            checkpoints.save(learner.arrays, record.as_dict())
            pause = pause_before_next(save_seconds, time.monotonic() - start)
        if monitor.is_interrupted() and record.step < schedule.steps:
            raise monitor.interruption()
    return record


def _train_until_save(
    learner: Learner,
    schedule: BlockSchedule,
    record: EpochRecord,
    runtime: Runtime,
    monitor: Monitor,
    held_out: HeldOutBlocks | None,
    pause: float,
    stops: bool,
) -> None:
    """Trains until the next checkpoint, or the held-out evaluation at the end of an epoch, is due.

    With `stops`, the end of an epoch is always a stop.

    Every block that was started is finished, so the number of steps is exact.
    """
    deadline = time.monotonic() + pause
    first = record.step  # the generator runs ahead of the results, so it must not see the record change
    last = schedule.epoch_end(first) if stops or held_out is not None else schedule.steps

    def due_blocks() -> Iterator[TextBlock]:
        for step in range(first, last):
            if monitor.is_interrupted():
                return
            yield schedule.block(step)
            if time.monotonic() > deadline:
                return

    def train_block(block: TextBlock) -> tuple[int, BlockLoss]:
        return block.epoch, learner.train(block)

    for epoch, result in runtime.stream(train_block, due_blocks()):
        _count_step(learner, schedule, record, monitor, epoch, result)
    if held_out is not None and record.step == last:
        record.held_out.append(held_out.loss(runtime))
        monitor.report(_progress(schedule, record))


def _train_rounds(
    learner: Learner,
    schedule: BlockSchedule,
    record: EpochRecord,
    runtime: Runtime,
    monitor: Monitor,
    held_out: HeldOutBlocks | None,
    pause: float,
    stops: bool,
) -> None:
    """As `_train_until_save`, on a cluster: round after round, whose copies are averaged (see `averaging.py`).

    A round may end early at the end of an epoch, so that a resumed training has the same rounds.
    """
    deadline = time.monotonic() + pause
    share = blocks_per_round(runtime.average_every, schedule.size)
    end = schedule.epoch_end(record.step)
    while record.step < end and not monitor.is_interrupted():
        last = min(end, record.step + share * runtime.workers)
        shares = [range(first, min(last, first + share)) for first in range(record.step, last, share)]
        blocks = ([schedule.block(step) for step in steps] for steps in shares)
        results = list(runtime.scatter(BlockTrainer.train, blocks, shared=BlockTrainer(learner)))
        average(learner.arrays, results)
        for steps, result in zip(shares, results):
            for step, loss, count in zip(steps, result["losses"].tolist(), result["counts"].tolist()):
                epoch = step // schedule.blocks_per_epoch
                _count_step(learner, schedule, record, monitor, epoch, BlockLoss(loss, count))
        if time.monotonic() > deadline:
            break
    if held_out is not None and record.step == end:
        record.held_out.append(held_out.loss(Runtime(runtime.threads)))
        monitor.report(_progress(schedule, record))


def _count_step(
    learner: Learner, schedule: BlockSchedule, record: EpochRecord, monitor: Monitor, epoch: int, result: BlockLoss
) -> None:
    """Adds the loss of a block to the record, and reports it; a loss out of all proportion ends the training."""
    record.step += 1
    record.tokens = schedule.words_before(record.step)
    record.losses[epoch] += result.loss
    record.counts[epoch] += result.count
    loss = result.loss / max(1, result.count)
    if not math.isfinite(loss) or loss > RUNAWAY * learner.chance_loss:
        raise Diverged(record.tokens, schedule.learning_rate, loss)
    monitor.report(_progress(schedule, record))


def _progress(schedule: BlockSchedule, record: EpochRecord) -> Progress:
    """The progress after at least one step."""
    epoch = (record.step - 1) // schedule.blocks_per_epoch
    values = {"loss": record.curve[epoch], "rate": schedule.rate_at(record.tokens), "epoch": epoch + 1}
    if record.held_out:
        values["held_out_loss"] = record.held_out[-1]
    return Progress("training", record.tokens, schedule.words, "words", values)
