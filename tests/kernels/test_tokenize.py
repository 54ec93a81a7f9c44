"""The compiled tokenizer against its own Python body, and its cuts by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firth.kernels import tokenize
from firth.text.abbreviations import abbreviation_table
from firth.text.character_classes import character_classes
from firth.text.code_points import code_points
from firth.text.languages import language_rules

ENGLISH = language_rules("english")
LETTERS = list("ablZ09.,!?'\"()-/@ \n\r\t:;漢。\u200cλվო가བ་พשم")
TEXTS = st.text(st.one_of(st.characters(), st.sampled_from(LETTERS)), max_size=40)


def find_tokens(scan, text: str, *options) -> list[tuple[int, int, int]]:
    codes = code_points(text)
    starts, ends = np.empty(len(codes), np.int64), np.empty(len(codes), np.int64)
    last = np.zeros(len(codes), np.uint8)
    count = scan(codes, *options, starts, ends, last)
    return list(zip(starts[:count].tolist(), ends[:count].tolist(), last[:count].tolist()))


@settings(max_examples=60)
@given(TEXTS, st.booleans(), st.sampled_from(["any", "french", "german", "italian", "turkish"]))
def test_the_compiled_scan_does_what_its_python_body_does(text, wrapped, language):
    options = (character_classes(), *abbreviation_table((), language), language_rules(language), wrapped)
    assert find_tokens(tokenize.scan, text, *options) == find_tokens(tokenize.scan.py_func, text, *options)


@pytest.mark.parametrize(
    "text, pieces",
    [
        ("she'dn't've", ["she", "'d", "n't", "'ve"]),
        ("cannot", ["can", "not"]),
        ("well-known 1,000.", ["well-known", "1,000", "."]),
        ("end.Next", ["end", ".", "Next"]),
    ],
)
def test_words_are_cut_as_in_the_penn_treebank(text, pieces):
    found = find_tokens(tokenize.scan, text, character_classes(), *abbreviation_table(), ENGLISH, False)
    assert [text[start:end] for start, end, _ in found] == pieces
