"""A store in memory, a web server that misbehaves on request, and a real object store on loopback."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def quick_attempts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing waits before a further attempt, and each test has a cache of its own."""
    for module in ("stores", "streams"):
        monkeypatch.setattr(f"firth.remote.{module}.PAUSES", (0.0,) * 4)
    monkeypatch.setenv("FIRTH_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def memory() -> Iterator[Any]:
    """fsspec's store in memory, empty."""
    store = pytest.importorskip("fsspec").filesystem("memory")
    store.store.clear()
    store.pseudo_dirs[:] = [""]
    yield store
    store.store.clear()
    store.pseudo_dirs[:] = [""]


@dataclass
class Web:
    """A web server on loopback: its files by path, how it misbehaves, and the requests that it saw."""

    port: int = 0
    files: dict[str, bytes] = field(default_factory=dict)
    requests: list[tuple[str, str, str | None]] = field(default_factory=list)  # method, path, range
    drop_after: int | None = None  # bytes of the body of a GET, after which the connection is closed
    drops: int = 1 << 30  # how many connections are closed that way
    ranges: bool = True
    lengths: bool = True
    tags: bool = True
    status: dict[str, list[int]] = field(default_factory=dict)  # by path: the states of the next answers
    redirect: dict[str, str] = field(default_factory=dict)
    on_get: Callable[[], None] | None = None

    def address(self, name: str) -> str:
        return f"http://127.0.0.1:{self.port}/{name}"

    def starts(self, name: str) -> list[int]:
        """The offsets that were asked for."""
        asked = [one for method, path, one in self.requests if method == "GET" and path == f"/{name}"]
        return [int(one.removeprefix("bytes=").rstrip("-").split("-")[0]) if one else 0 for one in asked]


def make_handler(web: Web) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *arguments: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self.answer(with_body=False)

        def do_GET(self) -> None:
            self.answer(with_body=True)

        def answer(self, *, with_body: bool) -> None:
            path = self.path.partition("?")[0]
            web.requests.append((self.command, path, self.headers.get("Range")))
            if path in web.redirect:
                self.say(302, Location=web.redirect[path])
                return
            if web.status.get(path):
                self.say(web.status[path].pop(0))
                return
            if path.lstrip("/") not in web.files:
                self.say(404)
                return
            if with_body and web.on_get is not None:
                web.on_get()
            data = web.files[path.lstrip("/")]
            headers = {"ETag": f'"{sha256(data).hexdigest()[:16]}"'} if web.tags else {}
            start, status = 0, 200
            asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
            if asked and web.ranges:
                start, status = int(asked[1]), 206
                if start >= len(data):
                    self.say(416)
                    return
                headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
            body = data[start:]
            if web.lengths:
                headers["Content-Length"] = str(len(body))
            else:
                headers["Transfer-Encoding"] = "chunked"
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            if not with_body:
                return
            is_dropped = web.drop_after is not None and web.drops > 0 and len(body) > web.drop_after
            sent = body[: web.drop_after] if is_dropped else body
            if web.lengths:
                self.wfile.write(sent)
            else:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(sent), sent) + (b"" if is_dropped else b"0\r\n\r\n"))
            if is_dropped:
                web.drops -= 1
                self.wfile.flush()
                self.close_connection = True

        def say(self, status: int, **headers: str) -> None:
            self.send_response(status)
            self.send_header("Content-Length", "0")
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()

    return Handler


class QuietServer(ThreadingHTTPServer):
    """A server that is silent when a client goes away."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@pytest.fixture
def web() -> Iterator[Web]:
    """A web server on loopback."""
    pytest.importorskip("aiohttp")
    pytest.importorskip("fsspec")
    served = Web()
    server = QuietServer(("127.0.0.1", 0), make_handler(served))
    served.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield served
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="session")
def object_store() -> Iterator[str]:
    """The address of an object store on loopback (moto's server), and a bucket `firth` in it."""
    pytest.importorskip("s3fs", reason="needs s3fs")
    server_module = pytest.importorskip("moto.server", reason="needs moto: pip install 'moto[server]'")
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(object_store: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The client of an object store with an empty bucket `firth`; the environment leads s3:// there."""
    from firth.remote import stores

    for name, value in {
        "AWS_ENDPOINT_URL": object_store,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    stores._open_store.cache_clear()
    client, _ = stores.open_store("s3://firth/a")
    client.mkdir("firth")
    yield client
    client.rm("firth", recursive=True)
    stores._open_store.cache_clear()
