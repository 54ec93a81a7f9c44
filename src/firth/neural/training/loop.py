"""What the trainings of a biLM and of a task share: losses from the device, best weights, checkpoints and the log."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import torch
from numpy.typing import NDArray
from torch import Tensor

from firth.errors import Diverged, FormatError
from firth.neural.training.optimizers import Optimizer
from firth.runtime import Runtime
from firth.training.checkpoints import SAVE_SECONDS, pause_before_next
from firth.training.monitor import Log, Monitor
from firth.training.record import Record

Tensors = dict[str, Tensor]
RecordType = TypeVar("RecordType", bound=Record)


class TrainingLoop(Generic[RecordType]):
    """The state of a training: its record, its best weights, and how both are saved and restored.

    A subclass defines the weights of its model (`weights`, `load_weights`) and, if it has any, further tensors that a
    checkpoint needs (`extra_tensors`, `load_extra_tensors`).
    """

    learning_rate: float  # named when the training diverges
    largest_loss = math.inf  # beyond which the training has diverged
    log_every: int
    save_every: int
    optimizer: Optimizer
    device: torch.device
    log: Log

    def __init__(self, record: RecordType, runtime: Runtime, monitor: Monitor) -> None:
        self.record, self.runtime, self.monitor = record, runtime, monitor
        self.stopped = False
        self.best: Tensors | None = None
        self.saved_best: int | None = None  # the step of the best weights in the checkpoint
        self.pending: list[Tensor] = []  # losses and gradient norms that are still on the device
        self.saved, self.pause = time.monotonic(), SAVE_SECONDS

    def weights(self) -> Tensors:
        """The weights of the model, by name."""
        raise NotImplementedError

    def load_weights(self, tensors: Tensors) -> None:
        """Replaces the weights of the model."""
        raise NotImplementedError

    def extra_tensors(self) -> Tensors:
        """Tensors of a checkpoint besides weights and optimizer. Called on every rank."""
        return {}

    def load_extra_tensors(self, tensors: Tensors) -> None:
        """Restores what `extra_tensors` returned."""

    def begin(self) -> bool:
        """Restores the checkpoint, if there is one, and opens the log; returns whether the training is resumed."""
        is_resumed = self._restore()
        self.log = Log(self.monitor.log if self.runtime.is_main else None, self.record.step)
        self.saved = time.monotonic()
        return is_resumed

    def add_loss(self, loss: Tensor, norm: Tensor) -> None:
        """Queues the loss and the gradient norm of a step, without waiting for the device."""
        self.pending.append(torch.stack([loss.detach(), norm.to(loss)]))

    def fetch_losses(self) -> None:
        """Moves the queued losses to the record. A NaN, an infinity or a runaway loss ends the training."""
        if not self.pending:
            return
        for loss, norm in torch.stack(self.pending).tolist():
            if not (math.isfinite(loss) and math.isfinite(norm)) or loss > self.largest_loss:
                raise Diverged(self.record.tokens, self.learning_rate, loss if math.isfinite(norm) else norm)
            self.record.losses.append(loss)
            self.record.norms.append(norm)
        self.pending.clear()

    def update_best(self, value: float, *, higher_is_better: bool) -> None:
        """Counts an evaluation, and keeps the weights if it is the best so far."""
        if not self.record.update_best(value, higher_is_better=higher_is_better):
            return
        self.best = {name: tensor.detach().cpu().clone() for name, tensor in self.weights().items()}

    def is_time_to_save(self) -> bool:
        """Whether the next checkpoint is due. Rank 0 decides; other ranks learn of it when a log line is due."""
        if self.save_every:
            return self.record.step % self.save_every == 0
        if self.runtime.size > 1 and self.record.step % self.log_every:
            return False
        return self.runtime.from_main(time.monotonic() - self.saved) > self.pause

    def save(self) -> None:
        """Writes a checkpoint, if there is a folder for them."""
        checkpoints = self.monitor.checkpoints
        if checkpoints is None:
            return
        self.fetch_losses()
        start = time.monotonic()
        tensors = add_prefix("extra", self.extra_tensors())
        tensors |= add_prefix("optimizer", dict(self.optimizer.tensors()))  # on every rank: each may have a part
        if self.runtime.is_main:
            tensors |= add_prefix("model", self.weights())
            if self.best is not None and self.saved_best != self.record.best_step:
                checkpoints.save_best(to_arrays(self.best), self.record.best_step)
                self.saved_best = self.record.best_step
            checkpoints.save(to_arrays(tensors), self.record.as_dict())
            checkpoints.remove_best(except_step=None if self.best is None else self.record.best_step)
        self.saved = time.monotonic()
        self.pause = pause_before_next(SAVE_SECONDS, self.saved - start)

    def _restore(self) -> bool:
        checkpoints = self.monitor.checkpoints
        stored = None if checkpoints is None else checkpoints.restore()
        if checkpoints is None or stored is None:
            return False
        arrays, state = stored
        self.record = type(self.record).restore(state)
        try:
            tensors = to_tensors(arrays)
            self.load_weights(select_prefix("model", tensors))
            self.optimizer.load(select_prefix("optimizer", tensors), self.device)
            self.load_extra_tensors(select_prefix("extra", tensors))
        except (RuntimeError, KeyError, TypeError, ValueError, IndexError) as error:
            problem = f"the arrays of the checkpoint do not fit the model: {error}"
            cure = "Choose another folder, or empty this one to start again"
            raise FormatError(checkpoints.folder, problem, cure=cure) from error
        if self.record.best_value is not None:
            self.best = to_tensors(checkpoints.read_best(self.record.best_step))
            self.saved_best = self.record.best_step
        return True


def to_arrays(tensors: Mapping[str, Tensor]) -> dict[str, NDArray[Any]]:
    """Tensors as NumPy arrays."""
    return {name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()}


def to_tensors(arrays: Mapping[str, NDArray[Any]]) -> Tensors:
    """NumPy arrays as tensors on the CPU."""
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def add_prefix(prefix: str, tensors: Mapping[str, Tensor]) -> Tensors:
    """The same tensors, with a prefix before each name.

    >>> list(add_prefix("model", {"bias": torch.zeros(1)}))
    ['model:bias']
    """
    return {f"{prefix}:{name}": tensor for name, tensor in tensors.items()}


def select_prefix(prefix: str, tensors: Mapping[str, Tensor]) -> Tensors:
    """The tensors whose names have a prefix, without it."""
    return {name[len(prefix) + 1 :]: tensor for name, tensor in tensors.items() if name.startswith(prefix + ":")}
