"""What comes behind the model: a block is written in one thread while the one before it is synced in another."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, ParamSpec, Self, TypeVar

Given = ParamSpec("Given")
Mark = TypeVar("Mark")


class WriteBehind(Generic[Given, Mark]):
    """Two steps for each block, each step in a thread of its own, blocks in their order.

    At its end, for whatever reason it comes, what was taken is written and synced.

    >>> with WriteBehind(lambda word: word.upper(), print) as pipeline:
    ...     pipeline.submit("tea")
    ...     pipeline.submit("rain")
    TEA
    RAIN
    """

    def __init__(self, write: Callable[Given, Mark], sync: Callable[[Mark], None]) -> None:
        self.write, self.sync = write, sync
        self.threads = ThreadPoolExecutor(1), ThreadPoolExecutor(1)
        self.writing: Future[Mark] | None = None
        self.syncing: Future[None] | None = None

    def submit(self, *args: Given.args, **kwargs: Given.kwargs) -> None:
        """Begins with a block when the one before it is written."""
        self.wait_for_write()
        self.writing = self.threads[0].submit(self.write, *args, **kwargs)

    def wait_for_write(self) -> None:
        """Waits until the last block is written, so that it can be synced."""
        writing, self.writing = self.writing, None
        if writing is not None:
            mark = writing.result()
            self._wait()
            self.syncing = self.threads[1].submit(self.sync, mark)

    def _wait(self) -> None:
        syncing, self.syncing = self.syncing, None
        if syncing is not None:
            syncing.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.wait_for_write()
            self._wait()
        finally:
            for thread in self.threads:
                thread.shutdown()
