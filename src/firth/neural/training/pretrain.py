"""Pretraining of a biLM: training steps, evaluation on held-out text, log and checkpoints.

All random numbers depend on the seed and the step alone. A training that was killed and resumed from its checkpoint
makes, on a CPU, the same steps to the last bit as one that never stopped. Ranks share the rows of a batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from firth.errors import OptionError
from firth.neural.adaptive_softmax import AdaptiveSoftmax
from firth.neural.bilm import BiLM
from firth.neural.layers import WordEmbedding
from firth.neural.softmax import FullSoftmax, SampledSoftmax, SampledWords, Softmax
from firth.neural.state import BiLMState
from firth.neural.training.buckets import GradientBuckets
from firth.neural.training.distillation import Teacher
from firth.neural.training.loop import Tensors, TrainingLoop, add_prefix, select_prefix
from firth.neural.training.lstm import Dropout, LayerInputs, run_layers
from firth.neural.training.optimizers import Kind, Optimizer, WarmupSchedule, clip_gradients
from firth.neural.training.options import PretrainingOptions
from firth.neural.training.perplexity import HeldOutText, perplexity_of
from firth.neural.training.sharding import ShardedOptimizer
from firth.neural.training.streams import StreamBatch, Streams
from firth.neural.training.vocabulary import TrainingVocabulary
from firth.progress import Progress
from firth.runtime import Runtime
from firth.text.tokenfile import TokenFile
from firth.training.monitor import Clock, Monitor
from firth.training.record import CurveRecord

RUNAWAY = 2.0  # a loss beyond this multiple of the loss by chance has diverged
FINAL_RATE = 0.05  # of the peak learning rate, at the end of a modern training
OPTIMIZER_KINDS: dict[str, Kind] = {"modern": "adam", "muon": "muon", "paper": "adagrad"}
WARM_AVERAGE = 10  # at step n the average moves by at least 10 / (n + 10)
Callback = Callable[[BiLM, Mapping[str, float]], None]


@dataclass(frozen=True)
class TrainingBatch:
    """A batch, or a part of one, and its negative samples."""

    batch: StreamBatch
    negatives: SampledWords | None


class Pretraining(TrainingLoop[CurveRecord]):
    """One training of a biLM on a text, ready to `run`. `options` come from `PretrainingOptions.plan`."""

    def __init__(
        self,
        bilm: BiLM,
        tokens: TokenFile,
        options: PretrainingOptions,
        runtime: Runtime,
        *,
        held_out: TokenFile | None = None,
        monitor: Monitor | None = None,
        callback: Callback | None = None,
        teacher: BiLM | None = None,
    ) -> None:
        super().__init__(CurveRecord(), runtime, monitor or Monitor())
        self.callback = callback
        parts = runtime.size * options.accumulation
        if options.batch < parts:
            raise OptionError(f"a batch of {options.batch} rows cannot be split into {parts} parts. Use a larger batch")
        self.bilm, self.options = bilm.to(runtime.place), options
        self.log_every, self.save_every = options.log_every, options.save_every
        self.learning_rate, self.clip = options.value("learning_rate"), options.value("clip")
        final_rate = FINAL_RATE * self.learning_rate if options.is_modern else None
        self.schedule = WarmupSchedule(self.learning_rate, int(options.value("warmup")), final_rate, options.cooldown)
        self.loss_scale = 1.0 if options.is_modern else float(options.unroll)  # the paper sums over the unrolled steps
        self.largest_loss = RUNAWAY * math.log(max(2, len(bilm.vocabulary or ())))
        self.softmax = build_softmax(bilm, options)
        self.precision: torch.dtype = getattr(torch, options.precision)
        self.types = TrainingVocabulary(bilm, tokens.vocabulary)
        self.device = self.types.device
        self.streams = Streams(
            tokens,
            self.types.targets,
            rows=options.batch,
            steps=options.unroll,
            lengths=self.types.lengths,
            seed=options.seed,
            shuffled=options.shuffled,
            mine=runtime.shard(options.batch),
            parts=options.accumulation,
        )
        self.states = [bilm.blank(len(rows)) for rows in self.streams.shares]
        self.teacher = None
        if teacher is not None:
            if isinstance(self.softmax, SampledSoftmax):
                raise OptionError("a teacher's distributions are over all words. Use softmax='full'")
            shares = [len(rows) for rows in self.streams.shares]
            self.teacher = Teacher.of(teacher, bilm, tokens.vocabulary, shares)
        self.parameters = dict(bilm.named_parameters())
        self.average: list[Tensor] = []
        if options.averaging:
            self.average = [one.detach().clone() for one in self.parameters.values()]
        sparse = sparse_names(bilm, self.softmax)
        settings = OPTIMIZER_KINDS[options.optimizer], self.parameters, sparse, options.value("decay")
        is_sharded = options.shard_optimizer and runtime.size > 1
        self.optimizer = ShardedOptimizer(*settings, runtime) if is_sharded else Optimizer(*settings)
        self.buckets = GradientBuckets(self.parameters, sparse, runtime)
        self.held_out = None
        if held_out is not None:
            reading: dict[str, Any] = {"rows": options.batch, "steps": options.unroll}
            reading |= {"sentences": options.resets_at_sentences, "precision": self.precision}
            self.held_out = HeldOutText(bilm, self.softmax, held_out, runtime, **reading)

    @property
    def total_steps(self) -> int | None:
        """The number of steps of the whole training; None if its time is limited instead."""
        if self.options.steps is None and self.options.minutes is not None:
            return None
        return self.options.epochs * self.streams.batches if self.options.steps is None else self.options.steps

    def run(self) -> CurveRecord:
        """Trains to the end. With held-out text, the biLM then has its best weights."""
        is_resumed = self.begin()
        self.clock = Clock(self.record.seconds, self.record.tokens)
        self.elapsed = self.record.seconds
        if not is_resumed and not self.options.frozen:
            self._evaluate()
        first = self.record.step
        last = 1 << 62 if self.total_steps is None else self.total_steps
        for parts in self.batches(first, last):
            if self._is_over():
                break
            was_frozen = self._is_frozen()
            self._step(parts)
            if self.record.step == first + 1:  # the first step compiles kernels: time counts from here
                self.fetch_losses()
                self.clock = Clock(self.record.seconds, self.record.tokens)
            self._check_clock_and_interrupt()
            if self._is_evaluation_due() or (was_frozen and not self._is_frozen()):
                self._evaluate()
            if self.is_time_to_save() or self.stopped or self._is_over():
                self.save()
            if self.stopped:
                return self.record
        self._write_log()
        if self.best is not None:
            self.load_weights(self.best)
        else:
            self._exchange_average()
        return self.record

    def batches(self, first: int, last: int) -> Iterator[tuple[TrainingBatch, ...]]:
        """The batches of steps `first` to `last`, each in its parts. A thread prepares them ahead of the training."""
        stream = self.streams.each(self._prepare, first, last)
        return zip(*[stream] * self.options.accumulation)

    def _prepare(self, batch: StreamBatch, step: int) -> TrainingBatch:
        negatives = self.softmax.draw(batch.targets, step)
        if self.device.type == "cpu":
            return TrainingBatch(batch, negatives)
        return TrainingBatch(batch.pinned(), None if negatives is None else negatives.pinned())

    def _check_clock_and_interrupt(self) -> None:
        """Takes the time and Ctrl-C from rank 0, and writes a line of the log if it is due."""
        if self.runtime.size == 1 or self.record.step % self.log_every == 0:
            self.elapsed = self.record.seconds = self.runtime.from_main(self.clock.seconds)
            self.stopped = bool(self.runtime.from_main(float(self.monitor.is_interrupted())))
        if self.device.type == "cpu":
            self.fetch_losses()
        if self.record.step % self.log_every == 0:
            self._write_log()

    @property
    def share(self) -> float:
        """The fraction of the training that is done."""
        by_steps = 0.0 if self.total_steps is None else self.record.step / max(1, self.total_steps)
        by_time = 0.0 if self.options.minutes is None else self.elapsed / (60 * self.options.minutes)
        return min(1.0, max(by_steps, by_time))

    @property
    def rate(self) -> float:
        """The learning rate of the next step."""
        return self.schedule.rate(self.record.step, self.share)

    def _is_over(self) -> bool:
        return self.record.is_out_of_patience(self.options.patience) or self.share >= 1

    def _is_evaluation_due(self) -> bool:
        every = self.options.evaluate_every or self.streams.batches
        return self.record.step % every == 0 or self._is_over()

    def _is_frozen(self) -> bool:
        """Whether only the softmax is trained."""
        return self.share < (self.options.frozen or 0.0)

    def _step(self, parts: tuple[TrainingBatch, ...]) -> None:
        options = self.options
        try:
            loss = self._gradients(parts)
            self.buckets.finish(also=[loss])
            if self._is_frozen():
                for name, parameter in self.parameters.items():
                    if not name.startswith("softmax."):
                        parameter.grad = None
            norm = clip_gradients(self.parameters.values(), self.clip)
            self.optimizer.step(self.rate)
        except torch.OutOfMemoryError as error:
            raise OptionError(
                f"the GPU has not enough memory for {options.batch} rows of {options.unroll} tokens. Use a smaller "
                f"batch, or process it in more parts: accumulation={2 * options.accumulation}"
            ) from error
        self.add_loss(loss, norm)
        self._update_average()
        self.record.step += 1
        self.record.tokens += options.batch * options.unroll

    @torch.no_grad()
    def _update_average(self) -> None:
        """Moves the averaged weights towards the weights: faster in the first steps, so that the start is forgotten."""
        if self.average:
            share = max(1 / self.options.averaging, WARM_AVERAGE / (self.record.step + WARM_AVERAGE))
            torch._foreach_lerp_(self.average, list(self.parameters.values()), share)

    @torch.no_grad()
    def _exchange_average(self) -> None:
        """Exchanges the weights and the averaged weights, if there are any."""
        for parameter, mean in zip(self.parameters.values(), self.average):
            current = parameter.detach().clone()
            parameter.copy_(mean)
            mean.copy_(current)

    @contextmanager
    def _averaged(self) -> Iterator[None]:
        """Within this context the biLM has the averaged weights."""
        self._exchange_average()
        try:
            yield
        finally:
            self._exchange_average()

    def _gradients(self, parts: tuple[TrainingBatch, ...]) -> Tensor:
        """Adds the gradients of this rank's rows to the parameters; returns this rank's part of the mean loss."""
        options, step = self.options, self.record.step
        total = torch.zeros((), device=self.device)
        for part, (prepared, rows) in enumerate(zip(parts, self.streams.shares)):
            batch = prepared.batch.to(self.device)
            dropout = (
                Dropout(options.dropout, options.seed, step, options.batch, rows.start) if options.dropout else None
            )
            vectors = self.types.vectors(batch.words, self.precision)
            forward, backward = (functional.embedding(ids, vectors) for ids in (batch.forward, batch.backward))
            fresh = batch.fresh if options.resets_at_sentences else None
            inputs = LayerInputs(forward, backward, self.states[part], dropout, fresh)
            forward_hidden, backward_hidden, self.states[part] = run_layers(self.bilm, inputs)
            hidden = torch.cat([forward_hidden, backward_hidden]).flatten(0, 1)
            share = len(rows) / options.batch
            loss = self.softmax.loss(hidden, batch.targets, step, prepared.negatives)
            if self.teacher is not None:
                goal = self.teacher.read(part, batch, fresh, self.precision)
                distilled = self.teacher.loss(hidden, goal, batch.targets)
                loss = (1 - options.distillation) * loss + options.distillation * distilled
            loss = loss * share
            if part == options.accumulation - 1:
                self.buckets.begin()
            (loss * self.loss_scale).backward()  # type: ignore[no-untyped-call]
            total += loss.detach()
        return total

    def _write_log(self) -> None:
        self.fetch_losses()
        if not self.record.losses:
            return
        loss, norm = self.record.take_means()
        line = self._position() | {"loss": loss, "perplexity": perplexity_of(loss), "rate": self.rate, "norm": norm}
        self.record.add_point(line)
        speed, memory = self.clock.speed(self.record.tokens), self.runtime.memory()
        self.log.write({**line, "tokens_per_second": round(speed, 1), "memory": memory})
        if not self.runtime.is_main:
            return
        shown = {name: line[name] for name in ("loss", "perplexity", "rate", "norm")} | {"memory": memory}
        if self.record.held_out:
            shown["held-out"] = self.record.held_out[-1]["average"]
        total = self.record.tokens / self.share if self.share else None
        self.monitor.report(Progress("training", self.record.tokens, total, "tokens", shown))

    def _position(self) -> dict[str, float]:
        return {"step": self.record.step, "tokens": self.record.tokens, "seconds": round(self.record.seconds, 3)}

    def _evaluate(self) -> None:
        if self.held_out is None:
            return
        self.fetch_losses()
        with self._averaged():
            perplexity = self.held_out.perplexity()
            line = self._position() | perplexity.as_dict()
            self.record.held_out.append(line)
            self.log.write({"held_out": True, **line})
            self.update_best(perplexity.loss, higher_is_better=False)
            if self.callback is not None:
                self.callback(self.bilm, line)
        self.clock.skip(self.record.tokens)

    def weights(self) -> Tensors:
        return self.bilm.state_dict()

    def load_weights(self, tensors: Tensors) -> None:
        self.bilm.load_state_dict(tensors)

    def extra_tensors(self) -> Tensors:
        """The averaged weights, and the LSTM states of all rows; ranks gather theirs."""
        tensors = add_prefix("average", dict(zip(self.parameters, self.average)))
        for prefix, states in self._states().items():
            for name in ("cell", "hidden"):
                rows = torch.cat([getattr(state, name) for state in states], 2).movedim(2, 0).contiguous()
                tensors[prefix + name] = torch.cat(self.runtime.gather(rows)).movedim(0, 2)
        return tensors

    def load_extra_tensors(self, tensors: Tensors) -> None:
        averages = select_prefix("average", tensors)
        self.average = [averages[name].to(self.device) for name in self.parameters if name in averages]
        for prefix, states in self._states().items():
            for part, rows in enumerate(self.streams.shares):
                own = (tensors[prefix + name][:, :, rows.start : rows.stop] for name in ("cell", "hidden"))
                states[part] = BiLMState(*(tensor.to(self.device).contiguous() for tensor in own))

    def _states(self) -> dict[str, list[BiLMState]]:
        """The LSTM states of the biLM and of its teacher, by the prefix of their names in a checkpoint."""
        return {"": self.states} | ({} if self.teacher is None else {"teacher ": self.teacher.states})


def build_softmax(bilm: BiLM, options: PretrainingOptions) -> Softmax:
    """The softmax for the training of a biLM. A small vocabulary is cheaper to train in full than by sampling."""
    if bilm.softmax is None or bilm.vocabulary is None:
        raise OptionError("this biLM has no softmax, which training needs")
    if isinstance(bilm.softmax, AdaptiveSoftmax):
        return bilm.softmax
    if options.softmax == "sampled" and len(bilm.vocabulary) > 2 * options.negatives:
        return SampledSoftmax(bilm.softmax, options.negatives, options.seed)
    return FullSoftmax(bilm.softmax)


def sparse_names(bilm: BiLM, softmax: Softmax) -> list[str]:
    """The parameters with sparse gradients: a batch changes some of their rows only."""
    names = ["softmax.weight", "softmax.bias"] if isinstance(softmax, SampledSoftmax) else []
    if not isinstance(bilm.encoder, WordEmbedding):
        return names
    if getattr(bilm.softmax, "weight", None) is bilm.encoder.table:  # tied: one parameter, named after the encoder
        return ["encoder.table", "softmax.bias"] if names else []
    return [*names, "encoder.table"]
