"""Chunks joined are the file; tables of several workers merge into one vocabulary."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firth.errors import FormatError
from firth.kernels import text_to_ids as kernel
from firth.text import chunks
from firth.text.chunks import AT_BLANKS, AT_LINES, AT_PARAGRAPHS, PADDING, Cuts, Tables, WordTable


@pytest.mark.parametrize("cuts", [AT_LINES, AT_BLANKS, AT_PARAGRAPHS])
@pytest.mark.parametrize("size", [1, 7, 64, 4096])
def test_chunks_joined_are_the_file_and_end_at_a_cut(tmp_path: Path, cuts: Cuts, size: int) -> None:
    text = ("one two\nthree\n\n" + "a long line " * 20 + "\r\n\r\n").encode() * 3 + b"the end"
    (tmp_path / "a.txt").write_bytes(text)
    parts = list(chunks.chunks(tmp_path / "a.txt", cuts, size=size, count_lines=True))
    assert b"".join(part.text for part in parts) == text
    assert [part.is_last for part in parts] == [False] * (len(parts) - 1) + [True]
    for part in parts:
        assert part.line == text[: part.offset].count(b"\n")
        assert part.is_last or part.text.endswith(tuple(mark for marks in cuts for mark in marks))


def test_a_byte_order_mark_becomes_blanks(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbftea")
    [chunk] = chunks.chunks(tmp_path / "a.txt")
    assert (chunk.text, chunk.start, bytes(chunk.data[:6])) == (b"tea", 3, b"   tea")


def test_a_line_without_an_end_in_sight_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "LONGEST_LINE", 1 << 20)
    (tmp_path / "a.txt").write_bytes(b"ok\n" + b"x" * (11 << 20))
    with pytest.raises(FormatError, match=r"a\.txt: byte 3: 1 MiB without a place to cut"):
        list(chunks.chunks(tmp_path / "a.txt"))


def scan(table: WordTable, text: str) -> list[int]:
    return table.scan(text.encode() + PADDING, len(text.encode()))[0].tolist()


@given(
    st.lists(st.lists(st.sampled_from(["tea", "Tea", "rain", "RAIN", "sun"]), max_size=9), max_size=4), st.booleans()
)
def test_merged_tables_are_the_table_of_the_whole_text(texts: list[list[str]], folded: bool) -> None:
    tables = Tables()
    tables.all = [WordTable(number) for number in range(len(texts))]
    ids = [scan(table, " ".join(words)) for table, words in zip(tables.all, texts)]
    vocabulary, ranks = tables.merge(str.lower if folded else None)
    spell = str.lower if folded else str
    for table, words, found in zip(tables.all, texts, ids):
        assert [vocabulary[int(rank)] for rank in ranks[table.number][found]] == [spell(word) for word in words]
    everything = [spell(word) for words in texts for word in words]
    assert dict(vocabulary.most_common(9)) == {word: everything.count(word) for word in everything}


def test_chunks_are_padded_as_the_kernel_needs() -> None:
    assert len(PADDING) == kernel.PADDING
