"""Files: which ones are meant, how they are packed, and that none is ever half written."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import lzma
import os
import shutil
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pytest
import zstandard

from firth.errors import FormatError, OptionError
from firth.files import (
    COMPRESSIONS,
    atomic_file,
    atomic_folder,
    compression,
    decode,
    exchange,
    expand,
    open_bytes,
    read_lines,
    recover_folder,
    refuse_outer_link,
    write_bytes,
)

TEXT = b"".join(b"line %d\n" % i for i in range(20_000))
ZST = zstandard.ZstdCompressor(write_checksum=True)
PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": ZST.compress}


def read(path: Path) -> bytes:
    with open_bytes(path) as file:
        return file.read()


def test_names_folders_and_patterns_become_files_in_a_stable_order(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "deep/c.txt", ".hidden", "deep/d.log"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    found = [str(tmp_path / name) for name in ("a.txt", "b.txt", "deep/c.txt", "deep/d.log")]
    assert expand(tmp_path) == found
    assert expand(str(tmp_path / "**" / "*.txt")) == found[:3]
    assert expand([tmp_path / "b.txt", "-", str(tmp_path / "a*")]) == [found[1], "-", found[0]]


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "a[1].txt").write_text("x")
    assert expand(tmp_path / "a[1].txt") == [str(tmp_path / "a[1].txt")]


def test_names_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no such file, folder or pattern"):
        expand(tmp_path / "*.txt")
    with pytest.raises(OptionError, match="contains no files"):
        expand(tmp_path)
    with pytest.raises(OptionError, match="no input"):
        expand([])


@pytest.mark.parametrize("how", PACKERS)
def test_packing_is_told_by_the_first_bytes_and_undone(tmp_path: Path, how: str) -> None:
    path = tmp_path / "anything.txt"
    path.write_bytes(PACKERS[how](TEXT))
    assert compression(path) == how
    assert read(path) == TEXT


@pytest.mark.parametrize("content", [b"", b"a", b"plain text", b"\x1f", b"BZ"])
def test_plain_files_are_read_as_they_are(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a").write_bytes(content)
    assert compression(tmp_path / "a") is None
    assert read(tmp_path / "a") == content


@pytest.mark.parametrize("how", PACKERS)
def test_packed_parts_that_follow_each_other_are_all_read(tmp_path: Path, how: str) -> None:
    (tmp_path / "a").write_bytes(PACKERS[how](TEXT) + PACKERS[how](b"the end"))
    assert read(tmp_path / "a") == TEXT + b"the end"


@pytest.mark.parametrize("how", PACKERS)
@pytest.mark.parametrize("left", [0.3, 0.7, 0.999])
def test_a_packed_file_that_was_cut_short_is_an_error(tmp_path: Path, how: str, left: float) -> None:
    packed = PACKERS[how](TEXT)
    (tmp_path / "a").write_bytes(packed[: int(len(packed) * left)])
    with pytest.raises(FormatError, match=f"a: the {how} data is corrupt"):
        read(tmp_path / "a")


@pytest.mark.parametrize("how", PACKERS)
def test_a_packed_file_that_ends_within_its_first_bytes_is_an_error(tmp_path: Path, how: str) -> None:
    magic = next(magic for magic, name in COMPRESSIONS.items() if name == how)
    path = tmp_path / f"text.txt.{how}"
    for size in range(len(magic)):
        path.write_bytes(magic[:size])
        with pytest.raises(FormatError, match=f"has {size} bytes, but even an empty text is longer"):
            read(path)
    path.write_bytes(b"tea\n")  # text under a wrong name
    assert read(path) == b"tea\n"
    path.with_name("text.txt").write_bytes(b"")
    assert read(path.with_name("text.txt")) == b""


@pytest.mark.parametrize("how", PACKERS)
def test_a_packed_file_with_changed_bytes_is_an_error(tmp_path: Path, how: str) -> None:
    packed = bytearray(PACKERS[how](TEXT))
    packed[len(packed) // 3 : len(packed) // 3 + 20] = bytes(20)
    (tmp_path / "a").write_bytes(packed)
    with pytest.raises(FormatError, match=f"a: the {how} data is corrupt"):
        read(tmp_path / "a")


def test_errors_of_the_reader_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"plain")
    with pytest.raises(EOFError, match="mine"), open_bytes(tmp_path / "a"):
        raise EOFError("mine")


@pytest.mark.parametrize("content", [b"plain text", gzip.compress(b"plain text")], ids=["plain", "packed"])
def test_a_pipe_loses_no_bytes(tmp_path: Path, content: bytes) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(content,))
    writer.start()
    assert expand(tmp_path / "pipe") == [str(tmp_path / "pipe")]
    assert read(tmp_path / "pipe") == b"plain text"
    writer.join()


def test_standard_input_may_be_packed_and_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(bz2.compress(b"text"))))
    with open_bytes("-") as file:
        assert file.read() == b"text"
    assert not sys.stdin.closed


@pytest.mark.parametrize("name", ["a.txt", "a.gz", "a.bz2", "a.xz", "a.zst"])
def test_what_is_written_is_packed_as_the_name_says_and_read_back(tmp_path: Path, name: str) -> None:
    with write_bytes(tmp_path / "new" / name) as file:
        file.write(TEXT)
    path = tmp_path / "new" / name
    assert compression(path) == (None if name == "a.txt" else name[2:])
    assert read(path) == TEXT
    assert [other.name for other in path.parent.iterdir()] == [name]


def test_the_same_text_gives_the_same_gzip_file(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        with write_bytes(tmp_path / name) as file:
            file.write(TEXT)
    a, b = (gzip.decompress((tmp_path / name).read_bytes()) for name in ("a.gz", "b.gz"))
    assert a == b
    assert (tmp_path / "a.gz").read_bytes()[4:8] == bytes(4)  # no time of writing


def test_a_failure_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), write_bytes(path) as file:
        _write_half(file)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def _write_half(file: IO[bytes]) -> None:
    file.write(b"half")
    raise KeyboardInterrupt


def test_a_file_appears_only_when_whole_and_with_the_usual_rights(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with atomic_file(path) as draft:
        draft.write_text("new")
        assert not path.exists()
    plain = tmp_path / "b.txt"
    plain.write_text("")
    assert path.read_text() == "new"
    assert path.stat().st_mode == plain.stat().st_mode


def test_a_folder_is_replaced_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "model"
    for content in ("one", "two"):
        with atomic_folder(target) as draft:
            (draft / "config.json").write_text(json.dumps({"library": "firth", "about": content}))
            (draft / content).write_text("")
    assert sorted(path.name for path in target.iterdir()) == ["config.json", "two"]
    with pytest.raises(ZeroDivisionError), atomic_folder(target) as draft:
        (draft / "config.json").write_text(str(1 / 0))
    assert json.loads((target / "config.json").read_text())["about"] == "two"
    assert list(tmp_path.iterdir()) == [target]


def test_a_folder_of_other_files_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_text("")
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(OptionError, match="contains other files"), atomic_folder(tmp_path):
        pass
    with pytest.raises(OptionError, match="is a file"), atomic_folder(tmp_path / "photo.jpg"):
        pass
    assert (tmp_path / "photo.jpg").exists()


def test_lines_are_numbered_and_lose_their_ends_and_the_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\n\ntwo\xe2\x80\xa8three")
    assert list(read_lines(tmp_path / "a.txt")) == [(1, "one"), (2, ""), (3, "two\u2028three")]


def test_a_byte_that_is_not_utf8_is_named_by_line_and_column_or_by_offset() -> None:
    with pytest.raises(FormatError, match=r"a:9: byte 0xff at column 2 is not UTF-8 \(invalid start byte\)") as caught:
        decode(b"x\ny\n\xc3\xa9\n.\xff", "a", line=6)
    assert caught.value.line == 9
    with pytest.raises(FormatError, match=r"a:1: byte 0xe9 at column 4"):
        decode(b"\xef\xbb\xbfcaf\xe9", "a")
    with pytest.raises(FormatError, match=r"a: byte 103: 0xe9 is not UTF-8") as caught:
        decode(b"caf\xe9", "a", offset=100)
    assert caught.value.offset == 103
    assert decode(b"caf\xe9", "a", errors="replace") == "caf\ufffd"


def test_utf16_is_recognized_at_the_start_of_a_file_only() -> None:
    data = "tea".encode("utf-16")
    with pytest.raises(FormatError, match="looks like UTF-16"):
        decode(data, "a")
    with pytest.raises(FormatError, match="Convert the file to UTF-8"):
        decode(data, "a", line=2)


def test_a_folder_of_binary_files_has_no_text(tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0\x00\x10JFIF")
    with pytest.warns(UserWarning, match="photo.jpg: is skipped"), pytest.raises(OptionError, match="contains no text"):
        expand(tmp_path)
    (tmp_path / "a.txt.gz").write_bytes(PACKERS["gz"](b"tea"))
    (tmp_path / "b.txt").write_bytes("tea".encode("utf-16"))
    with pytest.warns(UserWarning, match="photo.jpg"):
        assert [Path(path).name for path in expand(tmp_path)] == ["a.txt.gz", "b.txt"]


@pytest.mark.parametrize("how", PACKERS)
def test_a_damaged_second_part_of_a_packed_file_is_an_error(tmp_path: Path, how: str) -> None:
    second = bytearray(PACKERS[how](TEXT))
    second[len(second) // 2 : len(second) // 2 + 9] = bytes(9)
    (tmp_path / "a").write_bytes(PACKERS[how](b"first") + second)
    with pytest.raises(FormatError, match=f"a: the {how} data is corrupt"):
        read(tmp_path / "a")


@pytest.mark.parametrize("how", PACKERS)
@pytest.mark.parametrize("junk", [b"junk", b"\1" * 40, b"\0\0\0x"])
def test_junk_between_or_after_packed_parts_is_an_error(tmp_path: Path, how: str, junk: bytes) -> None:
    packed = PACKERS[how](b"text")
    for content in (packed + junk, packed + junk + packed):
        (tmp_path / "a").write_bytes(content)
        with pytest.raises(FormatError, match=f"a: the {how} data is corrupt"):
            read(tmp_path / "a")


def test_zeros_after_a_part_are_legal_only_as_the_format_says(tmp_path: Path) -> None:
    xz, bz = lzma.compress(b"text"), bz2.compress(b"text")
    (tmp_path / "a").write_bytes(xz + bytes(8) + xz + bytes(4))  # padding of .xz: a multiple of four
    assert read(tmp_path / "a") == b"texttext"
    for content in (xz + bytes(7), xz + bytes(6) + xz, bz + bytes(8), bz + bytes(8) + bz):
        (tmp_path / "a").write_bytes(content)
        with pytest.raises(FormatError, match="data is corrupt"):
            read(tmp_path / "a")


@pytest.mark.parametrize("how", PACKERS)
def test_data_that_expands_a_thousandfold_is_an_error(
    tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(PACKERS[how](b" " * (1 << 20)))
    assert len(read(tmp_path / "a")) == 1 << 20  # small enough to be trusted
    monkeypatch.setattr("firth.files.TRUSTED_SIZE", 1 << 18)
    with pytest.raises(FormatError, match="decompress to more than 100 times"):
        read(tmp_path / "a")


def test_an_xz_file_that_asks_for_a_huge_dictionary_is_an_error(tmp_path: Path) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0}]
    packed = bytearray(lzma.compress(b"text", filters=filters))
    at = packed.index(b"\x21\x01")  # the filter LZMA2, with one byte of properties: the size of the dictionary
    packed[at + 2] = 40  # 4 GiB
    header = slice(12, 12 + 4 * (packed[12] + 1) - 4)
    packed[header.stop : header.stop + 4] = zlib.crc32(packed[header]).to_bytes(4, "little")
    (tmp_path / "a").write_bytes(packed)
    with pytest.raises(FormatError, match="the xz data is corrupt"):
        read(tmp_path / "a")


def make_model(path: Path, content: str) -> None:
    with atomic_folder(path) as draft:
        (draft / "config.json").write_text('{"library": "firth"}')
        (draft / "content").write_text(content)


HALF = """
import os, signal, sys
from pathlib import Path
from firth.files import atomic_file, atomic_folder
with (atomic_file if sys.argv[1] == "file" else atomic_folder)(sys.argv[2]) as draft:
    Path(draft if sys.argv[1] == "file" else draft / "content").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_a_killed_run_left_beside_its_output_is_removed_by_the_next_one(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "model"
    subprocess.run([sys.executable, "-c", HALF, kind, path])
    [left] = tmp_path.iterdir()
    assert left.name.startswith(".model.")
    other = tmp_path / ".model.of-mine.part"
    other.mkdir()
    if kind == "folder":
        make_model(path, "whole")
    else:
        with atomic_file(path) as draft:
            draft.write_text("whole")
            with atomic_file(path) as second:  # two writers: the draft of the first one is in use and stays
                second.write_text("other")
    assert sorted(tmp_path.iterdir()) == [other, path]
    assert (path if kind == "file" else path / "content").read_text() == "whole"


def test_files_in_hidden_folders_are_no_text(tmp_path: Path) -> None:
    """Such as those that another run is just writing."""
    for name in ("a.txt", ".b.txt.x.part/b.txt", "c/.d", "c/e.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("tea")
    assert expand(tmp_path) == [str(tmp_path / "a.txt"), str(tmp_path / "c" / "e.txt")]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux exchanges two names in one call")
def test_two_names_are_exchanged_in_one_call(tmp_path: Path) -> None:
    make_model(tmp_path / "a", "one")
    make_model(tmp_path / "b", "two")
    assert exchange(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "a" / "content").read_text() == "two"
    assert not exchange(tmp_path / "a", tmp_path / "missing")


class Killed(BaseException):
    """Stands for the end of the process: nothing after it happens."""


@pytest.mark.parametrize("can_exchange", [True, False])
@pytest.mark.parametrize("place", range(4))
def test_a_kill_between_any_two_calls_leaves_a_whole_folder_under_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, can_exchange: bool, place: int
) -> None:
    path = tmp_path / "model"
    make_model(path, "old")
    with monkeypatch.context() as patch:
        calls = [0]

        def count(real: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any, **more: Any) -> Any:
                if calls[0] >= place:
                    raise Killed
                calls[0] += 1
                return real(*arguments, **more)

            return call

        patch.setattr("firth.files.os.replace", count(os.replace))
        patch.setattr("firth.files.shutil.rmtree", count(shutil.rmtree))
        patch.setattr("firth.files.exchange", count(exchange) if can_exchange else lambda *_: False)
        with contextlib.suppress(Killed):
            make_model(path, "new")
    if not path.exists():
        assert not can_exchange
        assert recover_folder(path)
    assert (path / "content").read_text() in ("old", "new")
    make_model(path, "last")
    assert (path / "content").read_text() == "last"
    assert [one.name for one in tmp_path.iterdir()] == ["model"]


def test_only_a_folder_of_firth_is_put_back(tmp_path: Path) -> None:
    (tmp_path / ".model.x.old").mkdir()
    (tmp_path / ".model.x.old" / "diary.txt").write_text("mine")
    assert not recover_folder(tmp_path / "model")
    assert not recover_folder(tmp_path)


def test_a_link_as_an_output_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "dangling").symlink_to(tmp_path / "later.txt")
    for text in ("once", "twice"):
        with atomic_folder(tmp_path / "link") as draft:
            (draft / "config.json").write_text(f'{{"library": "firth", "text": "{text}"}}')
        with atomic_file(tmp_path / "dangling") as file:
            file.write_text(text)
    assert (tmp_path / "link").is_symlink()
    assert "twice" in (tmp_path / "real" / "config.json").read_text()
    assert (tmp_path / "dangling").is_symlink()
    assert (tmp_path / "later.txt").read_text() == "twice"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dangling", "later.txt", "link", "real"]


def test_a_snapshot_of_the_hub_links_to_its_own_blobs_and_nowhere_else(tmp_path: Path) -> None:
    blobs, snapshot = tmp_path / "model" / "blobs", tmp_path / "model" / "snapshots" / "abc"
    blobs.mkdir(parents=True)
    snapshot.mkdir(parents=True)
    (blobs / "1f").write_text("{}")
    (tmp_path / "secret").write_text("no")
    (snapshot / "config.json").symlink_to("../../blobs/1f")
    assert refuse_outer_link(snapshot / "config.json").read_text() == "{}"
    (blobs / "2f").symlink_to(tmp_path / "secret")
    for name, target in [("a", "../../../secret"), ("b", "../../blobs/2f"), ("c", tmp_path / "secret")]:
        (snapshot / name).symlink_to(target)
        with pytest.raises(FormatError, match="a link out of the folder"):
            refuse_outer_link(snapshot / name)
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "config.json").symlink_to(blobs / "1f")
    with pytest.raises(FormatError, match="a link out of the folder"):
        refuse_outer_link(tmp_path / "plain" / "config.json")
