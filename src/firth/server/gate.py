"""What stands in front of the application: host, origin, token, sizes, times, request log and metrics.

The body of a request is read here, within the limits of size and time, before the application sees the request.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from firth.server.limits import Limits
from firth.server.log import EventLog
from firth.server.metrics import Metrics
from firth.server.service import MARK, Details

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
FREE = frozenset(("/health", "/ready"))  # need no token, so that a supervisor can ask
PAGES = frozenset(("/", "/docs", "/openapi.json"))  # nor does the description: its page has a field for the token
SEEN = b"firth-warning, retry-after, x-request-id"  # headers that a page of another site may read
PREFLIGHT = (
    (b"access-control-allow-methods", b"GET, POST"),
    (b"access-control-allow-headers", b"accept, authorization, content-type"),
    (b"access-control-max-age", b"600"),
)
PART = 1 << 18  # bytes of an answer that are sent at once: the rest waits for the reader here, not in a buffer
GONE = 499  # in the log: the client closed the connection first


class Refusal(Exception):
    """A request that the application does not see: the status, the type of the error, and what to do."""

    def __init__(self, status: int, kind: str, message: str, *headers: tuple[bytes, bytes]) -> None:
        super().__init__(message)
        self.status, self.kind, self.headers = status, kind, headers


class Gate:
    """An ASGI application that lets requests through to another. With `local`, only hosts of this machine may ask."""

    def __init__(
        self,
        app: Application,
        limits: Limits,
        metrics: Metrics,
        *,
        token: str = "",
        local: bool = True,
        origins: frozenset[str] = frozenset(),
        log: EventLog | None = None,
    ) -> None:
        self.app, self.limits, self.metrics = app, limits, metrics
        self.token, self.local, self.origins, self.log = token, local, origins, log or EventLog()
        self.open = 0  # requests in progress
        metrics.open.set_function(lambda: self.open)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one connection."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 4404, "reason": "there are no websockets here"})
        elif scope["type"] != "http":  # the lifespan of the server
            await self.app(scope, receive, send)
        else:
            await self.handle(scope, receive, send)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request: refuses it, or reads its body and passes it on. Both are counted and logged."""
        start = time.monotonic()
        details = scope[MARK] = Details(start + self.limits.seconds)
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        origin = headers.get("origin")
        answer = Answer(send, details.deadline, secrets.token_hex(8), origin if origin in self.origins else None)
        self.open += 1
        try:
            self.check_site(headers)
            if answer.origin is not None and "access-control-request-method" in headers:
                await answer.allow()
                return
            self.check_token(scope, headers)
            self.check_limits(scope, headers)
            async with asyncio.timeout(self.limits.seconds):
                body = await self.read_body(receive)
            await self.app(scope, replay(body, receive), answer.send)
        except Refusal as refusal:
            await answer.refuse(refusal)
        except TimeoutError:  # of the body, or of an answer that nobody reads
            await answer.refuse(
                Refusal(408, "timeout", f"the request took longer than {self.limits.seconds:g} s to arrive or to read")
            )
        except ConnectionError:
            answer.status = GONE
        finally:
            self.open -= 1
            self.note(scope, details, answer, time.monotonic() - start)

    def check_site(self, headers: dict[str, str]) -> None:
        """Refuses requests of other hosts and sites."""
        if self.local and host_name(headers.get("host", "")) not in LOOPBACK:
            raise Refusal(403, "host", "this server answers only to this machine, under its own address")
        origin = headers.get("origin")
        if origin is not None and origin not in self.origins and not is_same_origin(origin, headers.get("host", "")):
            raise Refusal(403, "origin", "pages of other sites may not ask. Allow one with --allow-origin")

    def check_token(self, scope: Scope, headers: dict[str, str]) -> None:
        """Refuses requests without the token, where one is needed."""
        is_free = scope["path"] in FREE or (scope["path"] in PAGES and scope["method"] in ("GET", "HEAD"))
        if self.token and not is_free and not self.is_token(headers):
            problem = "the token is missing or wrong. Send it as `Authorization: Bearer TOKEN`"
            raise Refusal(401, "token", problem, (b"www-authenticate", b"Bearer"))

    def check_limits(self, scope: Scope, headers: dict[str, str]) -> None:
        """Refuses requests beyond the number that may be open, or of too many bytes."""
        if self.open > self.limits.requests and scope["path"] not in FREE:
            problem = f"{self.limits.requests:,} requests are in progress. Try again in 1 s"
            raise Refusal(429, "overloaded", problem, (b"retry-after", b"1"))
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self.limits.body_bytes:
            raise self.too_large()

    def is_token(self, headers: dict[str, str]) -> bool:
        """Whether the request has the token; the time it takes says nothing about it."""
        scheme, _, given = headers.get("authorization", "").partition(" ")
        is_right = secrets.compare_digest(given.strip().encode("utf-8", "surrogateescape"), self.token.encode())
        return is_right and scheme.lower() == "bearer"

    def too_large(self) -> Refusal:
        """The refusal of a body beyond the limit."""
        return Refusal(413, "too_large", f"a request may have {self.limits.body_bytes:,} bytes")

    async def read_body(self, receive: Receive) -> bytes:
        """The body of a request."""
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ConnectionError
            body += message.get("body", b"")
            if len(body) > self.limits.body_bytes:
                raise self.too_large()
            if not message.get("more_body", False):
                return bytes(body)

    def note(self, scope: Scope, details: Details, answer: Answer, seconds: float) -> None:
        """Counts a request and logs it."""
        route = str(getattr(scope.get("route"), "path", "other"))
        self.metrics.note_request(route, answer.status, seconds)
        self.log.write(
            event="request",
            request=answer.name,
            method=scope["method"] if scope["method"] in ("GET", "POST", "HEAD", "OPTIONS") else "other",
            route=route,
            status=answer.status,
            ms=round(1000 * seconds, 1),
            model=details.model,
            texts=details.texts,
            tokens=details.tokens,
        )


class Answer:
    """Sends an answer in its time, and keeps its status."""

    def __init__(self, send: Send, deadline: float, name: str, origin: str | None = None) -> None:
        self.pass_on, self.deadline, self.name = send, deadline, name
        self.origin = origin  # of another site, whose page may read the answer
        self.status = GONE

    async def send(self, message: Message) -> None:
        """Sends a part of the answer. A reader who is too slow is given up."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = [(b"x-request-id", self.name.encode()), (b"x-content-type-options", b"nosniff")]
            if self.origin is not None:
                own += [(b"access-control-allow-origin", self.origin.encode("latin-1")), (b"vary", b"Origin")]
                own += [(b"access-control-expose-headers", SEEN)]
            message["headers"] = [*message.get("headers", ()), *own]
            await self.pass_on(message)  # never waits for the reader
            return
        body, has_more = message.get("body", b""), message.get("more_body", False)
        async with asyncio.timeout(max(1.0, self.deadline - time.monotonic())):
            for start in range(0, max(1, len(body)), PART):
                end = start + PART
                part = {"type": message["type"], "body": body[start:end], "more_body": has_more or end < len(body)}
                await self.pass_on(part)

    async def allow(self) -> None:
        """Answers a browser that asks whether a page of another site may send a request."""
        await self.send({"type": "http.response.start", "status": 204, "headers": list(PREFLIGHT)})
        await self.send({"type": "http.response.body", "body": b""})

    async def refuse(self, refusal: Refusal) -> None:
        """Sends a refusal, unless an answer has begun: then the connection ends without the rest."""
        if self.status != GONE:
            raise ConnectionResetError("the reader was too slow")
        problem = {"message": str(refusal), "type": refusal.kind, "code": refusal.status, "param": None}
        content = json.dumps({"error": problem}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
        start = {"type": "http.response.start", "status": refusal.status, "headers": [*headers, *refusal.headers]}
        self.deadline = time.monotonic() + 5
        await self.send(start)
        await self.send({"type": "http.response.body", "body": content})


def replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives a body that was read already, then what comes after it."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return messages.pop() if messages else await receive()

    return receive_again


def host_name(host: str) -> str:
    """The name in a Host header, without the port.

    >>> host_name("localhost:8000"), host_name("[::1]:80"), host_name("127.0.0.1")
    ('localhost', '[::1]', '127.0.0.1')
    """
    name, mark, port = host.rpartition(":")
    return (name if mark and port.isdecimal() else host).lower()


def is_same_origin(origin: str, host: str) -> bool:
    """Whether an Origin header names the host of the request itself.

    >>> is_same_origin("http://localhost:8000", "localhost:8000"), is_same_origin("http://evil.example", "localhost")
    (True, False)
    """
    return origin in (f"http://{host}", f"https://{host}")
