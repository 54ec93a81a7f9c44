"""Columns of tables."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest

from firth.errors import FormatError, OptionError
from firth.text.tables import read_column, read_names


def write(folder: Path, text: str, name: str = "table.csv") -> Path:
    file = folder / name
    file.write_bytes(text.encode("utf-8"))
    return file


@pytest.mark.parametrize(
    "text",
    [
        'id,text\n1,"tea, ""black"""\n2,milk\n',
        'id;text\n1;"tea, ""black"""\n2;milk\n',
        'id|text\r\n1|"tea, ""black"""\r\n\r\n2|milk',
        '\ufeffid\ttext\n1\ttea, "black"\n2\tmilk\n',
    ],
)
def test_the_first_line_decides_on_the_delimiter(tmp_path: Path, text: str) -> None:
    assert [cell for _, cell in read_column(write(tmp_path, text), "text")] == ['tea, "black"', "milk"]


def test_a_cell_may_have_several_lines_and_the_number_is_that_of_its_first(tmp_path: Path) -> None:
    file = write(tmp_path, 'text,id\n"one\ntwo\n",1\nthree,2\n')
    assert list(read_column(file, "text")) == [(2, "one\ntwo\n"), (5, "three")]


def test_between_tabs_a_quote_is_a_character(tmp_path: Path) -> None:
    file = write(tmp_path, 'a\t"Tea\nb\tmilk"\n', "table.tsv")
    assert [cell for _, cell in read_column(file, 2)] == ['"Tea', 'milk"']


def test_a_number_counts_columns_from_one_and_takes_the_first_line_too(tmp_path: Path) -> None:
    file = write(tmp_path, "1,tea\n2,milk\n")
    assert list(read_column(file, 2)) == list(read_column(file, "2")) == [(1, "tea"), (2, "milk")]
    for column in (0, 3):
        with pytest.raises(OptionError, match="has 2 columns"):
            list(read_column(file, column))


def test_a_name_must_be_that_of_one_column(tmp_path: Path) -> None:
    file = write(tmp_path, "text,text,label\n")
    with pytest.raises(OptionError, match="two columns are called 'text'"):
        list(read_column(file, "text"))
    with pytest.raises(OptionError, match=r"no column is called 'lable'\. Did you mean 'label'"):
        list(read_column(file, "lable"))


@pytest.mark.parametrize(
    "text,message",
    [
        ('a,b\n1,2\n1,"tea\nmilk\n', r"table\.csv:3: the record that starts here is not CSV: .*Close its quotes"),
        ('a,b\n1,"tea"milk\n', r"table\.csv:2: the record that starts here is not CSV"),
        ("a,b\n1,2\n1,tea, milk\n", r"table\.csv:3: the record has 3 columns, the first one has 2\. Quote"),
        ("a,b\n1\n", r"table\.csv:2: the record has 1 columns"),
        ("", r"table\.csv: is an empty table"),
    ],
)
def test_a_malformed_table_is_an_error_with_place_and_cure(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        list(read_column(write(tmp_path, text), 1))


def test_a_cell_beyond_the_limit_of_the_reader_is_an_error_with_a_way_out(tmp_path: Path) -> None:
    file = write(tmp_path, "a,b\n1," + "x" * (csv.field_size_limit() + 1) + "\n")
    with pytest.raises(FormatError, match=r":2: a cell has more than [\d,]+ characters\. Write the texts as JSON"):
        list(read_column(file, "b"))


def test_bytes_that_are_not_utf_8_are_an_error_or_replaced(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_bytes(b"a,b\n1,caf\xe9\n")
    with pytest.raises(FormatError, match=r"table\.csv:2: byte 0xe9"):
        list(read_column(file, 2))
    assert list(read_column(file, "b", errors="replace")) == [(2, "caf\ufffd")]


def test_compressed_tables_are_read(tmp_path: Path) -> None:
    file = tmp_path / "table.csv.gz"
    file.write_bytes(gzip.compress(b"text\ntea\n"))
    assert list(read_column(file, "text")) == [(2, "tea")]
    assert read_names(file) == ["text"]
