"""A server in a thread of the test process, and a client of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from typing import Any

import httpx
import uvicorn

from firth.server.application import create_application
from firth.server.gate import Gate
from firth.server.limits import Limits
from firth.server.log import EventLog
from firth.server.metrics import Metrics
from firth.server.protocol import protocol
from firth.server.run import bind
from firth.server.served import OpenModel, ServedModels
from firth.server.service import Service


@dataclass
class RunningServer:
    """A server that runs, and a client of it."""

    address: str
    client: Any
    models: ServedModels
    service: Service
    log: StringIO
    gate: Gate
    server: uvicorn.Server

    def post(self, path: str, body: Any, **more: Any) -> Any:
        """The answer to a request with a JSON body."""
        return self.client.post(path, json=body, **more)


@contextmanager
def run_server(*specifications: str, limits: Limits | None = None, **gate_settings: Any) -> Iterator[RunningServer]:
    """A server of some models on a free port."""
    limits, metrics, log = limits or Limits(), Metrics(), StringIO()
    models = ServedModels(specifications, limits, observe=metrics.note_batch)
    metrics.watch(models)
    models.open_all()
    service = Service(models, limits)
    events = EventLog(log)
    gate = Gate(create_application(service, metrics, events), limits, metrics, log=events, **gate_settings)
    server = uvicorn.Server(uvicorn.Config(gate, http=protocol(limits), log_level="critical", lifespan="on", ws="none"))
    listening = bind("127.0.0.1", 0)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    while not server.started:
        time.sleep(0.01)
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    headers = {"authorization": f"Bearer {gate.token}"} if gate.token else {}
    with httpx.Client(base_url=address, headers=headers, timeout=300, trust_env=False) as client:
        yield RunningServer(address, client, models, service, log, gate, server)
    server.should_exit = True
    thread.join()
    listening.close()


class SteeredVectors:
    """Word vectors that compute when `go` is set, keep the texts that they computed, and fail on the word `bad`."""

    def __init__(self, vectors: Any) -> None:
        self.vectors, self.go, self.begun = vectors, threading.Event(), threading.Event()
        self.texts: list[list[str]] = []
        self.kind, self.tokenizer, self.embed = vectors.kind, vectors.tokenizer, vectors.embed

    def encode(self, texts: Any, **settings: Any) -> Any:
        self.begun.set()
        assert self.go.wait(20)
        if any("bad" in words for words in texts):
            raise RuntimeError("a secret path")
        self.texts += texts
        return self.vectors.encode(texts, **settings)


@contextmanager
def steer(running: RunningServer, name: str = "vectors") -> Iterator[SteeredVectors]:
    """Replaces the word vectors of a server by steered ones; lets them go in the end."""
    served = running.models.models[name]
    before = served.ready()
    steered = SteeredVectors(before.model)
    served.current = OpenModel(steered, 0.0)
    try:
        yield steered
    finally:
        steered.go.set()
        served.current = before
