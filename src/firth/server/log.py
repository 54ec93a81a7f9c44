"""The log of a server: a line of JSON for each event, without any text of a request."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TextIO


@dataclass(frozen=True)
class EventLog:
    """Writes events to a stream; without one it writes nothing.

    >>> import sys
    >>> EventLog(sys.stdout).write(event="reload", model="vectors")  # doctest: +ELLIPSIS
    {"time": "...", "event": "reload", "model": "vectors"}
    """

    stream: TextIO | None = None

    def write(self, **values: Any) -> None:
        """Writes one event with the time."""
        if self.stream is None:
            return
        line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), **values}
        with suppress(OSError):  # the reader of the log has gone, or the disk is full: requests are answered on
            self.stream.write(json.dumps(line) + "\n")
            self.stream.flush()
