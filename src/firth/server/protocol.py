"""A connection whose heads have limits: before a head is complete, no gate sees the request."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from firth.server.limits import Limits

LONGEST_HEAD = 1 << 16  # bytes


class BoundedProtocol(HttpToolsProtocol):
    """HTTP over one connection. A head that is too long is answered with 431, one that does not end in time with 408.

    A connection that sends nothing is closed after the same time.
    """

    seconds = Limits.seconds

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._timer: asyncio.TimerHandle | None = None  # runs while a head is awaited
        self._received = 0  # bytes since then

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins to wait for the first head."""
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Reads a part of a request."""
        if self.cycle is None or self.cycle.response_complete:
            self._await_head()
        super().data_received(data)
        self._received += len(data)
        if self._timer is not None and self._received > LONGEST_HEAD:
            self._give_up(431, "head", f"the head of a request may have {LONGEST_HEAD:,} bytes")

    def on_headers_complete(self) -> None:
        """Ends the wait for a head: the gate counts from here."""
        self._stop_timer()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forgets the connection."""
        self._stop_timer()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        if self._timer is None:
            self._received = 0
            self._timer = self.loop.call_later(self.seconds, self._end_wait)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end_wait(self) -> None:
        if self._received:
            self._give_up(408, "timeout", f"the head of the request took longer than {self.seconds:g} s to arrive")
        else:
            self.transport.close()

    def _give_up(self, status: int, kind: str, problem: str) -> None:
        self._stop_timer()
        if self.transport.is_closing():
            return
        content = json.dumps({"error": {"message": problem, "type": kind, "code": status}}).encode()
        reason = {408: "Request Timeout", 431: "Request Header Fields Too Large"}[status]
        head = f"HTTP/1.1 {status} {reason}\r\ncontent-type: application/json\r\ncontent-length: {len(content)}"
        self.transport.write(f"{head}\r\nconnection: close\r\n\r\n".encode() + content)
        self.transport.close()


def protocol(limits: Limits) -> type[BoundedProtocol]:
    """The protocol of a server with these limits."""
    return type("Protocol", (BoundedProtocol,), {"seconds": limits.seconds})
