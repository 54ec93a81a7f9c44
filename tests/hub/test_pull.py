"""`pull` from a server on this machine: files, archives, folders, checksums, locks."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

import firth
from firth.errors import FormatError, OptionError
from firth.hub import published, pull
from firth.hub.published import PublishedFile, PublishedModel
from firth.locks import exclusive_folder

TEXT = b"tea 1 0\ncoffee 0.9 0.1\nrain 0 1\n"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def packed(name: str, content: bytes) -> bytes:
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
        archive.writestr("../escape.txt", b"no")
    return memory.getvalue()


@pytest.fixture
def models(server: Any, cache: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, PublishedModel]:
    """Three models: one with a checksum in an archive, one without a checksum, one of two files."""
    archive = packed("small.txt", TEXT)
    server.files = {"/small.zip": archive, "/plain.vec": TEXT, "/options": b'{"lstm": {}}', "/weights": b"numbers"}

    def model(name: str, *files: PublishedFile) -> PublishedModel:
        return PublishedModel(name, "a test", "MIT", "https://page", files, None)

    def file(path: str, name: str, **more: Any) -> PublishedFile:
        return PublishedFile(server.address + path, name, **more)

    zipped = file("/small.zip", "small.zip", size=len(archive), sha256=sha256(archive), member="small.txt")
    table = {
        "small": model("small", zipped),
        "plain": model("plain", file("/plain.vec", "plain.vec")),
        "pair": model("pair", file("/options", "options.json"), file("/weights", "weights.hdf5")),
    }
    for module in (published, pull):
        monkeypatch.setattr(module, "published_models", lambda: table)
    return table


def test_an_archive_is_fetched_checked_and_unpacked_and_its_name_can_be_loaded(
    models: dict[str, PublishedModel], cache: Path
) -> None:
    done = pull.pull("small")
    assert done.path == cache / "published" / "small" / "small.txt"
    assert done.path.read_bytes() == TEXT
    assert sorted(path.name for path in done.path.parent.iterdir()) == ["lock.json", "small.txt"]
    assert done.sha256 == {"small.txt": sha256(TEXT)}
    assert firth.load("small").most_similar("tea", topn=1)[0][0] == "coffee"


def test_the_archive_can_be_kept(models: dict[str, PublishedModel], server: Any) -> None:
    done = pull.pull("small", keep_archive=True)
    assert (done.path.parent / "small.zip").is_file()
    done.path.unlink()
    lock = json.loads((done.path.parent / "lock.json").read_text())
    assert lock["files"]["small.txt"]["sha256"] == sha256(TEXT)
    server.requests.clear()
    assert pull.pull("small", keep_archive=True).path.read_bytes() == TEXT
    assert server.requests == []  # the archive is there and right


def test_a_model_that_is_there_is_checked_and_not_fetched_again(models: dict[str, PublishedModel], server: Any) -> None:
    assert not pull.pull("plain").was_there
    server.requests.clear()
    again = pull.pull("plain")
    assert (again.was_there, server.requests) == (True, [])


def test_a_file_that_was_changed_on_disk_is_an_error(models: dict[str, PublishedModel]) -> None:
    path = pull.pull("plain").path
    path.write_bytes(TEXT.replace(b"0.9", b"0.8"))
    with pytest.raises(FormatError, match=r"plain\.vec: the file has changed since it was downloaded.*Delete it"):
        pull.pull("plain")


def test_the_first_download_fixes_the_checksum(models: dict[str, PublishedModel], server: Any) -> None:
    path = pull.pull("plain").path
    lock = json.loads((path.parent / "lock.json").read_text())
    assert lock["files"]["plain.vec"] == {
        "address": server.address + "/plain.vec",
        "size": len(TEXT),
        "sha256": sha256(TEXT),
        "licence": "MIT",
    }
    path.unlink()
    server.files["/plain.vec"] = b"tea 6 6\n"
    with pytest.raises(FormatError, match=r"has the SHA-256 .*, but the first download \(.*lock\.json\) has"):
        pull.pull("plain")
    assert not path.exists()


def test_another_file_than_the_published_one_is_refused(models: dict[str, PublishedModel], server: Any) -> None:
    server.files["/small.zip"] = packed("small.txt", b"tea 6 6\n")
    with pytest.raises(FormatError, match="but the published one has"):
        pull.pull("small")


def test_a_model_of_several_files_is_a_folder(models: dict[str, PublishedModel], tmp_path: Path) -> None:
    done = pull.pull("pair", folder=tmp_path / "mine")
    assert done.path == tmp_path / "mine" / "pair"
    assert {path.name for path in done.path.iterdir()} == {"options.json", "weights.hdf5", "lock.json"}


def test_a_model_that_was_not_pulled_names_the_command(models: dict[str, PublishedModel]) -> None:
    with pytest.raises(OptionError, match=r"plain: is a published model that is not on .*: firth pull plain"):
        firth.load("plain")


def test_a_second_run_at_the_same_time_is_refused(models: dict[str, PublishedModel]) -> None:
    with exclusive_folder(pull.place_of("plain")), pytest.raises(OptionError, match="another run"):
        pull.pull("plain")


def test_a_broken_lock_is_an_error(models: dict[str, PublishedModel]) -> None:
    path = pull.pull("plain").path
    (path.parent / "lock.json").write_text('{"files": {"plain.vec": 3}}')
    with pytest.raises(FormatError, match=r"lock\.json: is not a lock file"):
        pull.pull("plain")


@pytest.mark.parametrize("content", [b"no archive", packed("other.txt", TEXT), packed("small.txt", TEXT)[:-30]])
def test_a_broken_archive_is_an_error(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "small.zip").write_bytes(content)
    with pytest.raises(FormatError, match=r"small\.zip: the archive"):
        pull.extract_member(tmp_path / "small.zip", "small.txt", tmp_path / "small.txt")
    assert not (tmp_path / "small.txt").exists()
