"""Starts the server: opens the models in the background, answers until it is stopped, finishes what it accepted."""

from __future__ import annotations

import gc
import math
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TextIO

import uvicorn

from firth.errors import FirthError, OptionError
from firth.server import work
from firth.server.application import create_application
from firth.server.batching import BatchJob, Work
from firth.server.gate import Gate, host_name
from firth.server.limits import Limits
from firth.server.log import EventLog
from firth.server.metrics import Metrics
from firth.server.protocol import protocol
from firth.server.served import ServedModel, ServedModels
from firth.server.service import Service

PORT = 8080
LOCAL = {"127.0.0.1", "localhost", "::1"}
SHORTEST = 16  # characters of a token
SAMPLES = ["tea", "Isn't a cup of hot tea, at 5 o'clock, too much to ask of ztrblk.com?"]  # reach every kernel
NEW_OBJECTS = 20_000  # after which Python looks for cyclic garbage; at its 700 that is a third of the work of requests


def serve(
    specifications: Sequence[str],
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    token: str = "",
    origins: Sequence[str] = (),
    limits: Limits | None = None,
    workers: int = 1,
    opener: Callable[[str], Any] | None = None,
    announce: Callable[[str], None] = lambda address: None,
    log: TextIO | None = None,
) -> None:
    """Serves models until the process is told to stop. `announce` gets the address when all models are open."""
    check_token(host, token)
    limits, metrics = limits or Limits(), Metrics()
    settings: dict[str, Any] = {"workers": workers, "observe": metrics.note_batch}
    models = ServedModels(specifications, limits, **settings | ({} if opener is None else {"opener": opener}))
    metrics.watch(models)
    listening = bind(host, port)
    address = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
    problems: list[FirthError] = []

    def open_models() -> None:
        try:
            models.open_all(warm_up)
            announce(address)
        except FirthError as error:
            problems.append(error)
            server.should_exit = True

    start = threading.Thread(target=open_models, name="opening", daemon=True)
    events, allowed = EventLog(log), frozenset(map(check_origin, origins))
    app = create_application(Service(models, limits), metrics, events, start.start)
    gate = Gate(app, limits, metrics, token=token, local=host in LOCAL, origins=allowed, log=events)
    config = uvicorn.Config(
        gate,
        http=protocol(limits),
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="on",
        timeout_graceful_shutdown=math.ceil(limits.seconds),
        ws="none",
    )
    server = uvicorn.Server(config)
    gc.set_threshold(NEW_OBJECTS)
    with listening, suppress(KeyboardInterrupt):  # Ctrl+C is a way to stop it
        server.run(sockets=[listening])
    if problems:
        raise problems[0]


def check_token(host: str, token: str) -> None:
    """Refuses to serve other machines without a token, and tokens that are easily guessed.

    >>> check_token("0.0.0.0", "")
    Traceback (most recent call last):
    firth.errors.OptionError: --host 0.0.0.0: other machines can reach the server. Set --token-file or FIRTH_TOKEN
    """
    if host not in LOCAL and not token:
        cure = "Set --token-file or FIRTH_TOKEN"
        raise OptionError(f"--host {host}: other machines can reach the server. {cure}")
    if token and (len(token) < SHORTEST or not token.isascii() or not token.isprintable() or " " in token):
        raise OptionError(f"the token must have at least {SHORTEST} printable ASCII characters, without blanks")


def check_origin(origin: str) -> str:
    """An origin whose pages may ask, such as https://example.org."""
    scheme, mark, rest = origin.partition("://")
    if scheme not in ("http", "https") or not mark or not host_name(rest) or "/" in rest:
        raise OptionError(
            f"--allow-origin {origin}: an origin is a scheme, a host and a port, as in http://localhost:3000"
        )
    return origin


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens on a host and port; 0 is any free port."""
    if not 0 <= port < 65536:
        raise OptionError(f"--port {port}: a port is a number from 0 to 65535")
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        problem = (error.strerror or str(error)).lower()
        raise OptionError(f"--host {host} --port {port}: {problem}. Use another port, or --port 0 for any") from error
    return listening


def warm_up(served: ServedModel) -> None:
    """Asks a model once for everything that it can, so that the first client does not wait for compilers."""
    opened = served.ready()
    if "encode" in opened.abilities:
        wait_for(served, work.encode(opened, SAMPLES, "mean", True, None))
    if "neighbors" in opened.abilities and len(opened.model.vocabulary):
        wait_for(served, work.neighbors([opened.model.vocabulary[0]], [], 1))
    if "score" in opened.abilities:
        wait_for(served, work.score(opened, SAMPLES))
    if "task" in opened.abilities:
        wait_for(served, work.ask(opened, [opened.model.task.sample]))


def wait_for(served: ServedModel, asked: Work) -> None:
    """Computes a work and waits; that it can fail is seen when a client asks."""
    done = threading.Event()
    served.batcher.submit(BatchJob(asked, served.ready().model, lambda start, results: done.set()))
    done.wait()
