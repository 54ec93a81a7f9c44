"""Files of columns."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from firth.errors import FormatError
from firth.tasks.columns import ColumnRow, find_word_column, parse_brackets, read_sentences, select_field, split_fields
from firth.tasks.tags import Span


def words(path: Path) -> list[list[str]]:
    return [[row.fields[0] for row in sentence] for sentence in read_sentences(path)]


def column(*fields: str) -> list[ColumnRow]:
    return [ColumnRow(number, (text,)) for number, text in enumerate(fields, 1)]


def test_a_line_with_only_a_tab_ends_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("one\tO\n\t\ntwo\tO\n\n\n\nthree\tO")
    assert words(tmp_path / "f") == [["one"], ["two"], ["three"]]


def test_a_hash_is_a_word_and_a_comment_is_not(tmp_path: Path) -> None:
    text = "# sent_id = 7\n# text = # 1\n#\tO\n#tag\tO\n1\tO\n#begin document (a); part 000\nnext\tO\n#end document\n"
    (tmp_path / "f").write_text(text)
    assert words(tmp_path / "f") == [["#", "#tag", "1"], ["next"]]


def test_packed_files_other_line_ends_and_a_byte_order_mark_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "f.gz").write_bytes(gzip.compress("\ufeffsalt O\r\n\r\n-DOCSTART- -X- O\r\nsea O\r\n".encode()))
    assert [[row.fields for row in sentence] for sentence in read_sentences(tmp_path / "f.gz")] == [
        [("salt", "O")],
        [("sea", "O")],
    ]


def test_a_word_may_hold_rare_blanks_and_with_tabs_common_ones() -> None:
    assert split_fields("New York\tB-LOC") == ("New York", "B-LOC")
    assert split_fields("10\u00a0000 O") == ("10\u00a0000", "O")


def test_a_line_of_another_width_is_named(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("one NN O\ntwo O\n")
    with pytest.raises(FormatError, match=r"f:2: expected 3 columns as in line 1, found 2\. Separate sentences"):
        list(read_sentences(tmp_path / "f"))


def test_bytes_that_are_no_utf8_are_named(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"one O\n\xff O\n")
    with pytest.raises(FormatError, match="f:2: byte 0xff at column 1 is not UTF-8"):
        list(read_sentences(tmp_path / "f"))


def test_columns_count_from_either_end_and_a_missing_one_is_named() -> None:
    row = ColumnRow(3, ("a", "b"))
    assert [select_field("f", row, place) for place in (0, 1, -1, -2)] == ["a", "b", "b", "a"]
    with pytest.raises(FormatError, match=r"f:3: there is no column 2: the line has 2"):
        select_field("f", row, 2)


def test_brackets_tell_spans_and_the_outermost_where_they_nest() -> None:
    assert parse_brackets("f", column("(A0*", "(A1*)", "*)", "(V*)", "(A2(A3*))"), 0) == [
        Span("A0", 0, 3),
        Span("V", 3, 4),
        Span("A2", 4, 5),
    ]
    assert parse_brackets("f", column("(A0*A0)", "(A1*", "*A1)"), 0) == [Span("A0", 0, 1), Span("A1", 1, 3)]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (("(A0*", "*"), r"f:2: column 0 opens \(A0\* in line 1 and does not close it"),
        (("*", "*)"), r"f:2: column 0 closes a bracket that is not open"),
        (("(A0*)", "O"), r"f:2: column 0 has 'O'"),
    ],
)
def test_broken_brackets_are_named(fields: tuple[str, ...], problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        parse_brackets("f", column(*fields), 0)


def test_words_stand_after_their_numbers_or_first() -> None:
    assert find_word_column([ColumnRow(1, ("d", "0", "0", "The")), ColumnRow(2, ("d", "0", "1", "cat"))]) == 3
    assert find_word_column([ColumnRow(1, ("The", "DT", "*", "-")), ColumnRow(2, ("cat", "NN", "*", "-"))]) == 0
    assert find_word_column([ColumnRow(1, ("d", "0", "0", "Go"))]) == 3


def test_a_word_that_looks_like_a_comment_is_not_lost(tmp_path: Path) -> None:
    (tmp_path / "f").write_text(
        "# id = 1\nso O\n#a=b O\ngood O\n\n# text = x\n#c=d O\nis O\n\n#e=f O\n\n#newdoc O\nx O\n"
    )
    assert words(tmp_path / "f") == [["so", "#a=b", "good"], ["#c=d", "is"], ["#e=f"], ["#newdoc", "x"]]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("#a=b O\n\nso O\n", [["#a=b"], ["so"]]),
        ("#a=b O\n\n#c=d O\n\nso O\n", [["#a=b"], ["#c=d"], ["so"]]),
        ("#encoding=utf-8\n\n#a=b\tO\n\nso\tO\n", [["#a=b"], ["so"]]),
        ("#a=b O\n", [["#a=b"]]),
        ("#a=b O\n\n#c=d O\n", [["#a=b"], ["#c=d"]]),
        ("#a=b\n\n#newdoc\n", []),
        ("#a=b\n\nso JJ O\n", [["so"]]),
    ],
)
def test_a_first_sentence_that_looks_like_a_comment_is_not_lost(
    tmp_path: Path, text: str, sentences: list[list[str]]
) -> None:
    (tmp_path / "f").write_text(text)
    assert words(tmp_path / "f") == sentences


def test_lines_before_the_first_sentence_that_may_be_comments_have_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("firth.tasks.columns.LONGEST_SENTENCE", 3)
    (tmp_path / "f").write_text("#a=b O\n\n" * 4)
    with pytest.raises(FormatError, match="f:7: more than 3 lines before a sentence may be comments or words"):
        words(tmp_path / "f")


@pytest.mark.parametrize("comment", ["#id=1", "#newpar", "# a = b", "#text = so good", "# newdoc id = a"])
@pytest.mark.parametrize("separator", ["\t", " "])
def test_a_comment_is_no_word(tmp_path: Path, comment: str, separator: str) -> None:
    row = separator.join(["so", "JJ", "*", "O"])
    (tmp_path / "f").write_text(f"{comment}\n{row}\n\n{comment}\n{row}\n{row}\n\n{comment}\n")
    assert words(tmp_path / "f") == [["so"], ["so", "so"]]


def test_a_comment_with_other_columns_still_ends_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("so O\n# sent_id = 2\ngood O\n")
    assert words(tmp_path / "f") == [["so"], ["good"]]


def test_a_sentence_without_end_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firth.tasks.columns.LONGEST_SENTENCE", 3)
    (tmp_path / "f").write_text("a O\n" * 4)
    with pytest.raises(FormatError, match="f:4: the sentence from line 1 has more than 3 words"):
        words(tmp_path / "f")
