from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.server.running import RunningServer, run_server, steer

import firth
from firth.server.batching import BatchJob, Delivery, Work
from firth.server.limits import Limits
from firth.server.service import hand_over


def post_raw(running: RunningServer, path: str, body: Any, buffer: int | None = None) -> socket.socket:
    """A connection with a request whose answer is not read; `buffer` is the size of what it takes unread."""
    host, port = running.address.removeprefix("http://").split(":")
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
    connection = socket.socket()
    if buffer is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    connection.connect((host, int(port)))
    connection.settimeout(20)
    connection.sendall(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
    return connection


def status_of(connection: socket.socket) -> int:
    return int(connection.recv(10_000).split(b" ", 2)[1])


def test_a_client_that_leaves_is_not_computed_and_nobody_else_notices(
    model_paths: dict[str, Path], wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    with run_server(str(model_paths["vectors"])) as running, steer(running) as steered:
        batcher = running.models.models["vectors"].batcher
        first = post_raw(running, "/embed", {"inputs": "tea"})
        assert steered.begun.wait(60)
        second = post_raw(running, "/embed", {"inputs": "tea rain"})
        wait_until(lambda: batcher.waiting == 2)
        second.close()
        wait_until(lambda: batcher.waiting == 0)
        third = post_raw(running, "/embed", {"inputs": "rain"})
        wait_until(lambda: batcher.waiting == 1)
        steered.go.set()
        assert [status_of(first), status_of(third)] == [200, 200]
        first.close()
        third.close()
        assert steered.texts == [["tea"], ["rain"]]
        wait_until(lambda: running.gate.open == 0)
        statuses = sorted(json.loads(line)["status"] for line in running.log.getvalue().splitlines())
    assert statuses == [200, 200, 499]


def test_an_answer_that_nobody_reads_blocks_nobody_and_is_given_up(
    tmp_path: Path, wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    vectors = firth.WordVectors(["tea"], np.random.default_rng(1).standard_normal((1, 500)))
    firth.save(vectors, tmp_path / "wide")
    with run_server(str(tmp_path / "wide"), limits=Limits(seconds=4.0)) as running:
        connection = post_raw(running, "/embed_all", {"inputs": ["tea tea tea tea"] * 1000}, 4096)  # 20 MB of numbers
        wait_until(lambda: running.models.models["wide"].batcher.speed > 0)
        assert [running.post("/embed", {"inputs": "tea"}).status_code for _ in range(20)] == [200] * 20
        wait_until(lambda: running.gate.open == 0)  # though the connection is still open
        lines = [json.loads(line) for line in running.log.getvalue().splitlines()]
        connection.close()
    (line,) = [line for line in lines if line["route"] == "/embed_all"]
    assert line["status"] == 200  # it had begun
    assert line["ms"] >= 3900


def test_an_expired_request_is_not_computed(model_paths: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    with run_server(str(model_paths["vectors"])) as running, steer(running) as steered:
        first = post_raw(running, "/embed", {"inputs": "tea"})
        assert steered.begun.wait(60)
        monkeypatch.setattr(running.gate, "limits", Limits(seconds=0.05))
        assert running.post("/embed", {"inputs": "rain"}).status_code == 504
        steered.go.set()
        assert status_of(first) == 200
        first.close()
        assert steered.texts == [["tea"]]


def test_a_failing_batch_hurts_only_the_request_at_fault(
    model_paths: dict[str, Path], wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    with run_server(str(model_paths["vectors"])) as running, steer(running) as steered:
        batcher = running.models.models["vectors"].batcher
        first = post_raw(running, "/embed", {"inputs": "tea"})
        assert steered.begun.wait(60)
        with ThreadPoolExecutor(3) as pool:
            asked = [pool.submit(running.post, "/embed", {"inputs": text}) for text in ("coffee", "bad tea", "rain")]
            wait_until(lambda: batcher.waiting == 4)  # they are one batch
            steered.go.set()
            answers = [one.result() for one in asked]
        first.close()
        expected = steered.vectors.encode(["coffee", "rain"], normalize=True)
    assert [answer.status_code for answer in answers] == [200, 424, 200]
    assert np.array_equal(np.array([answers[0].json()[0], answers[2].json()[0]], np.float32), expected)


def test_a_text_longer_than_a_batch_is_answered_or_refused(model_paths: dict[str, Path]) -> None:
    bilm, limits = firth.load(model_paths["bilm"]), Limits(batch_tokens=4, queue_tokens=4, tokens=50)
    with run_server(str(model_paths["bilm"]), limits=limits) as running:
        text = "hot tea in the rain " * 10
        answer = running.post("/embed", {"inputs": [text]})
        refused = running.post("/embed", {"inputs": [text + "again"]})
    assert np.array_equal(np.array(answer.json(), np.float32), bilm.encode([text], normalize=True))
    assert refused.status_code == 413
    assert "51 tokens" in refused.json()["error"]["message"]


def test_a_server_that_stops_answers_what_it_accepted(
    model_paths: dict[str, Path], wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    with run_server(str(model_paths["vectors"])) as running, steer(running) as steered:
        batcher = running.models.models["vectors"].batcher
        connections = [post_raw(running, "/embed", {"inputs": "tea"})]
        assert steered.begun.wait(60)
        connections += [post_raw(running, "/embed", {"inputs": "rain"}) for _ in range(3)]
        wait_until(lambda: batcher.waiting == 3)
        running.server.should_exit = True
        wait_until(lambda: not running.server.servers or not running.server.servers[0].is_serving())
        steered.go.set()
        assert [status_of(connection) for connection in connections] == [200] * 4
        for connection in connections:
            connection.close()


def test_a_stopping_server_and_a_model_that_is_not_open_say_so(model_paths: dict[str, Path]) -> None:
    with run_server(str(model_paths["vectors"])) as running:
        running.models.close()
        stopping = running.post("/embed", {"inputs": "tea"})
    assert stopping.status_code == 503
    assert "stopping" in stopping.json()["error"]["message"]


def test_after_a_batch_the_loop_sends_and_reads_before_the_next_one() -> None:
    async def run() -> list[str]:
        loop, events = asyncio.get_running_loop(), list[str]()
        work = Work("a", lambda model, items: items, ["tea"], [1])

        def deliver(start: int, values: Any) -> None:
            events.append("delivered")
            loop.call_soon(loop.call_soon, events.append, "answered")

        deliveries = [Delivery(BatchJob(work, None, deliver), 0, ["tea"]) for _ in range(2)]
        await loop.run_in_executor(None, hand_over, loop, deliveries)
        return events

    with ThreadPoolExecutor(1) as pool:  # a test of a browser may leave a running loop in this thread
        events = pool.submit(asyncio.run, run()).result()
    assert events == ["delivered", "delivered", "answered", "answered"]


def test_results_for_a_loop_that_has_ended_are_dropped() -> None:
    loop = asyncio.new_event_loop()
    loop.close()
    work = Work("a", lambda model, items: items, ["tea"], [1])
    hand_over(loop, [Delivery(BatchJob(work, None, lambda start, values: None), 0, ["tea"])] * 2)


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
