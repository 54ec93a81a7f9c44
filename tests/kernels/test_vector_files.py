"""Rows of vector files, as text and as raw floats."""

from __future__ import annotations

import numpy as np

from firth.kernels import vector_files


def read_lines(text: bytes, dim: int) -> tuple[list[bytes], np.ndarray, bool]:
    blob = np.frombuffer(text, np.uint8)
    rows = np.zeros((text.count(b"\n") + 2, dim), np.float32)
    starts, ends = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    _, row, _, hard, broken = vector_files.read_lines(blob, 0, 0, 0, rows, starts, ends, np.zeros((9, 4), np.int64))
    assert hard == 0
    return [text[a:b] for a, b in zip(starts[:row], ends[:row])], rows[:row], broken


def test_lines_are_split_from_the_right_where_words_hold_blanks() -> None:
    words, rows, broken = read_lines(b"tea 1 2\n. . . 3 4\nat  home\t5  6 \r\n\n 7 8 9", 2)
    assert words == [b"tea", b". . .", b"at  home"]
    assert rows.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert broken  # " 7 8 9" has one number too many


def test_binary_rows_are_found_with_and_without_newlines() -> None:
    row = np.array([1.5, -2.0], "<f4").tobytes()
    for text in (b"a " + row + b"\nbc " + row + b"\n", b"a " + row + b"bc " + row, b"a " + row + b"bc " + row + b"d "):
        blob = np.frombuffer(text, np.uint8)
        starts, ends = np.zeros(9, np.int64), np.zeros(9, np.int64)
        count = vector_files.scan_binary(blob, 0, 2, starts, ends)
        assert [text[a:b] for a, b in zip(starts[:count], ends[:count])] == [b"a", b"bc"]
        raw = np.zeros((count, 8), np.uint8)
        vector_files.copy_binary(blob, ends[:count], raw)
        assert raw.view("<f4").tolist() == [[1.5, -2.0]] * 2


def test_rows_come_back_from_the_lines_that_were_written() -> None:
    words, rows = b"teaice", np.array([[1.5, -2.0], [0.1, 3e-9]], np.float32)
    starts, ends = np.array([0, 3]), np.array([3, 6])
    out = np.zeros(vector_files.max_line_bytes(starts, ends, 2, 1), np.uint8)
    size = vector_files.write_lines(np.frombuffer(words, np.uint8), starts, ends, rows, (10,), out)
    assert out[:size].tobytes() == b"tea 1.5 -2.0\nice 0.1 3e-09\n"
    found, numbers, broken = read_lines(out[:size].tobytes(), 2)
    assert found == [b"tea", b"ice"]
    assert numbers.tolist() == rows.tolist()
    assert not broken


def test_dictionary_entries_are_bytes_a_count_and_a_kind() -> None:
    entries = ((b"tea", 70000, 0), (b"__label__hot", 2, 1))
    text = b"".join(word + b"\0" + count.to_bytes(8, "little") + bytes([kind]) for word, count, kind in entries)
    blob = np.frombuffer(text, np.uint8)
    starts, ends, counts = (np.zeros(2, np.int64) for _ in range(3))
    kinds = np.zeros(2, np.int8)
    assert vector_files.scan_dictionary(blob, 0, starts, ends, counts, kinds) == len(text)
    assert [text[a:b] for a, b in zip(starts, ends)] == [b"tea", b"__label__hot"]
    assert counts.tolist() == [70000, 2]
    assert kinds.tolist() == [0, 1]
    assert vector_files.scan_dictionary(blob[:-1], 0, starts, ends, counts, kinds) == -1
