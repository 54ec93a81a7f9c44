"""The head of a request has a limit of time and of length, before the gate sees it."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.server.running import RunningServer, run_server

from firth.server.limits import Limits
from firth.server.protocol import LONGEST_HEAD


@pytest.fixture(scope="module")
def hasty(model_paths: dict[str, Path]) -> Iterator[RunningServer]:
    """A server that waits one second."""
    with run_server(str(model_paths["vectors"]), limits=Limits(seconds=1)) as running:
        yield running


def connect(running: RunningServer) -> socket.socket:
    host, port = running.address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=20)


def receive(connection: socket.socket) -> bytes:
    said = b""
    while piece := connection.recv(4096):
        said += piece
    return said


@pytest.mark.parametrize("begun", [b"GET /hea", b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nA", b"\r\n"])
def test_a_head_that_does_not_end_is_answered_with_408(hasty: RunningServer, begun: bytes) -> None:
    with connect(hasty) as connection:
        connection.sendall(begun)
        assert receive(connection).startswith(b"HTTP/1.1 408 ")


def test_a_connection_that_sends_nothing_is_closed(hasty: RunningServer) -> None:
    with connect(hasty) as connection:
        assert receive(connection) == b""


def test_a_slow_head_on_a_used_connection_is_answered_with_408(hasty: RunningServer) -> None:
    with connect(hasty) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
        connection.sendall(b"GET /health HTTP/1.1\r\nHo")
        assert b"HTTP/1.1 408 " in receive(connection)


def test_a_head_without_end_is_answered_with_431_and_takes_no_memory(hasty: RunningServer) -> None:
    with connect(hasty) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nA: " + b"x" * LONGEST_HEAD)
        answer = receive(connection)
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert b'"code": 431' in answer


def test_the_time_of_a_head_is_not_that_of_a_connection(hasty: RunningServer) -> None:
    def lives_longer_than_a_head_may_take() -> bool:
        with connect(hasty) as connection, suppress(OSError):
            for _ in range(3):
                time.sleep(0.35)
                connection.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                if not connection.recv(4096).startswith(b"HTTP/1.1 200 "):
                    return False
            return True
        return False

    assert any(lives_longer_than_a_head_may_take() for _ in range(10))  # a busy machine may sleep for a second
