"""Files as bytes: names and patterns, compression, UTF-8, and atomic writing.

A name may be an address, such as s3://bucket/corpus.txt: `remote/` reads and writes those.
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
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import IO, Any, Literal, TextIO, cast

from firth.errors import FormatError, MissingFile, OptionError
from firth.lazy import import_name
from firth.locks import make_locked_folder, remove_abandoned
from firth.remote.addresses import READ_ONLY, address_of, base_name, scheme_of, shown
from firth.remote.downloads import cache_root, fetch
from firth.remote.stores import find, list_folder, look_at_all, match
from firth.remote.streams import RemoteFile, open_remote
from firth.remote.uploads import check_writable, discard_staged, is_staged, publish, staging_path
from firth.temporary import TemporaryFolder

Name = str | os.PathLike[str]
STDIN = "-"
OLD, DRAFT = ".old", ".firth-part"  # the endings of a folder that is being replaced, and of one being written
AT_FDCWD, RENAME_EXCHANGE = -100, 2  # of Linux
LONGEST_LINE = 1 << 28  # bytes
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
MARK = re.compile(rb'"library"\s*:\s*"firth"')  # of the files that mark a folder as written by firth
UTF_16 = b"\xff\xfe", b"\xfe\xff"  # byte order marks
NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f]")  # control characters that no text contains
COMPRESSIONS = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst"}
TRUSTED_SIZE = 1 << 20  # bytes; of data up to this size, the compression ratio is not checked
TRUSTED_RATIO = 100  # text compresses two- to tenfold, a decompression bomb a thousandfold
READ = 4 << 20  # bytes read at a time
PIECE = 1 << 17  # bytes decompressed at a time
XZ_MEMORY = 512 << 20  # most bytes of the dictionary that an .xz file may ask for


def expand(names: Name | Iterable[Name]) -> list[str]:
    """The files that names, folders, glob patterns, addresses and '-' stand for, in a stable order.

    A binary file in a folder, such as a PDF document, is skipped with a warning that names it.

    >>> expand("-")
    ['-']
    >>> expand("no/such/file.txt")
    Traceback (most recent call last):
    firth.errors.OptionError: no/such/file.txt: no such file, folder or pattern
    """
    paths: list[str] = []
    for name in [names] if isinstance(names, (str, os.PathLike)) else names:
        if not isinstance(name, (str, os.PathLike)):
            raise OptionError(f"{name!r:.80} is no name of a file. Give a text or a Path")
        text = os.fspath(name)
        address = address_of(text)
        if address is not None:
            paths.extend(_expand_address(address))
        elif text == STDIN or os.path.isfile(text):
            paths.append(text)
        elif os.path.isdir(text):
            inside = sorted(
                str(path) for path in Path(text).rglob("*") if path.is_file() and not _is_hidden(path, text)
            )
            paths.extend(_keep_texts(inside, text))
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


def _keep_texts(inside: list[str], folder: str) -> list[str]:
    """The texts among the files of a folder."""
    if not inside:
        raise OptionError(f"{folder}: the folder contains no files")
    texts = [path for path in inside if not is_binary(path)]
    for path in sorted(set(inside) - set(texts)):
        warnings.warn(f"{path}: is skipped, because it is not text", stacklevel=1)
    if not texts:
        raise OptionError(f"{folder}: the folder contains no text, only {len(inside):,} binary files")
    return texts


def _expand_address(address: str) -> list[str]:
    """The files at an address: itself, those in a folder, or those that match a pattern. The web has only files."""
    if scheme_of(address) in READ_ONLY:
        return [address]
    status = find(address)
    if status is not None and not status.is_folder:
        return [address]
    if status is not None:
        listing = list_folder(address)
        is_shown = {name: not any(part[0] == "." for part in name.split("/")) for name in listing}
        return _keep_texts([one.address for name, one in listing.items() if is_shown[name]], address)
    matches = match(address) if glob.has_magic(address) else []
    if not matches:
        raise OptionError(f"{address}: no such file, folder or pattern")
    return matches


def _is_hidden(path: Path, above: str) -> bool:
    """Whether the name of a file, or of a folder that it is in, begins with a period, up to the folder `above`."""
    return any(part[0] == "." for part in path.relative_to(above).parts)


def is_binary(path: Name) -> bool:
    """Whether a file starts with bytes that no text contains. Compressed files and token files count as text.

    >>> is_binary("README.md")
    False
    """
    with open_raw(path) as file:
        head = file.read(4096)
    if _compression_of(head) is not None or head.startswith((b"FIRTHTOK", *UTF_16)):
        return False
    return head.startswith(b"%PDF") or NO_TEXT.search(head) is not None


def total_size(paths: Iterable[Name]) -> int | None:
    """The bytes of files on disk or at addresses; None if one of them is a pipe, or its size is not known."""
    files = list(paths)
    remote = [address for path in files if (address := address_of(path)) is not None]
    sizes = [status.size for status in look_at_all(remote)] if remote else []
    local = [path for path in files if address_of(path) is None] if remote else files
    if not all(map(os.path.isfile, local)):
        return None
    sizes += map(os.path.getsize, local)
    return None if None in sizes else sum(size for size in sizes if size is not None)


def versions_of(paths: Iterable[Name]) -> list[tuple[str | int, ...]]:
    """What identifies the present version of each file: path, size and time; for an address, its fingerprint."""
    files = list(paths)
    remote = [address for path in files if (address := address_of(path)) is not None]
    prints = {one.address: one.fingerprint for one in look_at_all(dict.fromkeys(remote))} if remote else {}
    versions: list[tuple[str | int, ...]] = []
    for path in files:
        address = address_of(path)
        if address is not None:
            versions.append((address, prints[address]))
            continue
        status = os.stat(path)
        versions.append((os.path.abspath(path), status.st_size, status.st_mtime_ns))
    return versions


def is_file(path: Name) -> bool:
    """Whether there is a file of this name, on disk or at an address.

    >>> is_file("README.md"), is_file("docs")
    (True, False)
    """
    address = address_of(path)
    if address is None:
        return os.path.isfile(path)
    status = find(address)
    return status is not None and not status.is_folder


def is_folder(path: Name) -> bool:
    """Whether there is a folder of this name, on disk or at an address.

    >>> is_folder("README.md"), is_folder("docs")
    (False, True)
    """
    address = address_of(path)
    if address is None:
        return os.path.isdir(path)
    status = find(address)
    return status is not None and status.is_folder


def exists(path: Name) -> bool:
    """Whether there is a file or folder of this name, on disk or at an address."""
    address = address_of(path)
    return os.path.exists(path) if address is None else find(address) is not None


def local_path(path: Name) -> Name:
    """The path itself, or for an address that of its copy in the cache, which is downloaded if it is not there.

    >>> local_path("README.md")
    'README.md'
    """
    address = address_of(path)
    return path if address is None else fetch(address)


def refuse_address(path: Name, purpose: str) -> None:
    """Raises an OptionError if a path is an address, for what is written bit by bit.

    >>> refuse_address("s3://bucket/state", "checkpoints")
    Traceback (most recent call last):
    firth.errors.OptionError: s3://bucket/state: checkpoints must be on this machine. Choose a local path
    """
    address = address_of(path)
    if address is not None:
        raise OptionError(f"{shown(address)}: {purpose} must be on this machine. Choose a local path")


def open_raw(path: Name) -> IO[bytes]:
    """A file to read, on disk or at an address, as it is stored."""
    address = address_of(path)
    return open(path, "rb") if address is None else open_remote(address)


def compression(path: Name) -> str | None:
    """The compression of a file: "gz", "bz2", "xz", "zst" or None. It is detected by the first bytes, not the name."""
    with open_raw(path) as file:
        return _compression_of(file.read(6))


def _compression_of(head: bytes) -> str | None:
    return next((name for magic, name in COMPRESSIONS.items() if head.startswith(magic)), None)


def _packed_ending(path: Name) -> bool:
    """Whether the name of a file says that it is compressed."""
    return os.fspath(path).rpartition(".")[2].lower() in COMPRESSIONS.values()


@contextmanager
def open_bytes(path: Name) -> Iterator[IO[bytes]]:
    """The decompressed bytes of a file, or of standard input for '-'. Corrupt data is a FormatError."""
    with open_with_position(path) as (file, _):
        yield file


def read_bytes(path: Name, longest: int | None = None) -> bytes:
    """The decompressed bytes of a file; more than `longest` are an error, not a full memory."""
    with open_bytes(path) as file:
        pieces: list[bytes] = []
        size = 0
        while piece := file.read(READ):  # one call with a size would reserve that much memory at once
            pieces.append(piece)
            size += len(piece)
            if longest is not None and size > longest:
                raise FormatError(path, f"has more than {longest:,} bytes, the limit for a file of its kind")
    return b"".join(pieces)


def read_json(path: Name, longest: int | None = None) -> Any:
    """The value in a JSON file, compressed or not."""
    return parse_json(read_bytes(path, longest), path)


def parse_json(text: str | bytes, path: Name, *, line: int | None = None, cure: str = "") -> Any:
    """The value of a JSON text from a file; anything else, also a text that is nested too deeply, is an error.

    >>> parse_json('{"step": 1', "log.jsonl", line=7)
    Traceback (most recent call last):
    firth.errors.FormatError: log.jsonl:7: is not JSON: Expecting ',' delimiter: line 1 column 11 (char 10)
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(path, f"is not JSON: {error}", line=line, cure=cure) from error


def refuse_outer_link(path: Path) -> Path:
    """The path of a file of a folder; a symbolic link that leads out of the folder is an error.

    A snapshot in the cache of the Hugging Face Hub consists of links to the folder `blobs` beside `snapshots`. These
    are followed.
    """
    if not path.is_symlink():
        return path
    folder, target = path.parent.resolve(), path.resolve()
    blobs = folder.parent.parent / "blobs" if folder.parent.name == "snapshots" else None
    if target.parent not in (folder, blobs):
        raise FormatError(path, "is a link out of the folder, which is not followed", cure="Copy the file there")
    return path


def map_file(path: Name) -> bytes | mmap.mmap:
    """The bytes of a file, memory-mapped."""
    path = local_path(path)
    if not os.path.exists(path):
        raise MissingFile(path)
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


@lru_cache(1)
def open_stdin(stream: TextIO) -> IO[bytes]:
    """The bytes of standard input, in a reader of their own.

    At its end Python closes the one of `sys.stdin`, and aborts if a thread still waits there.
    """
    try:
        return open(stream.fileno(), "rb", closefd=False)
    except (OSError, ValueError):  # not a stream of the system
        return cast(IO[bytes], stream.buffer)


@contextmanager
def open_with_position(path: Name) -> Iterator[tuple[IO[bytes], Callable[[], int | None]]]:
    """As `open_bytes`, with a function that returns how many bytes on disk have been read so far (None for a pipe).

    The first bytes are peeked at, not read, so that pipes work.
    """
    is_stdin = os.fspath(path) == STDIN
    try:
        raw: Any = open_stdin(sys.stdin) if is_stdin else open_raw(path)
    except FileNotFoundError as error:
        raise MissingFile(path) from error
    if not hasattr(raw, "peek"):
        raw = io.BufferedReader(raw)
    try:
        head = raw.peek(6)[:6]
        kind = _compression_of(head)
        if kind is None and any(magic.startswith(head) for magic in COMPRESSIONS) and _packed_ending(path):
            problem = f"has {len(head)} bytes, but even an empty text is longer when it is packed"
            raise FormatError(path, problem, cure="Pack or fetch the file again")
        try:
            yield raw if kind is None else _decompress(raw, kind, path), lambda: raw.tell() if raw.seekable() else None
        except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
            if kind is None:
                raise
            if isinstance(getattr(raw, "raw", None), RemoteFile):
                raw.raw.check_unchanged()
            raise FormatError(path, f"the {kind} data is corrupt or truncated ({error})") from error
    finally:
        if not is_stdin:
            raw.close()


def _decompress(raw: IO[bytes], kind: str, path: Name) -> IO[bytes]:
    if kind == "gz":
        stream: Any = gzip.GzipFile(fileobj=raw, mode="rb")
    elif kind == "bz2":
        stream = _Streams(raw, bz2.BZ2Decompressor, OSError)  # bz2 has no error class of its own
    elif kind == "xz":
        stream = _Streams(raw, partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, XZ_MEMORY), lzma.LZMAError, padding=4)
    else:
        stream = _Streams(raw, *_zst_frames())
    return cast(IO[bytes], io.BufferedReader(_Expansion(stream, raw, path), PIECE))


class _Expansion(io.RawIOBase):
    """Decompressed data; more than `TRUSTED_RATIO` times as much as the compressed data is an error."""

    def __init__(self, stream: Any, raw: IO[bytes], path: Name) -> None:
        self._stream, self._raw, self._path = stream, raw, path
        self._size, self._next_check = 0, TRUSTED_SIZE

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = int(self._stream.readinto(buffer))
        self._size += count
        if self._size > self._next_check:
            self._next_check = self._size + TRUSTED_SIZE
            if self._raw.seekable() and self._size > TRUSTED_RATIO * self._raw.tell():
                problem = f"{self._raw.tell():,} bytes decompress to more than {TRUSTED_RATIO} times as many"
                cure = "Real text and vectors do not. Decompress the file yourself if you trust it"
                raise FormatError(self._path, problem, cure=cure)
        return count


class _Streams(io.RawIOBase):
    """The decompressed data of a file: one stream (or frame) or several, one after another.

    A stream without an end, or anything between streams but the padding that the format allows, is an EOFError.
    `start` makes the decompressor of a stream, `error` is what it raises, and `padding` is the unit of the zero bytes
    that may follow a stream (0: none).
    """

    def __init__(self, raw: IO[bytes], start: Callable[[], Any], error: type[Exception], *, padding: int = 0) -> None:
        self._raw, self._start, self._error, self._padding = raw, start, error, padding
        self._stream: Any = None
        self._compressed, self._ready = b"", memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            if not self._compressed and (self._stream is None or self._stream.needs_input):
                self._compressed = self._raw.read(PIECE)
                if not self._compressed:
                    if self._stream is not None:
                        raise EOFError("the last stream has no end")
                    return 0
            if self._stream is None:
                if self._skip_padding():
                    continue
                self._stream = self._start()
            try:
                self._ready = memoryview(self._stream.decompress(self._compressed, PIECE))
            except self._error as error:
                raise EOFError(str(error)) from error
            self._compressed = self._stream.unused_data if self._stream.eof else b""
            self._stream = None if self._stream.eof else self._stream
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size

    def _skip_padding(self) -> bool:
        """Skips the zero bytes between streams; returns whether there were any."""
        if not self._padding or self._compressed[0] != 0:
            return False
        zeros = 0
        while self._compressed:
            rest = self._compressed.lstrip(b"\0")
            zeros += len(self._compressed) - len(rest)
            self._compressed = rest or self._raw.read(PIECE)
            if rest:
                break
        if zeros % self._padding:
            raise EOFError(f"{zeros:,} zero bytes follow a stream")
        return True


def _zst_frames() -> tuple[Callable[[], Any], type[Exception]]:
    """A function that starts the decompression of a frame, and the error that it raises."""
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.ZstdDecompressor, zstd.ZstdError
    zstandard = _zstandard()
    return partial(_ZstFrame, zstandard), zstandard.ZstdError


class _ZstFrame:
    """A frame of a .zst file with the interface of `bz2.BZ2Decompressor`.

    zstandard returns all data of a piece at once, and four bytes may stand for 128 KiB: so it gets small pieces.
    """

    SMALL = 1 << 10

    def __init__(self, zstandard: Any) -> None:
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._left = memoryview(b"")

    @property
    def eof(self) -> bool:
        return bool(self._frame.eof)

    @property
    def needs_input(self) -> bool:
        return not self._left

    @property
    def unused_data(self) -> bytes:
        return bytes(self._frame.unused_data) + bytes(self._left)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Some of the data, at least `max_length` bytes unless the input ends."""
        if data:
            self._left = memoryview(bytes(self._left) + data)
        pieces: list[bytes] = []
        size = 0
        while self._left and size < max_length and not self._frame.eof:
            pieces.append(self._frame.decompress(self._left[: self.SMALL]))
            self._left = self._left[self.SMALL :]
            size += len(pieces[-1])
        return b"".join(pieces)


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
    """A temporary path beside `path`. It is renamed to `path` at the end, and removed on any failure.

    Where `path` is a symbolic link, the file that it points to is replaced, and the link stays. Where it is an address,
    the file is uploaded at the end.
    """
    address = address_of(path)
    if address is not None:
        check_writable(address, markers=None)
        if is_folder(address):
            raise OptionError(f"{address}: is a folder, but the output is a file. Choose another name")
        with _draft_upload(address) as draft:
            yield draft
        return
    target = follow_link(path)
    if target.is_dir():
        raise OptionError(f"{target}: is a folder, but the output is a file. Choose another name")
    with _draft_folder(target) as folder:
        draft = folder / target.name
        with name_in_errors(target):
            yield draft
        os.chmod(draft, 0o666 & ~_umask())
        os.replace(draft, target)


@contextmanager
def atomic_folder(path: Name) -> Iterator[Path]:
    """A temporary folder beside `path`. It replaces `path` at the end, and is removed on any failure.

    An existing folder is replaced only if it is empty or firth wrote it: its config.json says so. Where `path` is a
    symbolic link, the folder that it points to is replaced, and the link stays. Where it is an address, the files are
    uploaded at the end, config.json last.
    """
    address = address_of(path)
    if address is not None:
        check_writable(address)
        if is_file(address):
            raise OptionError(f"{address}: is a file, but the output is a folder. Choose another name")
        with _draft_upload(address) as draft:
            draft.mkdir()
            yield draft
        return
    target = follow_link(path)
    if target.exists() and not target.is_dir():
        raise OptionError(f"{target}: is a file, but the output is a folder. Choose another name")
    check_output(target)
    with _draft_folder(target) as draft:
        with name_in_errors(target):
            yield draft
        os.chmod(draft, 0o777 & ~_umask())
        replace_folder(draft, target)


@contextmanager
def _draft_upload(address: str) -> Iterator[Path]:
    """A path on this machine for what shall be uploaded to an address."""
    above = cache_root()
    above.mkdir(parents=True, exist_ok=True)
    with TemporaryFolder("upload", above) as folder:
        draft = folder.path / base_name(address)
        with name_in_errors(draft):
            yield draft
        publish(draft, address)


@contextmanager
def staged(path: Name, marks: Iterable[str] = ("config.json",)) -> Iterator[Name]:
    """Where long work writes, so that it can resume: the path itself or, for an address, a path on this machine.

    What is there at the end is uploaded to the address, the file of `marks` last.
    """
    address = address_of(path)
    if address is None:
        yield path
        return
    check_writable(address, marks)
    place = staging_path(address)
    place.parent.mkdir(parents=True, exist_ok=True)
    yield place
    publish(place, address, next((mark for mark in marks if (place / mark).is_file()), "config.json"))
    discard_staged(address)


def is_under_way(path: Name) -> bool:
    """Whether work on an address, as by `staged`, was begun and not finished. Local paths have other marks."""
    address = address_of(path)
    return address is not None and is_staged(address)


@contextmanager
def _draft_folder(target: Path) -> Iterator[Path]:
    """A locked folder beside `target` for what shall become it. Those that killed runs left are removed first."""
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_drafts(target.parent, target.name)
    draft, lock = make_locked_folder(target.parent, f".{target.name}.", DRAFT)
    try:
        yield draft
    finally:
        try:
            shutil.rmtree(draft, ignore_errors=True)
        finally:
            if lock is not None:
                os.close(lock)


def remove_drafts(folder: Path, name: str | None = None) -> None:
    """Removes what killed runs left beside files and folders that they wrote: all in a folder, or those of one name."""
    drafts = f".{'*' if name is None else glob.escape(name)}.{'?' * 8}{DRAFT}"
    remove_abandoned(path for path in folder.glob(drafts) if path.is_dir() and not path.is_symlink())


def replace_folder(draft: Path, target: Path) -> None:
    """Moves a folder to `target`, where a folder may be; the old one is removed.

    Where the system can exchange two names in one call, there is a complete folder under the name at every moment.
    Elsewhere a kill between two calls leaves the old one beside it, and `recover_folder` finds it.
    """
    if target.exists() and exchange(draft, target):
        shutil.rmtree(draft)  # now the old one
    else:
        if target.exists():
            os.replace(target, draft.with_suffix(OLD))
        os.replace(draft, target)
    for aside in _asides(target):
        shutil.rmtree(aside)


def exchange(first: Name, second: Name) -> bool:
    """Exchanges two names in one system call; returns False, and changes nothing, where the system cannot.

    >>> exchange("no/such/name", "no/such/other")
    False
    """
    if sys.platform != "linux":
        return False
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "renameat2"):
        return False
    names = os.fsencode(first), os.fsencode(second)
    return bool(library.renameat2(AT_FDCWD, names[0], AT_FDCWD, names[1], RENAME_EXCHANGE) == 0)


def recover_folder(path: Name) -> bool:
    """Puts back a folder that a killed run moved aside and did not replace; returns whether there was one."""
    target = Path(path)
    if os.path.exists(path) or not target.name or not os.path.isdir(target.parent):
        return False
    asides = _asides(target)
    if asides:
        os.replace(asides[-1], target)
    return bool(asides)


def _asides(target: Path) -> list[Path]:
    """The folders of firth that were moved aside to be replaced, the newest last."""
    found = target.parent.glob(f".{glob.escape(target.name)}.*{OLD}")
    return sorted((path for path in found if _is_mark(path / "config.json")), key=os.path.getmtime)


def check_output(path: Name, markers: Iterable[str] = ("config.json",)) -> None:
    """Raises an OptionError if a path cannot be written, or is a folder with files that firth did not write.

    One of the files in `markers` marks a folder that firth wrote: it contains `"library": "firth"`.

    >>> check_output("README.md/model")
    Traceback (most recent call last):
    firth.errors.OptionError: README.md/model: cannot be written, because README.md is not a writable folder
    """
    address = address_of(path)
    if address is not None:
        check_writable(address, markers)
        return
    target = Path(path)
    if target.is_dir() and any(target.iterdir()) and not any(_is_mark(target / name) for name in markers):
        raise OptionError(f"{target}: the folder contains other files. Choose another name or empty it")
    above = next((folder for folder in target.parents if folder.exists()), target)
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise OptionError(f"{target}: cannot be written, because {above} is not a writable folder")


def follow_link(path: Name) -> Path:
    """The path that a symbolic link points to, also if nothing is there yet; any other path as it is."""
    return Path(os.path.realpath(path)) if os.path.islink(path) else Path(path)


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
        if error.filename is not None or error.errno not in DISK_FULL:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
