"""A file that only grows, written past the system's memory where that can be done.

What is written the usual way is first copied into memory that the system has to find for it, and brought to the disk
from there; both take longer than the disk itself. So much data is laid together in memory of our own and handed to the
disk directly, which takes whole pages at places that are multiples of a page. What is left at the ends, and where a
file system cannot do it, goes the usual way; no page is written in both ways.
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
STAGE = 16 << 20  # bytes that are laid together at a time; one such part is filled while another is written
LARGE = 1 << 20  # less than this goes the usual way
AT_ONCE = 512  # pieces handed to the system in one call; it takes no more than a thousand
Bytes = NDArray[np.uint8]


class DirectBuffers:
    """Two parts of memory that begin at a page, and the thread that writes one while the other is filled."""

    def __init__(self) -> None:
        self.parts = [np.frombuffer(mmap.mmap(-1, STAGE), np.uint8) for _ in range(2)]
        self.thread = ThreadPoolExecutor(1)
        self.writing: list[Future[None] | None] = [None, None]
        self.next = 0

    def free(self) -> tuple[int, Bytes]:
        """The part that is free next, and its number."""
        number, self.next = self.next, 1 - self.next
        self.wait(number)
        return number, self.parts[number]

    def wait(self, number: int) -> None:
        """Until a part is written; its error is raised."""
        waiting, self.writing[number] = self.writing[number], None
        if waiting is not None:
            waiting.result()

    def finish(self) -> None:
        """Waits until both are written."""
        for number in (0, 1):
            self.wait(number)

    def close(self) -> None:
        """Lets the thread end, when it has done what it was told to do."""
        self.thread.shutdown()


class AppendOnlyFile:
    """The file at a path, which has so many bytes. Its end is where the next bytes go."""

    def __init__(self, path: Path, size: int) -> None:
        self.path, self.size = path, size
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o666)
        self.direct: int | None = None

    def append(self, pieces: Sequence[Any], buffers: DirectBuffers) -> None:
        """Adds bytes, or arrays without gaps as bytes; they are all written when the buffers are finished."""
        arrays = [np.frombuffer(piece, np.uint8) for piece in pieces if len(piece)]
        total = sum(map(len, arrays))
        if total < LARGE or not self._is_direct():
            self._append_usually(arrays)
        else:
            self._append_directly(arrays, total, buffers)
        self.size += total

    def _is_direct(self) -> bool:
        if self.direct is None and hasattr(os, "O_DIRECT"):
            try:
                self.direct = os.open(self.path, os.O_WRONLY | os.O_DIRECT)
            except OSError as error:
                if error.errno != errno.EINVAL:
                    raise
        return self.direct is not None

    def _append_usually(self, arrays: Sequence[Bytes]) -> None:
        place = self.size
        for start in range(0, len(arrays), AT_ONCE):
            some = arrays[start : start + AT_ONCE]
            done = os.pwritev(self.file, [array.data for array in some], place) if hasattr(os, "pwritev") else 0
            total = sum(map(len, some))
            if done < total:  # a file may take less than it is given
                _write(self.file, np.concatenate(some)[done:], place + done)
            place += total

    def _append_directly(self, arrays: Sequence[Bytes], total: int, buffers: DirectBuffers) -> None:
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
        """Writes part[start:end]; part[0] belongs to a place that begins a page."""
        first, last = min(end, start + -start % PAGE), end - end % PAGE
        if first < last and self.direct is not None:
            try:
                _write(self.direct, part[first:last], place + first)
            except OSError as error:
                if error.errno != errno.EINVAL:
                    raise
                _write(self.file, part[first:last], place + first)  # it can be opened so, but not written
        last = max(first, last)
        _write(self.file, part[start:first], place + start)
        _write(self.file, part[last:end], place + last)

    def to_disk(self) -> None:
        """Waits until all of it is on the disk."""
        os.fsync(self.file)

    def close(self) -> None:
        """Lets go of the file."""
        os.close(self.file)
        if self.direct is not None:
            os.close(self.direct)


def _select_pieces(addresses: NDArray[np.uint64], sizes: NDArray[np.int64], start: int, end: int) -> tuple[Any, Any]:
    """The pieces that hold the bytes from start to end of all of them, the first and last of them cut."""
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
    while done < len(data):  # a file may take less than it is given
        done += os.pwrite(file, data[done:].data, place + done)
