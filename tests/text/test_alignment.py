"""Every change of a text is what Python's own functions make of it, and offsets never decrease."""

from __future__ import annotations

import re
import unicodedata

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from firth.text import alignment

TEXTS = st.text(st.one_of(st.characters(), st.sampled_from(list("ae\u0301\u0323\u0307\u1100\u1161\u11a8\uac00\u212b"))))


@given(TEXTS)
def test_composing_is_nfc_with_an_offset_for_each_character(text: str) -> None:
    composed, offsets = alignment.compose(text)
    assert composed == unicodedata.normalize("NFC", text)
    assert len(offsets) == len(composed) + 1
    assert offsets[-1] == len(text)
    assert np.all(np.diff(offsets) >= 0)


@given(st.text("ab-"))
def test_what_remains_after_removing_stays_at_its_offset(text: str) -> None:
    remaining, offsets = alignment.remove(text, re.compile("-+"))
    assert remaining == text.replace("-", "") == "".join(text[place] for place in offsets[:-1])
    assert offsets[-1] == len(text)


def test_marks_that_change_places_keep_offsets_in_order() -> None:
    composed, offsets = alignment.compose("q\u0301\u0323!")
    assert composed == "q\u0323\u0301!"
    assert offsets.tolist() == [0, 1, 1, 3, 4]
