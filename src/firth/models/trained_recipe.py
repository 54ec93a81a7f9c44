"""What `fit` means for every recipe that is trained in the one loop, and what the result tells about its making."""

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
from firth.text.corpus import Corpus
from firth.text.tokenfile import TokenFile
from firth.training.loop import HeldOut, Learner, Run, Schedule, train
from firth.vectors.words import WordVectors


class Network(Learner, Protocol):
    """A learner that can also read text which it is not trained on."""

    def held_out(self, tokens: TokenFile) -> HeldOut: ...


Trainee = TypeVar("Trainee", bound=Network)
Artifact = TypeVar("Artifact", bound=WordVectors)


class Trained(Recipe, Generic[Trainee, Artifact]):
    """A recipe that makes a network, trains it on blocks of text and takes the artifact out of it."""

    name: ClassVar[str]
    lesson: ClassVar[str]  # what a text must have to teach anything
    dim: int

    def fit(
        self,
        corpus: Corpus,
        *,
        runtime: Runtime | None = None,
        report: Report = silent,
        checkpoint: Name | None = None,
        resume: bool = True,
        start: WordVectors | None = None,
        held_out: Corpus | None = None,
    ) -> Artifact:
        """The model of a corpus.

        With `checkpoint`, a folder, a run that was interrupted goes on where it was, unless `resume` is False. With
        `start`, training goes on from vectors that are there: their words keep their rows, new words get fresh ones,
        and the result has both. With `held_out`, the loss on another text is taken at the end of each epoch; it
        changes nothing in the result.
        """
        if start is not None and start.dim != self.dim:
            problem = f"dim is {self.dim}, but the vectors to start from have {start.dim}"
            raise OptionError(f"{type(self).__name__}: {problem}. Use dim={start.dim}")
        run = Run(runtime or Runtime.from_env(), report, checkpoint, resume)
        tokens = corpus.tokens(report)
        network, schedule = self._prepare(corpus, tokens, start, run.runtime)
        metadata = origin({"name": self.name, **self.as_dict()}, corpus, tokens)
        identity = {"recipe": metadata["recipe"], "corpus": tokens.fingerprint}
        if start is not None:
            identity["start"] = metadata["start"] = start.vocabulary.fingerprint
        apart = None
        if held_out is not None:
            other = held_out.tokens(report)
            identity["held_out"] = other.fingerprint
            metadata["held_out"] = {"fingerprint": other.fingerprint, "tokens": len(other)}
            apart = network.held_out(other)
        position = train(network, schedule, run, held_out=apart, identity=identity)
        if not any(position.curve):
            raise OptionError(f"{type(self).__name__}: {self.lesson}")
        if not all(map(is_finite, network.arrays.values())):
            raise Diverged(schedule.words, schedule.learning_rate, math.nan)
        metadata["loss"] = position.curve
        if apart is not None:
            metadata["held_out_loss"] = position.held_out
        return self._finish(network, tokens, start, metadata)

    def _prepare(
        self, corpus: Corpus, tokens: TokenFile, start: WordVectors | None, runtime: Runtime
    ) -> tuple[Trainee, Schedule]:
        """The network before its first step, and what it is trained on."""
        raise NotImplementedError

    def _finish(
        self, network: Trainee, tokens: TokenFile, start: WordVectors | None, metadata: Mapping[str, Any]
    ) -> Artifact:
        """The artifact that a trained network holds."""
        raise NotImplementedError


def origin(recipe: Mapping[str, Any], corpus: Corpus, tokens: TokenFile) -> dict[str, Any]:
    """What an artifact tells about its making: the recipe, the text, and what computed it."""
    return {
        "recipe": recipe,
        "tokenizer": corpus.tokenizer.as_dict(),
        "corpus": {"fingerprint": tokens.fingerprint, "tokens": len(tokens)},
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """The versions of what a result may depend on."""
    return {name: _version(name) for name in ("firth", "numpy", "numba")}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # read from its source, without an installation
        return "unknown"


def is_finite(array: NDArray[np.float32]) -> bool:
    """Whether every number is one.

    >>> is_finite(np.ones((2, 2), np.float32)), is_finite(np.array([1, np.nan], np.float32))
    (True, False)
    """
    return math.isfinite(float(array.sum(dtype=np.float64)))  # in doubles no sum of floats is too large
