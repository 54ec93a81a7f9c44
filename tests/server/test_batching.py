from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest

from firth.server.batching import (
    Batcher,
    BatchJob,
    Closing,
    Computed,
    Delivery,
    Expired,
    Overloaded,
    Work,
    deliver_all,
    end_of_turn,
    fill_batch,
)


class Slow:
    """A model that computes one batch at a time, when it is told to, and keeps the batches that it saw."""

    def __init__(self) -> None:
        self.batches: list[list[Any]] = []
        self.go, self.begun = threading.Semaphore(0), threading.Semaphore(0)

    def run(self, model: Any, items: Sequence[Any]) -> list[Any]:
        self.begun.release()
        assert self.go.acquire(timeout=60)
        self.batches.append(list(items))
        if "bad" in items:
            raise ValueError("bad")
        return [f"{item}!" for item in items]

    def work(self, *items: str, key: str = "a", cost: int = 1, divisible: bool = True) -> Work:
        return Work(key, self.run, items, [cost] * len(items), divisible)


class Client:
    """Keeps what is delivered to it."""

    def __init__(self) -> None:
        self.values: dict[int, Any] = {}
        self.error: Exception | None = None

    def __call__(self, start: int, values: Sequence[Any] | Exception) -> None:
        if isinstance(values, Exception):
            self.error = values
        else:
            self.values |= dict(enumerate(values, start))


def submit(batcher: Batcher, work: Work, **settings: Any) -> tuple[BatchJob, Client]:
    client = Client()
    job = BatchJob(work, None, client, **settings)
    batcher.submit(job)
    return job, client


def finish(batcher: Batcher, slow: Slow) -> None:
    slow.go.release(1000)
    batcher.close()


def test_requests_that_arrive_during_a_batch_run_together_afterwards() -> None:
    slow, batcher = Slow(), Batcher(batch_tokens=10)
    clients = [submit(batcher, slow.work("first"))[1]]
    assert slow.begun.acquire(timeout=60)
    clients += [submit(batcher, slow.work(name))[1] for name in "bcd"]
    finish(batcher, slow)
    assert slow.batches == [["first"], ["b", "c", "d"]]
    assert [client.values[0] for client in clients] == ["first!", "b!", "c!", "d!"]


def test_a_batch_has_at_most_its_tokens_and_only_works_of_one_key() -> None:
    slow, batcher = Slow(), Batcher(batch_tokens=4)
    submit(batcher, slow.work("first"))
    assert slow.begun.acquire(timeout=60)
    for item, key in zip("bcdef", "xyxxx"):
        submit(batcher, slow.work(item, key=key, cost=2))
    finish(batcher, slow)
    assert slow.batches == [["first"], ["b", "d"], ["c"], ["e", "f"]]


def test_a_large_request_does_not_hold_up_a_small_one() -> None:
    slow, batcher = Slow(), Batcher(batch_tokens=16)
    submit(batcher, slow.work("first"))
    assert slow.begun.acquire(timeout=60)
    submit(batcher, slow.work(*(f"large{number}" for number in range(100))))
    submit(batcher, slow.work("small"))
    finish(batcher, slow)
    assert "small" in slow.batches[1]
    assert all(len(batch) <= 16 for batch in slow.batches)


def test_an_item_larger_than_a_batch_runs_alone() -> None:
    slow, batcher = Slow(), Batcher(batch_tokens=4)
    _, client = submit(batcher, slow.work("huge", cost=100))
    finish(batcher, slow)
    assert client.values == {0: "huge!"}


def test_a_work_that_is_not_divisible_runs_in_one_call_of_its_own() -> None:
    slow, batcher = Slow(), Batcher(batch_tokens=2)
    submit(batcher, slow.work("first"))
    assert slow.begun.acquire(timeout=60)
    submit(batcher, slow.work("b", "c", "d", divisible=False))
    submit(batcher, slow.work("e", divisible=False))
    finish(batcher, slow)
    assert slow.batches == [["first"], ["b", "c", "d"], ["e"]]


def test_a_failing_request_fails_alone() -> None:
    slow, batcher = Slow(), Batcher(batch_tokens=10)
    submit(batcher, slow.work("first"))
    assert slow.begun.acquire(timeout=60)
    clients = [submit(batcher, slow.work(*items))[1] for items in (("b",), ("bad", "c"), ("d",))]
    finish(batcher, slow)
    assert [client.values for client in clients] == [{0: "b!"}, {}, {0: "d!"}]
    assert isinstance(clients[1].error, ValueError)


def test_a_model_that_loses_a_result_is_an_error() -> None:
    batcher = Batcher()
    _, client = submit(batcher, Work("a", lambda model, items: [], ["tea"], [1]))
    batcher.close()
    assert isinstance(client.error, RuntimeError)


def test_cancelled_and_expired_requests_are_not_computed() -> None:
    slow, batcher = Slow(), Batcher(batch_tokens=10)
    submit(batcher, slow.work("first"))
    assert slow.begun.acquire(timeout=60)
    gone, _ = submit(batcher, slow.work("gone"))
    _, late = submit(batcher, slow.work("late"), deadline=time.monotonic())
    batcher.cancel(gone)
    finish(batcher, slow)
    assert slow.batches == [["first"]]
    assert isinstance(late.error, Expired)
    assert batcher.waiting == 0


def test_a_full_queue_refuses_and_says_when_to_come_back() -> None:
    slow, batcher = Slow(), Batcher(batch_tokens=10, queue_tokens=5)
    submit(batcher, slow.work("first"))
    assert slow.begun.acquire(timeout=60)
    submit(batcher, slow.work("waits", cost=5))
    batcher.speed = 2.5
    with pytest.raises(Overloaded, match="in 2 s") as refused:
        submit(batcher, slow.work("refused"))
    assert refused.value.retry_after == 2
    finish(batcher, slow)
    assert slow.batches == [["first"], ["waits"]]


def test_a_slow_reader_pauses_its_own_job_only() -> None:
    slow, batcher = Slow(), Batcher(batch_tokens=2)
    job, reader = submit(batcher, slow.work(*"abcdefgh"), window=2)
    assert slow.begun.acquire(timeout=60)
    slow.go.release(100)
    end = time.monotonic() + 60
    while not job.is_paused:
        assert time.monotonic() < end
        time.sleep(0.001)
    _, other = submit(batcher, slow.work("other", key="b"))
    while not other.values:
        assert time.monotonic() < end
        time.sleep(0.001)
    assert len(reader.values) <= 2
    while len(reader.values) < 8:
        batcher.read(job, job.unread)
        assert time.monotonic() < end
        time.sleep(0.001)
    batcher.close()
    assert [reader.values[place] for place in range(8)] == [f"{letter}!" for letter in "abcdefgh"]


def test_what_was_computed_is_reported() -> None:
    seen: list[Computed] = []
    slow, batcher = Slow(), Batcher(observe=seen.append)
    submit(batcher, slow.work("a", "b", cost=3))
    finish(batcher, slow)
    assert [(one.requests, one.items, one.tokens) for one in seen] == [(1, 2, 6)]


def test_an_empty_request_is_answered_at_once_and_a_closing_batcher_takes_none() -> None:
    batcher = Batcher()
    _, client = submit(batcher, Work("a", lambda model, items: items, [], []))
    assert client.error is None
    batcher.close()
    with pytest.raises(Closing):
        submit(batcher, Work("a", lambda model, items: items, ["tea"], [1]))


def test_turns_share_a_batch_evenly() -> None:
    jobs = [BatchJob(Work("a", list, ["x"] * 50, [1] * 50), None, lambda *_: None) for _ in range(4)]  # type: ignore[arg-type]
    assert [piece.end for piece in fill_batch(jobs, 16)] == [4, 4, 4, 4]
    assert [piece.end for piece in fill_batch(jobs[:1], 16)] == [16]


@pytest.mark.parametrize(
    ("costs", "share", "room", "is_empty", "end"),
    [([5], 2, 8, False, 1), ([9], 2, 8, False, 0), ([9], 2, 8, True, 1), ([0, 0, 1], 1, 1, False, 3)],
)
def test_where_a_turn_ends(costs: list[int], share: int, room: int, is_empty: bool, end: int) -> None:
    assert end_of_turn(costs, 0, share, room, is_empty=is_empty) == end


def test_the_results_of_a_batch_are_handed_over_together() -> None:
    handed: list[list[tuple[int, Any]]] = []

    def hand_over(deliveries: Sequence[Delivery]) -> None:
        handed.append([(one.start, one.values) for one in deliveries])
        deliver_all(deliveries)

    slow, batcher = Slow(), Batcher(batch_tokens=10, hand_over=hand_over)
    submit(batcher, slow.work("first"))
    assert slow.begun.acquire(timeout=60)
    clients = [submit(batcher, slow.work(name))[1] for name in ("b", "bad", "c")]
    _, late = submit(batcher, slow.work("late"), deadline=time.monotonic())
    finish(batcher, slow)
    assert handed[0] == [(0, ["first!"])]
    assert [type(values) for _, values in handed[1]] == [Expired]
    assert [type(values) for _, values in handed[2]] == [list, ValueError, list]
    assert [client.values for client in clients] == [{0: "b!"}, {}, {0: "c!"}]
    assert isinstance(late.error, Expired)


def test_nothing_is_delivered_to_a_request_that_is_over() -> None:
    client = Client()
    job = BatchJob(Work("a", lambda model, items: items, ["tea"], [1]), None, client)
    deliver_all([Delivery(job, 0, ValueError("first")), Delivery(job, 0, ["late"])])
    assert isinstance(client.error, ValueError)
    assert client.values == {}


def test_after_a_batch_a_worker_waits_for_the_clients_that_it_answered_but_not_long() -> None:
    slow, batcher = Slow(), Batcher(batch_tokens=100)
    submit(batcher, slow.work("blocks"))
    assert slow.begun.acquire(timeout=60)
    waiter = threading.Thread(target=batcher.gather, args=(3, 60.0))
    waiter.start()
    for name in "abc":
        assert waiter.is_alive()
        submit(batcher, slow.work(name))
    waiter.join(60)
    assert not waiter.is_alive()
    batcher.gather(5, 0.01)
    batcher.gather(3, 60.0)
    assert batcher.wanted == 1
    submit(batcher, slow.work("long", cost=100))
    batcher.gather(50, 60.0)  # what waits fills a batch
    finish(batcher, slow)


def test_requests_that_come_while_a_worker_gathers_are_one_batch() -> None:
    slow, clients = Slow(), list[Client]()

    def answer(deliveries: Sequence[Delivery]) -> None:
        deliver_all(deliveries)
        if len(slow.batches) == 2:  # both clients ask again
            clients.extend(submit(batcher, slow.work(name))[1] for name in "de")

    batcher = Batcher(batch_tokens=100, hand_over=answer)
    submit(batcher, slow.work("first"))
    assert slow.begun.acquire(timeout=60)
    for name in "bc":
        submit(batcher, slow.work(name))
    slow.go.release(3)
    for _ in range(2):
        assert slow.begun.acquire(timeout=60)
    finish(batcher, slow)
    assert slow.batches == [["first"], ["b", "c"], ["d", "e"]]
    assert [client.values for client in clients] == [{0: "d!"}, {0: "e!"}]
