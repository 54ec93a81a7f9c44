"""Half-spaces of Persian words that are typed with blanks."""

from __future__ import annotations

import numpy as np
import pytest

from firth.text.code_points import code_points
from firth.text.half_spaces import compounds, find_joins, join_words, join_words_aligned
from firth.text.normalize import Normalizer
from firth.text.tokenize import Tokenizer

ZWNJ = "\u200c"

# The blank or the sign _ in the expected text is a half-space.
JOINED = """
می روم -> می_روم
نمی خواهم بروم -> نمی_خواهم بروم
او را می بینمش -> او را می_بینمش
باید برمی گشتند -> باید برمی_گشتند
کتاب ها و کتاب های من -> کتاب_ها و کتاب_های من
خانه های_شان و کتاب های_مان -> خانه_های_شان و کتاب_های_مان
بزرگ تر و زیبا ترین -> بزرگ_تر و زیباترین
خانه ای دیده ام -> خانه_ای دیده_ام
آن ها رفته اند -> آن_ها رفته_اند
دانش آموزان برنامه ریزی می کنند -> دانش_آموزان برنامه_ریزی می_کنند
می_ رود و کتاب_ ها -> می_رود و کتاب_ها
"""


@pytest.mark.parametrize("case", JOINED.strip().split("\n"))
def test_the_parts_of_a_word_are_joined(case: str) -> None:
    text, expected = (side.replace("_", ZWNJ) for side in case.split(" -> "))
    assert Normalizer.persian()(text) == expected
    assert Normalizer.persian()(expected) == expected


@pytest.mark.parametrize(
    "text", ["می ناب و جام می", "می خور که شیخ", "چشم تر", "از این تر", "راه ای دل", "می\nروم", "می، روم"]
)
def test_words_of_their_own_stay_apart(text: str) -> None:
    assert Normalizer.persian()(text) == text


def test_it_is_an_option() -> None:
    assert Normalizer(half_spaces=True)("می روم") == f"می{ZWNJ}روم"
    assert Normalizer.persian(half_spaces=False)("می روم") == Normalizer()("می روم") == "می روم"
    assert Tokenizer(language="persian").words("می روم") == [f"می{ZWNJ}روم"]


def test_tokens_of_joined_words_have_their_span_in_the_source() -> None:
    text = "او می   روم کتاب ها"
    spans = Tokenizer(language="persian").spans(text)
    assert [text[one.start : one.end] for one in spans] == ["او", "می   روم", "کتاب ها"]


def test_the_aligned_text_is_the_text() -> None:
    for text in ("می   روم", "روم", "", "کتاب ها می روند"):
        joined, offsets = join_words_aligned(text)
        assert joined == join_words(text)
        assert len(offsets) == len(joined) + 1
        assert offsets[-1] == len(text)
    assert join_words_aligned("می   روم")[1].tolist() == [0, 1, 2, 5, 6, 7, 8]


def test_text_without_such_words_costs_no_copy() -> None:
    text = "tea and rain"
    assert find_joins(code_points(text)) is None
    assert join_words(text) is text
    assert np.all([ZWNJ in word for word in compounds()])
