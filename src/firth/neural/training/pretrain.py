"""The training loop of a biLM: step after step, looks at a held-out text, a record of it all, and checkpoints.

All random numbers depend on the seed and the number of the step alone, so a run that was killed and goes on from its
checkpoint makes, on a CPU, the same steps to the last bit as one that never stopped. Ranks share the rows of a batch.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn import functional

from firth.errors import Diverged, OptionError
from firth.neural.adaptive_softmax import AdaptiveSoftmax
from firth.neural.bilm import BiLM
from firth.neural.layers import WordEmbedding
from firth.neural.softmax import FullSoftmax, SampledSoftmax, SampledWords, Softmax
from firth.neural.state import BiLMState
from firth.neural.training.checkpoints import Checkpoints, Tensors, named, without
from firth.neural.training.lstm import Dropout, run_layers
from firth.neural.training.optimizers import Kind, Optimizer, WarmupSchedule, all_reduce_gradients, clip_gradients
from firth.neural.training.perplexity import HeldOutText
from firth.neural.training.record import Clock, Log, Record, Watch
from firth.neural.training.streams import StreamBatch, Streams
from firth.neural.training.vocabulary import TrainingVocabulary
from firth.progress import Progress
from firth.runtime import Runtime
from firth.text.tokenfile import TokenFile

RUNAWAY = 10.0  # times the loss of guessing
SAVE_SECONDS = 600.0


@dataclass(frozen=True)
class Plan:
    """How a biLM is trained: for so many `steps`, or else `minutes`, or else `epochs`.

    The rows of a batch are worked on in `parts`, one after another. For a `frozen` share of the training the softmax
    learns alone. Gradients are those of the loss times `loss_times`.
    """

    batch: int = 128
    unroll: int = 20
    parts: int = 1
    epochs: int = 10
    steps: int | None = None
    minutes: float | None = None
    sentences: bool = False
    shuffled: bool = True
    softmax: Literal["full", "sampled", "adaptive"] = "full"
    negatives: int = 8192
    optimizer: Kind = "adam"
    schedule: WarmupSchedule = field(default_factory=WarmupSchedule)
    clip: float = 1.0
    loss_times: float = 1.0
    decay: float = 0.0
    dropout: float = 0.1
    precision: Literal["float32", "bfloat16"] = "float32"
    seed: int = 1
    frozen: float = 0.0
    evaluate_every: int = 0
    patience: int | None = None
    log_every: int = 20
    save_every: int = 0


@dataclass(frozen=True)
class Ready:
    """A batch, or a part of one, and what the softmax drew for it."""

    batch: StreamBatch
    drawn: SampledWords | None


class Pretraining:
    """One training of a biLM on a text, ready to `run`."""

    def __init__(
        self,
        bilm: BiLM,
        tokens: TokenFile,
        plan: Plan,
        runtime: Runtime,
        *,
        held_out: TokenFile | None = None,
        watch: Watch | None = None,
    ) -> None:
        if plan.batch < runtime.size * plan.parts:
            parts = runtime.size * plan.parts
            raise OptionError(f"a batch of {plan.batch} rows cannot be cut into {parts} parts. Use a larger batch")
        self.bilm, self.plan, self.runtime, self.watch = bilm.to(runtime.place), plan, runtime, watch or Watch()
        self.softmax = softmax_for(bilm, plan)
        self.precision: torch.dtype = getattr(torch, plan.precision)
        self.types = TrainingVocabulary(bilm, tokens.vocabulary)
        self.streams = Streams(
            tokens,
            self.types.targets,
            rows=plan.batch,
            steps=plan.unroll,
            lengths=self.types.lengths,
            seed=plan.seed,
            shuffled=plan.shuffled,
            mine=runtime.shard(plan.batch),
            parts=plan.parts,
        )
        self.states = [bilm.blank(len(rows)) for rows in self.streams.shares]
        self.parameters = dict(bilm.named_parameters())
        self.optimizer = Optimizer(plan.optimizer, self.parameters, sparse_names(bilm, self.softmax), plan.decay)
        self.held_out = None
        if held_out is not None:
            reading: dict[str, Any] = {"rows": plan.batch, "steps": plan.unroll, "sentences": plan.sentences}
            self.held_out = HeldOutText(bilm, self.softmax, held_out, runtime, **reading, precision=self.precision)
        self.record = Record()
        self.waiting: list[Tensor] = []  # losses and norms that are still on the device
        self.best: Tensors | None = None

    @property
    def last(self) -> int | None:
        """The number of steps of the whole training, where minutes do not decide."""
        if self.plan.steps is None and self.plan.minutes is not None:
            return None
        return self.plan.epochs * self.streams.batches if self.plan.steps is None else self.plan.steps

    def run(self) -> Record:
        """Trains to the end. The biLM then has its best weights, where a held-out text tells which these are."""
        resumed = self.watch.checkpoints is not None and self._restore(self.watch.checkpoints)
        self.log = Log(self.watch.log if self.runtime.is_main else None, self.record.step)
        self.clock = Clock(self.record.seconds, self.record.tokens)
        self.elapsed, self.stopped = self.record.seconds, False
        if not resumed and not self.plan.frozen:
            self._evaluate()
        started = self.record.step
        saved = time.monotonic()
        last = 1 << 62 if self.last is None else self.last
        for batches in self.batches(self.record.step, last):
            if self._is_over():
                break
            frozen = self._is_frozen()
            self._step(batches)
            if self.record.step == started + 1:  # which compiles kernels: time counts from here
                self._fetch()
                self.clock = Clock(self.record.seconds, self.record.tokens)
            self._look_around()
            if self._is_due() or (frozen and not self._is_frozen()):
                self._evaluate()
            late = self.elapsed_since(saved) > SAVE_SECONDS and not self.plan.save_every
            due = self.plan.save_every and self.record.step % self.plan.save_every == 0
            if self.watch.checkpoints is not None and (late or due or self.stopped or self._is_over()):
                self._keep(self.watch.checkpoints)
                saved = time.monotonic()
            if self.stopped:
                return self.record
        self._tell()
        if self.best is not None:
            self.bilm.load_state_dict(self.best)
        return self.record

    def batches(self, first: int, last: int) -> Iterator[tuple[Ready, ...]]:
        """The batches of some steps, each in its parts; a thread keeps ahead of the training."""
        stream = self.streams.each(self._ready, first, last)
        return zip(*[stream] * self.plan.parts)

    def _ready(self, batch: StreamBatch, step: int) -> Ready:
        drawn = self.softmax.draw(batch.targets, step)
        if self.types.device.type == "cpu":
            return Ready(batch, drawn)
        return Ready(batch.pinned(), None if drawn is None else drawn.pinned())

    def elapsed_since(self, moment: float) -> float:
        """Seconds since a moment, as rank 0 counts them; others learn of it when they next look around."""
        if self.runtime.size > 1 and self.record.step % self.plan.log_every:
            return 0.0
        return self.runtime.from_main(time.monotonic() - moment)

    def _look_around(self) -> None:
        """The clock and Ctrl-C, as rank 0 knows them, every now and then; and a line of the log."""
        if self.runtime.size == 1 or self.record.step % self.plan.log_every == 0:
            self.elapsed = self.record.seconds = self.runtime.from_main(self.clock.seconds)
            self.stopped = bool(self.runtime.from_main(float(self.watch.is_asked_to_stop())))
        if self.types.device.type == "cpu":
            self._fetch()
        if self.record.step % self.plan.log_every == 0:
            self._tell()

    @property
    def share(self) -> float:
        """The part of the training that is done."""
        by_steps = 0.0 if self.last is None else self.record.step / max(1, self.last)
        by_time = 0.0 if self.plan.minutes is None else self.elapsed / (60 * self.plan.minutes)
        return min(1.0, max(by_steps, by_time))

    @property
    def rate(self) -> float:
        """The learning rate of the next step."""
        return self.plan.schedule.rate(self.record.step, self.share)

    def _is_over(self) -> bool:
        tired = self.plan.patience is not None and self.record.stale >= self.plan.patience
        return tired or self.share >= 1

    def _is_due(self) -> bool:
        """Whether it is time for a look at the held-out text."""
        every = self.plan.evaluate_every or self.streams.batches
        return self.record.step % every == 0 or self._is_over()

    def _is_frozen(self) -> bool:
        """Whether the softmax still learns alone."""
        return self.share < self.plan.frozen

    def _step(self, batches: tuple[Ready, ...]) -> None:
        try:
            loss = self._gradients(batches)
            if self._is_frozen():
                for name, parameter in self.parameters.items():
                    if not name.startswith("softmax."):
                        parameter.grad = None
            all_reduce_gradients(self.parameters.values(), self.runtime, also=[loss])
            norm = clip_gradients(self.parameters.values(), self.plan.clip)
            self.optimizer.step(self.rate)
        except torch.OutOfMemoryError as error:
            raise OptionError(
                f"the GPU has not enough memory for {self.plan.batch} rows of {self.plan.unroll} words. Use a smaller "
                f"batch, or the same in more parts, one after another: accumulation={2 * self.plan.parts}"
            ) from error
        self.waiting.append(torch.stack([loss, norm.to(loss)]))
        self.record.step += 1
        self.record.tokens += self.plan.batch * self.plan.unroll

    def _gradients(self, batches: tuple[Ready, ...]) -> Tensor:
        """Adds the gradients of this rank's rows to the parameters; gives their part of the loss, which is a mean."""
        plan, step = self.plan, self.record.step
        total = torch.zeros((), device=self.types.device)
        for part, (ready, rows) in enumerate(zip(batches, self.streams.shares)):
            here = ready.batch.to(self.types.device)
            dropout = Dropout(plan.dropout, plan.seed, step, plan.batch, rows.start) if plan.dropout else None
            vectors = self.types.vectors(here.words, self.precision)
            forward, backward = (functional.embedding(way, vectors) for way in (here.forward, here.backward))
            fresh = here.fresh if plan.sentences else None
            ahead, behind, self.states[part] = run_layers(
                self.bilm, forward, backward, self.states[part], dropout, fresh
            )
            hidden = torch.cat([ahead, behind]).flatten(0, 1)
            loss = self.softmax.loss(hidden, here.targets, step, ready.drawn) * (len(rows) / plan.batch)
            (loss * plan.loss_times).backward()  # type: ignore[no-untyped-call]
            total += loss.detach()
        return total

    def _fetch(self) -> None:
        """Takes losses from the device; one that is no number, or far beyond guessing, ends the training."""
        if not self.waiting:
            return
        guess = math.log(max(2, len(self.bilm.vocabulary or ())))
        for loss, norm in torch.stack(self.waiting).tolist():
            if not (math.isfinite(loss) and math.isfinite(norm)) or loss > RUNAWAY * guess:
                rate = self.plan.schedule.first
                raise Diverged(self.record.tokens, rate, loss if math.isfinite(norm) else norm)
            self.record.losses.append(loss)
            self.record.norms.append(norm)
        self.waiting.clear()

    def _tell(self) -> None:
        self._fetch()
        if not self.record.losses:
            return
        line = self.record.line(self.rate)
        speed, memory = self.clock.speed(self.record.tokens), self.runtime.memory()
        self.log.write({**line, "tokens_per_second": round(speed, 1), "memory": memory})
        if not self.runtime.is_main:
            return
        shown = {name: line[name] for name in ("loss", "perplexity", "rate", "norm")} | {"memory": memory}
        if self.record.held_out:
            shown["held-out"] = self.record.held_out[-1]["average"]
        total = self.record.tokens / self.share if self.share else None
        self.watch.report(Progress("training", self.record.tokens, total, "tokens", shown))

    def _evaluate(self) -> None:
        if self.held_out is None:
            return
        self._fetch()
        said, better = self.record.look(self.held_out.perplexity())
        self.log.write({"held_out": True, **said})
        if better:
            self.best = {name: one.detach().cpu().clone() for name, one in self.bilm.state_dict().items()}
            if self.watch.checkpoints is not None and self.runtime.is_main:
                self.watch.checkpoints.keep_best(self.best, self.record.step)
        self.clock.skip(self.record.tokens)

    def _keep(self, checkpoints: Checkpoints) -> None:
        self._fetch()
        states = []
        for parts in ([state.cell for state in self.states], [state.hidden for state in self.states]):
            rows = torch.cat(parts, 2).movedim(2, 0).contiguous()  # ranks gather rows
            states.append(torch.cat(self.runtime.gather(rows)).movedim(0, 2))
        if self.runtime.is_main:
            tensors = named("model", self.bilm.state_dict()) | named("optimizer", dict(self.optimizer.tensors()))
            checkpoints.keep(tensors | named("state", dict(zip(("cells", "said"), states))), self.record.as_dict())
            checkpoints.forget_best(self.record.best_step if self.best is not None else None)

    def _restore(self, checkpoints: Checkpoints) -> bool:
        found = checkpoints.restore()
        if found is None:
            return False
        tensors, progress = found
        self.record = Record(**progress)
        self.bilm.load_state_dict(without("model", tensors))
        self.optimizer.load(without("optimizer", tensors), self.types.device)
        whole = without("state", tensors)
        for part, rows in enumerate(self.streams.shares):
            mine = (whole[name][:, :, rows.start : rows.stop].to(self.types.device) for name in ("cells", "said"))
            self.states[part] = BiLMState(*(one.contiguous() for one in mine))
        if self.record.best_loss is not None:
            self.best = checkpoints.best(self.record.best_step)
        return True


def softmax_for(bilm: BiLM, plan: Plan) -> Softmax:
    """How the softmax of a biLM is trained. One with few words is cheaper to train in full than by samples."""
    if bilm.softmax is None or bilm.vocabulary is None:
        raise OptionError("a biLM is trained by what it predicts, and this one has no softmax")
    if isinstance(bilm.softmax, AdaptiveSoftmax):
        return bilm.softmax
    if plan.softmax == "sampled" and len(bilm.vocabulary) > 2 * plan.negatives:
        return SampledSoftmax(bilm.softmax, plan.negatives, plan.seed)
    return FullSoftmax(bilm.softmax)


def sparse_names(bilm: BiLM, softmax: Softmax) -> list[str]:
    """The parameters of which a batch changes some rows alone."""
    if isinstance(softmax, SampledSoftmax):
        names = ["softmax.weight", "softmax.bias"]
    else:
        names = []
    tied = isinstance(bilm.encoder, WordEmbedding) and getattr(bilm.softmax, "weight", None) is bilm.encoder.table
    if tied:  # one parameter, named after the encoder
        return ["encoder.table", "softmax.bias"] if names else []
    return [*names, "encoder.table"] if isinstance(bilm.encoder, WordEmbedding) else names
