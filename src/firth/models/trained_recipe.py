"""`fit` for every recipe that is trained on blocks of text, and the metadata of its artifact."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from firth.errors import Diverged, OptionError
from firth.files import Name
from firth.installed import find_version
from firth.options import Recipe
from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.show.bar import shows_progress
from firth.text.corpus import Corpus, Source
from firth.text.mapped_tokens import Words, choose_words
from firth.text.tokenfile import TokenFile
from firth.text.tokenize import Tokenizer
from firth.training.checkpoints import SAVE_SECONDS
from firth.training.loop import HeldOutBlocks, Learner, train
from firth.training.monitor import Monitor
from firth.training.record import EpochRecord
from firth.training.schedule import BlockSchedule
from firth.vectors.words import WordVectors


class TextNetwork(Learner, Protocol):
    """A learner that can also evaluate text that it is not trained on."""

    def held_out(self, tokens: TokenFile) -> HeldOutBlocks: ...


NetworkType = TypeVar("NetworkType", bound=TextNetwork)
Artifact = TypeVar("Artifact")


@dataclass(frozen=True)
class EpochEnd:
    """The state after an epoch, for `on_epoch`."""

    record: EpochRecord
    finish: Callable[[], Any]

    @property
    def epoch(self) -> int:
        """The number of the epoch; the first is 1."""
        return self.record.epochs_done

    @property
    def loss(self) -> float:
        """The mean loss of the epoch."""
        return self.record.curve[self.epoch - 1]

    @property
    def held_out_loss(self) -> float | None:
        """The loss on the held-out text, if there is one."""
        return self.record.held_out[-1] if self.record.held_out else None

    @cached_property
    def vectors(self) -> Any:
        """The model so far, a copy: further training does not change it. `start` gives its words as at the end."""
        return self.finish()


OnEpoch = Callable[[EpochEnd], None]


class TrainedRecipe(Recipe, Generic[NetworkType, Artifact]):
    """A recipe that builds a network, trains it on blocks of text and takes the artifact out of it."""

    name: ClassVar[str]
    no_examples: ClassVar[str]  # the error for a text without a single training example
    tokenizer: ClassVar[Tokenizer | None] = None  # of texts that are not a `Corpus` yet
    has_word_choice: ClassVar[bool] = False  # whether `fit` takes a vocabulary
    dim: int
    seed: int

    @shows_progress
    def fit(
        self,
        corpus: Source,
        *,
        runtime: Runtime | None = None,
        report: Report = silent,
        progress: bool = False,
        checkpoint: Name | None = None,
        checkpoint_seconds: float = SAVE_SECONDS,
        resume: bool = True,
        start: WordVectors | None = None,
        held_out: Source | None = None,
        vocabulary: Words | None = None,
        on_epoch: OnEpoch | None = None,
    ) -> Artifact:
        """Trains the model on a corpus, or on anything that `Corpus.of` accepts: texts, lists of tokens, a `Path`.

        `checkpoint` names a folder: an interrupted training continues from there, unless `resume` is False. The state
        is saved every `checkpoint_seconds`, or less often if saving takes more than 5 % of the time. With
        `start`, training continues from existing vectors: their words keep their rows, new words get random ones, and
        the result has both. With `held_out`, the loss on another text is measured after each epoch; the result does
        not depend on it.

        `vocabulary` chooses the words before `min_count` does: a list of words, or {word: count} (a `Vocabulary`) with
        counts that replace those of the corpus. `on_epoch` is called after each epoch with an `EpochEnd`: the loss, and
        the vectors so far.
        """
        saving = {"checkpoint": checkpoint, "checkpoint_seconds": checkpoint_seconds, "resume": resume}
        words = {"start": start, "held_out": held_out, "vocabulary": vocabulary}
        return self._fit(corpus, runtime=runtime, report=report, on_epoch=on_epoch, **saving, **words)  # type: ignore[arg-type]

    def _fit(
        self,
        corpus: Source,
        *,
        runtime: Runtime | None,
        report: Report,
        checkpoint: Name | None,
        checkpoint_seconds: float,
        resume: bool,
        start: Any,
        held_out: Source | None,
        vocabulary: Words | None,
        on_epoch: OnEpoch | None,
    ) -> Artifact:
        """As `fit`; recipes may start from other artifacts than word vectors."""
        if start is not None and start.dim != self.dim:
            problem = f"dim is {self.dim}, but the vectors to start from have {start.dim}"
            raise OptionError(f"{type(self).__name__}: {problem}. Use dim={start.dim}")
        runtime = runtime or Runtime.from_env()
        corpus = Corpus.of(corpus, tokenizer=self.tokenizer)
        tokens = corpus.tokens(report, runtime)
        if vocabulary is not None:
            if not self.has_word_choice:
                raise OptionError(f"{type(self).__name__}: the vocabulary cannot be given. Remove words from the text")
            tokens = choose_words(tokens, vocabulary)
        network, schedule = self._prepare(corpus, tokens, start, runtime)
        metadata = origin({"name": self.name, **self.as_dict()}, corpus, tokens)
        identity = {"recipe": metadata["recipe"], "corpus": tokens.fingerprint, **schedule.identity}
        identity |= self._identity(network)
        if runtime.workers:
            if runtime.device != "cpu":
                raise OptionError(f"{type(self).__name__}: on a cluster it trains on CPUs. Use device='cpu'")
            averaging = {
                "workers": runtime.workers,
                "every": runtime.average_every,
                "learning_rate": schedule.learning_rate,
            }
            identity["averaging"] = metadata["averaging"] = averaging
        if start is not None:
            identity["start"] = metadata["start"] = start.vocabulary.fingerprint
        held_out_text = None
        if held_out is not None:
            held_out_tokens = Corpus.of(held_out, tokenizer=corpus.tokenizer).tokens(report)
            identity["held_out"] = held_out_tokens.fingerprint
            metadata["held_out"] = {"fingerprint": held_out_tokens.fingerprint, "tokens": len(held_out_tokens)}
            held_out_text = network.held_out(held_out_tokens)
        with Monitor.open(identity, report=report, checkpoint=checkpoint, resume=resume) as monitor:

            def end_epoch(record: EpochRecord) -> None:
                if on_epoch is not None:
                    on_epoch(EpochEnd(record, lambda: self._finish(snapshot(network), tokens, start, metadata)))

            record = train(
                network,
                schedule,
                runtime,
                monitor,
                held_out=held_out_text,
                save_seconds=checkpoint_seconds,
                on_epoch=None if on_epoch is None else end_epoch,
            )
        if not any(record.curve):
            raise OptionError(f"{type(self).__name__}: {self.no_examples}")
        if not all(map(is_finite, network.arrays.values())):
            raise Diverged(schedule.words, schedule.learning_rate, math.nan)
        metadata["loss"] = record.curve
        if held_out_text is not None:
            metadata["held_out_loss"] = record.held_out
        return self._finish(network, tokens, start, metadata)

    def _prepare(
        self, corpus: Corpus, tokens: TokenFile, start: WordVectors | None, runtime: Runtime
    ) -> tuple[NetworkType, BlockSchedule]:
        """The network before its first step, and the blocks it is trained on."""
        raise NotImplementedError

    def _identity(self, network: NetworkType) -> Mapping[str, Any]:
        """What else a checkpoint must agree with."""
        return {}

    def _finish(
        self, network: NetworkType, tokens: TokenFile, start: WordVectors | None, metadata: Mapping[str, Any]
    ) -> Artifact:
        """The artifact of a trained network."""
        raise NotImplementedError


def snapshot(network: Any) -> Any:
    """A copy of a network whose arrays do not change with it."""
    copied = copy(network)
    for name, array in network.arrays.items():
        setattr(copied, name, array.copy())
    return copied


def origin(recipe: Mapping[str, Any], corpus: Corpus, tokens: TokenFile) -> dict[str, Any]:
    """The origin of an artifact, for its metadata: recipe, tokenizer, corpus and library versions."""
    return {
        "recipe": recipe,
        "tokenizer": corpus.tokenizer.as_dict(),
        "corpus": {"fingerprint": tokens.fingerprint, "tokens": len(tokens)},
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """The versions of the libraries that a result may depend on."""
    return {name: find_version(name) or "unknown" for name in ("firth", "numpy", "numba")}


def is_finite(array: NDArray[np.float32]) -> bool:
    """Whether no element is NaN or infinite.

    >>> is_finite(np.ones((2, 2), np.float32)), is_finite(np.array([1, np.nan], np.float32))
    (True, False)
    """
    return math.isfinite(float(array.sum(dtype=np.float64)))  # a sum of floats cannot overflow a double
