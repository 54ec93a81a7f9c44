"""What the studies of probes share: each model is opened and judged in turn, and what it scored is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from firth.probes.readers import LayerReader, model_identity, model_names
from firth.studies.results import load_or_compute


def evaluate_models(
    work: Path,
    study: str,
    readers: Iterable[tuple[str, LayerReader]],
    options: Mapping[str, Any],
    judge: Callable[[LayerReader], Any],
) -> Iterator[tuple[str, LayerReader, Any]]:
    """The name, the reader and the result of each model: from the work folder, or from `judge`, and then kept there."""
    for place, (model, reader) in enumerate(readers):
        path = work / f"{study}-{place}.json"
        yield (
            model_names(model),
            reader,
            load_or_compute(path, {**options, **model_identity(model, reader)}, partial(judge, reader)),
        )
