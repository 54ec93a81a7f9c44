"""What the studies of probes share: each model is opened and judged in turn, and what it scored is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from firth.probes.readers import Reader, called, identity
from firth.studies.results import kept


def judged_in_turn(
    work: Path,
    study: str,
    readers: Iterable[tuple[str, Reader]],
    options: Mapping[str, Any],
    judge: Callable[[Reader], Any],
) -> Iterator[tuple[str, Reader, Any]]:
    """The name, the reader and the result of each model: from the work folder, or from `judge`, and then kept there."""
    for place, (model, reader) in enumerate(readers):
        path = work / f"{study}-{place}.json"
        yield called(model), reader, kept(path, {**options, **identity(model, reader)}, partial(judge, reader))
