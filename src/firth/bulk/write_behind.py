"""A pipeline after the model: one thread writes a block while another syncs the previous block."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, ParamSpec, Self, TypeVar

Args = ParamSpec("Args")
Token = TypeVar("Token")


class WriteBehind(Generic[Args, Token]):
    """Runs two steps for each block, each step in its own thread, blocks in order.

    On exit, also after an error, all submitted blocks are written and synced.

    >>> with WriteBehind(lambda word: word.upper(), print) as pipeline:
    ...     pipeline.submit("tea")
    ...     pipeline.submit("rain")
    TEA
    RAIN
    """

    def __init__(self, write: Callable[Args, Token], sync: Callable[[Token], None]) -> None:
        self.write, self.sync = write, sync
        self.threads = ThreadPoolExecutor(1), ThreadPoolExecutor(1)
        self.writing: Future[Token] | None = None
        self.syncing: Future[None] | None = None

    def submit(self, *args: Args.args, **kwargs: Args.kwargs) -> None:
        """Starts a block after the previous one is written."""
        self.wait_for_write()
        self.writing = self.threads[0].submit(self.write, *args, **kwargs)

    def wait_for_write(self) -> None:
        """Waits until the last block is written, and starts to sync it."""
        writing, self.writing = self.writing, None
        if writing is not None:
            token = writing.result()
            self._wait()
            self.syncing = self.threads[1].submit(self.sync, token)

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
