"""Folders and archives of documents, and their splits."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from firth.errors import FormatError, OptionError
from firth.tasks.coref.data import read_documents

DOCUMENT = "# begin document \n0\tword\t_\n# end document\n"


def archive(folder: Path, count: int, splits: str | None = None) -> Path:
    source = folder / "in"
    source.mkdir()
    for number in range(count):
        (source / f"doc{number:02}.conll").write_text(DOCUMENT)
    (source / "README.txt").write_text("nothing to see")
    if splits is not None:
        (source / "splits.md").write_text(splits)
    with tarfile.open(folder / "all.tar.xz", "w:xz") as made:
        made.add(source, "in")
    return folder / "all.tar.xz"


def names(path: Path | str) -> list[str]:
    return [document.name for document in read_documents(path)]


def test_parts_of_an_archive_are_those_of_its_splits(tmp_path: Path) -> None:
    splits = "# Splits\n\n## dev\n\n  * doc01\n\n## train\n\n  * doc00\n  * doc02\n"
    path = archive(tmp_path, 3, splits)
    assert names(path) == names(tmp_path / "in") == ["doc00", "doc01", "doc02"]
    assert names(f"{path}:dev") == names(f"{tmp_path / 'in'}:dev") == ["doc01"]
    assert names(f"{path}:train") == ["doc00", "doc02"]
    with pytest.raises(OptionError, match=r"splits.md has no split 'test'. There are: dev, train"):
        read_documents(f"{path}:test")


def test_parts_without_splits_are_tenths(tmp_path: Path) -> None:
    path = archive(tmp_path, 12)
    assert names(f"{path}:dev") == ["doc08"]
    assert names(f"{path}:test") == ["doc09"]
    assert len(names(f"{path}:train")) == 10
    with pytest.raises(OptionError, match="the splits are train, dev and test, not 'held'"):
        read_documents(f"{path}:held")


def test_an_archive_that_is_cut_short_is_an_error(tmp_path: Path) -> None:
    whole = archive(tmp_path, 300).read_bytes()
    (tmp_path / "cut.tar.xz").write_bytes(whole[: len(whole) * 2 // 3])
    with pytest.raises(FormatError, match=r"cut.tar.xz: the archive cannot be read"):
        read_documents(tmp_path / "cut.tar.xz")


def test_of_ontonotes_the_gold_files_are_read_and_not_the_predictions(tmp_path: Path) -> None:
    (tmp_path / "a.v4_gold_conll").write_text(2 * DOCUMENT)
    (tmp_path / "a.v4_auto_conll").write_text("no columns at all")
    assert len(read_documents(tmp_path)) == 2


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_packed_archive_with_changed_bytes_is_an_error(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path = archive(tmp_path, 4)
    packed = pack(lzma.decompress(path.read_bytes()))
    path.write_bytes(packed)
    assert read_documents(path)
    for content in (packed[:-5], packed[:40] + bytes(8) + packed[48:], packed + b"junk"):
        path.write_bytes(content)
        with pytest.raises(FormatError):
            read_documents(path)


def test_names_in_an_archive_that_lead_out_of_it_write_nothing(tmp_path: Path) -> None:
    path = tmp_path / "trap.tar"
    text = b"#begin document (a); part 000\n0\tMary\t(1)\n#end document\n"
    with tarfile.open(path, "w") as tar:
        for name in ("../../escape.conll", "/tmp/escape-firth.conll"):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text))
        link = tarfile.TarInfo("link.conll")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    assert [document.words for document in read_documents(path)] == [("Mary",), ("Mary",)]
    assert not (tmp_path.parent.parent / "escape.conll").exists()
    assert not Path("/tmp/escape-firth.conll").exists()


def test_an_endless_number_of_a_part_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text(f"#begin document (a); part {'9' * 5000}\n0\tMary\t(1)\n#end document\n")
    assert len(read_documents(path)) == 1


def test_two_files_of_an_archive_may_have_one_name(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "two.tar", "w") as made:
        for _ in range(2):
            member = tarfile.TarInfo("a.conll")
            member.size = len(DOCUMENT)
            made.addfile(member, io.BytesIO(DOCUMENT.encode()))
    assert len(read_documents(tmp_path / "two.tar")) == 2
