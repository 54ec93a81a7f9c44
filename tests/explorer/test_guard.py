"""The guard: only the token, then only the cookie, only the explorer's own Host and Origin."""

from __future__ import annotations

import html
import re
from contextlib import suppress
from typing import Any

import pytest

from firth.explorer.guard import Guard, read_cookie

HOST = {"host": "127.0.0.1:8765"}
COOKIE = {"cookie": "firth-8765=secret"}


def call(headers: dict[str, str], query: str = "", kind: str = "http", path: str = "/map") -> list[dict[str, Any]]:
    """The messages that come back for a connection; the application behind the guard answers with status 200."""
    sent: list[dict[str, Any]] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start" if kind == "http" else "websocket.accept", "status": 200})

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {}

    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": kind, "headers": pairs, "query_string": query.encode(), "path": path}
    with suppress(StopIteration):  # nothing waits, so that one step is all
        Guard(application, "secret", 8765)(scope, receive, send).send(None)  # type: ignore[attr-defined]
    return sent


def read_onward(sent: list[dict[str, Any]]) -> str:
    """The address where a page of the guard goes on by itself."""
    found = re.search(rb'http-equiv="refresh" content="0;url=([^"]*)"', sent[1]["body"])
    assert found is not None
    return html.unescape(found[1].decode())


def test_the_token_becomes_a_strict_cookie_and_leaves_the_address() -> None:
    sent = call(HOST, "token=secret&word=tea&model=svd-en")
    headers = dict(sent[0]["headers"])
    assert sent[0]["status"] == 200  # a redirect would not carry the cookie on from a link of another page
    assert read_onward(sent) == "/map?word=tea&model=svd-en"
    assert headers[b"set-cookie"] == b"firth-8765=secret; Path=/; HttpOnly; SameSite=Strict"


@pytest.mark.parametrize(
    ("path", "address"),
    [
        ("//evil.example/map", "/evil.example/map"),
        ("/a\r\nX: 1", "/a%0D%0AX%3A%201"),
        ('/"><script>', "/%22%3E%3Cscript%3E"),
        ("/کتاب", "/%DA%A9%D8%AA%D8%A7%D8%A8"),
    ],
)
def test_the_address_without_the_token_stays_on_the_explorer(path: str, address: str) -> None:
    assert read_onward(call(HOST, "token=secret", path=path)) == address


def test_a_browser_without_the_cookie_is_told_what_to_open() -> None:
    browser = HOST | {"accept": "text/html,*/*", "accept-language": "fa"}
    start, body = call(browser | {"sec-fetch-site": "none"}, "word=tea")
    assert start["status"] == 403
    assert "firth explore" in body["body"].decode()
    assert 'lang="fa" dir="rtl"' in body["body"].decode()
    assert b"href" not in body["body"]
    foreign = call(browser | {"sec-fetch-site": "cross-site"}, "word=tea")  # its strict cookie stays at home
    assert foreign[0]["status"] == 403
    assert b'href="/map?word=tea"' in foreign[1]["body"]
    assert b"set-cookie" not in dict(foreign[0]["headers"])


def test_the_cookie_opens_pages_and_they_carry_a_content_policy() -> None:
    start = call(HOST | COOKIE)[0]
    assert start["status"] == 200
    assert b"frame-ancestors 'none'" in dict(start["headers"])[b"content-security-policy"]


@pytest.mark.parametrize(
    "headers",
    [
        HOST,
        HOST | {"cookie": "firth-8765=wrong"},
        HOST | {"cookie": "firth-9000=secret"},
        COOKIE,
        COOKIE | {"host": "evil.example:8765"},
        COOKIE | {"host": "127.0.0.1:9999"},
        HOST | COOKIE | {"origin": "http://evil.example"},
        HOST | COOKIE | {"origin": "null"},
        HOST | COOKIE | {"origin": "https://127.0.0.1:8765"},
    ],
)
def test_what_is_foreign_is_refused_for_http_and_websockets(headers: dict[str, str]) -> None:
    assert call(headers)[0]["status"] == 403
    assert call(headers, kind="websocket")[0] == {
        "type": "websocket.close",
        "code": 4403,
        "reason": call(headers, kind="websocket")[0]["reason"],
    }


def test_a_wrong_token_is_refused_and_a_token_opens_no_websocket() -> None:
    assert call(HOST, "token=guess")[0]["status"] == 403
    assert call(HOST, "token=sécret%ff")[0]["status"] == 403
    assert call(HOST, "token=secret", kind="websocket")[0]["type"] == "websocket.close"


def test_a_websocket_of_the_explorers_own_page_is_accepted() -> None:
    own = HOST | COOKIE | {"origin": "http://127.0.0.1:8765"}
    assert call(own, kind="websocket")[0]["type"] == "websocket.accept"
    assert call({**own, "host": "localhost:8765"}, kind="websocket")[0]["type"] == "websocket.accept"


def test_a_broken_cookie_header_is_no_cookie() -> None:
    assert read_cookie("firth-8765", "firth-8765") == ""
    assert call(HOST | {"cookie": "a[b]=c; firth-8765=x\x01"})[0]["status"] == 403
