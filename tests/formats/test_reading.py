"""Blocks, heads and parts of files, packed or not."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from firth.errors import FormatError
from firth.formats.reading import MOST_DIM, check_shape, read_head, read_whole
from firth.formats.registry import load, save
from firth.vectors.words import WordVectors

FORMATS = ["word2vec", "word2vec-binary", "glove", "vec"]


def write_file(folder: Path, content: bytes, name: str = "file") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_the_head_of_a_file_has_whole_lines_and_says_whether_it_is_all(tmp_path: Path) -> None:
    short, long = write_file(tmp_path, b"tea 1\n", "short"), write_file(tmp_path, b"tea 1\n" * 50_000, "long")
    assert read_head(short) == (b"tea 1\n", True)
    head, whole = read_head(long)
    assert head.count(b"\n") >= 17
    assert not whole


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_whole_file_is_mapped_or_unpacked_and_read_only(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    content = np.random.default_rng(0).integers(0, 16, 10_000_000, np.uint8).tobytes()  # more than one block
    array = read_whole(write_file(tmp_path, pack(content)))
    assert array.tobytes() == content
    assert not array.flags.writeable


def test_a_header_is_checked_against_the_bytes_that_follow_it() -> None:
    check_shape("file", 3, 2, 8, 24)
    check_shape("file", 10**12, 2, 8, None)  # a packed file: its size is not known
    for rows, dim, room in ((3, 2, 23), (-1, 2, None), (3, 0, None), (3, MOST_DIM + 1, None)):
        with pytest.raises(FormatError):
            check_shape("file", rows, dim, 8, room)


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


def test_packed_files_that_are_broken_or_expand_without_end_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = b"2 2\ntea 1 2\nrain 3 4\n" + b" " * 10000
    for pack in (gzip.compress, bz2.compress, lzma.compress):
        with pytest.raises(FormatError):
            load(write_file(tmp_path, pack(text)[:-12]))
    monkeypatch.setattr("firth.files.TRUSTED_SIZE", 1 << 16)
    with pytest.raises(FormatError, match="decompress to more than 100 times"):
        load(write_file(tmp_path, gzip.compress(b"".join(b"w%d 0 0 0 0 0 0 0\n" % (i % 10) for i in range(400_000)))))
