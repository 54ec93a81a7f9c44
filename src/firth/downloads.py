"""Downloads over http: resumed, retried, checked and atomic. `remote/` leaves the transport to fsspec.

The bytes go to `NAME.part` beside the target; `NAME.part.json` says which file of the server they belong to. A killed
or broken download continues where it stopped, if the server still has the same file, and starts again if it has
another. The file appears under its name only when its size and its SHA-256 are right.
"""

from __future__ import annotations

import errno
import hashlib
import http.client
import json
import os
import re
import shutil
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from firth.errors import FormatError, OptionError
from firth.files import DISK_FULL, atomic_file
from firth.progress import Progress, Report, silent

PART, STATE = ".part", ".part.json"
BLOCK = 1 << 20  # bytes
SECONDS = 60  # without an answer
TRIES = 5
PAUSES = 1, 2, 4, 8  # seconds between tries
PASSING = {408, 425, 429, 500, 502, 503, 504}  # statuses of a server that may answer another time
RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)")
AGENT = "firth"


@dataclass(frozen=True)
class DownloadedFile:
    """A file that was fetched: where it is, its size in bytes, its SHA-256, and how many bytes an earlier run had."""

    path: Path
    size: int
    sha256: str
    resumed: int = 0


class _Broken(Exception):
    """A try that failed and may succeed another time; the reason is its text."""


def download(
    address: str,
    target: str | os.PathLike[str],
    *,
    size: int | None = None,
    sha256: str | None = None,
    known_from: str = "the published one",
    largest: int | None = None,
    report: Report = silent,
    pause: Callable[[float], Any] = time.sleep,
) -> DownloadedFile:
    """Fetches a file from an http or https address to `target`.

    A broken transfer is tried five times. `size` in bytes and `sha256` are those of the published file, or of another
    that `known_from` names: a different file is an error, and is removed. `largest` is a limit in bytes.

    >>> download("ftp://example.org/tea.txt", "tea.txt")
    Traceback (most recent call last):
    firth.errors.OptionError: ftp://example.org/tea.txt: is no http or https address
    """
    if urlparse(address).scheme not in ("http", "https") or not urlparse(address).netloc:
        raise OptionError(f"{address}: is no http or https address")
    place = Path(target)
    place.parent.mkdir(parents=True, exist_ok=True)
    part, state = place.with_name(place.name + PART), place.with_name(place.name + STATE)
    resumed = part.stat().st_size if part.is_file() and state.is_file() else 0
    for number in range(TRIES):
        try:
            _try(address, part, state, size, largest, report)
            break
        except _Broken as error:
            if number == TRIES - 1:
                kept = part.stat().st_size if part.is_file() else 0
                cure = f"{kept:,} bytes are kept: the same command continues there" if kept else "Try again later"
                raise OptionError(f"{address}: cannot be read ({error}), tried {TRIES} times. {cure}") from error
            pause(PAUSES[min(number, len(PAUSES) - 1)])
        except OSError as error:
            if error.errno not in DISK_FULL or error.filename is not None:
                raise
            problem = f"the disk is full: {part.stat().st_size if part.is_file() else 0:,} bytes were written"
            cure = "Free some space: the same command continues there"
            raise OSError(error.errno, f"{problem}. {cure}", os.fspath(place)) from error
    found = hash_file(part, report)
    _check(address, place, part, state, size, sha256, found, known_from)
    os.replace(part, place)
    state.unlink(missing_ok=True)
    return DownloadedFile(place, place.stat().st_size, found, min(resumed, place.stat().st_size))


def _try(address: str, part: Path, state: Path, size: int | None, largest: int | None, report: Report) -> None:
    """Fetches what is missing of a file; a failure that may pass is a `_Broken`."""
    known = _read_state(state, address)
    done = part.stat().st_size if part.is_file() and known is not None else 0
    if known is None:
        part.unlink(missing_ok=True)
    elif known.get("size") == done:
        return  # an earlier run was killed before it had checked the file
    request = urllib.request.Request(address, headers={"User-Agent": AGENT, "Accept-Encoding": "identity"})
    if done:
        request.add_header("Range", f"bytes={done}-")
        mark = (known or {}).get("etag") or (known or {}).get("modified")
        if mark:
            request.add_header("If-Range", mark)
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            start, total = _place(answer, done)
            if not _is_same(known, answer, total):
                start = 0
                if answer.status == 206:  # the rest of another file
                    part.unlink(missing_ok=True)
                    state.unlink(missing_ok=True)
                    raise _Broken("the file at the address has changed, so that it is fetched from its start")
            if largest is not None and (total or 0) > largest:
                raise OptionError(f"{address}: has {total:,} bytes, more than the limit of {largest:,}")
            _check_room(part, total, start)
            _write_state(state, address, answer, total)
            with open(part, "r+b" if start else "wb") as file:
                file.seek(start)
                file.truncate()
                _copy(address, answer, file, total or size, largest, report)
            if total is not None and part.stat().st_size != total:
                raise _Broken(f"the connection ended at byte {part.stat().st_size:,} of {total:,}")
    except urllib.error.HTTPError as error:
        with error:
            if error.code == 416 and done:  # the file is shorter than what is here
                part.unlink(missing_ok=True)
                state.unlink(missing_ok=True)
                raise _Broken("the file at the address has changed") from error
            if error.code in PASSING:
                raise _Broken(f"{error.code} {error.reason}") from error
            raise OptionError(f"{address}: cannot be read ({error.code} {error.reason})") from error
    except urllib.error.URLError as error:
        if isinstance(error.reason, socket.gaierror):
            cure = "This machine is offline, or the name is wrong. Fetch the file elsewhere and copy it here"
            raise OptionError(f"{address}: the server's name has no address. {cure}") from error
        raise _Broken(str(error.reason)) from error
    except (http.client.HTTPException, TimeoutError, ConnectionError) as error:
        raise _Broken(str(error) or type(error).__name__) from error
    except OSError as error:
        if error.errno in (errno.ECONNRESET, errno.ETIMEDOUT, errno.EPIPE):
            raise _Broken(str(error)) from error
        raise


def _copy(address: str, answer: Any, file: Any, total: int | None, largest: int | None, report: Report) -> None:
    step = f"downloading {Path(urlparse(address).path).name or address}"
    while block := answer.read(BLOCK):
        file.write(block)
        if largest is not None and file.tell() > largest:
            raise OptionError(f"{address}: has more than the limit of {largest:,} bytes")
        report(Progress(step, file.tell(), total, "bytes"))
    file.flush()
    os.fsync(file.fileno())


def _place(answer: Any, done: int) -> tuple[int, int | None]:
    """Where the bytes of an answer belong, and the size of the whole file; None if the server does not say it."""
    length = answer.headers.get("Content-Length")
    if answer.status != 206:
        return 0, int(length) if length is not None and length.isdecimal() else None
    match = RANGE.fullmatch(answer.headers.get("Content-Range", "").strip())
    if match is None or int(match[1]) != done:
        raise _Broken("the server sent another part of the file than was asked for")
    return done, None if match[3] == "*" else int(match[3])


def _is_same(known: dict[str, Any] | None, answer: Any, total: int | None) -> bool:
    """Whether an answer belongs to the file that an earlier run began."""
    if known is None:
        return True
    etag, modified = answer.headers.get("ETag"), answer.headers.get("Last-Modified")
    pairs = (known.get("etag"), etag), (known.get("modified"), modified), (known.get("size"), total)
    return all(before is None or after is None or before == after for before, after in pairs)


def _read_state(state: Path, address: str) -> dict[str, Any] | None:
    with suppress(OSError, ValueError):
        known = json.loads(state.read_bytes())
        if isinstance(known, dict) and known.get("address") == address:
            return known
    return None


def _write_state(state: Path, address: str, answer: Any, total: int | None) -> None:
    headers = answer.headers
    known = {"address": address, "etag": headers.get("ETag"), "modified": headers.get("Last-Modified"), "size": total}
    with atomic_file(state) as draft:
        draft.write_text(json.dumps(known), encoding="utf-8")


def _check_room(part: Path, total: int | None, start: int) -> None:
    """Refuses a file that does not fit on the disk, before an hour is spent on it."""
    free = shutil.disk_usage(part.parent).free
    if total is not None and total - start > free:
        problem = f"the disk has {free:,} bytes free, but {total - start:,} are missing"
        raise OSError(errno.ENOSPC, problem, os.fspath(part))


def hash_file(path: Path, report: Report = silent) -> str:
    """The SHA-256 of a file, in hexadecimal.

    >>> hash_file(Path(os.devnull))[:12]
    'e3b0c44298fc'
    """
    digest, total, done = hashlib.sha256(), path.stat().st_size, 0
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
            done += len(block)
            report(Progress("checking", done, total, "bytes"))
    return digest.hexdigest()


def _check(
    address: str,
    place: Path,
    part: Path,
    state: Path,
    size: int | None,
    sha256: str | None,
    found: str,
    known_from: str,
) -> None:
    """Removes a file that is not the published one, and raises an error."""
    length = part.stat().st_size
    if sha256 is not None and found != sha256.lower():
        problem = f"the file at {address} has the SHA-256 {found}, but {known_from} has {sha256}"
    elif size is not None and length != size:
        problem = f"the file at {address} has {length:,} bytes, but {known_from} has {size:,}"
    else:
        return
    part.unlink()
    state.unlink(missing_ok=True)
    raise FormatError(place, problem, cure="It was removed. Try again; if this stays, the file has changed")
