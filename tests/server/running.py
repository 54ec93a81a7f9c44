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
from firth.server.metrics import Metrics
from firth.server.run import bind
from firth.server.served import ServedModels
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
    gate = Gate(create_application(service, metrics), limits, metrics, log=log, **gate_settings)
    server = uvicorn.Server(uvicorn.Config(gate, log_level="critical", lifespan="on", ws="none"))
    listening = bind("127.0.0.1", 0)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    while not server.started:
        time.sleep(0.01)
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    headers = {"authorization": f"Bearer {gate.token}"} if gate.token else {}
    with httpx.Client(base_url=address, headers=headers, timeout=30, trust_env=False) as client:
        yield RunningServer(address, client, models, service, log, gate)
    server.should_exit = True
    thread.join()
    listening.close()
