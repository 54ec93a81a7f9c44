"""Every status that the description of the API has for an address is provoked there, and no other is answered."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.server.running import RunningServer, run_server

import firth
from firth.server import schemas
from firth.server.application import PROBLEMS
from firth.server.limits import Limits
from firth.server.served import OpenModel

TOKEN = "0123456789abcdef"
BODIES: dict[str, Any] = {
    "/v1/embeddings": {"input": "tea"},
    "/": {"inputs": "tea"},
    "/embed": {"inputs": "tea"},
    "/embed_all": {"inputs": "tea"},
    "/similarity": {"inputs": {"source_sentence": "tea", "sentences": ["rain"]}},
    "/neighbors": {"words": ["tea"]},
    "/analogy": {"a": "tea", "b": "coffee", "c": "rain"},
    "/score": {"inputs": "tea"},
    "/predict": {"inputs": "tea"},
    "/predict/{task}": {"inputs": "tea"},
    "/v1/models/{name}/reload": None,
}


class Answering:
    """A model that can be asked for everything. It fails, or waits, if it is told to."""

    kind, dim = "word-vectors", 2
    tokenizer = firth.WordVectors(["tea"], [[1.0, 0.0]]).tokenizer

    def __init__(self) -> None:
        self.fails, self.go = False, threading.Event()
        self.go.set()

    def answer(self, value: Any) -> Any:
        self.go.wait(10)
        if self.fails:
            raise RuntimeError("a secret path")
        return value

    def encode(self, texts: Any, **settings: Any) -> Any:
        return self.answer(np.ones((len(texts), 2), np.float32))

    def embed(self, texts: Any) -> Any:
        return self.answer([np.ones((len(words), 2), np.float32) for words in texts])

    def most_similar(self, *words: Any, **settings: Any) -> Any:
        return self.answer([("rain", 0.5)])

    analogy = most_similar

    def score(self, words: Any) -> Any:
        return self.answer(firth.Ngram(order=1).fit(firth.Corpus.of(["tea"])).score("tea"))

    def warn_of(self, sentences: Any) -> None:
        return None

    def ask(self, *texts: str) -> Any:
        return self.answer([{"label": "hot", "labels": {"hot": 1.0}}])


class AnsweringModel(OpenModel):
    """Its version that is open."""

    abilities = ("encode", "embed", "neighbors", "score", "labels", "task")  # type: ignore[assignment]
    task, classifier = "tea", None  # type: ignore[assignment]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    path = tmp_path_factory.mktemp("asked") / "model"
    firth.save(firth.WordVectors(["tea"], [[1.0, 0.0]]), path)
    with run_server(str(path), limits=Limits(body_bytes=2000), token=TOKEN) as running:
        running.models.models["model"].current = AnsweringModel(Answering(), 0.0)
        yield running


def documented(running: RunningServer, status: int) -> list[tuple[str, str]]:
    """The methods and addresses whose description has a status."""
    paths = running.client.get("/openapi.json").json()["paths"]
    return [
        (method.upper(), path)
        for path, methods in paths.items()
        for method, entry in methods.items()
        if str(status) in entry["responses"]
    ]


def ask(running: RunningServer, method: str, path: str, **settings: Any) -> Any:
    """The answer to a valid request, or to one with other settings."""
    name = path.format(name=settings.pop("name", "model"), task=settings.pop("task", "tea"))
    if method == "POST" and BODIES[path] is not None:
        settings.setdefault("json", BODIES[path])
    return running.client.request(method, name, **settings)


def send_half(running: RunningServer, method: str, path: str) -> int:
    """The status of a request whose body does not arrive."""
    host, port = running.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        head = f"{method} {path.format(name='model', task='tea')} HTTP/1.1\r\nHost: {host}:{port}\r\n"
        connection.sendall(f"{head}Authorization: Bearer {TOKEN}\r\nContent-Length: 100\r\n\r\n{{".encode())
        connection.settimeout(10)
        return int(connection.recv(10_000).split(b" ", 2)[1])


def provoke(running: RunningServer, method: str, path: str, status: int, patch: pytest.MonkeyPatch) -> Any:
    """A request that is answered with a status."""
    served, gate = running.models.models["model"], running.gate
    assert served.current is not None
    model = served.current.model
    if status == 401:
        return ask(running, method, path, headers={"authorization": "Bearer wrong"})
    if status == 403:
        return ask(running, method, path, headers={"host": "evil.example"})
    if status == 404:
        unknown = {} if "{" in path else {"json": {**BODIES[path], "model": "none"}}
        return ask(running, method, path, name="none", task="none", **unknown)
    if status == 413:
        return ask(running, method, path, json={"inputs": "x" * 3000})
    if status == 422 and BODIES[path] is not None:
        return ask(running, method, path, json={"no_such_field": 1})
    if status == 422:
        patch.setattr(served, "opener", lambda path: object())
    if status == 424:
        patch.setattr(model, "fails", True)
    if status == 429:
        patch.setattr(gate, "open", gate.limits.requests)
    if status == 503:
        patch.setattr(running.models, "is_ready", False)
        patch.setattr(served, "current", None)
    if status == 504:
        patch.setattr(gate, "limits", replace(gate.limits, seconds=0.05))
        model.go.clear()
    return ask(running, method, path)


@pytest.mark.parametrize("status", sorted(set(PROBLEMS) - {408}))
def test_every_documented_error_is_answered(asked: RunningServer, status: int) -> None:
    addresses = documented(asked, status)
    assert addresses
    for method, path in addresses:
        with pytest.MonkeyPatch.context() as patch:
            model = asked.models.models["model"].ready().model
            answer = provoke(asked, method, path, status, patch)
            model.go.set()
        assert answer.status_code == status, (method, path, answer.text)
        error = schemas.ErrorAnswer.model_validate(answer.json()).error
        assert error.code == status
        assert error.message
        assert "secret" not in answer.text
        assert ("retry-after" in answer.headers) == (status in (429, 503)), path


def test_a_request_that_does_not_arrive_is_408_everywhere(asked: RunningServer) -> None:
    addresses = documented(asked, 408)
    assert len(addresses) == len(documented(asked, 200))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asked.gate, "limits", replace(asked.gate.limits, seconds=0.05))
        assert {address: send_half(asked, *address) for address in addresses} == dict.fromkeys(addresses, 408)


def test_every_address_answers_a_valid_request(asked: RunningServer) -> None:
    for method, path in documented(asked, 200):
        if not path.endswith("/reload"):
            assert ask(asked, method, path).status_code == 200, path


def test_all_addresses_that_compute_document_the_same_errors(asked: RunningServer) -> None:
    paths = asked.client.get("/openapi.json").json()["paths"]
    for path in BODIES.keys() - {"/v1/models/{name}/reload"}:
        assert set(map(int, paths[path]["post"]["responses"])) == {200, *PROBLEMS}, path
