"""Streams: broken connections go on where they broke; a file that changes is an error."""

from __future__ import annotations

import gzip
import io
import random
from typing import Any

import pytest

from firth.errors import FirthError, RemoteError
from firth.files import open_bytes, read_bytes, read_lines, total_size
from firth.remote import streams
from firth.remote.streams import RemoteFile, open_remote
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer

TEXT = b"".join(b"line %d of the text\n" % number for number in range(50_000))  # 1.1 MB
WHITESPACE = Tokenizer(mode="whitespace")


def test_a_stream_goes_on_at_the_byte_where_the_connection_broke(web: Any) -> None:
    web.files["a.txt"] = TEXT
    web.drop_after = 300_000
    assert read_bytes(web.address("a.txt")) == TEXT
    assert web.starts("a.txt") == [0, 300_000, 600_000, 900_000]


def test_a_corpus_over_a_bad_connection_is_that_of_the_file(web: Any, tmp_path: Any) -> None:
    (tmp_path / "a.txt").write_bytes(TEXT)
    web.files["a.txt"], web.files["a.txt.gz"] = TEXT, gzip.compress(TEXT)
    web.drop_after = 50_000
    expected = Corpus(tmp_path / "a.txt", tokenizer=WHITESPACE).fingerprint
    for name in web.files:
        assert Corpus(web.address(name), tokenizer=WHITESPACE).fingerprint == expected


def test_a_server_without_ranges_is_read_from_the_start_again(web: Any) -> None:
    web.files["a.txt"] = TEXT
    web.ranges, web.drop_after, web.drops = False, 500_000, 2
    assert read_bytes(web.address("a.txt")) == TEXT


def test_a_server_that_tells_no_sizes_is_read(web: Any) -> None:
    web.files["a.txt"] = TEXT
    web.lengths, web.drop_after, web.drops = False, 400_000, 1
    assert read_bytes(web.address("a.txt")) == TEXT
    assert total_size([web.address("a.txt")]) is None


def test_a_server_that_never_gets_further_is_given_up(web: Any) -> None:
    web.files["a.txt"] = TEXT
    web.drop_after = 0
    with pytest.raises(RemoteError, match=r"a\.txt: the connection breaks before the end\. Check the server"):
        read_bytes(web.address("a.txt"))


def test_a_file_that_changes_while_it_is_read_is_an_error(web: Any) -> None:
    web.files["a.txt"] = TEXT
    with open_bytes(web.address("a.txt")) as file:
        file.read(1000)
        web.files["a.txt"] = TEXT.replace(b"line", b"word")
        with pytest.raises(RemoteError, match="changed while it was read"):
            file.read()


@pytest.mark.parametrize("change", [TEXT[:400_000], TEXT + b"more", TEXT.replace(b"text", b"book")])
def test_a_file_that_changes_between_two_connections_is_an_error(web: Any, change: bytes) -> None:
    web.files["a.txt"] = TEXT
    web.drop_after = 500_000
    gets = iter(range(10))

    def replace() -> None:
        if next(gets) == 1:
            web.files["a.txt"] = change

    web.on_get = replace
    with pytest.raises(RemoteError, match="changed while it was read"):
        read_bytes(web.address("a.txt"))


def test_a_compressed_file_that_changes_is_not_called_corrupt(memory: Any) -> None:
    rng = random.Random(0)
    data = gzip.compress(rng.randbytes(600_000))
    memory.pipe_file("/a.gz", data)
    with open_bytes("memory://a.gz") as file:
        file.read(1000)
        memory.pipe_file("/a.gz", rng.randbytes(len(data)))
        with pytest.raises(FirthError, match="changed while it was read"):
            file.read()


def test_blocks_of_an_object_store_shrink_where_connections_break(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.pipe_file("/a.txt", TEXT)
    whole = type(memory).cat_file

    def cat_file(store: Any, path: str, start: int | None = None, end: int | None = None, **more: Any) -> bytes:
        if end is not None and start is not None and end - start > 200_000:
            raise ConnectionResetError("broken")
        return bytes(whole(store, path, start=start, end=end, **more))

    monkeypatch.setattr(type(memory), "cat_file", cat_file)
    assert read_bytes("memory://a.txt") == TEXT


def test_lines_and_a_place_in_a_remote_file_are_those_of_a_local_one(memory: Any) -> None:
    memory.pipe_file("/a.txt", b"\xef\xbb\xbftea\r\nrain\n")
    assert list(read_lines("memory://a.txt")) == [(1, "tea"), (2, "rain")]
    memory.pipe_file("/b.txt", TEXT)
    with open_remote("memory://b.txt") as file:
        file.seek(500_000)
        assert file.read(100) == TEXT[500_000:500_100]
        file.seek(0, io.SEEK_END)
        assert (file.tell(), file.read()) == (len(TEXT), b"")
        file.seek(-10, io.SEEK_END)
        assert file.read() == TEXT[-10:]


def test_errors_in_a_remote_text_name_the_address(memory: Any) -> None:
    memory.pipe_file("/a.txt", b"tea\ncaf\xe9\n")
    with pytest.raises(FirthError, match=r"memory://a\.txt.*not UTF-8"):
        Corpus("memory://a.txt").tokens()


def test_an_empty_file_and_a_folder(web: Any, memory: Any) -> None:
    web.files["a.txt"] = b""
    memory.pipe_file("/m/a.txt", b"")
    assert read_bytes(web.address("a.txt")) == read_bytes("memory://m/a.txt") == b""
    with pytest.raises(RemoteError, match="is a folder"):
        read_bytes("memory://m")


def test_a_decompression_bomb_at_an_address_is_refused(memory: Any) -> None:
    memory.pipe_file("/a.gz", gzip.compress(bytes(50 << 20)))
    with pytest.raises(FirthError, match="decompress to more than"):
        read_bytes("memory://a.gz")


def test_a_server_that_sends_another_part_is_refused(web: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    web.files["a.txt"] = TEXT
    monkeypatch.setattr(streams, "RANGE", streams.re.compile(r"bytes 7(\d+)-\d+/(\d+|\*)"))
    with RemoteFile(web.address("a.txt"), 1000) as file, pytest.raises(RemoteError, match="another part"):
        file.read(10)


def test_a_redirect_from_https_to_http_is_not_followed(web: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    web.files["a.txt"] = TEXT
    monkeypatch.setattr(streams, "scheme_of", lambda _: "https")  # the server here has no certificate
    with pytest.raises(RemoteError, match="redirects from https to http"):
        read_bytes(web.address("a.txt"))


def test_an_object_store_streams(bucket: Any, tmp_path: Any) -> None:
    (tmp_path / "a.txt").write_bytes(TEXT)
    bucket.pipe_file("firth/a.txt", TEXT)
    assert read_bytes("s3://firth/a.txt") == TEXT
    expected = Corpus(tmp_path / "a.txt", tokenizer=WHITESPACE).fingerprint
    assert Corpus("s3://firth/a.txt", tokenizer=WHITESPACE).fingerprint == expected


def test_a_file_that_could_not_be_opened_is_closed_without_an_error() -> None:
    """Python closes it when it is removed, and prints what goes wrong, since 3.13."""
    file = RemoteFile.__new__(RemoteFile)
    file.close()
    assert file.closed
