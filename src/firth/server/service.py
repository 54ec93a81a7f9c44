"""Requests and models: works are submitted, results awaited, and given up when time is over or the client is gone."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from firth.errors import FirthError
from firth.server.batching import BatchJob, Delivery, Expired, Work, deliver_all
from firth.server.limits import Limits
from firth.server.served import OpenModel, ServedModel, ServedModels

LONG = 20_000  # characters that are tokenized outside the event loop
WINDOW = 4  # batches that a stream computes ahead of its reader
PASSES = 4  # of the event loop: results go to requests, answers to sockets, sockets are read, requests submitted
LONGEST = 0.1  # seconds that a worker waits for them at most
MARK = "firth"  # the key in the scope of a request under which `Details` are

Arrivals = asyncio.Queue[tuple[int, "Sequence[Any] | Exception"]]  # of results, each with the number of its first item


class TooLarge(FirthError):
    """A request asks for more than the limits allow."""


class ModelFailed(FirthError):
    """A model failed on the input of a request."""


class ClientGone(Exception):
    """The client closed the connection before its answer was there."""


@dataclass
class Details:
    """What the server notes about a request, without its text."""

    deadline: float  # of time.monotonic()
    model: str = ""
    texts: int = 0
    tokens: int = 0

    @classmethod
    def of(cls, request: Request) -> Details:
        """The details of a request."""
        details: Details = request.scope[MARK]
        return details


@dataclass(frozen=True)
class AskedWork:
    """The work of a request, on the version of the model that was current when it came."""

    request: Request
    served: ServedModel
    opened: OpenModel
    work: Work


class Service:
    """The models of a server and its limits."""

    def __init__(self, models: ServedModels, limits: Limits) -> None:
        self.models, self.limits = models, limits

    def deliver_in(self, loop: asyncio.AbstractEventLoop) -> None:
        """Has the results of all models delivered in the thread of an event loop, once a batch."""
        for served in self.models.models.values():
            served.batcher.hand_over = partial(hand_over, loop)

    async def prepare(
        self, request: Request, served: ServedModel, texts: Sequence[str], make: Callable[[OpenModel], Work]
    ) -> AskedWork:
        """The work of a request on the current version of a model, checked against the limits."""
        details, opened = Details.of(request), served.ready()
        details.model, details.texts = served.name, len(texts)
        if len(texts) > self.limits.texts:
            raise TooLarge(f"{len(texts):,} texts, but a request may have {self.limits.texts:,}. Send several requests")
        is_long = sum(map(len, texts)) > LONG
        work = await run_in_threadpool(make, opened) if is_long else make(opened)
        details.tokens = work.cost
        if work.cost > self.limits.tokens:
            problem = f"{work.cost:,} tokens, but a request may have {self.limits.tokens:,}"
            raise TooLarge(f"{problem}. Send several requests")
        return AskedWork(request, served, opened, work)

    def check_numbers(self, numbers: int) -> None:
        """Refuses an answer of more numbers than the limits allow."""
        if numbers > self.limits.numbers:
            problem = f"the answer has {numbers:,} numbers, but may have {self.limits.numbers:,}"
            raise TooLarge(f"{problem}. Ask for a stream: Accept: application/x-ndjson")

    async def compute(self, asked: AskedWork) -> list[Any]:
        """The results of all items."""
        results: list[Any] = [None] * len(asked.work.items)
        async for start, values in self.stream(asked, pauses=False):
            results[start : start + len(values)] = values
        return results

    async def stream(self, asked: AskedWork, *, pauses: bool = True) -> AsyncIterator[tuple[int, Sequence[Any]]]:
        """Results as they are computed, with the number of the first; a slow reader makes the job pause."""
        work, batcher = asked.work, asked.served.batcher
        loop, arrived = asyncio.get_running_loop(), Arrivals()
        deadline = Details.of(asked.request).deadline
        window = WINDOW * self.limits.batch_tokens if pauses else math.inf
        job = BatchJob(work, asked.opened.model, lambda *results: arrived.put_nowait(results), deadline, window)
        late = Expired(f"the answer took longer than {self.limits.seconds:g} s. Send fewer texts at a time")
        clock = loop.call_later(max(0.0, deadline - time.monotonic()), arrived.put_nowait, (0, late))
        watch = loop.create_task(wait_for_end(asked.request, arrived))
        try:
            batcher.submit(job)
            left = len(work.items)
            while left:
                start, values = await arrived.get()
                if isinstance(values, (FirthError, ClientGone)):
                    raise values
                if isinstance(values, Exception):
                    raise ModelFailed(f"the model failed on this input: {type(values).__name__}") from values
                left -= len(values)
                yield start, values
                if pauses:
                    batcher.read(job, sum(work.costs[start : start + len(values)]))
        finally:
            clock.cancel()
            watch.cancel()
            batcher.cancel(job)


async def wait_for_end(request: Request, arrived: Arrivals) -> None:
    """Puts an error behind the results that arrived when the client closes the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    arrived.put_nowait((0, ClientGone()))


def hand_over(loop: asyncio.AbstractEventLoop, deliveries: Sequence[Delivery]) -> None:
    """Delivers the results of a batch in the thread of an event loop.

    After several results it waits until the loop has sent the answers and read the requests that came meanwhile. So
    clients that ask again at once are in the next batch together, and do not compete with it for Python's lock.
    """
    settled = threading.Event()

    def pass_on(passes: int) -> None:
        if passes:
            loop.call_soon(pass_on, passes - 1)
        else:
            settled.set()

    def deliver() -> None:
        deliver_all(deliveries)
        pass_on(PASSES)

    with suppress(RuntimeError):  # the loop has ended, and with it all requests
        if len(deliveries) == 1:
            loop.call_soon_threadsafe(deliveries[0])
        else:
            loop.call_soon_threadsafe(deliver)
            settled.wait(LONGEST)
