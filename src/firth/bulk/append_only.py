"""An append-only file, written with direct I/O (O_DIRECT) where the system supports it.

Buffered writes copy the data into the page cache first, which takes longer than the disk. Large writes are therefore
gathered in page-aligned buffers and written directly, in whole pages at multiples of the page size. Incomplete pages at
the ends, and file systems without direct I/O, use buffered writes; no page is written in both ways.
"""

from __future__ import annotations

import errno
import mmap
import os
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.kernels import byte_copy as kernel

PAGE = 4096
STAGE = 16 << 20  # bytes of a buffer; one is filled while the other is written
LARGE = 1 << 20  # smaller writes are buffered
AT_ONCE = 512  # pieces per pwritev call; the system limit is about a thousand
Bytes = NDArray[np.uint8]


class DirectBuffers:
    """Two page-aligned buffers, and the thread that writes one while the other is filled."""

    def __init__(self) -> None:
        self.parts = [np.frombuffer(mmap.mmap(-1, STAGE), np.uint8) for _ in range(2)]
        self.thread = ThreadPoolExecutor(1)
        self.writing: list[Future[None] | None] = [None, None]
        self.next = 0

    def free(self) -> tuple[int, Bytes]:
        """The next free buffer and its number; waits until it is written."""
        number, self.next = self.next, 1 - self.next
        self.wait(number)
        return number, self.parts[number]

    def wait(self, number: int) -> None:
        """Waits until a buffer is written, and raises its error."""
        waiting, self.writing[number] = self.writing[number], None
        if waiting is not None:
            waiting.result()

    def finish(self) -> None:
        """Waits until both buffers are written."""
        for number in (0, 1):
            self.wait(number)

    def close(self) -> None:
        """Stops the thread after its pending writes."""
        self.thread.shutdown()


class AppendOnlyFile:
    """The file at a path, of `size` bytes; the next bytes are written at its end."""

    def __init__(self, path: Path, size: int) -> None:
        self.path, self.size = path, size
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)  # on Windows: no \r\n
        self.direct: int | None = None

    def append(self, pieces: Sequence[Any], buffers: DirectBuffers) -> None:
        """Appends bytes or contiguous arrays; the data is written when the buffers are finished."""
        arrays = [np.frombuffer(piece, np.uint8) for piece in pieces if len(piece)]
        total = sum(map(len, arrays))
        if total < LARGE or not self._open_direct():
            self._append_buffered(arrays)
        else:
            self._append_direct(arrays, total, buffers)
        self.size += total

    def _open_direct(self) -> bool:
        if self.direct is None and hasattr(os, "O_DIRECT"):
            try:
                self.direct = os.open(self.path, os.O_WRONLY | os.O_DIRECT)
            except OSError as error:
                if error.errno != errno.EINVAL:
                    raise
        return self.direct is not None

    def _append_buffered(self, arrays: Sequence[Bytes]) -> None:
        place = self.size
        for start in range(0, len(arrays), AT_ONCE):
            some = arrays[start : start + AT_ONCE]
            done = os.pwritev(self.file, [array.data for array in some], place) if hasattr(os, "pwritev") else 0
            total = sum(map(len, some))
            if done < total:  # a write may be partial
                _write(self.file, np.concatenate(some)[done:], place + done)
            place += total

    def _append_direct(self, arrays: Sequence[Bytes], total: int, buffers: DirectBuffers) -> None:
        addresses = np.array([array.ctypes.data for array in arrays], np.uint64)
        sizes = np.array([len(array) for array in arrays], np.int64)
        before = self.size % PAGE
        done = 0
        while done < total:
            number, part = buffers.free()
            count = min(total - done, STAGE - before)
            kernel.gather(*_select_pieces(addresses, sizes, done, done + count), part[before:])
            place = self.size + done - before
            buffers.writing[number] = buffers.thread.submit(self._write_part, part, before, before + count, place)
            done, before = done + count, 0

    def _write_part(self, part: Bytes, start: int, end: int, place: int) -> None:
        """Writes part[start:end]; `place` is the page-aligned file offset of part[0]."""
        first, last = min(end, start + -start % PAGE), end - end % PAGE
        if first < last and self.direct is not None:
            try:
                _write(self.direct, part[first:last], place + first)
            except OSError as error:
                if error.errno != errno.EINVAL:
                    raise
                _write(self.file, part[first:last], place + first)  # O_DIRECT opens, but does not write
        last = max(first, last)
        _write(self.file, part[start:first], place + start)
        _write(self.file, part[last:end], place + last)

    def to_disk(self) -> None:
        """Waits until the data is on disk."""
        os.fsync(self.file)

    def close(self) -> None:
        """Closes the file."""
        os.close(self.file)
        if self.direct is not None:
            os.close(self.direct)


def _select_pieces(addresses: NDArray[np.uint64], sizes: NDArray[np.int64], start: int, end: int) -> tuple[Any, Any]:
    """The pieces with the bytes from start to end of the concatenation, the first and last trimmed."""
    ends = np.cumsum(sizes)
    first, last = int(np.searchsorted(ends, start, "right")), int(np.searchsorted(ends, end, "left"))
    some, counts = addresses[first : last + 1].copy(), sizes[first : last + 1].copy()
    skipped, beyond = start - int(ends[first] - sizes[first]), int(ends[last]) - end
    some[0] += np.uint64(skipped)
    counts[0] -= skipped
    counts[-1] -= beyond
    return some, counts


def _write(file: int, data: Bytes, place: int) -> None:
    done = 0
    while done < len(data):  # a write may be partial
        if hasattr(os, "pwrite"):
            done += os.pwrite(file, data[done:].data, place + done)
        else:  # Windows, where one thread writes at a time, because there is no O_DIRECT
            os.lseek(file, place + done, os.SEEK_SET)
            done += os.write(file, data[done:].data)
