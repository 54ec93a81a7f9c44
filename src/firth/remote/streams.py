"""Reading remote files as streams: one connection from the start to the end, and a new one where it breaks.

A new connection continues at the byte where the old one ended. A file that changed in the meantime is an error.
"""

from __future__ import annotations

import io
import re
import time
from typing import IO, Any, Protocol, cast

from firth.errors import RemoteError
from firth.remote.addresses import READ_ONLY, scheme_of, shown
from firth.remote.stores import (
    PAUSES,
    BrokenConnection,
    RemoteStatus,
    describe,
    is_transient,
    look,
    open_store,
    translate,
)

BLOCK = 8 << 20  # bytes of a request to an object store
SMALLEST = 1 << 16
PIECE = 1 << 20  # bytes read at a time
RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


class Source(Protocol):
    """Where the bytes of a remote file come from. `read` returns some bytes from an offset, none at the end."""

    def read(self, offset: int, size: int) -> bytes: ...
    def reconnect(self) -> None: ...


class WebSource:
    """A file on a web server: one request for all that follows an offset."""

    def __init__(self, status: RemoteStatus) -> None:
        self.status = status
        self._answer: Any = None
        self._at = 0

    def read(self, offset: int, size: int) -> bytes:
        if self._answer is None or self._at != offset:
            self._connect(offset)
        data = self._receive(size)
        self._at += len(data)
        if not data and self.status.size is not None and self._at < self.status.size:
            raise BrokenConnection(f"the connection broke after {self._at:,} of {self.status.size:,} bytes")
        return data

    def _receive(self, size: int) -> bytes:
        """Some bytes of the answer. When the connection breaks, aiohttp withholds what has arrived: it is kept here."""
        try:
            data: bytes = self._answer.read(size)
        except Exception as error:
            content = self._answer.r.content
            content.set_exception(None)
            data = content.read_nowait(size)
            content.set_exception(error)
            if not data:
                raise
        return data

    def reconnect(self) -> None:
        if self._answer is not None:
            self._answer.close()
            self._answer = None

    def _connect(self, offset: int) -> None:
        self.reconnect()
        store, path = open_store(self.status.address)
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={offset}-"} if offset else {})
        self._answer = store.open(path, "rb", block_size=0, size=1, headers=headers)  # a size saves a question
        answer = self._answer.r
        if scheme_of(self.status.address) == "https" and answer.url.scheme != "https":
            problem = "redirects from https to http, which is not followed"
            raise RemoteError(shown(self.status.address), problem)
        self._at = 0
        if answer.status == 206:
            found = RANGE.fullmatch(answer.headers.get("Content-Range", ""))
            if found is None or int(found[1]) != offset:
                raise RemoteError(shown(self.status.address), "the server sends another part than the one asked for")
            self._at = offset
        while self._at < offset:  # the server does not send parts of files
            data = self._receive(min(PIECE, offset - self._at))
            if not data:
                raise BrokenConnection(f"the connection broke after {self._at:,} bytes")
            self._at += len(data)


class BlockSource:
    """A file in an object store, read in blocks. Blocks grow to `BLOCK`, and shrink where connections break."""

    def __init__(self, status: RemoteStatus) -> None:
        self.status = status
        self.block = SMALLEST  # often only the head of a file is read
        self._data, self._start = b"", 0

    def read(self, offset: int, size: int) -> bytes:
        if not self._start <= offset < self._start + len(self._data):
            end = min(self.status.size or 0, offset + self.block)
            if offset >= end:
                return b""
            store, path = open_store(self.status.address)
            data = store.cat_file(path, start=offset, end=end)
            if len(data) != end - offset:
                raise BrokenConnection(f"the store sent {len(data):,} of {end - offset:,} bytes")
            self._data, self._start = data, offset
            self.block = min(BLOCK, 4 * self.block)
        first = offset - self._start
        return self._data[first : first + size]

    def reconnect(self) -> None:
        self._data, self.block = b"", max(SMALLEST, self.block // 4)


class RemoteFile(io.RawIOBase):
    """The bytes of a remote file. Broken connections are resumed where they broke; a changed file is an error."""

    def __init__(self, address: str, start: int = 0, status: RemoteStatus | None = None) -> None:
        self.status = look(address) if status is None else status
        if self.status.is_folder:
            raise RemoteError(shown(address), "is a folder, but a file is needed")
        self._source: Source = (WebSource if scheme_of(address) in READ_ONLY else BlockSource)(self.status)
        self._offset = start
        self._failures = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._offset

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_END and self.status.size is None:
            raise io.UnsupportedOperation("the size of the file is unknown")
        self._offset = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._offset}.get(whence, self.status.size or 0)
        return self._offset

    def readinto(self, buffer: Any) -> int:
        if not len(buffer) or (self.status.size is not None and self._offset >= self.status.size):
            return 0
        data = self._read(min(len(buffer), PIECE))
        buffer[: len(data)] = data
        is_end = self._offset < (self._offset + len(data)) == self.status.size
        self._offset += len(data)
        if is_end or (not data and self.status.size is None):
            self.check_unchanged()
        return len(data)

    def _read(self, size: int) -> bytes:
        while True:
            try:
                data = self._source.read(self._offset, size)
            except Exception as error:
                self._source.reconnect()
                if not is_transient(error):
                    self.check_unchanged()  # one that got shorter has no bytes there
                    raise describe(error, self.status.address) from error
                if self._failures >= len(PAUSES):
                    raise describe(error, self.status.address) from error
                time.sleep(PAUSES[self._failures])
                self._failures += 1
                self.check_unchanged()
                continue
            self._failures = 0
            if self.status.size is not None and self._offset + len(data) > self.status.size:
                self.check_unchanged()
                problem = f"the server sends more than the {self.status.size:,} bytes that it announced"
                raise RemoteError(shown(self.status.address), problem)
            return data

    def check_unchanged(self) -> None:
        """Raises a RemoteError if the file is not the one that was opened."""
        if look(self.status.address, attempts=len(PAUSES)).fingerprint != self.status.fingerprint:
            raise RemoteError(shown(self.status.address), "changed while it was read", cure="Start again")

    def close(self) -> None:
        if not self.closed and "_source" in vars(self):  # Python also closes what could not be opened
            with translate(self.status.address):
                self._source.reconnect()
        super().close()


def open_remote(address: str) -> IO[bytes]:
    """The bytes of a remote file, buffered."""
    return cast(IO[bytes], io.BufferedReader(RemoteFile(address), PIECE))
