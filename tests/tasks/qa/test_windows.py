"""Windows cover a long passage and keep its words."""

from __future__ import annotations

from collections.abc import Callable

import torch
from hypothesis import given
from hypothesis import strategies as st

from firth.tasks.inputs import Text
from firth.tasks.qa import windows


@given(st.integers(1, 60), st.integers(2, 20), st.data())
def test_windows_cover_a_passage_and_none_is_longer_than_may_be(length: int, longest: int, draw: st.DataObject) -> None:
    overlap = draw.draw(st.integers(0, longest - 1))
    begins = windows.window_starts(length, longest, overlap)
    covered = {word for begin in begins for word in range(begin, min(begin + longest, length))}
    assert covered == set(range(length))
    assert len(set(begins)) == len(begins)
    first = draw.draw(st.integers(0, length - 1))
    last = draw.draw(st.integers(first, min(length - 1, first + overlap)))
    begin = windows.choose_window(length, longest, overlap, first, last)
    assert begin <= first
    assert last < begin + longest


def test_a_window_has_the_words_of_its_row(text_of: Callable[..., Text]) -> None:
    text = text_of([9, 4])
    cut = windows.cut_windows(text, [0, 0, 1], [0, 5, 0], 5)
    assert cut.lengths.tolist() == [5, 4, 4]
    torch.testing.assert_close(cut.vectors[1, :4], text.vectors[0, 5:9])
    assert cut.vectors[1, 4].abs().sum() == 0
    assert cut.extra is not None
    assert text.extra is not None
    torch.testing.assert_close(cut.extra[2, :4], text.extra[1, :4])
