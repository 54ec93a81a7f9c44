"""Stores: what goes wrong is one line with a cure, and what may pass is tried again."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any

import pytest

from firth.cli.main import main
from firth.errors import FirthError, MissingExtra, MissingFile, RemoteError
from firth.files import expand, read_bytes
from firth.remote import stores


def test_ctrl_c_does_not_wait_for_a_server_that_does_not_answer() -> None:
    pytest.importorskip("aiohttp")
    code = """
import os, signal, socket, threading
from firth.remote.stores import look_at_all
listener = socket.create_server(("127.0.0.1", 0))
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background of a shell
def interrupt():
    kept = listener.accept()
    os.kill(os.getpid(), signal.SIGINT)
    kept[0].recv(1)
    threading.Event().wait()
threading.Thread(target=interrupt, daemon=True).start()
try:
    look_at_all([f"http://127.0.0.1:{listener.getsockname()[1]}/{name}" for name in "abc"])
except KeyboardInterrupt:
    print("interrupted")
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=55)
    assert (ended.returncode, ended.stdout) == (0, "interrupted\n"), ended.stderr


@pytest.fixture
def fresh_stores() -> Any:
    stores._open_store.cache_clear()
    yield
    stores._open_store.cache_clear()


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch, fresh_stores: None) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingExtra, match=r"pip install 'firth\[remote\]'"):
        stores.look("s3://bucket/a.txt")


@pytest.mark.parametrize("scheme, package", [("s3", "s3fs"), ("gs", "gcsfs"), ("hf", "huggingface_hub")])
def test_without_the_package_of_a_store_the_error_names_it(
    monkeypatch: pytest.MonkeyPatch, fresh_stores: None, scheme: str, package: str
) -> None:
    registry = pytest.importorskip("fsspec.registry")
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(registry._registry, scheme, raising=False)
    with pytest.raises(RemoteError, match=f"pip install {package}"):
        stores.look(f"{scheme}://bucket/a.txt")


def test_a_missing_file_is_a_missing_file(web: Any, memory: Any) -> None:
    for address in (web.address("a.txt"), "memory://a.txt"):
        with pytest.raises(MissingFile, match="no such file"):
            stores.look(address)
        assert stores.find(address) is None
    with pytest.raises(FirthError, match="no such file, folder or pattern"):
        expand("memory://a*.txt")


@pytest.mark.parametrize("status", [401, 403])
def test_a_refusal_is_an_error_and_no_missing_file(web: Any, status: int) -> None:
    web.status["/a.txt"] = [status] * 20
    with pytest.raises(RemoteError, match=rf"a\.txt: access is refused \({status}\)"):
        stores.look(web.address("a.txt?key=secret"))


def test_no_network_is_an_error_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(SystemExit, match="2"):
        main(["vocab", f"http://127.0.0.1:{port}/a.txt"])
    said = capsys.readouterr().err.strip()
    assert "cannot be reached" in said
    assert "\n" not in said
    assert "Traceback" not in said


def test_a_busy_server_is_asked_again(web: Any) -> None:
    web.files["a.txt"] = b"tea"
    web.status["/a.txt"] = [503, 429, 503, 503]  # one that answers is there: it is asked as often as there are pauses
    assert stores.look(web.address("a.txt")).size == 3
    web.status["/a.txt"] = [500] * 100
    with pytest.raises(RemoteError, match="the status 500"):
        stores.look(web.address("a.txt"))


def test_what_is_no_web_server_is_said_to_be_none() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)

        def answer() -> None:
            for _ in range(10):
                with suppress(OSError), server.accept()[0] as connection:
                    connection.recv(1000)
                    connection.sendall(b"220 mail.example.org ESMTP\r\n\r\n")

        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises(RemoteError, match=r"a\.txt: what answers there is no web server\. Check the address"):
            stores.look(f"http://127.0.0.1:{server.getsockname()[1]}/a.txt")


def test_a_redirect_to_a_local_file_is_not_followed(web: Any) -> None:
    web.redirect["/a.txt"] = "file:///etc/passwd"
    with pytest.raises(RemoteError, match="redirects to an address that is not http"):
        read_bytes(web.address("a.txt"))


def test_redirects_end(web: Any) -> None:
    web.redirect["/a.txt"] = web.address("a.txt")
    with pytest.raises(RemoteError, match="redirects more than 5 times"):
        stores.look(web.address("a.txt"))
    assert len(web.requests) <= 2 * (stores.REDIRECTS + 1)  # HEAD and GET


def test_a_redirect_to_a_file_is_followed(web: Any) -> None:
    web.redirect["/a.txt"] = web.address("b.txt")
    web.files["b.txt"] = b"tea"
    assert read_bytes(web.address("a.txt")) == b"tea"


def test_a_change_changes_the_fingerprint(web: Any, memory: Any) -> None:
    web.files["a.txt"] = b"tea"
    memory.pipe_file("/a.txt", b"tea")
    before = [stores.look(address).fingerprint for address in (web.address("a.txt"), "memory://a.txt")]
    again = [stores.look(address).fingerprint for address in (web.address("a.txt"), "memory://a.txt")]
    assert before == again
    web.files["a.txt"] = b"fog"
    memory.pipe_file("/a.txt", b"fog")
    after = [stores.look(address).fingerprint for address in (web.address("a.txt"), "memory://a.txt")]
    assert all(old != new for old, new in zip(before, after))


def test_names_that_lead_out_of_a_folder_are_refused(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    store, _ = stores.open_store("memory://m")
    listing = {"/m/../x": {"type": "file", "size": 1, "name": "/m/../x"}}
    monkeypatch.setattr(type(store), "find", lambda *_, **__: listing)
    with pytest.raises(RemoteError, match="unsafe"):
        stores.list_folder("memory://m")


def test_an_object_store_tells_a_missing_bucket_and_missing_credentials(
    bucket: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(MissingFile):
        stores.look("s3://no-such-bucket/a.txt")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    stores._open_store.cache_clear()
    with pytest.raises(RemoteError, match=r"there are no credentials\. Set AWS_ACCESS_KEY_ID"):
        stores.look("s3://firth/a.txt")


def test_an_object_store_lists_matches_and_fingerprints(bucket: Any) -> None:
    for name in ("a.txt", "b.txt", "c.md"):
        bucket.pipe_file(f"firth/texts/{name}", name.encode())
    assert expand("s3://firth/texts/*.txt") == ["s3://firth/texts/a.txt", "s3://firth/texts/b.txt"]
    assert len(expand("s3://firth/texts")) == 3
    before = stores.look("s3://firth/texts/a.txt").fingerprint
    bucket.pipe_file("firth/texts/a.txt", b"other")
    assert stores.look("s3://firth/texts/a.txt").fingerprint != before
