"""word2vec text, GloVe and .vec: golden files, words of any bytes, and broken files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from firth.errors import FormatError
from firth.formats.reading import MOST_DIM
from firth.formats.registry import load, save
from firth.formats.word2vec_text import TextLayout, detect_layout
from firth.vectors.words import WordVectors


def write_file(folder: Path, content: bytes, name: str = "file") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_a_blank_at_the_end_of_each_line_is_the_mark_of_vec() -> None:
    assert detect_layout(b"1 2\ntea 1 2 \n", True) == TextLayout("vec", 2, 1)
    assert detect_layout(b"1 2\ntea 1 2\n", True) == TextLayout("word2vec", 2, 1)
    assert detect_layout(b"tea and rain\n", True) is None


def test_words_with_odd_bytes_survive(tmp_path: Path) -> None:
    for content in (b"2 1\ncaf\x82 1\n\xff\xfe 2\n", b"caf\x82 1\n\xff\xfe 2\n"):
        vectors = load(write_file(tmp_path, content))
        assert [word.encode("utf-8", "surrogateescape") for word in vectors.vocabulary] == [b"caf\x82", b"\xff\xfe"]


def test_glove_words_may_contain_spaces(tmp_path: Path) -> None:
    vectors = load(write_file(tmp_path, b"the 1 2 3\nat name@domain.com 4 5 6\n. . . 7 8 9\n<unk> 0 0 0\n"))
    assert vectors.vocabulary.words == ("the", "at name@domain.com", ". . .", "<unk>")
    assert vectors["at name@domain.com"].tolist() == [4, 5, 6]


def test_a_first_line_of_two_numbers_is_a_word_where_every_line_has_one_number(tmp_path: Path) -> None:
    vectors = load(write_file(tmp_path, b"400000 300\n1990 2\nthe 5\n"))
    assert vectors.metadata["format"] == "glove"
    assert vectors["400000"].tolist() == [300]


def test_a_word_that_is_a_number_is_still_a_word_below_a_header(tmp_path: Path) -> None:
    vectors = load(write_file(tmp_path, b"2 2\n2008 1 2\n10 3 4\n"))
    assert vectors.vocabulary.words == ("2008", "10")


def test_windows_line_ends_tabs_and_missing_last_newline(tmp_path: Path) -> None:
    vectors = load(write_file(tmp_path, b"2 2\r\ntea\t1\t2\r\nrain 3  4"))
    assert vectors.vocabulary.words == ("tea", "rain")
    assert vectors.matrix.tolist() == [[1, 2], [3, 4]]


def test_not_a_number_and_infinity_are_values(tmp_path: Path) -> None:
    row = load(write_file(tmp_path, b"1 4\ntea nan inf -inf -nan\n"))["tea"]
    assert np.isnan(row[[0, 3]]).all()
    assert row[1:3].tolist() == [np.inf, -np.inf]


def test_a_file_of_many_blocks_is_read_in_order(check_many_blocks: Callable[[str], None]) -> None:
    check_many_blocks("word2vec")


@pytest.mark.parametrize(
    "content, problem",
    [
        (b"1000000000000 300\ntea 1 2\n", "promises 1,000,000,000,000 rows"),
        (b"2 1000000000\ntea 1 2\n", f"must have 1 to {MOST_DIM:,}"),
        (b"2 0\ntea 1 2\n", "have 0 dimensions"),
        (b"3 2\ntea 1 2\nrain 3 4\n", "promises 3 rows, but there are 2"),
        (b"1 2\ntea 1 2\nrain 3 4\n", "promises 1 rows, but there are 2"),
        (b"2 2\ntea 1 2\nrain 3\n", "file:3: expected 2 numbers after 'rain', found 1"),
        (b"2 2\ntea 1 2\nrain 3 4 5\n", "file:3: expected 2 numbers after 'rain', found 3"),
        (b"2 2\ntea 1 2\nrain 3 x4\n", "file:3: expected 2 numbers after 'rain', but 'x4' is not a number"),
        (b"tea 1 2\nrain 3\nsun 5 6\n", "file:2: expected 2 numbers after 'rain', found 1"),
        (b"tea 1 2\nrain 3 4\nat 5 6 7\n", "file:3: expected 2 numbers after 'at', found 3"),
    ],
)
def test_a_broken_file_is_refused_with_place_and_problem(tmp_path: Path, content: bytes, problem: str) -> None:
    with pytest.raises(FormatError) as caught:
        load(write_file(tmp_path, content))
    assert problem in str(caught.value)


def test_the_line_of_an_error_is_right_far_into_a_large_file(tmp_path: Path) -> None:
    good = b"".join(b"w%d 0.25 0.5 1.75\n" % i for i in range(400_000))
    with pytest.raises(FormatError, match=r"file:400002: expected 3 numbers after 'bad', found 2"):
        load(write_file(tmp_path, b"400001 3\n" + good + b"bad 1 2\n"))


@pytest.mark.parametrize("word", ["", "two words", "line\nend"])
@pytest.mark.parametrize("format", ["word2vec", "vec"])
def test_a_word_that_a_format_cannot_hold_is_named(tmp_path: Path, word: str, format: str) -> None:
    with pytest.raises(FormatError, match="the word"):
        save(WordVectors(["fine", word], np.zeros((2, 2), np.float32)), tmp_path / "file", format=format)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name, headless",
    [
        ("EN.1-10.cbow1_wind5_hs0_neg10_size300_smpl1e-05.txt", False),
        ("crime-and-punishment.vec", False),
        ("lee_fasttext.vec", False),
        ("toy-model.vec", False),
        ("test_glove.txt", True),
        ("glove.6B.50d.top20k.txt", True),
    ],
)
def test_golden_files_are_read_as_gensim_reads_them(data: Path, name: str, headless: bool) -> None:
    gensim = pytest.importorskip("gensim.models")
    path = data / "fixtures" / "vectors" / name
    theirs = gensim.KeyedVectors.load_word2vec_format(path, no_header=headless)
    ours = load(path)
    assert list(ours.vocabulary) == theirs.index_to_key
    assert ours.matrix.tobytes() == theirs.vectors.tobytes()


def test_golden_numbers_by_hand(data: Path) -> None:
    folder = data / "fixtures" / "vectors"
    assert (
        load(folder / "glove.6B.50d.top20k.txt")["the"][:3].tolist() == np.float32([0.418, 0.24968, -0.41242]).tolist()
    )
    assert load(folder / "toy-model.vec")["of"][0] == np.float32(0.074764)


def test_a_first_word_that_looks_like_a_compressed_file_is_refused(tmp_path: Path) -> None:
    vectors = WordVectors([b"(\xb5/\xfd".decode("utf-8", "surrogateescape"), "tea"], np.eye(2, dtype=np.float32))
    with pytest.raises(FormatError, match="begin like a compressed one"):
        save(vectors, tmp_path / "file", format="glove")


@pytest.mark.parametrize("numbers", [2, 4, 6])
def test_the_header_of_glove_counts_neither_its_unknown_word_nor_second_vectors(tmp_path: Path, numbers: int) -> None:
    lines = [f"{word} " + " ".join(str(i + at) for i in range(numbers)) for at, word in enumerate(["a", "b", "<unk>"])]
    (tmp_path / "vectors.txt").write_text("2 2\n" + "\n".join(lines) + "\n")
    found = load(tmp_path / "vectors.txt")
    assert (found.vocabulary.words, found.dim) == (("a", "b", "<unk>"), numbers)
    assert found["b"].tolist() == [1 + i for i in range(numbers)]
    assert len(load(tmp_path / "vectors.txt", vocabulary=["a"])) == 1
    (tmp_path / "more.txt").write_text("1 2\n" + "\n".join(lines) + "\n")
    with pytest.raises(FormatError, match="promises 1 rows, but there are 3"):
        load(tmp_path / "more.txt")
