"""The models of the explorer: which there are, of which kind, and each opened once for all visitors."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from firth.errors import FormatError
from firth.explorer.derived import DERIVED
from firth.explorer.problems import NoSuchModel
from firth.formats.native import CONFIG
from firth.formats.registry import detect, load
from firth.pretrained import shipped
from firth.training.checkpoints import KIND as CHECKPOINT
from firth.training.checkpoints import LOG

KINDS = {  # formats that contain one kind of model
    **dict.fromkeys(("word2vec", "word2vec-binary", "glove", "vec"), "word-vectors"),
    **dict.fromkeys(("fasttext", "ftz"), "subword-vectors"),
    "arpa": "ngram",
    "elmo": "bilm",
}
TRAINING = "training"  # a folder of checkpoints, or a log: no model, but its curves can be seen
WORDS = ("word-vectors", "subword-vectors")


class Models:
    """Models by name: those given, the pretrained ones, and those derived from a small text.

    A name is a path or the name of a pretrained or derived model.

    >>> models = Models(["glove-en"])
    >>> models.of("word-vectors")
    ('glove-en', 'word2vec-en', 'svd-en')
    >>> models.load("glove-en") is models.load("glove-en")
    True
    >>> models.load("glov-en")
    Traceback (most recent call last):
    firth.explorer.problems.NoSuchModel: the explorer has no model 'glov-en'. Did you mean 'glove-en'?
    """

    def __init__(self, given: Iterable[str] = (), opener: Callable[[str], Any] = load) -> None:
        self.given = tuple(given)
        opened = dict.fromkeys([*self.given, *shipped.available()])
        self.kinds = {name: find_kind(name) for name in opened} | {name: one.kind for name, one in DERIVED.items()}
        self.names = tuple(self.kinds)
        self._opener = opener
        self._locks = {name: threading.Lock() for name in self.names}
        self._loaded: dict[str, Any] = {}

    def of(self, *kinds: str) -> tuple[str, ...]:
        """The names of the models of these kinds, those given on the command line first.

        >>> Models().of("subword-vectors")
        ('fasttext-en', 'fasttext-fa')
        """
        return tuple(name for name in self.names if self.kinds[name] in kinds)

    def is_loaded(self, name: str) -> bool:
        """Whether a model is in memory.

        >>> Models().is_loaded("glove-en")
        False
        """
        return name in self._loaded

    def check(self, name: str) -> str:
        """The name of a model that the explorer offers; another is an error. An address cannot open other files.

        >>> Models().check("glove-en")
        'glove-en'
        """
        if name not in self.kinds:
            raise NoSuchModel(name, self.names)
        return name

    def load(self, name: str) -> Any:
        """A model, opened on first use. Visitors who ask at the same time wait for the same model."""
        with self._locks[self.check(name)]:
            if name not in self._loaded:
                self._loaded[name] = DERIVED[name].make() if name in DERIVED else self._opener(name)
            return self._loaded[name]


def find_kind(name: str) -> str:
    """The kind of the model at a path, or of a pretrained model, without opening it.

    >>> find_kind("elmo-en"), find_kind("task-ner"), find_kind("fasttext-fa")
    ('bilm', 'task', 'subword-vectors')
    """
    path = shipped.locate(name)
    if (Path(path) / LOG).is_file() or (str(path).endswith(".jsonl") and Path(path).is_file()):
        return TRAINING
    format = detect(path)
    if format != "native":
        return KINDS[format]
    try:
        kind = str(json.loads((Path(path) / CONFIG).read_bytes())["kind"])
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise FormatError(os.fspath(path), f"{CONFIG} does not name the kind of the model") from error
    return TRAINING if kind == CHECKPOINT else kind


class WarmUp:
    """Work done in the background before anyone asks: opening models and compiling kernels.

    `now` is the name of the step that runs, "" when all is done; pages show it. A step that fails is skipped here,
    because the page that needs it shows the error.
    """

    def __init__(self, steps: dict[str, Callable[[], object]]) -> None:
        self.steps, self.now = steps, next(iter(steps), "")

    def start(self) -> threading.Thread:
        """Starts the work in a thread that does not keep the process alive."""
        thread = threading.Thread(target=self.run, name="warm-up", daemon=True)
        thread.start()
        return thread

    def run(self) -> None:
        """Runs all steps."""
        for name, step in self.steps.items():
            self.now = name
            with suppress(Exception):  # the page that needs it fails too, and says why
                step()
        self.now = ""
