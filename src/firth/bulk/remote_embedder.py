"""Blocks of lines embedded by the workers of a cluster. Each worker loads the model once; the driver writes.

The journal of the output stays with the driver, so that every block is written once, whoever computed it, and a killed
run resumes as on one machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from firth.bulk.embedder import Embed, Layers, Sentences, embedder
from firth.bulk.fingerprint import fingerprint
from firth.errors import FormatError, OptionError
from firth.formats.registry import load
from firth.neural.inference.sentence_arrays import Pooling
from firth.pretrained import shipped
from firth.runtime import Runtime
from firth.vectors.rows import Floats


@dataclass(frozen=True)
class WorkerEmbedder:
    """What a worker needs to embed sentences: the model by its path and fingerprint, and the options."""

    path: str
    identity: str
    layers: Layers
    pooling: Pooling | None
    settings: tuple[tuple[str, Any], ...]
    device: str

    def embed(self, sentences: Sentences) -> list[Floats]:
        """The arrays of the sentences."""
        return _open(self)(sentences)


@lru_cache(maxsize=2)
def _open(wanted: WorkerEmbedder) -> Embed:
    """The embedding function of this process; the model is loaded for the first block."""
    if wanted.identity != fingerprint(wanted.path):
        raise FormatError(wanted.path, "is another model on a worker than here", cure="Copy it to all nodes")
    model = load(wanted.path)
    if wanted.device != "cpu" and hasattr(model, "to"):
        model = model.to(wanted.device)
    return embedder(model, wanted.layers, wanted.pooling, **dict(wanted.settings))


def embed_on_cluster(
    embed: Embed,
    path: Any,
    identity: str,
    layers: Layers,
    pooling: Pooling | None,
    settings: dict[str, Any],
    runtime: Runtime,
) -> Embed:
    """The embedding function `embed`, whose blocks are computed by the workers of a cluster."""
    if not isinstance(path, (str, os.PathLike)):
        raise OptionError("on a cluster each worker opens the model itself. Pass its path or name, not the model")
    if settings.get("stateful"):
        raise OptionError("stateful embedding goes from one batch to the next, so it cannot run on a cluster")
    used = tuple(sorted((name, value) for name, value in settings.items() if value is not None))
    place = os.path.abspath(shipped.locate(path)) if os.path.exists(path) else os.fspath(path)
    worker = WorkerEmbedder(place, identity, layers, pooling, used, runtime.device)

    def many(blocks: Iterable[Sentences], dtype: str) -> Iterator[list[Floats]]:
        return runtime.scatter(WorkerEmbedder.embed, blocks, shared=worker)

    return replace(embed, many=many)
