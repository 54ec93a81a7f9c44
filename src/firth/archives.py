"""Tar and zip archives: what Python's readers raise for damaged or forged ones becomes a FormatError."""

from __future__ import annotations

import io
import lzma
import os
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from firth.errors import FirthError, FormatError
from firth.files import DISK_FULL, XZ_MEMORY, Name, open_bytes

DAMAGED = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, struct.error, EOFError),
    *(OSError, OverflowError, ValueError, RuntimeError),  # places beyond 2^63, names that are no text, encryption
)
READS_BEHIND_THE_END = 16
LOCAL_HEADER = struct.Struct("<26xHH")  # of a member of a zip archive: the lengths of its name and of its extra fields
LZMA_HEADER = struct.Struct("<5xI")  # of a member that is packed with LZMA: the size of the dictionary


def is_tar(path: Name) -> bool:
    """Whether a file is a tar archive, packed or not. `tarfile.is_tarfile` reads any text as LZMA data: gibibytes."""
    try:
        with open_bytes(path) as file, tarfile.open(fileobj=_EndingStream(file), mode="r|"):
            return True
    except (FirthError, *DAMAGED):
        return False


@contextmanager
def open_zip(path: Name, cure: str = "") -> Iterator[zipfile.ZipFile]:
    """A zip archive. Dictionaries of LZMA have the limit of `open_bytes`; Python's reader would make one of 4 GiB."""
    with refuse_damage(path, cure), open(path, "rb") as file, zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            if member.compress_type == zipfile.ZIP_LZMA:
                file.seek(member.header_offset)
                file.seek(sum(LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size))), os.SEEK_CUR)
                [size] = LZMA_HEADER.unpack(file.read(LZMA_HEADER.size))
                if size > XZ_MEMORY:
                    raise FormatError(path, f"{member.filename} needs {size:,} bytes to be unpacked", cure=cure)
        yield archive


@contextmanager
def open_tar(path: Name, cure: str = "") -> Iterator[Iterator[tuple[tarfile.TarInfo, IO[bytes]]]]:
    """The ordinary files of a tar archive, packed or not, one after the other; each is read before the next one.

    Nothing is written, links and devices are left out, and packed data have the limits of `open_bytes`.
    """
    with open_bytes(path) as file, refuse_damage(path, cure):
        stream = _EndingStream(file)
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            yield _files_of(archive, stream)


@contextmanager
def refuse_damage(path: Name, cure: str = "") -> Iterator[None]:
    """Errors while an archive is read say that it is damaged, except our own, and that of a full disk.

    >>> import io
    >>> with refuse_damage("model.zip"), zipfile.ZipFile(io.BytesIO(b"no archive")):
    ...     pass
    Traceback (most recent call last):
    firth.errors.FormatError: model.zip: the archive cannot be read (File is not a zip file)
    """
    try:
        yield
    except DAMAGED as error:
        if isinstance(error, FirthError) or (isinstance(error, OSError) and error.errno in DISK_FULL):
            raise
        raise FormatError(path, f"the archive cannot be read ({error})", cure=cure) from error


class _EndingStream(io.RawIOBase):
    """A stream that refuses to be read on and on behind its end: tarfile skips a forged size of 2^80 bytes that way."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.left = READS_BEHIND_THE_END

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes, or fewer at the end."""
        data = self.file.read(size)
        if not data:
            self.left -= 1
            if self.left < 0:
                raise EOFError("a file is longer than the archive")
        return data


def _files_of(archive: tarfile.TarFile, stream: _EndingStream) -> Iterator[tuple[tarfile.TarInfo, IO[bytes]]]:
    for member in archive:
        if member.size < 0:
            raise tarfile.ReadError(f"{member.name!r} has a size of {member.size}")
        file = archive.extractfile(member) if member.isfile() and not member.issparse() else None
        if file is not None:
            yield member, file
    while stream.read(1 << 20):  # what follows the archive may be damaged, too
        pass
