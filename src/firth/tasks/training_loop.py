"""The training loop of every task: batches, evaluation on the dev set after each epoch, best weights.

All random numbers depend on the seed and the step alone. A training that was killed and resumed from its checkpoint
makes, on a CPU, the same steps to the last bit as one that never stopped. Ranks share the examples of a batch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from firth.errors import OptionError
from firth.neural.training.buckets import GradientBuckets
from firth.neural.training.loop import Tensors, TrainingLoop
from firth.neural.training.optimizers import Optimizer, clip_gradients
from firth.progress import Progress
from firth.runtime import Runtime
from firth.tasks.history import TaskHistory
from firth.tasks.model import TaskModel, longest_sentence
from firth.training.monitor import Monitor

if TYPE_CHECKING:
    from firth.tasks.training import Training

POOL = 64  # batches whose examples are sorted by length together


class TaskTraining(TrainingLoop[TaskHistory]):
    """One training of a model, ready to `run`."""

    def __init__(
        self,
        model: TaskModel,
        train: Sequence[Any],
        dev: Sequence[Any],
        training: Training,
        runtime: Runtime,
        monitor: Monitor,
    ) -> None:
        super().__init__(TaskHistory(), runtime, monitor)
        self.model, self.train, self.dev, self.training = model, train, dev, training
        self.learning_rate, self.is_late = training.learning_rate, False
        self.log_every, self.save_every = training.log_every, training.save_every
        self.parameters = {name: one for name, one in model.named_parameters() if one.requires_grad}
        self.device = next(iter(self.parameters.values())).device
        self.optimizer = build_optimizer(training, self.parameters)
        self.averaged = (
            {name: one.detach().clone() for name, one in self.parameters.items()} if training.average else {}
        )
        self.batch_size = 1 if model.task.documents else training.batch
        if self.batch_size < runtime.size:
            cure = "Start one process" if model.task.documents else "Use a larger batch, or fewer processes"
            problem = f"a batch of {self.batch_size} cannot be split over {runtime.size} processes"
            raise OptionError(f"{problem}. {cure}")
        self.buckets = GradientBuckets(self.parameters, [], runtime)
        self.lengths = np.array([longest_sentence(example) for example in train])

    @property
    def steps_per_epoch(self) -> int:
        return -(-len(self.train) // self.batch_size)

    def run(self) -> TaskHistory:
        """Trains to the end. With a dev set, the model then has its best weights."""
        self._fill_cache(is_resumed=self.begin())
        with torch.random.fork_rng():
            while not self._is_over() and not self.stopped:
                self._epoch(len(self.record.epochs))
        if self.best is not None:
            self.load_weights(self.best)
        else:
            self._swap_in_average()
        return self.record

    def _is_over(self) -> bool:
        is_done = len(self.record.epochs) >= self.training.epochs
        return is_done or self.is_late or self.record.is_out_of_patience(self.training.patience)

    def _is_time_over(self) -> bool:
        """Whether training and evaluation took as long as they may; what a resumed training took before counts."""
        seconds = self.record.seconds + self.record.dev_seconds + time.monotonic() - self.mark
        return self.training.minutes is not None and seconds >= 60 * self.training.minutes

    def _fill_cache(self, *, is_resumed: bool) -> None:
        """A frozen biLM runs over all sentences once; its layers are cached as far as the cache allows."""
        examples = [*self.train, *self.dev]
        start = time.monotonic()
        try:
            self.model.inputs.read_ahead((words for one in examples for words in one.sentences), self.monitor.report)
        except torch.OutOfMemoryError as error:
            raise self._out_of_memory() from error
        self.bilm_mark = self.model.inputs.bilm_seconds
        if not is_resumed:  # otherwise it is counted already
            self.record.seconds += time.monotonic() - start
            self.record.bilm_seconds += self.bilm_mark

    def _epoch(self, epoch: int) -> None:
        batches = make_batches(self.lengths, self.batch_size, self.training.seed, epoch)
        ended = self.record.epochs[-1]["step"] if self.record.epochs else 0  # an epoch that ran out of time is short
        done = self.record.step - ended
        self.mark = time.monotonic()
        for batch in batches[done:]:
            self._step([self.train[index] for index in batch])
            if self.record.step % self.log_every == 0:
                self._write_log()
            if self.runtime.size == 1 or self.record.step % self.log_every == 0:
                self.stopped = bool(self.runtime.from_main(float(self.monitor.is_interrupted())))
                self.is_late = bool(self.runtime.from_main(float(self._is_time_over())))
            if self.is_time_to_save() or self.stopped:
                self.save()
            if self.stopped:
                return
            if self.is_late:
                break
        self.fetch_losses()
        self._count_time()
        self._end_epoch()

    def _step(self, batch: list[Any]) -> None:
        """One batch, of which each rank has a part. Dropout is seeded by the step and the rank."""
        training, runtime = self.training, self.runtime
        seed_generators(step_seed(training.seed, self.record.step, runtime.rank), self.device)
        self.model.train()
        mine = batch[runtime.shard(len(batch))]
        loss = torch.zeros((), device=self.device)
        try:
            self.buckets.begin()
            if mine:  # a last batch may have fewer examples than there are ranks
                loss = self.model.loss(mine)
                loss = loss if runtime.size == 1 else loss * (len(mine) / len(batch))
                loss.backward()  # type: ignore[no-untyped-call]
        except torch.OutOfMemoryError as error:
            raise self._out_of_memory() from error
        loss = loss.detach().clone()
        self.buckets.finish(also=[loss])
        norm = clip_gradients(self.parameters.values(), training.clip)
        self.optimizer.step(training.learning_rate * 0.5**self.record.halvings)
        if self.averaged:
            self._update_average()
        self.add_loss(loss, norm)
        self.record.step += 1
        self.record.tokens += sum(len(words) for example in batch for words in example.sentences)

    def _out_of_memory(self) -> OptionError:
        needed = f"a batch of {self.batch_size} examples and a cache of {self.training.cache:g} GB"
        return OptionError(f"the GPU has not enough memory for {needed}. Use a smaller batch, or a smaller cache")

    def _update_average(self) -> None:
        # The average follows quickly at first, so that it forgets the random initial weights.
        keep = min(self.training.average, (1 + self.record.step) / (10 + self.record.step))
        with torch.no_grad():
            averaged = [self.averaged[name] for name in self.parameters]
            torch._foreach_lerp_(averaged, list(self.parameters.values()), 1 - keep)

    def _count_time(self) -> None:
        """Adds the time since the last call to the record, and the biLM's part of it."""
        now = time.monotonic()
        self.record.seconds += now - self.mark
        self.mark = now
        self._count_bilm_time()

    def _count_bilm_time(self) -> None:
        seconds = self.model.inputs.bilm_seconds
        self.record.bilm_seconds += seconds - self.bilm_mark
        self.bilm_mark = seconds

    def _write_log(self) -> None:
        """Writes a line of the log and reports progress."""
        self.fetch_losses()
        self._count_time()
        record, recent = self.record, self.record.losses[-self.log_every :]
        epoch, total = len(record.epochs) + 1, self.steps_per_epoch * self.training.epochs
        loss = sum(recent) / max(1, len(recent))
        line = {"step": record.step, "epoch": epoch, "words": record.tokens, "seconds": round(record.seconds, 3)}
        line |= {"loss": loss, "norm": record.norms[-1], "words_per_second": round(record.words_per_second, 1)}
        line |= {"bilm_share": round(record.bilm_share, 4), "memory": self.runtime.memory()}
        self.log.write(line)
        shown: dict[str, float] = {"epoch": epoch, "loss": loss}
        if record.epochs and record.epochs[-1]["dev"]:
            shown |= dict([next(iter(record.epochs[-1]["dev"].items()))]) | {"best": record.best_value or 0.0}
        if not self.runtime.is_main:
            return
        words = record.tokens * total / max(1, record.step)
        self.monitor.report(Progress("training", record.tokens, words, "words", shown))

    def _end_epoch(self) -> None:
        start = time.monotonic()
        weights = self._swap_in_average()
        scores = self.model.evaluate(self.dev) if self.dev else {}
        self.record.dev_seconds += time.monotonic() - start
        self._count_bilm_time()
        line = self.record.end_epoch(scores)
        if scores:
            self.update_best(self.runtime.from_main(next(iter(scores.values()))), higher_is_better=True)
        self._set_parameters(weights)
        after = self.training.halve_after
        if after is not None and self.record.stale and self.record.stale % after == 0:
            self.record.halvings += 1
        self.log.write(line)
        if self._is_over() or self.save_every or self.is_time_to_save():
            self.save()

    def _swap_in_average(self) -> Tensors:
        """Replaces the weights by their running average, if there is one; returns the weights themselves."""
        weights = {name: self.parameters[name].detach().clone() for name in self.averaged}
        self._set_parameters(self.averaged)
        return weights

    def _set_parameters(self, tensors: Tensors) -> None:
        with torch.no_grad():
            for name, tensor in tensors.items():
                self.parameters[name].copy_(tensor)

    def weights(self) -> Tensors:
        return self.model.state()

    def load_weights(self, tensors: Tensors) -> None:
        self.model.load_state(tensors)

    def extra_tensors(self) -> Tensors:
        """The running average of the weights."""
        return self.averaged

    def load_extra_tensors(self, tensors: Tensors) -> None:
        self.averaged = {name: tensor.to(self.device) for name, tensor in tensors.items()}


class TaskOptimizer(Optimizer):
    """One of torch's optimizers, with the interface of `neural/training/optimizers.py`."""

    def __init__(self, part: torch.optim.Optimizer, parameters: dict[str, nn.Parameter]) -> None:
        self.parts, self.parameters = [part], parameters


def build_optimizer(training: Training, parameters: dict[str, nn.Parameter]) -> Optimizer:
    """The optimizer of the options."""
    weights, decay = list(parameters.values()), training.decay
    makers: dict[str, Callable[[], torch.optim.Optimizer]] = {
        "adam": lambda: torch.optim.Adam(weights, weight_decay=decay, fused=True),
        "adadelta": lambda: torch.optim.Adadelta(weights, rho=0.95, weight_decay=decay),
        "adagrad": lambda: torch.optim.Adagrad(weights, weight_decay=decay),
        "sgd": lambda: torch.optim.SGD(weights, lr=0.0, weight_decay=decay),
    }
    return TaskOptimizer(makers[training.optimizer](), parameters)


def make_batches(lengths: np.ndarray[Any, Any], size: int, seed: int, epoch: int) -> list[list[int]]:
    """The example indices of an epoch, in batches of similar length. The order depends on the seed and the epoch.

    >>> make_batches(np.array([1, 9, 2, 8]), 2, seed=1, epoch=0)
    [[0, 2], [3, 1]]
    """
    rng = np.random.default_rng([seed, epoch])
    order = rng.permutation(len(lengths))
    batches = []
    for start in range(0, len(order), POOL * size):
        pool = order[start : start + POOL * size]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches += [pool[first : first + size].tolist() for first in range(0, len(pool), size)]
    return [batches[index] for index in rng.permutation(len(batches))]


def seed_generators(seed: int, device: torch.device) -> None:
    """Seeds the random numbers of the CPU and of this device.

    `torch.manual_seed` also asks for every other kind of device, which takes longer than some layers.
    """
    torch.default_generator.manual_seed(seed)
    if device.type == "cuda":
        torch.cuda.manual_seed(seed)


def step_seed(seed: int, step: int, rank: int = 0) -> int:
    """The seed of a step, independent of those of other steps, seeds and ranks."""
    entropy = [seed, step, rank] if rank else [seed, step]
    return int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0])
