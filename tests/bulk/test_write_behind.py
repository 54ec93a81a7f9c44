"""What happens behind the model, in order, whatever goes wrong."""

from __future__ import annotations

import threading
import time

import pytest

from firth.bulk.write_behind import WriteBehind


def test_a_block_is_written_while_the_one_before_it_is_settled() -> None:
    writing, synced = threading.Event(), []

    def write(number: int) -> int:
        if number == 1:
            writing.set()
        return number

    def sync(number: int) -> None:
        if number == 0:
            assert writing.wait(10), "the next block was not written meanwhile"
        synced.append(number)

    with WriteBehind(write, sync) as pipeline:
        for number in range(4):
            pipeline.submit(number)
    assert synced == [0, 1, 2, 3]


def test_what_was_taken_counts_when_the_model_fails() -> None:
    synced: list[int] = []

    def failing() -> None:
        with WriteBehind(lambda number: number, synced.append) as pipeline:
            pipeline.submit(1)
            pipeline.submit(2)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        failing()
    assert synced == [1, 2]


def test_an_error_of_the_writer_stops_the_work_and_settles_no_later_block() -> None:
    synced: list[int] = []

    def write(number: int) -> int:
        time.sleep(0.01)
        if number == 1:
            raise OSError("no space left")
        return number

    def work() -> None:
        with WriteBehind(write, synced.append) as pipeline:
            for number in range(4):
                pipeline.submit(number)

    with pytest.raises(OSError, match="no space left"):
        work()
    assert synced == [0]
