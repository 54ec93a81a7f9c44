"""Downloads from a server on this machine: whole, broken, resumed, changed, too large, and without a server."""

from __future__ import annotations

import errno
import hashlib
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from firth import downloads
from firth.downloads import PART, STATE, download
from firth.errors import FormatError, OptionError
from firth.progress import Progress

CONTENT = bytes(range(256)) * 40_000  # ten blocks
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@dataclass
class LoopbackServer:
    """A file server that can break off, refuse, forget ranges and change its file."""

    content: bytes = CONTENT
    etag: str = '"first"'
    breaks: list[int] = field(default_factory=list)  # bytes after which the next answers break off
    statuses: list[int] = field(default_factory=list)  # of the next answers
    knows_ranges: bool = True
    says_length: bool = True
    requests: list[dict[str, str]] = field(default_factory=list)
    address: str = ""

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        self.requests.append(dict(handler.headers))
        if self.statuses:
            handler.send_response(self.statuses.pop(0))
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        start, asked = 0, handler.headers.get("Range")
        same = handler.headers.get("If-Range", self.etag) == self.etag
        if asked and self.knows_ranges and same:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            if start >= len(self.content):
                handler.send_response(416)
                handler.send_header("Content-Length", "0")
                handler.end_headers()
                return
        handler.send_response(206 if start else 200)
        handler.send_header("ETag", self.etag)
        if start:
            handler.send_header("Content-Range", f"bytes {start}-{len(self.content) - 1}/{len(self.content)}")
        if self.says_length:
            handler.send_header("Content-Length", str(len(self.content) - start))
        handler.end_headers()
        stop = start + self.breaks.pop(0) if self.breaks else len(self.content)
        handler.close_connection = True
        with suppress(ConnectionError):  # the client has seen enough
            handler.wfile.write(self.content[start:stop])
            handler.wfile.flush()


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    state = LoopbackServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.handle(self)

        def log_message(self, *_: Any) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.address = f"http://127.0.0.1:{listening.server_port}/vectors.bin"
    yield state
    listening.shutdown()
    thread.join()
    listening.server_close()


def never(seconds: float) -> None:
    """In the place of a pause: tests do not wait."""


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_fetched_checked_and_reported(server: LoopbackServer, tmp_path: Path) -> None:
    seen: list[Progress] = []
    done = download(
        server.address, tmp_path / "a" / "v.bin", size=len(CONTENT), sha256=SHA256.upper(), report=seen.append
    )
    assert (done.path.read_bytes(), done.sha256, done.size, done.resumed) == (CONTENT, SHA256, len(CONTENT), 0)
    assert leftovers(tmp_path / "a") == ["v.bin"]
    assert [one.done for one in seen if one.step.startswith("downloading")][-1] == len(CONTENT)
    assert seen[0].total == len(CONTENT)
    assert seen[0].step == "downloading vectors.bin"


def test_a_broken_connection_continues_where_it_stopped(server: LoopbackServer, tmp_path: Path) -> None:
    server.breaks = [3_000_000, 2_000_000]
    done = download(server.address, tmp_path / "v.bin", sha256=SHA256, pause=never)
    assert done.path.read_bytes() == CONTENT
    assert [one.get("Range") for one in server.requests] == [None, "bytes=3000000-", "bytes=5000000-"]
    assert server.requests[1]["If-Range"] == '"first"'


def test_an_earlier_run_is_continued(server: LoopbackServer, tmp_path: Path) -> None:
    server.breaks = [4_000_000] + [0] * 10
    with pytest.raises(OptionError, match=r"tried 5 times\. 4,000,000 bytes are kept: the same command continues"):
        download(server.address, tmp_path / "v.bin", pause=never)
    assert leftovers(tmp_path) == ["v.bin" + PART, "v.bin" + STATE]
    server.breaks.clear()
    done = download(server.address, tmp_path / "v.bin", sha256=SHA256, pause=never)
    assert (done.resumed, done.path.read_bytes() == CONTENT) == (4_000_000, True)
    assert server.requests[-1]["Range"] == "bytes=4000000-"


def test_a_run_that_was_killed_before_its_check_is_not_fetched_again(server: LoopbackServer, tmp_path: Path) -> None:
    download(server.address, tmp_path / "v.bin")
    (tmp_path / "v.bin").rename(tmp_path / ("v.bin" + PART))
    (tmp_path / ("v.bin" + STATE)).write_text(f'{{"address": "{server.address}", "size": {len(CONTENT)}}}')
    server.requests.clear()
    assert download(server.address, tmp_path / "v.bin", sha256=SHA256).path.is_file()
    assert server.requests == []


@pytest.mark.parametrize("knows_ranges", [True, False])
def test_a_file_that_changed_in_between_starts_again(
    server: LoopbackServer, tmp_path: Path, knows_ranges: bool
) -> None:
    server.breaks = [4_000_000] + [0] * 10
    with pytest.raises(OptionError):
        download(server.address, tmp_path / "v.bin", pause=never)
    server.breaks.clear()
    server.content, server.etag, server.knows_ranges = b"another file " * 500_000, '"second"', knows_ranges
    assert download(server.address, tmp_path / "v.bin", pause=never).path.read_bytes() == server.content


def test_a_server_that_sends_the_rest_of_another_file_is_noticed(server: LoopbackServer, tmp_path: Path) -> None:
    server.breaks = [4_000_000] + [0] * 10
    with pytest.raises(OptionError):
        download(server.address, tmp_path / "v.bin", pause=never)
    server.breaks.clear()
    state = tmp_path / ("v.bin" + STATE)
    state.write_text(state.read_text().replace(str(len(CONTENT)), "77"))  # the same mark, but another length
    assert download(server.address, tmp_path / "v.bin", sha256=SHA256, pause=never).path.read_bytes() == CONTENT


def test_a_part_that_is_longer_than_the_file_starts_again(server: LoopbackServer, tmp_path: Path) -> None:
    (tmp_path / ("v.bin" + PART)).write_bytes(bytes(len(CONTENT) + 5))
    (tmp_path / ("v.bin" + STATE)).write_text(f'{{"address": "{server.address}", "etag": null}}')
    assert download(server.address, tmp_path / "v.bin", sha256=SHA256, pause=never).path.read_bytes() == CONTENT


def test_the_part_of_another_address_is_not_continued(server: LoopbackServer, tmp_path: Path) -> None:
    (tmp_path / ("v.bin" + PART)).write_bytes(b"x" * 1000)
    (tmp_path / ("v.bin" + STATE)).write_text('{"address": "http://elsewhere/v.bin"}')
    assert download(server.address, tmp_path / "v.bin", sha256=SHA256).path.read_bytes() == CONTENT
    assert "Range" not in server.requests[0]


def test_a_busy_server_is_asked_again_and_a_missing_file_is_not(server: LoopbackServer, tmp_path: Path) -> None:
    pauses: list[float] = []
    server.statuses = [503, 429]
    assert download(server.address, tmp_path / "v.bin", pause=pauses.append).size == len(CONTENT)
    assert pauses == [1, 2]
    server.statuses, server.requests = [404, 404], []
    with pytest.raises(OptionError, match=r"cannot be read \(404 Not Found\)"):
        download(server.address, tmp_path / "w.bin", pause=never)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "known,problem",
    [
        ({"sha256": "0" * 64}, "has the SHA-256 .*, but the published one has 000"),
        ({"size": 12}, "10,240,000 bytes, but the published one has 12"),
    ],
)
def test_another_file_than_the_published_one_is_removed(
    server: LoopbackServer, tmp_path: Path, known: dict[str, Any], problem: str
) -> None:
    with pytest.raises(FormatError, match=problem):
        download(server.address, tmp_path / "v.bin", **known)
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("says_length", [True, False])
def test_a_file_above_the_limit_is_refused(server: LoopbackServer, tmp_path: Path, says_length: bool) -> None:
    server.says_length = says_length
    with pytest.raises(OptionError, match="limit of 1,000,000"):
        download(server.address, tmp_path / "v.bin", largest=1_000_000)
    assert not (tmp_path / "v.bin").exists()


def test_a_file_of_unknown_length_is_fetched(server: LoopbackServer, tmp_path: Path) -> None:
    server.says_length = False
    assert download(server.address, tmp_path / "v.bin", sha256=SHA256).size == len(CONTENT)


def test_a_disk_without_room_is_told_before_the_download(
    server: LoopbackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = downloads.shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(downloads.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(OSError, match="1,000 bytes free, but 10,240,000 are missing") as full:
        download(server.address, tmp_path / "v.bin")
    assert full.value.errno == errno.ENOSPC


def test_a_disk_that_fills_up_keeps_what_was_fetched(
    server: LoopbackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def copy(address: str, answer: Any, file: Any, *_: Any) -> None:
        file.write(answer.read(2_000_000))
        file.flush()
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(downloads, "_copy", copy)
        with pytest.raises(OSError, match=r"disk is full: 2,000,000 bytes were written\. Free some space"):
            download(server.address, tmp_path / "v.bin")
    assert download(server.address, tmp_path / "v.bin", sha256=SHA256).resumed == 2_000_000


def test_without_a_server_the_reason_is_told(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"Connection refused.*tried 5 times\. Try again later"):
        download("http://127.0.0.1:9/v.bin", tmp_path / "v.bin", pause=never)


def test_a_machine_that_is_offline_gets_a_cure(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"offline, or the name is wrong\. Fetch the file elsewhere"):
        download("http://no-such-host.invalid/v.bin", tmp_path / "v.bin", pause=never)


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://host/v.bin", "v.bin", "http:///v.bin"])
def test_only_http_addresses_are_read(address: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="is no http or https address"):
        download(address, tmp_path / "v.bin")
