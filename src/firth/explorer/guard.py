"""The guard in front of the explorer: only this machine's user, only from the explorer's own pages.

A first visit brings the token that `firth explore` prints. The guard answers with a cookie and a page that goes on to
the same address without the token. Later visits bring the cookie. A foreign Host (DNS rebinding) or Origin (a page of
another site) is refused, for HTTP and for websockets.

The cookie is strict: a browser that follows a link of another site does not send it, nor along redirects from there. So
the first visit is a page of the explorer that goes on by itself, instead of a redirect, and a page that is refused to a
visitor from another site has a link to itself.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from firth.explorer.markup import Markup, join, tag
from firth.explorer.translations import DIRECTIONS, Language, preferred_language, translate

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = "127.0.0.1"
TOKEN = "token"
REFUSED = 4403  # the code that closes a websocket, as 403 is for HTTP
POLICY = "; ".join(
    (
        "default-src 'self' data: blob:",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",  # Vue compiles its templates in the browser
        "style-src 'self' 'unsafe-inline'",
        "frame-ancestors 'none'",
        "form-action 'self'",
        "base-uri 'none'",
    )
)
HEAD = Markup(
    '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>firth</title>'
    '<meta name="color-scheme" content="light dark"><style>body{font:1rem/1.6 system-ui,sans-serif;max-width:34rem;'
    "margin:20vh auto;padding:0 1.5rem}h1{font-size:1.3rem}</style>"
)
SAFETY = (
    (b"content-security-policy", POLICY.encode()),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)
NOT_KEPT = (b"cache-control", b"no-store")


class Guard:
    """An ASGI application that passes on only what may come in."""

    def __init__(self, app: Application, token: str, port: int) -> None:
        self.app, self.token, self.cookie = app, token, f"firth-{port}"
        self.hosts = {f"{LOOPBACK}:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one connection."""
        if scope["type"] not in ("http", "websocket"):  # the lifespan of the server
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
        if not self.is_local(headers):
            await refuse(scope, send, "The explorer answers only to its own address on this machine.")
        elif self.is_token(query.get(TOKEN, "")) and scope["type"] == "http":
            del query[TOKEN]
            await self.welcome(own_address(scope["path"], query), send)
        elif self.is_token(read_cookie(headers.get("cookie", ""), self.cookie)):
            await self.app(scope, receive, with_headers(send, SAFETY))
        elif scope["type"] == "http" and "text/html" in headers.get("accept", ""):
            await send_page(send, 403, draw_refusal(headers, own_address(scope["path"], query)))
        else:
            await refuse(scope, send, "Open the address that `firth explore` printed: it has a token.")

    def is_local(self, headers: dict[str, str]) -> bool:
        """Whether the Host is the explorer's address, and the Origin, where a browser sends one, too.

        >>> async def app(scope: Scope, receive: Receive, send: Send) -> None: ...
        >>> guard = Guard(app, "secret", 8765)
        >>> guard.is_local({"host": "localhost:8765"}), guard.is_local({"host": "evil.example"})
        (True, False)
        """
        origin = headers.get("origin")
        return headers.get("host") in self.hosts and (
            origin is None or origin in {f"http://{host}" for host in self.hosts}
        )

    def is_token(self, text: str) -> bool:
        """Whether a text is the token; the time it takes says nothing about it.

        >>> async def app(scope: Scope, receive: Receive, send: Send) -> None: ...
        >>> Guard(app, "secret", 8765).is_token("secret"), Guard(app, "secret", 8765).is_token("")
        (True, False)
        """
        return secrets.compare_digest(text.encode("utf-8", "surrogateescape"), self.token.encode())

    async def welcome(self, address: str, send: Send) -> None:
        """Turns the token into a cookie, and goes on to the address without it."""
        cookie = f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
        onward = tag("meta", http_equiv="refresh", content=f"0;url={address}")
        page = draw_page("en", onward, tag("a", "firth", href=address))
        await send_page(send, 200, page, (b"set-cookie", cookie.encode()))


def own_address(path: str, query: dict[str, str]) -> str:
    """The address of a request on this server, without its token.

    >>> own_address("//evil.example", {"word": "tea"})
    '/evil.example?word=tea'
    """
    address = "/" + quote(path.lstrip("/"))  # "//name" would be another host
    return f"{address}?{urlencode(query)}" if query else address


def draw_page(language: Language, head: Markup, body: Markup) -> bytes:
    """A page of the guard itself, which needs no other file."""
    page = tag("html", tag("head", HEAD, head), tag("body", body), lang=language, dir=DIRECTIONS[language])
    return f"<!doctype html>{page}".encode()


def draw_refusal(headers: dict[str, str], address: str) -> bytes:
    """What a browser without the cookie sees. One that comes from another site may have it, but did not send it."""
    language = preferred_language(headers.get("accept-language", ""))
    title = tag("h1", translate("token-missing", language))
    lines = [tag("p", translate("token-missing-cure", language))]
    if headers.get("sec-fetch-site", "cross-site") == "cross-site":  # a browser that is old does not say
        link = tag("a", translate("token-again", language), href=address)
        lines.append(tag("p", translate("token-foreign", language), " ", link))
    return draw_page(language, Markup(""), join(title, *lines))


async def send_page(send: Send, status: int, page: bytes, *headers: tuple[bytes, bytes]) -> None:
    """Sends a page of the guard itself."""
    kind = (b"content-type", b"text/html; charset=utf-8")
    await send({"type": "http.response.start", "status": status, "headers": [kind, *headers, NOT_KEPT, *SAFETY]})
    await send({"type": "http.response.body", "body": page})


def read_cookie(header: str, name: str) -> str:
    """The value of a cookie, or "".

    >>> read_cookie("a=1; firth-8765=secret", "firth-8765"), read_cookie("a=1", "b")
    ('secret', '')
    """
    try:
        cookies = SimpleCookie(header)
    except CookieError:
        return ""
    return cookies[name].value if name in cookies else ""


async def refuse(scope: Scope, send: Send, reason: str) -> None:
    """Refuses a connection: status 403, or a closed websocket."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": REFUSED, "reason": reason})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8"), NOT_KEPT, *SAFETY]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": reason.encode()})


def with_headers(send: Send, headers: tuple[tuple[bytes, bytes], ...]) -> Send:
    """A `send` that adds headers to every response."""

    async def send_more(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *headers]
        await send(message)

    return send_more
