"""The parts of a saved artifact: settings, arrays and word lists; nothing executable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from firth.text.vocabulary import Vocabulary


@dataclass(frozen=True)
class Parts:
    """The parts of one artifact. `config` must be plain JSON; each vocabulary becomes a text file.

    The list called "vocab" is the artifact's own vocabulary; other lists (labels, contexts, documents) have other
    names.
    """

    kind: str
    config: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    vocabularies: Mapping[str, Vocabulary] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        """The size of the arrays in bytes."""
        return sum(np.asarray(array).nbytes for array in self.arrays.values())


class Artifact(Protocol):
    """A value that can be saved: it converts to parts and from parts."""

    def to_parts(self) -> Parts: ...

    @classmethod
    def from_parts(cls, parts: Parts) -> Self: ...
