"""Micro-batching: concurrent requests of one model run together.

A worker takes whatever has arrived while the batch before ran, up to a number of tokens: no request waits for a batch
to fill. Jobs take turns within a batch, so that a large job does not hold up small ones.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from firth.errors import FirthError

Deliver = Callable[[int, "Sequence[Any] | Exception"], None]
TURN = 8  # jobs that share a full batch before one of them gets a second turn
LONGEST_WAIT = 60  # seconds that a refused client is asked to wait at most


class Overloaded(FirthError):
    """The queue of a model is full. `retry_after` is the time in seconds after which it is probably not."""

    def __init__(self, retry_after: int) -> None:
        self.retry_after = retry_after
        super().__init__(f"too many texts are waiting. Try again in {retry_after} s")


class Expired(FirthError):
    """A request was not answered within its time."""


@dataclass(frozen=True)
class Work:
    """What a request asks of a model: `run(model, items)` has a result for each item, whose cost is in tokens.

    The result of an item does not depend on the other items if the work is `divisible`. Then the items of several works
    with the same key run in one call; else all items of a work run in a call of their own.
    """

    key: Hashable
    run: Callable[[Any, Sequence[Any]], Sequence[Any]]
    items: Sequence[Any]
    costs: Sequence[int]
    divisible: bool = True

    @property
    def cost(self) -> int:
        """The cost of all items."""
        return sum(self.costs)


@dataclass(eq=False)
class BatchJob:
    """A work that was accepted. `deliver(start, results)` is called in the thread of the worker, or with an error.

    `window` is the cost of results that may wait for a slow reader; the job pauses beyond it (see `Batcher.read`).
    """

    work: Work
    model: Any
    deliver: Deliver
    deadline: float = math.inf  # of time.monotonic()
    window: float = math.inf
    taken: int = 0  # items that a worker has taken
    unread: int = 0  # cost of the items that were taken and not read
    is_over: bool = False  # cancelled, expired or failed: what is left is not computed
    is_paused: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether all items were taken."""
        return self.taken == len(self.work.items)

    @property
    def left(self) -> int:
        """The cost of the items that were not taken."""
        return sum(self.work.costs[self.taken :])


@dataclass
class Piece:
    """A run of items of a job that is computed in one call."""

    job: BatchJob
    start: int
    end: int

    @property
    def cost(self) -> int:
        """The cost of its items."""
        return sum(self.job.work.costs[self.start : self.end])


@dataclass(frozen=True)
class Computed:
    """What is known of a batch afterwards: its requests, items and tokens, and the time that it took."""

    requests: int
    items: int
    tokens: int
    seconds: float


@dataclass
class Batcher:
    """The queue of one model and the threads that compute.

    >>> batcher, results = Batcher(batch_tokens=100), []
    >>> work = Work("upper", lambda model, items: [model(item) for item in items], ["tea", "rain"], [1, 1])
    >>> batcher.submit(BatchJob(work, str.upper, lambda start, values: results.extend(values)))
    >>> batcher.close()
    >>> results
    ['TEA', 'RAIN']
    """

    batch_tokens: int = 4096
    queue_tokens: int = 1 << 18
    workers: int = 1
    observe: Callable[[Computed], None] = lambda computed: None
    waiting: int = 0  # cost of the items in the queue
    speed: float = 0.0  # tokens per second of recent batches
    queue: deque[BatchJob] = field(default_factory=deque)
    condition: threading.Condition = field(default_factory=threading.Condition)
    is_closing: bool = False

    def __post_init__(self) -> None:
        self.threads = [threading.Thread(target=self.run, name="batches", daemon=True) for _ in range(self.workers)]
        for thread in self.threads:
            thread.start()

    def submit(self, job: BatchJob) -> None:
        """Puts a job into the queue. One that fits no more is refused; into an empty queue every job fits."""
        with self.condition:
            if self.is_closing:
                raise Overloaded(1)
            if self.queue and self.waiting + job.work.cost > self.queue_tokens:
                raise Overloaded(self.expected_wait())
            if not job.work.items:
                job.deliver(0, [])
                return
            self.append(job)

    def append(self, job: BatchJob) -> None:
        """Puts what is left of a job at the end of the queue."""
        self.queue.append(job)
        self.waiting += job.left
        self.condition.notify()

    def expected_wait(self) -> int:
        """The time in seconds, from 1 to 60, that the queue will take at the speed of the last batches."""
        seconds = self.waiting / self.speed if self.speed else 1.0
        return max(1, min(LONGEST_WAIT, math.ceil(seconds)))

    def cancel(self, job: BatchJob) -> None:
        """Ends a job whose client is gone: what has not begun is not computed."""
        with self.condition:
            job.is_over = True
            if job in self.queue:
                self.queue.remove(job)
                self.waiting -= job.left

    def read(self, job: BatchJob, cost: int) -> None:
        """Says that results of this cost have been read; a job that paused goes on when there is room."""
        with self.condition:
            job.unread -= cost
            if job.is_paused and job.unread < job.window and not job.is_over:
                job.is_paused = False
                self.append(job)

    def close(self) -> None:
        """Computes what is in the queue, then ends the threads."""
        with self.condition:
            self.is_closing = True
            self.condition.notify_all()
        for thread in self.threads:
            thread.join()

    def run(self) -> None:
        """The loop of a worker."""
        while pieces := self.take():
            start = time.monotonic()
            self.compute(pieces)
            cost, seconds = sum(piece.cost for piece in pieces), time.monotonic() - start
            if seconds > 0:
                speed = cost / seconds
                self.speed = 0.8 * self.speed + 0.2 * speed if self.speed else speed
            items = sum(piece.end - piece.start for piece in pieces)
            self.observe(Computed(len(pieces), items, cost, seconds))

    def take(self) -> list[Piece]:
        """The next batch; waits for one, and is empty when the batcher has closed."""
        with self.condition:
            while True:
                self.drop_expired()
                if self.queue:
                    return self.next_batch()
                if self.is_closing:
                    return []
                self.condition.wait()

    def drop_expired(self) -> None:
        """Removes jobs whose time is over: their clients do not wait any more."""
        now = time.monotonic()
        for job in [job for job in self.queue if job.deadline <= now]:
            self.queue.remove(job)
            self.waiting -= job.left
            self.fail(job, Expired("the time of the request was over before it was computed"))

    def next_batch(self) -> list[Piece]:
        """Pieces of the first job and of all that can run with it. Jobs that are not complete go to the end."""
        first = self.queue[0]
        jobs = [first]
        if first.work.divisible:
            jobs = [job for job in self.queue if can_run_together(job, first)]
        pieces = fill_batch(jobs, self.batch_tokens)
        self.waiting -= sum(piece.cost for piece in pieces)
        for piece in pieces:
            job = piece.job
            job.taken, job.unread = piece.end, job.unread + piece.cost
            self.queue.remove(job)
            if job.is_complete:
                continue
            if job.unread < job.window:
                self.queue.append(job)
            else:
                job.is_paused = True
                self.waiting -= job.left
        return pieces

    def compute(self, pieces: list[Piece]) -> None:
        """Runs a batch. If it fails, each piece runs alone, so that only the job that fails has the error."""
        work, model = pieces[0].job.work, pieces[0].job.model
        items = [item for piece in pieces for item in piece.job.work.items[piece.start : piece.end]]
        try:
            results = list(work.run(model, items))
            if len(results) != len(items):
                raise RuntimeError(f"{len(items)} items have {len(results)} results")
        except Exception as error:
            if len(pieces) == 1:
                self.fail(pieces[0].job, error)
                return
            for piece in pieces:
                self.compute([piece])
            return
        first = 0
        for piece in pieces:
            count = piece.end - piece.start
            if not piece.job.is_over:
                piece.job.deliver(piece.start, results[first : first + count])
            first += count

    def fail(self, job: BatchJob, error: Exception) -> None:
        """Ends a job with an error."""
        with self.condition:
            if job.is_over:
                return
            job.is_over = True
            if job in self.queue:
                self.queue.remove(job)
                self.waiting -= job.left
        job.deliver(job.taken, error)


def can_run_together(job: BatchJob, first: BatchJob) -> bool:
    """Whether two jobs ask the same of the same model."""
    return job.work.divisible and job.work.key == first.work.key and job.model is first.model


def fill_batch(jobs: Sequence[BatchJob], batch_tokens: int) -> list[Piece]:
    """Items of jobs in turns, until the batch is full. A job that is not divisible is taken whole.

    An item that is larger than a batch is a batch of its own.
    """
    if not jobs[0].work.divisible:
        return [Piece(jobs[0], 0, len(jobs[0].work.items))]
    ends = [job.taken for job in jobs]
    room, share, moved = batch_tokens, max(1, batch_tokens // TURN), True
    while room > 0 and moved:
        moved = False
        for place, job in enumerate(jobs):
            costs, start = job.work.costs, ends[place]
            ends[place] = end_of_turn(costs, start, share, room, is_empty=room == batch_tokens)
            room -= sum(costs[start : ends[place]])
            moved = moved or ends[place] > start
    return [Piece(job, job.taken, end) for job, end in zip(jobs, ends) if end > job.taken]


def end_of_turn(costs: Sequence[int], start: int, share: int, room: int, *, is_empty: bool) -> int:
    """Where the turn of a job ends: after its share of tokens, or after one larger item that the batch has room for.

    >>> end_of_turn([2, 2, 2], 0, 4, 16, is_empty=False), end_of_turn([9, 1], 0, 4, 16, is_empty=False)
    (2, 1)
    """
    end = start
    total = 0
    while end < len(costs):
        total += costs[end]
        fits_alone = end == start and (total <= room or is_empty)
        if total > min(share, room) and not fits_alone:
            break
        end += 1
    return end
