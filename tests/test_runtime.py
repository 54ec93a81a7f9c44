"""Threads keep the order of the work and pass its errors on."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firth.errors import OptionError
from firth.runtime import Runtime


@given(st.integers(0, 50), st.integers(1, 9))
def test_shares_cover_everything_once_and_evenly(count: int, threads: int) -> None:
    shares = [range(count)[share] for share in Runtime(threads).shares(count)]
    assert [i for share in shares for i in share] == list(range(count))
    assert all(abs(len(a) - len(b)) <= 1 for a in shares for b in shares)


def test_results_come_in_the_order_of_the_items() -> None:
    def slow_first(i: int) -> int:
        time.sleep(0.01 if i == 0 else 0)
        return i

    assert Runtime(3).map(slow_first, range(10)) == list(range(10))


def test_the_first_error_is_raised() -> None:
    def fail(i: int) -> int:
        if i >= 2:
            raise ValueError(f"item {i}")
        return i

    with pytest.raises(ValueError, match="item 2"):
        Runtime(2).map(fail, range(5))


def test_a_stream_reads_only_a_little_ahead() -> None:
    taken = 0
    lock = threading.Lock()

    def items() -> Iterator[int]:
        nonlocal taken
        for i in range(1000):
            with lock:
                taken = i + 1
            yield i

    first = next(iter(Runtime(2).stream(abs, items())))
    assert first == 0
    assert taken <= 6


def test_the_number_of_threads_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRTH_THREADS", "3")
    assert Runtime.from_env().threads == 3
    assert Runtime.from_env(5).threads == 5
    monkeypatch.setenv("FIRTH_THREADS", "many")
    with pytest.raises(OptionError, match="FIRTH_THREADS is 'many'"):
        Runtime.from_env()
