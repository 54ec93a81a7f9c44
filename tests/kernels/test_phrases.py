"""Pairs, joined and printed, against plain Python."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from firth.kernels import phrases as kernel
from firth.models.phrases import Join

sentences = st.lists(st.lists(st.integers(0, 5), max_size=12), max_size=6)
pairs = st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 5)), st.integers(6, 9), max_size=8)


def laid(lists: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    ends = np.cumsum([len(one) for one in lists], dtype=np.int64) if lists else np.zeros(0, np.int64)
    return np.array([id for one in lists for id in one], np.uint32), ends


def plain_join(words: list[int], table: dict[tuple[int, int], int]) -> list[int]:
    found, at = [], 0
    while at < len(words):
        pair = tuple(words[at : at + 2])
        found.append(table.get(pair, words[at]))  # type: ignore[call-overload]
        at += 2 if pair in table else 1
    return found


@settings(deadline=None)  # the first example compiles
@given(sentences, pairs)
def test_pairs_are_joined_from_left_to_right(lists: list[list[int]], table: dict[tuple[int, int], int]) -> None:
    ids, ends = laid(lists)
    columns = [np.array([*column], np.int64) for column in zip(*((a, b, w, 1, 1) for (a, b), w in table.items()))]
    join = Join(*columns) if columns else Join(*(np.zeros(0, np.int64) for _ in range(5)))  # type: ignore[arg-type]
    out, out_ends = np.empty(len(ids), np.uint32), np.empty(len(ends), np.int64)
    used = kernel.join(ids, ends, *join.by_first(10), out, out_ends)
    wanted, wanted_ends = laid([plain_join(one, table) for one in lists])
    assert out[:used].tolist() == wanted.tolist()
    assert out_ends.tolist() == wanted_ends.tolist()


@settings(deadline=None)
@given(sentences)
def test_a_pair_never_crosses_a_sentence_nor_a_word_without_a_number(lists: list[list[int]]) -> None:
    ids, ends = laid(lists)
    numbers = np.array([0, 1, -1, 2, 3, 4])
    keys = np.empty(len(ids), np.uint64)
    count = kernel.pair_keys(ids, ends, numbers, 5, keys)
    wanted = [5 * numbers[a] + numbers[b] for one in lists for a, b in pairwise(one) if a != 2 and b != 2]
    assert keys[:count].tolist() == wanted


def test_sentences_are_printed_as_lines() -> None:
    blob, starts, stops = np.frombuffer(b"teacup", np.uint8), np.array([0, 3]), np.array([3, 6])
    ids, ends = laid([[0, 1], [], [1]])
    out = np.empty(30, np.uint8)
    used = kernel.write_words(ids, ends, blob, starts, stops, out)
    assert out[:used].tobytes() == b"tea cup\n\ncup\n"
    assert kernel.write_words(ids, ends, blob, starts, stops, out[:0]) == used
