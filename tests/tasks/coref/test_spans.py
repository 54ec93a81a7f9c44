"""Spans as tensors, against the same things done one by one."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from firth.tasks.coref.spans import best_spans, enumerate_spans


def one_by_one(spans: list[tuple[int, int]], count: int) -> list[int]:
    """From the best downwards, unless it crosses one that was taken; then in the order of the text."""
    taken: list[int] = []
    for place, (start, last) in enumerate(spans):
        crosses = any(a < start <= b < last or start < a <= last < b for a, b in (spans[other] for other in taken))
        if not crosses and len(taken) < count:
            taken.append(place)
    return sorted(taken, key=lambda place: spans[place])


span_lists = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), min_size=1, max_size=40, unique=True)


@given(span_lists, st.integers(1, 12))
def test_the_best_spans_are_those_of_the_greedy_search(found: list[tuple[int, int]], count: int) -> None:
    spans = [(start, start + width) for start, width in found]  # the best first
    starts, lasts = torch.tensor(spans).unbind(1)
    scores = -torch.arange(len(spans), dtype=torch.float32)
    assert best_spans(starts, lasts, scores, count).tolist() == one_by_one(spans, count)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=5), st.integers(1, 5))
def test_a_window_stays_within_its_sentence(lengths: list[int], widest: int) -> None:
    places, inside = enumerate_spans(torch.tensor(lengths), widest)
    sentences = [number for number, length in enumerate(lengths) for _ in range(length)]
    found = {(int(start), int(places[start, width])) for start, width in inside.nonzero()}
    words = range(len(sentences))
    close = {(i, j) for i in words for j in words if i <= j < i + widest and sentences[i] == sentences[j]}
    assert found == close
