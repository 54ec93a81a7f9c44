"""Archives that are damaged or forged: one error of ours, whatever Python's readers raise for them."""

from __future__ import annotations

import errno
import io
import lzma
import struct
import tarfile
import tracemalloc
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from firth.archives import DAMAGED, open_tar, refuse_damage
from firth.datasets.sources import list_files
from firth.errors import FormatError, OptionError
from firth.formats.elmo_zip import unpack, zip_contains_elmo
from firth.hub.pull import extract_member

WORDS = b"tea rain sun\n" * 400


def write_tar(path: Path, mode: str = "w") -> Path:
    with tarfile.open(path, mode) as archive:
        for name in ("one.txt", "two.txt"):
            member = tarfile.TarInfo(name)
            member.size = len(WORDS)
            archive.addfile(member, io.BytesIO(WORDS))
        link = tarfile.TarInfo("three.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
        archive.addfile(link)
    return path


@pytest.mark.parametrize("packing", ["", "gz", "bz2", "xz"])
def test_files_of_an_archive_come_one_after_the_other_without_links(tmp_path: Path, packing: str) -> None:
    path = write_tar(tmp_path / "archive.tar", f"w:{packing}")
    with open_tar(path) as files:
        assert [(member.name, file.read()) for member, file in files] == [("one.txt", WORDS), ("two.txt", WORDS)]


@pytest.mark.parametrize("size", [b"\xff" * 12, b"\x80" + b"\xff" * 11, b"77777777777\0", b"-1\0"])
def test_a_size_that_cannot_be_is_refused_in_time(tmp_path: Path, size: bytes) -> None:
    data = bytearray(write_tar(tmp_path / "archive.tar").read_bytes())
    data[124:136] = size.ljust(12, b"\0")
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    (tmp_path / "archive.tar").write_bytes(data)
    with pytest.raises(FormatError, match="archive"), open_tar(tmp_path / "archive.tar") as files:
        list(files)


@pytest.mark.parametrize("packing", ["gz", "bz2", "xz"])
def test_a_packed_bomb_in_front_of_a_file_is_refused(tmp_path: Path, packing: str) -> None:
    with tarfile.open(tmp_path / "bomb.tar", f"w:{packing}") as archive:
        member = tarfile.TarInfo("blanks.txt")
        member.size = 8 << 20
        archive.addfile(member, io.BytesIO(bytes(member.size)))
    with pytest.raises(FormatError), open_tar(tmp_path / "bomb.tar") as files:
        list(files)


def write_zip(path: Path, method: int, name: str = "words.txt") -> bytearray:
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr(name, WORDS)
    return bytearray(path.read_bytes())


METHODS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]


@pytest.mark.parametrize("method", METHODS)
def test_a_zip_archive_with_any_changed_byte_is_read_or_refused(tmp_path: Path, method: int) -> None:
    path = tmp_path / "words.zip"
    whole = write_zip(path, method)
    refused = 0
    for place in range(0, len(whole), 1 + len(whole) // 150):
        for value in (0, 255):
            data = bytearray(whole)
            data[place] = value
            path.write_bytes(data)
            zip_contains_elmo(path)
            try:
                extract_member(path, "words.txt", tmp_path / "out")
                assert len((tmp_path / "out").read_bytes()) == len(WORDS)
                list_files(path, tmp_path / f"members-{place}-{value}")
            except FormatError:
                refused += 1
    assert refused


def test_a_damaged_member_packed_with_lzma_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.zip"
    data = write_zip(path, zipfile.ZIP_LZMA, "options.json")
    start = data.index(b"options.json") + len("options.json") + 9  # behind its header
    data[start : start + 40] = b"\xff" * 40
    path.write_bytes(data)
    with pytest.raises(FormatError, match="cannot be read"):
        extract_member(path, "options.json", tmp_path / "out")
    with pytest.raises(FormatError, match="cannot be read"), unpack(path):
        pass


def test_a_zip_archive_cannot_ask_for_gibibytes(tmp_path: Path) -> None:
    path = tmp_path / "words.zip"
    data = write_zip(path, zipfile.ZIP_LZMA)
    dictionary = data.index(b"words.txt") + len("words.txt") + 5
    data[dictionary : dictionary + 4] = b"\xff" * 4
    path.write_bytes(data)
    with measured() as peak, pytest.raises(FormatError, match=r"words\.txt needs 4,294,967,295 bytes to be unpacked"):
        extract_member(path, "words.txt", tmp_path / "out")
    with measured() as other, pytest.raises(FormatError, match=r"Unpack it yourself"):
        list_files(path, tmp_path / "members")
    assert max(*peak, *other) < 16 << 20


def test_a_text_that_looks_like_old_lzma_data_is_no_archive(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_bytes(b"v" + struct.pack("<IQ", 1 << 31, 127) + b"\0 tea,rain,7\n" * 99)
    with measured() as peak:
        assert list_files(path, tmp_path / "members") == [path]
    assert max(peak) < 16 << 20


@contextmanager
def measured() -> Iterator[list[int]]:
    """The most bytes that Python and its C code have taken meanwhile, in a list."""
    peak: list[int] = []
    tracemalloc.start()
    try:
        yield peak
    finally:
        peak.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()


def test_a_name_that_is_no_text_is_refused_and_no_model(tmp_path: Path) -> None:
    path = tmp_path / "model.zip"
    data = write_zip(path, zipfile.ZIP_STORED, "wördchen.txt")
    path.write_bytes(data.replace("ö".encode(), b"\xff\xff"))
    assert not zip_contains_elmo(path)
    with pytest.raises(FormatError, match="cannot be read"):
        extract_member(path, "words.txt", tmp_path / "out")


@pytest.mark.parametrize("error", [kind for kind in DAMAGED if kind is not OSError] + [lzma.LZMAError])
def test_what_the_readers_raise_becomes_one_error(error: type[Exception]) -> None:
    with (
        pytest.raises(FormatError, match=r"a\.zip: the archive cannot be read \(why\)\. Ask"),
        refuse_damage("a.zip", cure="Ask"),
    ):
        raise error("why")


def test_our_own_errors_and_a_full_disk_stay_what_they_are() -> None:
    with pytest.raises(OptionError, match="no room"), refuse_damage("a.zip"):
        raise OptionError("no room")
    with pytest.raises(OSError, match="full") as full, refuse_damage("a.zip"):
        raise OSError(errno.ENOSPC, "full")
    assert not isinstance(full.value, FormatError)
    with pytest.raises(FormatError), refuse_damage("a.zip"):
        raise OSError(errno.EINVAL, "a place before the beginning")
