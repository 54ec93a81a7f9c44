"""The models of a server: opened by name, each with its own queue, replaced without a pause."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from firth.errors import FirthError, OptionError, suggest
from firth.formats.native import BILM, TASK
from firth.formats.registry import load
from firth.models.classifier_model import Classifier
from firth.models.ngram_model import NgramModel
from firth.remote.addresses import base_name, looks_like_address
from firth.server.batching import Batcher, Computed
from firth.server.limits import Limits
from firth.text.model_tokenizer import ModelTokenizer
from firth.vectors.neighbors import Neighbors
from firth.vectors.subwords import SubwordVectors

Ability = Literal["encode", "embed", "neighbors", "score", "labels", "task"]
Open = Callable[[str], Any]
PURPOSES: dict[Ability, str] = {
    "encode": "vectors of texts",
    "embed": "vectors of words in a text",
    "neighbors": "neighbors of words",
    "score": "probabilities of sentences",
    "labels": "labels of texts",
    "task": "a task",
}


class UnknownModel(OptionError):
    """A request names a model that the server does not have."""


class NotReady(FirthError):
    """A model is being opened."""


@dataclass(frozen=True)
class OpenModel:
    """A model in memory and what can be asked of it. It does not change; a new version is a new one."""

    model: Any
    opened: float  # seconds since 1970

    @property
    def kind(self) -> str:
        """The kind of the model, such as word-vectors or bilm."""
        return str(getattr(self.model, "kind", type(self.model).__name__))

    @property
    def task(self) -> str:
        """The task of a task model; "" for other models."""
        return str(self.model.task.name) if self.kind == TASK else ""

    @cached_property
    def tokenizer(self) -> ModelTokenizer:
        """Splits texts as the training text was split."""
        tokenizer: ModelTokenizer = self.model.tokenizer
        return tokenizer

    @cached_property
    def classifier(self) -> Classifier | None:
        """The model as a fastText classifier, where it has labels."""
        try:
            return Classifier(self.model) if isinstance(self.model, SubwordVectors) else None
        except OptionError:
            return None

    @cached_property
    def abilities(self) -> tuple[Ability, ...]:
        """What can be asked of it."""
        if self.kind == TASK:
            return ("task", "labels") if self.task in ("sentiment", "entailment") else ("task",)
        scores = isinstance(self.model, NgramModel) or (self.kind == BILM and self.model.vocabulary is not None)
        found: dict[Ability, bool] = {
            "encode": hasattr(self.model, "encode"),
            "embed": hasattr(self.model, "embed"),
            "neighbors": isinstance(self.model, Neighbors),
            "score": scores,
            "labels": self.classifier is not None,
        }
        return tuple(ability for ability, has in found.items() if has)


class ServedModel:
    """A model of the server: its name, its path, its current version and its queue."""

    def __init__(
        self,
        name: str,
        path: str,
        limits: Limits,
        *,
        opener: Open = load,
        observe: Callable[[str, Computed], None] = lambda name, computed: None,
        workers: int = 1,
    ) -> None:
        self.name, self.path, self.opener = name, path, opener
        self.current: OpenModel | None = None
        self._lock = threading.Lock()
        self.batcher = Batcher(
            limits.batch_tokens, limits.queue_tokens, workers, lambda computed: observe(name, computed)
        )

    def open(self) -> OpenModel:
        """Opens the model, or its files again. Requests that were accepted before are answered by the old version."""
        with self._lock:
            opened = OpenModel(self.opener(self.path), time.time())
            if not opened.abilities:
                raise OptionError(f"{self.path}: a server cannot answer with a {type(opened.model).__name__}")
            self.current = opened
            return opened

    def ready(self) -> OpenModel:
        """The current version."""
        if self.current is None:
            raise NotReady(f"the model {self.name!r} is being opened. Try again soon")
        return self.current


class ServedModels:
    """The models of a server by name.

    >>> models = ServedModels(["vectors=svd-en"], Limits())
    >>> models.open_all()
    >>> models.find(None, "encode").name, models.find("vectors", "neighbors").current.kind
    ('vectors', 'word-vectors')
    >>> models.find("vector", "encode")
    Traceback (most recent call last):
    firth.server.served.UnknownModel: the server has no model 'vector'. Did you mean 'vectors'?
    >>> models.find("vectors", "score")
    Traceback (most recent call last):
    firth.errors.OptionError: the model 'vectors' has no probabilities of sentences
    >>> models.close()
    """

    def __init__(self, specifications: Iterable[str], limits: Limits, **settings: Any) -> None:
        named = [name_model(one) for one in specifications]
        if not named:
            raise OptionError("name a model to serve, such as elmo-en or a path. `firth models` lists those that ship")
        names = [name for name, _ in named]
        for name in names:
            if names.count(name) > 1:
                raise OptionError(
                    f"two models are called {name!r}. Give them names: firth serve first=PATH second=PATH"
                )
        self.models = {name: ServedModel(name, path, limits, **settings) for name, path in named}
        self.is_ready = False

    def open_all(self, prepare: Callable[[ServedModel], None] = lambda served: None) -> None:
        """Opens and prepares all models, one after another."""
        for served in self.models.values():
            served.open()
            prepare(served)
        self.is_ready = True

    def reload_all(self) -> dict[str, str]:
        """Opens the files of all models again; the errors of those that failed, which keep their old version."""
        errors: dict[str, str] = {}
        for served in self.models.values():
            try:
                served.open()
            except FirthError as error:
                errors[served.name] = str(error)
        return errors

    def named(self, name: str) -> ServedModel:
        """The model of a name."""
        if name not in self.models:
            raise UnknownModel(f"the server has no model {name!r:.200}. {suggest(name[:200], self.models)}")
        return self.models[name]

    def find(self, name: str | None, ability: Ability) -> ServedModel:
        """The model of a name, which must have the ability; without a name the first that has it."""
        if name is not None:
            served = self.named(name)
            if ability not in served.ready().abilities:
                raise OptionError(f"the model {name!r} has no {PURPOSES[ability]}")
            return served
        for served in self.models.values():
            if ability in served.ready().abilities:
                return served
        raise UnknownModel(f"no model of this server has {PURPOSES[ability]}")

    def find_task(self, name: str) -> ServedModel:
        """The model of a task: that of this name, or the first whose task it is."""
        for served in self.models.values():
            opened = served.ready()
            if "task" in opened.abilities and name in (served.name, opened.task):
                return served
        tasks = [served.ready().task for served in self.models.values() if "task" in served.ready().abilities]
        there = suggest(name[:200], tasks) if tasks else "It serves no task model"
        raise UnknownModel(f"the server has no model for the task {name!r:.200}. {there}")

    def close(self) -> None:
        """Answers what was accepted, then ends all threads."""
        for served in self.models.values():
            served.batcher.close()


def name_model(specification: str) -> tuple[str, str]:
    """The name and the path of a model: `NAME=PATH`, or a path, whose last part without its extension is the name.

    >>> name_model("vectors=models/a.bin"), name_model("models/cc.en.300.bin"), name_model("elmo-en")
    (('vectors', 'models/a.bin'), ('cc.en.300', 'models/cc.en.300.bin'), ('elmo-en', 'elmo-en'))
    """
    name, mark, path = specification.partition("=")
    if looks_like_address(specification):
        specification, path = base_name(specification), specification
        return name_model(specification)[0], path
    if mark and name and path and not os.path.exists(specification):
        return name, path
    parts = Path(specification)
    known = {".bin", ".ftz", ".vec", ".txt", ".arpa", ".gz", ".zip", ".hdf5"}
    return (parts.stem if parts.suffix in known else parts.name) or specification, specification
