"""How long work reports on itself. The library never prints: it hands a Progress to whoever asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Progress:
    """Where a long task stands. `total` is None where the end is not known.

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
        """The part that is done, between 0 and 1, where the end is known."""
        return None if not self.total else min(1.0, self.done / self.total)


Report = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """The report of a caller who does not watch."""
