"""What comes behind the model: a block is written in one thread while the one before it is settled in another."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, ParamSpec, Self, TypeVar

Given = ParamSpec("Given")
Mark = TypeVar("Mark")


class WriteBehind(Generic[Given, Mark]):
    """Two steps for each block, each step in a thread of its own, blocks in their order.

    At its end, for whatever reason it comes, what was taken is written and settled.

    >>> with WriteBehind(lambda word: word.upper(), print) as behind:
    ...     behind.take("tea")
    ...     behind.take("rain")
    TEA
    RAIN
    """

    def __init__(self, write: Callable[Given, Mark], settle: Callable[[Mark], None]) -> None:
        self.write, self.settle = write, settle
        self.threads = ThreadPoolExecutor(1), ThreadPoolExecutor(1)
        self.writing: Future[Mark] | None = None
        self.settling: Future[None] | None = None

    def take(self, *args: Given.args, **kwargs: Given.kwargs) -> None:
        """Begins with a block when the one before it is written."""
        self.hand_on()
        self.writing = self.threads[0].submit(self.write, *args, **kwargs)

    def hand_on(self) -> None:
        """Waits until the last block is written, so that it can be settled."""
        writing, self.writing = self.writing, None
        if writing is not None:
            mark = writing.result()
            self._wait()
            self.settling = self.threads[1].submit(self.settle, mark)

    def _wait(self) -> None:
        settling, self.settling = self.settling, None
        if settling is not None:
            settling.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.hand_on()
            self._wait()
        finally:
            for thread in self.threads:
                thread.shutdown()
