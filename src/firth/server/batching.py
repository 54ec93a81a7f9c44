"""Micro-batching: concurrent requests of one model run together.

A worker takes whatever has arrived while the batch before ran, up to a number of tokens. After a batch of several jobs
it waits for a fraction of its time, since clients often ask again at once; an idle worker never waits. Jobs take turns
within a batch, so that a large job does not hold up small ones. The results of a batch are handed over together.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

from firth.errors import FirthError

Deliver = Callable[[int, "Sequence[Any] | Exception"], None]
TURN = 8  # jobs that share a full batch before one of them gets a second turn
GATHER = 0.1  # of the time of a batch: so long a worker waits for the clients that it has answered
LONGEST_WAIT = 60  # seconds that a refused client is asked to wait at most


class Overloaded(FirthError):
    """The queue of a model is full. `retry_after` is the time in seconds after which it is probably not."""

    def __init__(self, retry_after: int) -> None:
        self.retry_after = retry_after
        super().__init__(f"too many texts are waiting. Try again in {retry_after} s")


class Closing(FirthError):
    """The server is stopping."""


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
    warning: str | None = None  # what the client should know about its texts

    @cached_property
    def cost(self) -> int:
        """The cost of all items."""
        return sum(self.costs)


@dataclass(eq=False)
class BatchJob:
    """A work that was accepted. `deliver(start, results)` is called with its results, or once with an error.

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
class Delivery:
    """Results of a job, from item `start` on, or the error that ends it."""

    job: BatchJob
    start: int
    values: Sequence[Any] | Exception

    def __call__(self) -> None:
        """Delivers them, unless the job is over."""
        if self.job.is_over:
            return
        self.job.is_over = isinstance(self.values, Exception)
        self.job.deliver(self.start, self.values)


@dataclass(frozen=True)
class Computed:
    """What is known of a batch afterwards: its requests, items and tokens, and the time that it took."""

    requests: int
    items: int
    tokens: int
    seconds: float


def deliver_all(deliveries: Sequence[Delivery]) -> None:
    """Delivers the results of a batch."""
    for deliver in deliveries:
        deliver()


@dataclass
class Batcher:
    """The queue of one model and the threads that compute.

    `hand_over` gets the results of a batch: by default it delivers them in the thread of the worker. When it returns,
    the next batch is taken.

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
    hand_over: Callable[[Sequence[Delivery]], None] = deliver_all
    waiting: int = 0  # cost of the items in the queue
    speed: float = 0.0  # tokens per second of recent batches
    queue: deque[BatchJob] = field(default_factory=deque)
    condition: threading.Condition = field(default_factory=threading.Condition)
    wanted: int = 1  # jobs for which a worker is woken
    is_closing: bool = False

    def __post_init__(self) -> None:
        self.threads = [threading.Thread(target=self.run, name="batches", daemon=True) for _ in range(self.workers)]
        for thread in self.threads:
            thread.start()

    def submit(self, job: BatchJob) -> None:
        """Puts a job into the queue. One that fits no more is refused; into an empty queue every job fits."""
        with self.condition:
            if self.is_closing:
                raise Closing("the server is stopping, and accepts no more requests")
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
        if len(self.queue) >= self.wanted or self.waiting >= self.batch_tokens:
            self.condition.notify()

    def expected_wait(self) -> int:
        """The time in seconds, from 1 to 60, that the queue will take at the speed of the last batches."""
        seconds = self.waiting / self.speed if self.speed else 1.0
        return max(1, min(LONGEST_WAIT, math.ceil(seconds)))

    def cancel(self, job: BatchJob) -> None:
        """Ends a job whose client is gone: what has not begun is not computed."""
        with self.condition:
            job.is_over = True
            if not job.is_complete:
                self.remove([job])

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
        while True:
            expired, pieces = self.take()
            if expired:
                self.hand_over(expired)
            elif not pieces:
                return
            if pieces:
                start = time.monotonic()
                deliveries = self.compute(pieces)
                seconds = time.monotonic() - start
                self.note(pieces, seconds)
                waiting = len(self.queue)
                self.hand_over(deliveries)
                if len(pieces) > 1:
                    self.gather(waiting + len(pieces), GATHER * seconds)

    def gather(self, jobs: int, seconds: float) -> None:
        """Waits until so many jobs or the tokens of a batch are in the queue, but not longer than this time."""
        end = time.monotonic() + seconds
        with self.condition:
            self.wanted = jobs
            while len(self.queue) < jobs and self.waiting < self.batch_tokens and not self.is_closing:
                left = end - time.monotonic()
                if left <= 0:
                    break
                self.condition.wait(left)
            self.wanted = 1
            self.condition.notify()  # another worker, which was not woken meanwhile

    def note(self, pieces: Sequence[Piece], seconds: float) -> None:
        """Reports a batch, and keeps the speed."""
        tokens = sum(piece.cost for piece in pieces)
        if seconds > 0:
            speed = tokens / seconds
            self.speed = 0.8 * self.speed + 0.2 * speed if self.speed else speed
        self.observe(Computed(len(pieces), sum(piece.end - piece.start for piece in pieces), tokens, seconds))

    def take(self) -> tuple[list[Delivery], list[Piece]]:
        """The errors of jobs whose time is over, and the next batch; waits for either. Both are empty at the end."""
        with self.condition:
            while not self.queue and not self.is_closing:
                self.condition.wait()
            return self.drop_expired(), self.next_batch() if self.queue else []

    def drop_expired(self) -> list[Delivery]:
        """Removes jobs whose time is over: their clients do not wait any more."""
        now = time.monotonic()
        expired = [job for job in self.queue if job.deadline <= now]
        if expired:
            self.remove(expired)
        problem = "the time of the request was over before it was computed"
        return [Delivery(job, job.taken, Expired(problem)) for job in expired]

    def remove(self, jobs: Collection[BatchJob]) -> None:
        """Removes jobs from the queue."""
        gone = set(jobs)
        self.waiting -= sum(job.left for job in self.queue if job in gone)
        self.queue = deque(job for job in self.queue if job not in gone)

    def next_batch(self) -> list[Piece]:
        """Pieces of the first job and of all that can run with it. Jobs that are not complete go to the end."""
        first = self.queue[0]
        jobs = [first]
        if first.work.divisible:
            jobs = [job for job in self.queue if can_run_together(job, first)]
        pieces = fill_batch(jobs, self.batch_tokens)
        self.remove([piece.job for piece in pieces])
        for piece in pieces:
            job = piece.job
            job.taken, job.unread = piece.end, job.unread + piece.cost
            job.is_paused = not job.is_complete and job.unread >= job.window
            if not job.is_complete and not job.is_paused:
                self.append(job)
        return pieces

    def compute(self, pieces: list[Piece]) -> list[Delivery]:
        """Runs a batch. If it fails, each piece runs alone, so that only the job that fails has the error."""
        work, model = pieces[0].job.work, pieces[0].job.model
        items = [item for piece in pieces for item in piece.job.work.items[piece.start : piece.end]]
        try:
            results = list(work.run(model, items))
            if len(results) != len(items):
                raise RuntimeError(f"{len(items)} items have {len(results)} results")
        except Exception as error:
            if len(pieces) > 1:
                return [delivery for piece in pieces for delivery in self.compute([piece])]
            with self.condition:
                self.remove([pieces[0].job])
            return [Delivery(pieces[0].job, pieces[0].start, error)]
        rest = iter(results)
        return [Delivery(piece.job, piece.start, list(islice(rest, piece.end - piece.start))) for piece in pieces]


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
