"""The tokenizer's kernels against their own Python bodies and against plain Python."""

from __future__ import annotations

import itertools
import re

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from firth.kernels import addresses, characters, normalize, sentences, token_lines, tokenize
from firth.text.abbreviations import abbreviation_table
from firth.text.character_classes import character_classes

TEXTS = st.text(st.one_of(st.characters(), st.sampled_from(list("abZ09.,!?'\"()-/@ \n\r\t:漢。\u200c"))), max_size=40)


def code_points(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def tokens(scan, text: str, *options) -> list[tuple[int, int, int]]:
    codes = code_points(text)
    starts, ends = np.empty(len(codes), np.int64), np.empty(len(codes), np.int64)
    last = np.zeros(len(codes), np.uint8)
    count = scan(codes, *options, starts, ends, last)
    return list(zip(starts[:count].tolist(), ends[:count].tolist(), last[:count].tolist()))


@settings(max_examples=60)
@given(TEXTS, st.booleans())
def test_the_compiled_scan_does_what_its_python_body_does(text, wrapped):
    options = (character_classes(), *abbreviation_table(), wrapped)
    assert tokens(tokenize.scan, text, *options) == tokens(tokenize.scan.py_func, text, *options)


@given(TEXTS)
def test_blanks_split_as_bytes_split(text):
    found = tokens(token_lines.split_blanks, text, False)
    sentences = [[word for word in re.split("[\t\n\v\f\r ]+", line) if word] for line in text.split("\n")]
    assert [text[start:end] for start, end, _ in found] == list(itertools.chain(*sentences))
    assert sum(last for _, _, last in found) == sum(map(bool, sentences))


@given(st.text(max_size=20))
def test_tokens_are_written_as_utf_8_one_after_another(text):
    codes = code_points(text + " ")
    edges = np.arange(len(codes) + 1)
    out, lengths = np.empty(4 * len(codes), np.uint8), np.empty(len(codes), np.int32)
    size = token_lines.write_tokens(codes, edges[:-1], edges[1:], out, lengths)
    assert out[:size].tobytes() == text.encode("utf-8") + b" "
    assert lengths.tolist() == [len(letter.encode("utf-8")) for letter in text + " "]


def test_replacing_writes_none_one_or_several():
    table = np.arange(0x110000, dtype=np.uint32)
    table[ord("a")], table[ord("b")], table[ord("c")] = ord("x"), normalize.SEVERAL, normalize.SEVERAL + 1
    several = np.array([0, 2, ord("y"), ord("z")], np.uint32)
    codes, out = code_points("abcd"), np.empty(4, np.uint32)
    assert normalize.first_change(codes, table) == 0
    assert normalize.first_change(code_points("dd"), table) == 2
    assert normalize.replace(codes, table, several, out) == 4
    assert out.tobytes().decode("utf-32-le") == "xyzd"
    assert normalize.replace(codes, table, several, out[:1]) == 4


def test_every_class_that_is_white_space_is_what_python_takes_for_it():
    spaces = np.flatnonzero(character_classes() <= characters.LINE)
    assert spaces.tolist() == [code for code in range(0x110000) if chr(code).isspace()]


def test_a_table_knows_its_abbreviations_and_nothing_else():
    keys, values = abbreviation_table()
    for word, kind in (("Mr", sentences.TITLE), ("etc", sentences.ENDER), ("No", sentences.NUMBERED), ("Xy", 0)):
        assert characters.look_up(code_points(word), 0, len(word), keys, values) == kind


def test_addresses_end_before_the_punctuation_around_them():
    classes = character_classes()
    for text, size in (("http://a.b/c).", 12), ("http://a.b/(c)", 14), ("www.x.org,", 9), ("ftp://x", 7)):
        codes = code_points(text)
        assert addresses.is_web(codes, classes, 0, len(codes))
        assert addresses.web_end(codes, classes, 0, len(codes)) == size
    for text, size in (("a@b.c.", 5), ("a@b", 0), ("a.b-c+d@e-f.org", 15), ("@b.c", 0)):
        codes = code_points(text)
        assert addresses.mail_end(codes, classes, 0, len(codes)) == size
