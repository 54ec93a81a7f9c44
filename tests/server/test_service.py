from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.server.running import run_server

from firth.server.served import OpenModel


class Watched:
    """Word vectors that compute when they are told to, and count the texts."""

    def __init__(self, vectors: Any) -> None:
        self.vectors, self.go, self.texts = vectors, threading.Event(), 0
        self.kind, self.tokenizer, self.embed = vectors.kind, vectors.tokenizer, vectors.embed

    def encode(self, texts: Any, **settings: Any) -> Any:
        self.go.wait(10)
        self.texts += len(texts)
        return self.vectors.encode(texts, **settings)


def test_a_client_that_leaves_is_not_computed_and_nobody_else_notices(
    model_paths: dict[str, Path], wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    with run_server(str(model_paths["vectors"])) as running:
        served = running.models.models["vectors"]
        watched = Watched(served.ready().model)
        served.current = OpenModel(watched, 0.0)
        host, port = running.address.removeprefix("http://").split(":")

        def ask(text: str) -> socket.socket:
            body = json.dumps({"inputs": text}).encode()
            head = f"POST /embed HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
            connection = socket.create_connection((host, int(port)))
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            return connection

        first = ask("tea")
        wait_until(lambda: running.gate.open == 1 and served.batcher.waiting == 0)
        second = ask("tea rain")
        wait_until(lambda: served.batcher.waiting == 2)
        second.close()
        wait_until(lambda: served.batcher.waiting == 0)
        third = ask("rain")
        wait_until(lambda: served.batcher.waiting == 1)
        watched.go.set()
        for connection in (first, third):
            connection.settimeout(10)
            assert b" 200 " in connection.recv(10_000).splitlines()[0]
            connection.close()
        assert watched.texts == 2
        wait_until(lambda: running.gate.open == 0)
        statuses = sorted(json.loads(line)["status"] for line in running.log.getvalue().splitlines())
    assert statuses == [200, 200, 499]


def test_a_stream_that_nobody_reads_blocks_nobody(
    model_paths: dict[str, Path], wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    with run_server(str(model_paths["bilm"])) as running:
        host, port = running.address.removeprefix("http://").split(":")
        body = json.dumps({"inputs": ["rain " * 60] * 1200, "pooling": "none"}).encode()
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect((host, int(port)))
        head = f"POST /embed HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
        head += f"Accept: application/x-ndjson\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)
        wait_until(lambda: running.gate.open == 1)
        answers = [running.post("/embed", {"inputs": "tea"}).status_code for _ in range(20)]
        connection.close()
        wait_until(lambda: running.gate.open == 0)
    assert answers == [200] * 20
