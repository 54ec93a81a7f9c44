"""word2vec text and binary, GloVe, .vec: golden files, round trips, parts, and files that lie."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from firth.errors import FirthError, FormatError
from firth.formats.reading import MOST_DIM
from firth.formats.registry import detect, load, save
from firth.vectors.words import WordVectors

SMALL = WordVectors(["tea", "rain", "سلام"], np.array([[0.1, -2.0], [3e-8, 4.0], [np.pi, 1e20]], np.float32))
FORMATS = ["word2vec", "word2vec-binary", "glove", "vec"]


def equal(a: WordVectors, b: WordVectors) -> bool:
    return a.vocabulary.words == b.vocabulary.words and a.matrix.tobytes() == b.matrix.tobytes()


def written(folder: Path, content: bytes, name: str = "file") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def binary(header: bytes, *rows: tuple[bytes, list[float]], end: bytes = b"\n") -> bytes:
    return header + b"\n" + b"".join(word + b" " + np.array(row, "<f4").tobytes() + end for word, row in rows)


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_written_comes_back_bit_for_bit_and_is_recognized(tmp_path: Path, format: str) -> None:
    save(SMALL, tmp_path / "file", format=format)
    assert detect(tmp_path / "file") == format
    assert equal(load(tmp_path / "file"), SMALL)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".zst"])
def test_a_packed_file_opens_like_the_file_in_it(tmp_path: Path, format: str, ending: str) -> None:
    path = tmp_path / f"file{ending}"
    save(SMALL, path, format=format)
    assert detect(path) == format
    assert equal(load(path), SMALL)


words = st.lists(st.binary(min_size=1, max_size=6).map(lambda raw: raw.decode("utf-8", "surrogateescape")), max_size=6)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words, st.data(), st.sampled_from(FORMATS))
def test_a_round_trip_keeps_every_bit_or_names_the_word_that_cannot_be_held(
    tmp_path: Path, words: list[str], data: st.DataObject, format: str
) -> None:
    words = list(dict.fromkeys(words)) or ["one"]
    numbers = st.floats(width=32, allow_nan=False)
    vectors = WordVectors(words, data.draw(arrays.arrays(np.float32, (len(words), 3), elements=numbers)))
    try:
        save(vectors, tmp_path / "file", format=format)
    except FormatError as error:
        named = [word for word in words if repr(word) in str(error)]
    else:
        named = []
    assert named or equal(load(tmp_path / "file", format=format), vectors)


def test_words_with_odd_bytes_survive(tmp_path: Path) -> None:
    for content in (
        b"2 1\ncaf\x82 1\n\xff\xfe 2\n",
        b"caf\x82 1\n\xff\xfe 2\n",
        binary(b"2 1", (b"caf\x82", [1]), (b"\xff\xfe", [2])),
    ):
        vectors = load(written(tmp_path, content))
        assert [word.encode("utf-8", "surrogateescape") for word in vectors.vocabulary] == [b"caf\x82", b"\xff\xfe"]


def test_glove_words_may_hold_blanks(tmp_path: Path) -> None:
    vectors = load(written(tmp_path, b"the 1 2 3\nat name@domain.com 4 5 6\n. . . 7 8 9\n<unk> 0 0 0\n"))
    assert vectors.vocabulary.words == ("the", "at name@domain.com", ". . .", "<unk>")
    assert vectors["at name@domain.com"].tolist() == [4, 5, 6]


def test_a_first_line_of_two_numbers_is_a_word_where_every_line_has_one_number(tmp_path: Path) -> None:
    vectors = load(written(tmp_path, b"400000 300\n1990 2\nthe 5\n"))
    assert vectors.metadata["format"] == "glove"
    assert vectors["400000"].tolist() == [300]


def test_a_word_that_is_a_number_is_still_a_word_below_a_header(tmp_path: Path) -> None:
    vectors = load(written(tmp_path, b"2 2\n2008 1 2\n10 3 4\n"))
    assert vectors.vocabulary.words == ("2008", "10")


@pytest.mark.parametrize("end", [b"\n", b""])
def test_binary_rows_may_end_in_a_newline_or_not(tmp_path: Path, end: bytes) -> None:
    vectors = load(written(tmp_path, binary(b"2 2", (b"tea", [1, 2]), (b"rain", [3, 4]), end=end)))
    assert vectors.vocabulary.words == ("tea", "rain")
    assert vectors.matrix.tolist() == [[1, 2], [3, 4]]


def test_windows_line_ends_tabs_and_missing_last_newline(tmp_path: Path) -> None:
    vectors = load(written(tmp_path, b"2 2\r\ntea\t1\t2\r\nrain 3  4"))
    assert vectors.vocabulary.words == ("tea", "rain")
    assert vectors.matrix.tolist() == [[1, 2], [3, 4]]


def test_not_a_number_and_infinity_are_values(tmp_path: Path) -> None:
    row = load(written(tmp_path, b"1 4\ntea nan inf -inf -nan\n"))["tea"]
    assert np.isnan(row[[0, 3]]).all()
    assert row[1:3].tolist() == [np.inf, -np.inf]


def test_of_a_repeated_word_the_first_stays_and_the_others_are_counted(tmp_path: Path) -> None:
    vectors = load(written(tmp_path, b"4 1\ntea 1\nrain 2\ntea 3\ntea 4\n"))
    assert vectors.vocabulary.words == ("tea", "rain")
    assert vectors.matrix.tolist() == [[1], [2]]
    assert vectors.metadata["duplicates"] == 2


@pytest.mark.parametrize("format", FORMATS)
def test_a_part_is_the_first_rows_or_the_wanted_words(tmp_path: Path, format: str) -> None:
    rng = np.random.default_rng(0)
    whole = WordVectors([f"w{i}" for i in range(5000)], rng.standard_normal((5000, 30), np.float32))
    save(whole, tmp_path / "file", format=format)
    first = load(tmp_path / "file", limit=4321)
    assert first.vocabulary.words == whole.vocabulary.words[:4321]
    assert np.array_equal(first.matrix, whole.matrix[:4321])
    some = load(tmp_path / "file", vocabulary=["w4999", "w7", "absent"])
    assert some.vocabulary.words == ("w7", "w4999")
    assert np.array_equal(some.matrix, whole.matrix[[7, 4999]])
    (tmp_path / "words").write_text("w7\nw4999\n")
    assert load(tmp_path / "file", vocabulary=tmp_path / "words", limit=100).vocabulary.words == ("w7",)


def test_a_file_of_many_blocks_is_read_in_order(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    whole = WordVectors([f"w{i}" for i in range(20000)], rng.standard_normal((20000, 60), np.float32))
    for format in ("word2vec", "word2vec-binary"):
        save(whole, tmp_path / format, format=format)
        assert equal(load(tmp_path / format), whole)


@pytest.mark.parametrize(
    "content, problem",
    [
        (b"1000000000000 300\ntea 1 2\n", "promises 1,000,000,000,000 rows"),
        (b"2 1000000000\ntea 1 2\n", f"1 to {MOST_DIM:,} are possible"),
        (b"2 0\ntea 1 2\n", "0 numbers"),
        (b"3 2\ntea 1 2\nrain 3 4\n", "promises 3 rows, but there are 2"),
        (b"1 2\ntea 1 2\nrain 3 4\n", "promises 1 rows, but there are 2"),
        (b"2 2\ntea 1 2\nrain 3\n", "file:3: expected 2 numbers after 'rain', found 1"),
        (b"2 2\ntea 1 2\nrain 3 4 5\n", "file:3: expected 2 numbers after 'rain', found 3"),
        (b"2 2\ntea 1 2\nrain 3 x4\n", "file:3: expected 2 numbers after 'rain', but 'x4' is not a number"),
        (b"tea 1 2\nrain 3\nsun 5 6\n", "file:2: expected 2 numbers after 'rain', found 1"),
        (b"tea 1 2\nrain 3 4\nat 5 6 7\n", "file:3: expected 2 numbers after 'at', found 3"),
        (b"", "the file is empty"),
        (b"hello world\nthis is text\n", "it begins 'hello world'"),
        (bytes(range(256)), "binary data that we do not know"),
        (binary(b"1000000000000 2", (b"tea", [1, 2])), "promises 1,000,000,000,000 rows"),
        (binary(b"3 2", (b"tea", [1, 2]), (b"rain", [3, 4])) + b"1234567", "ends inside row 3"),
        (binary(b"1 2", (b"tea", [1, 2]), (b"rain", [3, 4])), "more follows after the 1 rows"),
        (binary(b"2 2", (b"tea", [1, 2]), (b"rain", [3, 4]))[:-3], "byte 28: the file ends inside row 2"),
    ],
)
def test_a_file_that_lies_is_refused_with_place_and_problem(tmp_path: Path, content: bytes, problem: str) -> None:
    with pytest.raises(FormatError) as caught:
        load(written(tmp_path, content))
    assert problem in str(caught.value)


def test_the_line_of_an_error_is_right_far_into_a_large_file(tmp_path: Path) -> None:
    good = b"".join(b"w%d 0.25 0.5 1.75\n" % i for i in range(400_000))
    with pytest.raises(FormatError, match=r"file:400002: expected 3 numbers after 'bad', found 2"):
        load(written(tmp_path, b"400001 3\n" + good + b"bad 1 2\n"))


def test_packed_files_that_are_broken_or_swell_without_end_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = b"2 2\ntea 1 2\nrain 3 4\n" + b" " * 10000
    for pack in (gzip.compress, bz2.compress, lzma.compress):
        with pytest.raises(FormatError):
            load(written(tmp_path, pack(text)[:-12]))
    monkeypatch.setattr("firth.formats.reading.TRUSTED_SIZE", 1 << 16)
    with pytest.raises(FormatError, match="unpack to more than 100 times"):
        load(written(tmp_path, gzip.compress(b"".join(b"w%d 0 0 0 0 0 0 0\n" % (i % 10) for i in range(400_000)))))


@pytest.mark.parametrize("word", ["", "two words", "line\nend"])
@pytest.mark.parametrize("format", ["word2vec", "word2vec-binary", "vec"])
def test_a_word_that_a_format_cannot_hold_is_named(tmp_path: Path, word: str, format: str) -> None:
    with pytest.raises(FormatError, match="the word"):
        save(WordVectors(["fine", word], np.zeros((2, 2), np.float32)), tmp_path / "file", format=format)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("format", FORMATS)
def test_a_damaged_file_loads_or_raises_our_error(tmp_path: Path, format: str) -> None:
    rng = np.random.default_rng(3)
    save(SMALL, tmp_path / "whole", format=format)
    whole = (tmp_path / "whole").read_bytes()
    for i in range(120):
        damaged = bytearray(whole[: rng.integers(len(whole))] if i % 3 == 0 else whole)
        for _ in range(rng.integers(1, 4)):
            if damaged:
                damaged[rng.integers(len(damaged))] = rng.integers(256)
        path = written(tmp_path, bytes(damaged))
        with contextlib.suppress(FirthError):
            assert load(path).matrix.shape[1] >= 1


@pytest.mark.parametrize(
    "name, headless",
    [
        ("EN.1-10.cbow1_wind5_hs0_neg10_size300_smpl1e-05.txt", False),
        ("crime-and-punishment.vec", False),
        ("lee_fasttext.vec", False),
        ("toy-model.vec", False),
        ("test_glove.txt", True),
        ("glove.6B.50d.top20k.txt", True),
        ("euclidean_vectors.bin", False),
    ],
)
def test_golden_files_are_read_as_gensim_reads_them(data: Path, name: str, headless: bool) -> None:
    gensim = pytest.importorskip("gensim.models")
    path = data / "fixtures" / "vectors" / name
    theirs = gensim.KeyedVectors.load_word2vec_format(path, binary=name.endswith(".bin"), no_header=headless)
    ours = load(path)
    assert list(ours.vocabulary) == theirs.index_to_key
    assert ours.matrix.tobytes() == theirs.vectors.tobytes()


def test_golden_numbers_by_hand(data: Path) -> None:
    folder = data / "fixtures" / "vectors"
    assert (
        load(folder / "glove.6B.50d.top20k.txt")["the"][:3].tolist() == np.float32([0.418, 0.24968, -0.41242]).tolist()
    )
    assert load(folder / "toy-model.vec")["of"][0] == np.float32(0.074764)
    assert load(folder / "euclidean_vectors.bin").matrix.shape == (2747, 10)
