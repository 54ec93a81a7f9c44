"""Where the work runs: how many threads, and in which order their results come back."""

from __future__ import annotations

import itertools
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import TypeVar, cast

from firth.errors import OptionError

Item = TypeVar("Item")
Result = TypeVar("Result")


@cache
def _pool() -> ThreadPoolExecutor:
    """Threads that stay; more than a machine has cores, since a task may wait for another."""
    return ThreadPoolExecutor(4 * _cores(), thread_name_prefix="firth")


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Runtime:
    """The means at hand. `FIRTH_THREADS` sets the number of threads; without it all cores are used.

    >>> Runtime(threads=2).spread(abs, [-1, 2, -3])
    [1, 2, 3]
    >>> Runtime(threads=2).shares(5)
    [slice(0, 2, None), slice(2, 5, None)]
    """

    threads: int

    def __post_init__(self) -> None:
        if self.threads < 1:
            raise OptionError(f"threads is {self.threads}, but must be at least 1")

    @classmethod
    def from_env(cls, threads: int | None = None) -> Runtime:
        """The given number of threads, or FIRTH_THREADS, or one a core."""
        if threads is not None:
            return cls(threads)
        asked = os.environ.get("FIRTH_THREADS", "")
        if asked and not asked.isdecimal():
            raise OptionError(f"FIRTH_THREADS is {asked!r}, but must be a whole number of at least 1")
        return cls(int(asked) if asked else _cores())

    def shares(self, count: int) -> list[slice]:
        """`count` things cut into one nearly equal run a thread, empty runs left out."""
        edges = [count * i // self.threads for i in range(self.threads + 1)]
        return [slice(a, b) for a, b in itertools.pairwise(edges) if a < b]

    def spread(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """The function of every item, computed in threads, in the order of the items; the first error is raised.

        The calling thread works too and the others are kept between calls, so that a call costs microseconds.
        """
        work = list(items)
        results: list[Result | None] = [None] * len(work)
        errors: dict[int, BaseException] = {}
        places = iter(range(len(work)))  # next() on it is atomic: every place is taken once

        def drain() -> None:
            for place in places:
                if errors:
                    return
                try:
                    results[place] = function(work[place])
                except BaseException as error:
                    errors[place] = error

        others = [_pool().submit(drain) for _ in range(min(self.threads, len(work)) - 1)]
        drain()
        for other in others:
            if not other.cancel():  # one that has not begun has nothing left to do
                other.result()
        if errors:
            raise errors[min(errors)]
        return cast(list[Result], results)

    def stream(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """As `spread`, one result at a time, never more than two items a thread ahead of the reader."""
        if self.threads == 1:
            yield from map(function, items)
            return
        pending: deque[Future[Result]] = deque()
        with ThreadPoolExecutor(self.threads) as pool:
            try:
                for item in items:
                    pending.append(pool.submit(function, item))
                    if len(pending) > 2 * self.threads:
                        yield pending.popleft().result()
                while pending:
                    yield pending.popleft().result()
            finally:
                for future in pending:
                    future.cancel()
