"""The models that an embedding names: word vectors and a biLM.

A task's model stores their names and not their contents. A fingerprint detects another model under the same name.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from firth.errors import OptionError
from firth.files import read_json
from firth.formats import native
from firth.formats.registry import detect, load
from firth.models.elmo import fingerprint as fingerprint_of_bilm
from firth.neural.bilm import BiLM
from firth.pretrained.shipped import locate
from firth.vectors.words import WordVectors

SAMPLE = 4096  # rows of word vectors in a fingerprint


def split_names(text: str) -> list[str]:
    """The names in `one+another`. An existing path with a plus is one name.

    >>> split_names("glove-en+elmo-en")
    ['glove-en', 'elmo-en']
    """
    return [text] if os.path.exists(text) else [name for name in text.split("+") if name]


def is_bilm(name: str) -> bool:
    """Whether a name is that of a biLM, not of word vectors. Reads no large file."""
    path = locate(name)
    if detect(path) != "native":
        return detect(path) == "elmo"
    config = read_json(Path(path, native.CONFIG), native.LONGEST_CONFIG)
    return isinstance(config, dict) and config.get("kind") == native.BILM


@dataclass(frozen=True)
class Sources:
    """Open word vectors, an open biLM, or both.

    >>> Sources((WordVectors(["tea", "rain"], [[1, 2], [3, 4]]),)).fingerprints()
    {'static': ['fdc5aab2d7e1a225']}
    """

    static: tuple[WordVectors, ...] = ()
    bilm: BiLM | None = None

    @classmethod
    def open(cls, static: str | None, elmo: str | None) -> Sources:
        """Opens the models of these names."""
        vectors = tuple(_load(name, WordVectors) for name in split_names(static or ""))
        return cls(vectors, None if elmo is None else _load(elmo, BiLM))

    @classmethod
    def of(cls, models: Sequence[object]) -> Sources:
        """Open models: word vectors, and at most one biLM.

        >>> Sources.of([WordVectors(["tea"], [[1, 2]]), "rain"])
        Traceback (most recent call last):
        firth.errors.OptionError: a str is neither word vectors nor the only biLM
        """
        static = tuple(model for model in models if isinstance(model, WordVectors))
        others = [model for model in models if not isinstance(model, WordVectors)]
        for place, other in enumerate(others):
            if place or not isinstance(other, BiLM):
                raise OptionError(f"a {type(other).__name__} is neither word vectors nor the only biLM")
        return cls(static, *others)  # type: ignore[arg-type]

    def fingerprints(self) -> dict[str, Any]:
        """A hash of the contents of each model."""
        hashes: dict[str, Any] = {}
        if self.static:
            hashes["static"] = [_fingerprint(vectors) for vectors in self.static]
        if self.bilm is not None:
            hashes["elmo"] = fingerprint_of_bilm(self.bilm)
        return hashes


def _load(name: str, wanted: type) -> Any:
    model = load(name)
    if not isinstance(model, wanted):
        problem = f"holds a {type(model).__name__}, but a {wanted.__name__} is needed"
        raise OptionError(f"{name}: {problem}. Word vectors and a biLM are joined by +: glove-en+elmo-en")
    return model


def _fingerprint(vectors: WordVectors) -> str:
    """A hash of all words and a sample of rows."""
    digest = hashlib.sha256(f"{vectors.kind} {vectors.vocabulary.fingerprint} {vectors.dim}".encode())
    rows = vectors.rows.shape[0]
    digest.update(np.ascontiguousarray(vectors.rows.take(np.arange(0, rows, max(1, rows // SAMPLE)))).tobytes())
    return digest.hexdigest()[:16]
