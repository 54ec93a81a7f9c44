"""Progress reports. The library never prints: long work calls a function of the caller with a `Progress`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Progress:
    """The progress of a long task. `total` is None if it is unknown.

    >>> Progress("reading", done=50, total=200, unit="bytes").share
    0.25
    """

    step: str
    done: float
    total: float | None = None
    unit: str = ""
    values: Mapping[str, float] = field(default_factory=dict)

    @property
    def share(self) -> float | None:
        """The fraction that is done, or None if the total is unknown."""
        return None if not self.total else min(1.0, self.done / self.total)


Report = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Ignores a progress report."""
