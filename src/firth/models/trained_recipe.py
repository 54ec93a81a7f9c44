"""`fit` for every recipe that is trained on blocks of text, and the metadata of its artifact."""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from firth.errors import Diverged, OptionError
from firth.files import Name
from firth.options import Recipe
from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.text.corpus import Corpus, Source
from firth.text.tokenfile import TokenFile
from firth.text.tokenize import Tokenizer
from firth.training.loop import HeldOutBlocks, Learner, train
from firth.training.monitor import Monitor
from firth.training.schedule import BlockSchedule
from firth.vectors.words import WordVectors


class TextNetwork(Learner, Protocol):
    """A learner that can also evaluate text that it is not trained on."""

    def held_out(self, tokens: TokenFile) -> HeldOutBlocks: ...


NetworkType = TypeVar("NetworkType", bound=TextNetwork)
Artifact = TypeVar("Artifact", bound=WordVectors)


class TrainedRecipe(Recipe, Generic[NetworkType, Artifact]):
    """A recipe that builds a network, trains it on blocks of text and takes the artifact out of it."""

    name: ClassVar[str]
    no_examples: ClassVar[str]  # the error for a text without a single training example
    tokenizer: ClassVar[Tokenizer | None] = None  # of texts that are not a `Corpus` yet
    dim: int
    seed: int

    def fit(
        self,
        corpus: Source,
        *,
        runtime: Runtime | None = None,
        report: Report = silent,
        checkpoint: Name | None = None,
        resume: bool = True,
        start: WordVectors | None = None,
        held_out: Source | None = None,
    ) -> Artifact:
        """Trains the model on a corpus, or on anything that `Corpus.of` accepts: texts, lists of tokens, a `Path`.

        `checkpoint` names a folder: an interrupted training continues from there, unless `resume` is False. With
        `start`, training continues from existing vectors: their words keep their rows, new words get random ones, and
        the result has both. With `held_out`, the loss on another text is measured after each epoch; the result does
        not depend on it.
        """
        if start is not None and start.dim != self.dim:
            problem = f"dim is {self.dim}, but the vectors to start from have {start.dim}"
            raise OptionError(f"{type(self).__name__}: {problem}. Use dim={start.dim}")
        runtime = runtime or Runtime.from_env()
        corpus = Corpus.of(corpus, tokenizer=self.tokenizer)
        tokens = corpus.tokens(report)
        network, schedule = self._prepare(corpus, tokens, start, runtime)
        metadata = origin({"name": self.name, **self.as_dict()}, corpus, tokens)
        identity = {"recipe": metadata["recipe"], "corpus": tokens.fingerprint, **schedule.identity}
        if start is not None:
            identity["start"] = metadata["start"] = start.vocabulary.fingerprint
        held_out_text = None
        if held_out is not None:
            held_out_tokens = Corpus.of(held_out, tokenizer=corpus.tokenizer).tokens(report)
            identity["held_out"] = held_out_tokens.fingerprint
            metadata["held_out"] = {"fingerprint": held_out_tokens.fingerprint, "tokens": len(held_out_tokens)}
            held_out_text = network.held_out(held_out_tokens)
        with Monitor.open(identity, report=report, checkpoint=checkpoint, resume=resume) as monitor:
            record = train(network, schedule, runtime, monitor, held_out=held_out_text)
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

    def _finish(
        self, network: NetworkType, tokens: TokenFile, start: WordVectors | None, metadata: Mapping[str, Any]
    ) -> Artifact:
        """The artifact of a trained network."""
        raise NotImplementedError


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
    return {name: _version(name) for name in ("firth", "numpy", "numba")}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # imported from its source, without an installation
        return "unknown"


def is_finite(array: NDArray[np.float32]) -> bool:
    """Whether no element is NaN or infinite.

    >>> is_finite(np.ones((2, 2), np.float32)), is_finite(np.array([1, np.nan], np.float32))
    (True, False)
    """
    return math.isfinite(float(array.sum(dtype=np.float64)))  # a sum of floats cannot overflow a double
