"""word2vec's binary files: golden files, rows with and without a newline, and broken files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from firth.errors import FormatError
from firth.formats.registry import load, save
from firth.vectors.words import WordVectors


def write_file(folder: Path, content: bytes, name: str = "file") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def build_binary(header: bytes, *rows: tuple[bytes, list[float]], end: bytes = b"\n") -> bytes:
    return header + b"\n" + b"".join(word + b" " + np.array(row, "<f4").tobytes() + end for word, row in rows)


def test_words_with_odd_bytes_survive(tmp_path: Path) -> None:
    vectors = load(write_file(tmp_path, build_binary(b"2 1", (b"caf\x82", [1]), (b"\xff\xfe", [2]))))
    assert [word.encode("utf-8", "surrogateescape") for word in vectors.vocabulary] == [b"caf\x82", b"\xff\xfe"]


@pytest.mark.parametrize("end", [b"\n", b""])
def test_binary_rows_may_end_in_a_newline_or_not(tmp_path: Path, end: bytes) -> None:
    vectors = load(write_file(tmp_path, build_binary(b"2 2", (b"tea", [1, 2]), (b"rain", [3, 4]), end=end)))
    assert vectors.vocabulary.words == ("tea", "rain")
    assert vectors.matrix.tolist() == [[1, 2], [3, 4]]


def test_a_file_of_many_blocks_is_read_in_order(check_many_blocks: Callable[[str], None]) -> None:
    check_many_blocks("word2vec-binary")


@pytest.mark.parametrize(
    "content, problem",
    [
        (build_binary(b"1000000000000 2", (b"tea", [1, 2])), "promises 1,000,000,000,000 rows"),
        (build_binary(b"3 2", (b"tea", [1, 2]), (b"rain", [3, 4])) + b"1234567", "ends inside row 3"),
        (build_binary(b"1 2", (b"tea", [1, 2]), (b"rain", [3, 4])), "more follows after the 1 rows"),
        (build_binary(b"2 2", (b"tea", [1, 2]), (b"rain", [3, 4]))[:-3], "byte 28: the file ends inside row 2"),
    ],
)
def test_a_broken_file_is_refused_with_place_and_problem(tmp_path: Path, content: bytes, problem: str) -> None:
    with pytest.raises(FormatError) as caught:
        load(write_file(tmp_path, content))
    assert problem in str(caught.value)


@pytest.mark.parametrize("word", ["", "two words", "line\nend"])
def test_a_word_that_the_format_cannot_hold_is_named(tmp_path: Path, word: str) -> None:
    with pytest.raises(FormatError, match="the word"):
        save(WordVectors(["fine", word], np.zeros((2, 2), np.float32)), tmp_path / "file", format="word2vec-binary")
    assert list(tmp_path.iterdir()) == []


def test_a_golden_file_is_read_as_gensim_reads_it(data: Path) -> None:
    gensim = pytest.importorskip("gensim.models")
    path = data / "fixtures" / "vectors" / "euclidean_vectors.bin"
    theirs, ours = gensim.KeyedVectors.load_word2vec_format(path, binary=True), load(path)
    assert ours.matrix.shape == (2747, 10)
    assert list(ours.vocabulary) == theirs.index_to_key
    assert ours.matrix.tobytes() == theirs.vectors.tobytes()
