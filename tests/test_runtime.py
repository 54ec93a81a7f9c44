"""Threads keep the order of the work and pass its errors on."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firth.errors import OptionError
from firth.runtime import Runtime, agree_on_round
from firth.text.corpus import Corpus


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


@pytest.mark.parametrize("count", ["0", "1025", "999999999", "9" * 5000])
def test_a_number_of_threads_beyond_all_sense_is_refused(monkeypatch: pytest.MonkeyPatch, count: str) -> None:
    monkeypatch.setenv("FIRTH_THREADS", count)
    with pytest.raises(OptionError, match="must be a whole number between 1 and 1024"):
        Runtime.from_env()
    if len(count) < 20:
        with pytest.raises(OptionError, match=f"threads is {count}, but must be between 1 and 1024"):
            Corpus("never-read.txt", threads=int(count))


def test_processes_on_one_machine_share_its_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIRTH_THREADS", raising=False)
    monkeypatch.setattr("firth.runtime._cores", lambda: 8)
    assert Runtime.from_env().threads == 8
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "3")
    assert Runtime.from_env().threads == 2
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "16")
    assert Runtime.from_env().threads == 1


class Store(dict[str, bytes]):
    """A store of torchrun, as far as ranks need it to agree."""

    def set(self, key: str, value: str) -> None:
        self[key] = value.encode()

    def check(self, keys: list[str]) -> bool:
        return all(key in self for key in keys)


def test_ranks_agree_on_a_new_name_after_each_restart() -> None:
    store, names = Store(), []
    for _ in range(3):  # the store keeps what the processes before a restart wrote
        with ThreadPoolExecutor(3) as pool:
            agreed = list(pool.map(lambda rank: agree_on_round(store, rank, 3, 20.0), (2, 1, 0)))
        assert len(set(agreed)) == 1
        names.append(agreed[0])
    assert len(set(names)) == 3


def test_a_rank_that_nobody_answers_gives_up() -> None:
    with pytest.raises(OptionError, match="do not answer"):
        agree_on_round(Store(), 1, 2, 0.05)
