"""Spans that do not cross each other, against a loop over all accepted ones."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from firth.kernels.spans import accept_spans

WORDS = 9
Span = tuple[int, int]
SPANS = st.lists(st.tuples(st.integers(0, WORDS - 1), st.integers(0, 4)), max_size=30, unique=True)


def cross(first: Span, second: Span) -> bool:
    """Whether one begins inside the other and ends after it."""
    return first[0] < second[0] <= first[1] < second[1] or second[0] < first[0] <= second[1] < first[1]


@given(SPANS, st.integers(0, 12))
def test_a_span_is_accepted_unless_it_crosses_a_better_one(drawn, count):
    spans = [(start, min(WORDS - 1, start + width)) for start, width in drawn]
    wanted: list[int] = []
    for place, span in enumerate(spans):
        if len(wanted) < count and not any(cross(span, spans[other]) for other in wanted):
            wanted.append(place)
    starts, lasts = (np.array(part, np.int64) for part in (zip(*spans) if spans else ([], [])))
    accepted = np.empty(count, np.int64)
    found = accept_spans(starts, lasts, WORDS, count, accepted)
    assert accepted[:found].tolist() == wanted
