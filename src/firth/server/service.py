"""Requests and models: works are submitted, results awaited, and given up when time is over or the client is gone."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from firth.errors import FirthError
from firth.server.batching import BatchJob, Expired, Work
from firth.server.limits import Limits
from firth.server.served import OpenModel, ServedModel, ServedModels

LONG = 20_000  # characters that are tokenized outside the event loop
WINDOW = 4  # batches that a stream computes ahead of its reader
MARK = "firth"  # the key in the scope of a request under which `Details` are


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


class Service:
    """The models of a server and its limits."""

    def __init__(self, models: ServedModels, limits: Limits) -> None:
        self.models, self.limits = models, limits

    async def prepare(
        self, request: Request, served: ServedModel, texts: Sequence[str], make: Callable[[OpenModel], Work]
    ) -> tuple[OpenModel, Work]:
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
        return opened, work

    def check_numbers(self, work: Work, width: int) -> None:
        """Refuses an answer of more numbers than the limits allow."""
        if work.cost * width > self.limits.numbers:
            problem = f"the answer has {work.cost * width:,} numbers, but may have {self.limits.numbers:,}"
            raise TooLarge(f"{problem}. Ask for a stream: Accept: application/x-ndjson")

    async def compute(self, request: Request, served: ServedModel, opened: OpenModel, work: Work) -> list[Any]:
        """The results of all items."""
        results: list[Any] = [None] * len(work.items)
        async for start, values in self.stream(request, served, opened, work, pauses=False):
            results[start : start + len(values)] = values
        return results

    async def stream(
        self, request: Request, served: ServedModel, opened: OpenModel, work: Work, *, pauses: bool = True
    ) -> AsyncIterator[tuple[int, Sequence[Any]]]:
        """Results as they are computed, with the number of the first; a slow reader makes the job pause."""
        loop, arrived = asyncio.get_running_loop(), asyncio.Queue[tuple[int, Any]]()
        details = Details.of(request)

        def deliver(start: int, values: Sequence[Any] | Exception) -> None:
            with suppress(RuntimeError):  # the event loop has ended, and with it the request
                loop.call_soon_threadsafe(arrived.put_nowait, (start, values))

        job = BatchJob(
            work,
            opened.model,
            deliver,
            details.deadline,
            WINDOW * self.limits.batch_tokens if pauses else math.inf,
        )
        watch: asyncio.Future[Any] = asyncio.ensure_future(wait_for_end(request))
        try:
            served.batcher.submit(job)
            left = len(work.items)
            while left:
                start, values = await self.next(arrived, watch, details.deadline)
                if isinstance(values, FirthError):
                    raise values
                if isinstance(values, Exception):
                    raise ModelFailed(f"the model failed on this input: {type(values).__name__}") from values
                left -= len(values)
                yield start, values
                served.batcher.read(job, sum(work.costs[start : start + len(values)]))
        finally:
            watch.cancel()
            served.batcher.cancel(job)

    async def next(
        self, arrived: asyncio.Queue[tuple[int, Any]], watch: asyncio.Future[Any], deadline: float
    ) -> tuple[int, Any]:
        """The next results; an error if the client is gone or the time is over."""
        getting: asyncio.Future[Any] = asyncio.ensure_future(arrived.get())
        try:
            await asyncio.wait(
                {getting, watch}, timeout=max(0.0, deadline - time.monotonic()), return_when=asyncio.FIRST_COMPLETED
            )
            if getting.done():
                start, values = getting.result()
                return start, values
            if watch.done():
                raise ClientGone
            raise Expired(f"the answer took longer than {self.limits.seconds:g} s. Send fewer texts at a time")
        finally:
            getting.cancel()


async def wait_for_end(request: Request) -> None:
    """Returns when the client closes the connection."""
    receive: Callable[[], Awaitable[Any]] = request.receive
    while (await receive())["type"] != "http.disconnect":
        pass
