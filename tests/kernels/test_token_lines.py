"""Tokens between white space, and tokens written as UTF-8."""

from __future__ import annotations

import itertools
import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from firth.kernels import token_lines
from firth.text.code_points import code_points

TEXTS = st.text(st.one_of(st.characters(), st.sampled_from(list("ab \n\r\t漢\u200c"))), max_size=40)


def split(text: str, wrapped: bool) -> list[tuple[str, int]]:
    codes = code_points(text)
    starts, ends = np.empty(len(codes), np.int64), np.empty(len(codes), np.int64)
    last = np.zeros(len(codes), np.uint8)
    count = token_lines.split_whitespace(codes, wrapped, starts, ends, last)
    return [(text[starts[k] : ends[k]], int(last[k])) for k in range(count)]


@given(TEXTS)
def test_blanks_and_zeros_split_words(text):
    found = split(text, False)
    sentences = [[word for word in re.split("[\t\n\v\f\r \0]+", line) if word] for line in text.split("\n")]
    assert [word for word, _ in found] == list(itertools.chain(*sentences))
    assert sum(last for _, last in found) == sum(map(bool, sentences))


def test_in_wrapped_text_only_an_empty_line_ends_a_sentence():
    assert split("a b\nc\n\nd", True) == [("a", 0), ("b", 0), ("c", 1), ("d", 1)]
    assert split("a b\nc\n\nd", False) == [("a", 0), ("b", 1), ("c", 1), ("d", 1)]


@given(st.text(max_size=20))
def test_tokens_are_written_as_utf_8_one_after_another(text):
    codes = code_points(text + " ")
    edges = np.arange(len(codes) + 1)
    out, lengths = np.empty(4 * len(codes), np.uint8), np.empty(len(codes), np.int32)
    size = token_lines.write_tokens(codes, edges[:-1], edges[1:], out, lengths)
    assert out[:size].tobytes() == text.encode("utf-8") + b" "
    assert lengths.tolist() == [len(letter.encode("utf-8")) for letter in text + " "]


def test_a_surrogate_that_stands_for_a_byte_is_written_as_that_byte():
    out = np.zeros(4, np.uint8)
    assert token_lines.write_code(0xDC80 | 0x7F, out, 0) == 1
    assert out.tolist() == [0xFF, 0, 0, 0]
