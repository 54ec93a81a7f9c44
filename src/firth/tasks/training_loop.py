"""One training loop for every task: batch after batch, a look at the dev set after each epoch, the best weights kept.

All random numbers depend on the seed and the number of the step alone, so a run that was killed and goes on from its
checkpoint makes, on a CPU, the same steps to the last bit as one that never stopped.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from firth.errors import Diverged, OptionError
from firth.neural.training.checkpoints import Checkpoints, Tensors, named, without
from firth.neural.training.optimizers import Optimizer, clip_gradients
from firth.neural.training.record import Log, Watch
from firth.progress import Progress
from firth.runtime import Runtime
from firth.tasks.history import History
from firth.tasks.model import TaskModel, longest_sentence

if TYPE_CHECKING:
    from firth.tasks.training import Training

POOL = 64  # batches whose examples are sorted by length together
SAVE_SECONDS = 600.0


class TaskTraining:
    """One training of a model, ready to `run`."""

    def __init__(
        self,
        model: TaskModel,
        train: Sequence[Any],
        dev: Sequence[Any],
        training: Training,
        runtime: Runtime,
        watch: Watch,
    ) -> None:
        self.model, self.train, self.dev = model, train, dev
        self.training, self.runtime, self.watch = training, runtime, watch
        self.parameters = {name: one for name, one in model.named_parameters() if one.requires_grad}
        self.optimizer = optimizer_of(training, self.parameters)
        self.averaged = (
            {name: one.detach().clone() for name, one in self.parameters.items()} if training.average else {}
        )
        self.size = 1 if model.task.documents else training.batch
        self.lengths = np.array([longest_sentence(example) for example in train])
        self.history, self.stopped = History(), False
        self.best: Tensors | None = None
        self.waiting: list[Tensor] = []  # losses and norms that are still on the device

    @property
    def steps(self) -> int:
        """The steps of an epoch."""
        return -(-len(self.train) // self.size)

    def run(self) -> History:
        """Learns to the end. The model then has its best weights, where a dev set tells which these are."""
        resumed = self.watch.checkpoints is not None and self._restore(self.watch.checkpoints)
        self.log = Log(self.watch.log, self.history.step)
        self.saved = time.monotonic()
        self._read_ahead(resumed)
        with torch.random.fork_rng():
            while not self._is_over() and not self.stopped:
                self._epoch(len(self.history.epochs))
        if self.best is not None:
            self.model.load_state(self.best)
        else:
            self._with_average()
        return self.history

    def _is_over(self) -> bool:
        tired = self.training.patience is not None and self.history.stale >= self.training.patience
        return tired or len(self.history.epochs) >= self.training.epochs

    def _read_ahead(self, resumed: bool) -> None:
        """A frozen biLM reads all sentences once, as far as there is room for what it says."""
        examples = [*self.train, *self.dev]
        begun = time.monotonic()
        try:
            self.model.inputs.read_ahead((words for one in examples for words in one.sentences), self.watch.report)
        except torch.OutOfMemoryError as error:
            raise self._too_large() from error
        self.told_bilm = self.model.inputs.bilm_seconds
        if not resumed:  # otherwise it is counted already
            self.history.seconds += time.monotonic() - begun
            self.history.bilm_seconds += self.told_bilm

    def _epoch(self, epoch: int) -> None:
        batches = batches_of(self.lengths, self.size, self.training.seed, epoch)
        done = self.history.step - epoch * self.steps
        self.mark = time.monotonic()
        for places in batches[done:]:
            self._step([self.train[place] for place in places])
            if self.history.step % self.training.log_every == 0:
                self._tell()
            self.stopped = self.watch.is_asked_to_stop()
            if self._is_time_to_save() or self.stopped:
                self._keep()
            if self.stopped:
                return
        self._fetch()
        self._tick()
        self._end_epoch()

    def _step(self, batch: list[Any]) -> None:
        """One batch. Dropout starts from a number that belongs to this step alone."""
        training = self.training
        torch.manual_seed(seed_of(training.seed, self.history.step))
        self.model.train()
        try:
            loss = self.model.loss(batch)
            loss.backward()  # type: ignore[no-untyped-call]
        except torch.OutOfMemoryError as error:
            raise self._too_large() from error
        norm = clip_gradients(self.parameters.values(), training.clip)
        self.optimizer.step(training.learning_rate * 0.5**self.history.halvings)
        if self.averaged:
            self._average()
        self.waiting.append(torch.stack([loss.detach(), norm.to(loss)]))
        self.history.step += 1
        self.history.words += sum(len(words) for example in batch for words in example.sentences)

    def _too_large(self) -> OptionError:
        asked = f"a batch of {self.size} examples and a cache of {self.training.cache:g} GB"
        return OptionError(f"the GPU has not enough memory for {asked}. Use a smaller batch, or a smaller cache")

    def _average(self) -> None:
        # At first the mean follows quickly: what was drawn at random should not stay in it.
        keep = min(self.training.average, (1 + self.history.step) / (10 + self.history.step))
        with torch.no_grad():
            for name, one in self.parameters.items():
                self.averaged[name].lerp_(one, 1 - keep)

    def _fetch(self) -> None:
        """Takes losses from the device; one that is no number ends the training."""
        if not self.waiting:
            return
        for loss, norm in torch.stack(self.waiting).tolist():
            if not math.isfinite(loss) or not math.isfinite(norm):
                raise Diverged(self.history.words, self.training.learning_rate, loss if math.isfinite(norm) else norm)
            self.history.losses.append(loss)
            self.history.norms.append(norm)
        self.waiting.clear()

    def _tick(self) -> None:
        """Counts the time since it was last counted, and the biLM's part of it."""
        now, bilm = time.monotonic(), self.model.inputs.bilm_seconds
        self.history.seconds += now - self.mark
        self.history.bilm_seconds += bilm - self.told_bilm
        self.mark, self.told_bilm = now, bilm

    def _tell(self) -> None:
        """A line of the log, and what a person who watches sees."""
        self._fetch()
        self._tick()
        history, late = self.history, self.history.losses[-self.training.log_every :]
        epoch, total = len(history.epochs) + 1, self.steps * self.training.epochs
        loss = sum(late) / max(1, len(late))
        line = {"step": history.step, "epoch": epoch, "words": history.words, "seconds": round(history.seconds, 3)}
        line |= {"loss": loss, "norm": history.norms[-1], "words_per_second": round(history.words_per_second, 1)}
        line |= {"bilm_share": round(history.bilm_share, 4), "memory": self.runtime.memory()}
        self.log.write(line)
        shown: dict[str, float] = {"epoch": epoch, "loss": loss}
        if history.epochs and history.epochs[-1]["dev"]:
            shown |= dict([next(iter(history.epochs[-1]["dev"].items()))]) | {"best": history.best_score or 0.0}
        words = history.words * total / max(1, history.step)
        self.watch.report(Progress("training", history.words, words, "words", shown))

    def _end_epoch(self) -> None:
        begun = time.monotonic()
        scores: dict[str, float] = {}
        own = self._with_average()
        if self.dev:
            scores = self.model.evaluate(self.dev)
        self.history.dev_seconds += time.monotonic() - begun
        self._tick_bilm_of_dev()
        better = self.history.end_epoch(scores)
        if better:
            self.best = {name: one.detach().cpu().clone() for name, one in self.model.state().items()}
            if self.watch.checkpoints is not None:
                self.watch.checkpoints.keep_best(self.best, self.history.step)
        self._without_average(own)
        after = self.training.halve_after
        if after is not None and self.history.stale and self.history.stale % after == 0:
            self.history.halvings += 1
        self.log.write(self.history.epochs[-1])
        self._keep()

    def _tick_bilm_of_dev(self) -> None:
        self.history.bilm_seconds += self.model.inputs.bilm_seconds - self.told_bilm
        self.told_bilm = self.model.inputs.bilm_seconds

    def _with_average(self) -> Tensors:
        """Puts the running mean of the weights in their place, where there is one; gives the weights themselves."""
        own = {name: self.parameters[name].detach().clone() for name in self.averaged}
        self._without_average(self.averaged)
        return own

    def _without_average(self, own: Tensors) -> None:
        with torch.no_grad():
            for name, tensor in own.items():
                self.parameters[name].copy_(tensor)

    def _is_time_to_save(self) -> bool:
        every = self.training.save_every
        if every:
            return self.history.step % every == 0
        return time.monotonic() - self.saved > SAVE_SECONDS

    def _keep(self) -> None:
        checkpoints = self.watch.checkpoints
        if checkpoints is None:
            return
        self._fetch()
        tensors = named("model", self.model.state()) | named("optimizer", dict(self.optimizer.tensors()))
        checkpoints.keep(tensors | named("average", self.averaged), self.history.as_dict())
        checkpoints.forget_best(self.history.best_step if self.history.best_score is not None else None)
        self.saved = time.monotonic()

    def _restore(self, checkpoints: Checkpoints) -> bool:
        found = checkpoints.restore()
        if found is None:
            return False
        tensors, progress = found
        self.history = History(**progress)
        self.model.load_state(without("model", tensors))
        device = next(iter(self.parameters.values())).device
        self.optimizer.load(without("optimizer", tensors), device)
        self.averaged = {name: one.to(device) for name, one in without("average", tensors).items()}
        if self.history.best_score is not None:
            self.best = checkpoints.best(self.history.best_step)
        return True


class TaskOptimizer(Optimizer):
    """One of torch's optimizers; what it remembers travels as `neural/optimizers.py` has it."""

    def __init__(self, part: torch.optim.Optimizer, parameters: dict[str, nn.Parameter]) -> None:
        self.parts, self.parameters = [part], parameters


def optimizer_of(training: Training, parameters: dict[str, nn.Parameter]) -> Optimizer:
    """The optimizer that is asked for."""
    weights, decay = list(parameters.values()), training.decay
    makers: dict[str, Callable[[], torch.optim.Optimizer]] = {
        "adam": lambda: torch.optim.Adam(weights, weight_decay=decay),
        "adadelta": lambda: torch.optim.Adadelta(weights, rho=0.95, weight_decay=decay),
        "adagrad": lambda: torch.optim.Adagrad(weights, weight_decay=decay),
        "sgd": lambda: torch.optim.SGD(weights, lr=0.0, weight_decay=decay),
    }
    return TaskOptimizer(makers[training.optimizer](), parameters)


def batches_of(lengths: np.ndarray[Any, Any], size: int, seed: int, epoch: int) -> list[list[int]]:
    """The places of an epoch's examples, in batches of like length, in an order that the seed and the epoch decide.

    >>> batches_of(np.array([1, 9, 2, 8]), 2, seed=1, epoch=0)
    [[0, 2], [3, 1]]
    """
    rng = np.random.default_rng([seed, epoch])
    order = rng.permutation(len(lengths))
    batches = []
    for start in range(0, len(order), POOL * size):
        pool = order[start : start + POOL * size]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches += [pool[first : first + size].tolist() for first in range(0, len(pool), size)]
    return [batches[place] for place in rng.permutation(len(batches))]


def seed_of(seed: int, step: int) -> int:
    """A number for a step, far from those of other steps and seeds."""
    return int(np.random.SeedSequence([seed, step]).generate_state(1, np.uint64)[0])
