"""The word table against Python's own dict and its own sorting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firth.kernels import words as kernel
from firth.text.vocabulary import pack, rank, to_word

raw_words = st.lists(st.binary(max_size=24).map(to_word), max_size=30)


@settings(deadline=None)  # the first call compiles
@given(raw_words, raw_words)
def test_every_word_is_found_where_a_dict_would_find_it(words: list[str], queries: list[str]) -> None:
    first_ids: dict[str, int] = {}
    for id, word in enumerate(words):
        first_ids.setdefault(word, id)
    slots = np.zeros(128, np.uint64)
    packed = pack(words)
    assert kernel.index(*packed, slots) == len(words) - len(first_ids)
    found = np.empty(len(queries + words), np.int64)
    kernel.find_all(*pack(queries + words), *packed, slots, found)
    assert found.tolist() == [first_ids.get(word, -1) for word in queries + words]


def test_a_hash_is_the_same_for_equal_bytes_in_other_places() -> None:
    text = np.frombuffer(b"cat dog cat", np.uint8)
    assert kernel.hash_bytes(text, 0, 3) == kernel.hash_bytes(text, 8, 11) != kernel.hash_bytes(text, 4, 7)


@settings(deadline=None)  # the first call compiles
@given(raw_words.flatmap(lambda words: st.tuples(st.just(words), st.lists(st.integers(0, 3), min_size=30))))
def test_rank_is_pythons_order_by_falling_count_and_bytes(case: tuple[list[str], list[int]]) -> None:
    words, numbers = case
    blob, starts, ends = pack(words)
    counts = np.array(numbers[: len(words)], np.int64)
    raw = [blob[a:b].tobytes() for a, b in zip(starts, ends)]
    expected = sorted(range(len(words)), key=lambda i: (-counts[i], raw[i]))
    assert [(counts[i], raw[i]) for i in rank(blob, starts, ends, counts)] == [(counts[i], raw[i]) for i in expected]


def test_long_runs_of_ties_are_ordered_by_their_bytes() -> None:
    words = [f"common-beginning-{number % 100:03}-{number}" for number in range(500)]
    order = rank(*pack(words), np.ones(500, np.int64))
    assert [words[i] for i in order] == sorted(words)


@pytest.mark.parametrize("number", [0, 7, 10, 999_999_999_999_999_999])
def test_counts_are_printed_and_read_back(number: int) -> None:
    out = np.empty(100, np.uint8)
    used = kernel.write_counts(*pack(["a\tb\n\\"]), np.array([number], np.int64), out)
    assert out[:used].tobytes() == b"a\tb\\n\\\\\t%d\n" % number
    starts, ends, counts = (np.empty(1, np.int64) for _ in range(3))
    assert kernel.scan_counts(out[:used], starts, ends, counts) == -1
    assert counts[0] == number
    plain = np.empty(100, np.uint8)
    assert plain[: kernel.unescape(out, starts, ends, plain)].tobytes() == b"a\tb\n\\"


@pytest.mark.parametrize("line", [b"word\n", b"word\t\n", b"word\t12x\n", b"word\t9999999999999999999\n", b"\n"])
def test_a_line_without_a_count_is_named(line: bytes) -> None:
    blob = np.frombuffer(b"good\t1\n" + line, np.uint8)
    starts, ends, counts = (np.empty(2, np.int64) for _ in range(3))
    assert kernel.scan_counts(blob, starts, ends, counts) == 1


@settings(deadline=None)  # the first call compiles
@given(st.text("ab", max_size=6), st.text("ab", max_size=6))
def test_edit_distances_stop_at_the_bound_and_are_true_below_it(query: str, word: str) -> None:
    distances = np.empty(1, np.int64)
    kernel.edit_distances(np.frombuffer(query.encode(), np.uint8), *pack([word]), 2, distances)
    assert distances[0] == min(_distance(query, word), 3)


def _distance(a: str, b: str) -> int:
    if not a or not b:
        return len(a) + len(b)
    return min(_distance(a[1:], b) + 1, _distance(a, b[1:]) + 1, _distance(a[1:], b[1:]) + (a[0] != b[0]))
