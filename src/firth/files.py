"""Files as bytes: names and patterns, compression, UTF-8, and atomic writing.

`text/corpus.py` and `formats/` know what files contain.
"""

from __future__ import annotations

import bz2
import errno
import glob
import gzip
import io
import json
import lzma
import mmap
import os
import re
import shutil
import sys
import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, Literal, cast

from firth.errors import FormatError, OptionError
from firth.lazy import import_name

Name = str | os.PathLike[str]
STDIN = "-"
LONGEST_LINE = 1 << 28  # bytes
MARK = re.compile(rb'"library"\s*:\s*"firth"')  # of the files that mark a folder as written by firth
UTF_16 = b"\xff\xfe", b"\xfe\xff"  # byte order marks
NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f]")  # control characters that no text contains
COMPRESSIONS = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst"}


def expand(names: Name | Iterable[Name]) -> list[str]:
    """The files that names, folders, glob patterns and '-' stand for, in a stable order.

    A binary file in a folder, such as a PDF document, is skipped with a warning that names it.

    >>> expand("-")
    ['-']
    >>> expand("no/such/file.txt")
    Traceback (most recent call last):
    firth.errors.OptionError: no/such/file.txt: no such file, folder or pattern
    """
    paths: list[str] = []
    for name in [names] if isinstance(names, (str, os.PathLike)) else names:
        text = os.fspath(name)
        if text == STDIN or os.path.isfile(text):
            paths.append(text)
        elif os.path.isdir(text):
            inside = sorted(str(path) for path in Path(text).rglob("*") if path.is_file() and path.name[0] != ".")
            if not inside:
                raise OptionError(f"{text}: the folder contains no files")
            texts = [path for path in inside if not is_binary(path)]
            for path in sorted(set(inside) - set(texts)):
                warnings.warn(f"{path}: is skipped, because it is not text", stacklevel=1)
            if not texts:
                raise OptionError(f"{text}: the folder contains no text, only {len(inside):,} binary files")
            paths.extend(texts)
        elif os.path.exists(text):  # a pipe or a device
            paths.append(text)
        else:
            matches = sorted(path for path in glob.glob(text, recursive=True) if os.path.isfile(path))
            if not matches:
                raise OptionError(f"{text}: no such file, folder or pattern")
            paths.extend(matches)
    if not paths:
        raise OptionError("no input: give a file, a folder, a pattern, or - for standard input")
    return paths


def is_binary(path: Name) -> bool:
    """Whether a file starts with bytes that no text contains. Compressed files and token files count as text.

    >>> is_binary("README.md")
    False
    """
    with open(path, "rb") as file:
        head = file.read(4096)
    if _compression_of(head) is not None or head.startswith((b"FIRTHTOK", *UTF_16)):
        return False
    return head.startswith(b"%PDF") or NO_TEXT.search(head) is not None


def total_size(paths: Iterable[Name]) -> int | None:
    """The bytes of files on disk; None if one of them is a pipe."""
    files = list(paths)
    return sum(map(os.path.getsize, files)) if all(map(os.path.isfile, files)) else None


def compression(path: Name) -> str | None:
    """The compression of a file: "gz", "bz2", "xz", "zst" or None. It is detected by the first bytes, not the name."""
    with open(path, "rb") as file:
        return _compression_of(file.read(6))


def _compression_of(head: bytes) -> str | None:
    return next((name for magic, name in COMPRESSIONS.items() if head.startswith(magic)), None)


@contextmanager
def open_bytes(path: Name) -> Iterator[IO[bytes]]:
    """The decompressed bytes of a file, or of standard input for '-'. Corrupt data is a FormatError."""
    with open_with_position(path) as (file, _):
        yield file


def read_bytes(path: Name, longest: int | None = None) -> bytes:
    """The decompressed bytes of a file; more than `longest` are an error, not a full memory."""
    with open_bytes(path) as file:
        data = file.read(-1 if longest is None else longest + 1)
    if longest is not None and len(data) > longest:
        raise FormatError(path, f"has more than {longest:,} bytes, the limit for a file of its kind")
    return data


def read_json(path: Name, longest: int | None = None) -> Any:
    """The value in a JSON file, compressed or not."""
    data = read_bytes(path, longest)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FormatError(path, f"is not JSON: {error}") from error


def map_file(path: Name) -> bytes | mmap.mmap:
    """The bytes of a file, memory-mapped."""
    if os.path.getsize(path) == 0:
        return b""  # an empty file cannot be mapped
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def read_lines(path: Name, longest: int = LONGEST_LINE, *, blank: bool = True) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 file without their ends, numbered from 1; a byte order mark is dropped.

    Only a line feed ends a line: words may contain rarer line separators. With `blank=False`, blank lines are left out.
    """
    with open_bytes(path) as file:
        for number, raw in iterate_lines(file, path, longest):
            line = decode(raw, path, line=number).rstrip("\r\n")
            if blank or line.strip():
                yield number, line


def iterate_lines(file: IO[bytes], path: Name, longest: int = LONGEST_LINE) -> Iterator[tuple[int, bytes]]:
    """The lines of an open file, numbered from 1; one of more than `longest` bytes is an error, not a full memory."""
    for number, raw in enumerate(iter(lambda: file.readline(longest + 1), b""), 1):
        if len(raw) > longest:
            problem = f"the line has more than {longest:,} bytes"
            raise FormatError(path, problem, line=number, cure="Break the text into lines")
        yield number, raw


def fill(file: IO[bytes], view: memoryview) -> int:
    """Reads until the view is full or the file ends; returns the number of bytes."""
    filled = 0
    while filled < len(view) and (count := file.readinto(view[filled:])):  # type: ignore[attr-defined]
        filled += count
    return filled


def decode(
    data: bytes,
    path: Name,
    *,
    line: int = 1,
    offset: int | None = None,
    errors: Literal["strict", "replace"] = "strict",
    cure: str = "Convert the file to UTF-8",
) -> str:
    """UTF-8 bytes of a file as text; without an `offset`, a byte order mark at the start of line 1 is dropped.

    The error names the place in the file: by `line`, the number of the first line in `data`, or by `offset`, the
    position of `data` in bytes.

    >>> decode(b"tea\\ncaf\\xe9\\n", "menu.txt")
    Traceback (most recent call last):
    firth.errors.FormatError: menu.txt:2: byte 0xe9 at column 4 is not UTF-8 (invalid continuation byte). \
Convert the file to UTF-8
    """
    is_start = offset == 0 or (offset is None and line == 1)
    try:
        return data.decode("utf-8-sig" if is_start and offset is None else "utf-8", errors)
    except UnicodeDecodeError as error:
        data, place = error.object, error.start  # the object has no byte order mark
        if is_start and data[:2] in UTF_16:
            cure = "The file looks like UTF-16: convert it to UTF-8"
        byte, problem = f"0x{data[place]:02x}", f"is not UTF-8 ({error.reason})"
        if offset is not None:
            raise FormatError(path, f"{byte} {problem}", offset=offset + place, cure=cure) from error
        column, line = place - data.rfind(b"\n", 0, place), line + data.count(b"\n", 0, place)
        raise FormatError(path, f"byte {byte} at column {column} {problem}", line=line, cure=cure) from error


@contextmanager
def open_with_position(path: Name) -> Iterator[tuple[IO[bytes], Callable[[], int | None]]]:
    """As `open_bytes`, with a function that returns how many bytes on disk have been read so far (None for a pipe).

    The first bytes are peeked at, not read, so that pipes work.
    """
    is_stdin = os.fspath(path) == STDIN
    raw: Any = sys.stdin.buffer if is_stdin else open(path, "rb")
    if not hasattr(raw, "peek"):
        raw = io.BufferedReader(raw)
    try:
        kind = _compression_of(raw.peek(6)[:6])
        try:
            yield raw if kind is None else _decompress(raw, kind), lambda: raw.tell() if raw.seekable() else None
        except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
            if kind is None:
                raise
            raise FormatError(path, f"the {kind} data is corrupt or truncated ({error})") from error
        except OSError as error:
            if kind == "bz2" and error.errno is None:  # bz2 has no error class of its own
                raise FormatError(path, f"the bz2 data is corrupt ({error})") from error
            raise
    finally:
        if not is_stdin:
            raw.close()


def _decompress(raw: IO[bytes], kind: str) -> IO[bytes]:
    if kind == "gz":
        return cast(IO[bytes], gzip.GzipFile(fileobj=raw, mode="rb"))
    if kind == "bz2":
        return cast(IO[bytes], bz2.BZ2File(raw))
    if kind == "xz":
        return cast(IO[bytes], lzma.LZMAFile(raw))
    return cast(IO[bytes], io.BufferedReader(_ZstStream(raw), 1 << 17))


class _ZstStream(io.RawIOBase):
    """All frames of a .zst file, one after another. A truncated last frame is an EOFError."""

    def __init__(self, compressed: IO[bytes]) -> None:
        self._compressed = compressed
        self._start_frame, self._error = _zst_frames()
        self._frame: Any = None
        self._rest, self._ready = b"", b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            compressed = self._rest or self._compressed.read(1 << 14)
            if not compressed and self._frame is not None:
                raise EOFError("the last frame has no end")
            if not compressed:
                return 0
            self._frame = self._frame or self._start_frame()
            try:
                self._ready = self._frame.decompress(compressed)
            except self._error as error:
                raise EOFError(str(error)) from error
            self._rest = self._frame.unused_data if self._frame.eof else b""
            self._frame = None if self._frame.eof else self._frame
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size


def _zst_frames() -> tuple[Callable[[], Any], type[Exception]]:
    """A function that starts the decompression of a frame, and the error that it raises."""
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.ZstdDecompressor, zstd.ZstdError
    zstandard = _zstandard()
    return lambda: zstandard.ZstdDecompressor().decompressobj(), zstandard.ZstdError


def _zstandard() -> Any:
    return import_name("zstandard", "reading and writing .zst files", "zst")


def _write_zst(path: Name, mode: str) -> IO[bytes]:
    if sys.version_info >= (3, 14):
        from compression import zstd

        return cast(IO[bytes], zstd.open(path, mode, options={zstd.CompressionParameter.checksum_flag: 1}))
    zstandard = _zstandard()
    return cast(IO[bytes], zstandard.open(path, mode, cctx=zstandard.ZstdCompressor(write_checksum=True)))


@contextmanager
def write_bytes(path: Name) -> Iterator[IO[bytes]]:
    """A file to write, compressed according to its extension (.gz, .bz2, .xz, .zst); `-` is standard output.

    The file appears under its name only when it is complete.
    """
    if os.fspath(path) == STDIN:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with atomic_file(path) as draft:
        gzip_file = partial(gzip.GzipFile, mtime=0)  # the same input gives the same file
        openers: dict[str, Any] = {".gz": gzip_file, ".bz2": bz2.open, ".xz": lzma.open, ".zst": _write_zst}
        with openers.get(Path(path).suffix, open)(draft, "wb") as file:
            yield file


@contextmanager
def atomic_file(path: Name) -> Iterator[Path]:
    """A temporary path beside `path`. It is renamed to `path` at the end, and removed on any failure."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    os.close(handle)
    draft = Path(name)
    try:
        with name_in_errors(target):
            yield draft
        os.chmod(draft, 0o666 & ~_umask())
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: Name) -> Iterator[Path]:
    """A temporary folder beside `path`. It replaces `path` at the end, and is removed on any failure.

    An existing folder is replaced only if it is empty or firth wrote it: its config.json says so.
    """
    target = Path(path)
    if target.exists() and not target.is_dir():
        raise OptionError(f"{target}: is a file, but the output is a folder. Choose another name")
    check_output(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part"))
    try:
        with name_in_errors(target):
            yield draft
        os.chmod(draft, 0o777 & ~_umask())
        if target.exists():
            aside = draft.with_suffix(".old")
            os.replace(target, aside)
            os.replace(draft, target)
            shutil.rmtree(aside)
        else:
            os.replace(draft, target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def check_output(path: Name, markers: Iterable[str] = ("config.json",)) -> None:
    """Raises an OptionError if a path cannot be written, or is a folder with files that firth did not write.

    One of the files in `markers` marks a folder that firth wrote: it contains `"library": "firth"`.

    >>> check_output("README.md/model")
    Traceback (most recent call last):
    firth.errors.OptionError: README.md/model: cannot be written, because README.md is not a writable folder
    """
    target = Path(path)
    if target.is_dir() and any(target.iterdir()) and not any(_is_mark(target / name) for name in markers):
        raise OptionError(f"{target}: the folder contains other files. Choose another name or empty it")
    above = next((folder for folder in target.parents if folder.exists()), target)
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise OptionError(f"{target}: cannot be written, because {above} is not a writable folder")


def _is_mark(path: Path) -> bool:
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        return MARK.search(file.read(1 << 16)) is not None


@contextmanager
def name_in_errors(path: Name) -> Iterator[None]:
    """Adds the file name to errors about a full disk: the system leaves it out."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
