"""The stores behind addresses. Nothing else in the package imports fsspec.

What fsspec and the libraries below it raise becomes a RemoteError or a MissingFile in one line. Failures that may pass,
such as a broken connection or a busy server, are tried again.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any, TypeVar

from firth.errors import FirthError, MissingFile, RemoteError
from firth.lazy import import_name
from firth.remote.addresses import PACKAGES, READ_ONLY, scheme_of, shown

Result = TypeVar("Result")
PAUSES = 0.2, 0.5, 1.0, 2.0, 4.0, 8.0  # seconds before each further attempt
ASKED_AT_ONCE = 16  # addresses
FIRST_CONTACT = 2  # attempts after the first where nothing answers, before anything of an address has been seen
REDIRECTS = 5
SECONDS = 60.0  # without a byte from a web server
TRANSIENT = 408, 425, 429  # and 500 or more: HTTP states that may pass
NO_CREDENTIALS = "NoCredentials", "PartialCredentials", "DefaultCredentials", "TokenRetrieval", "LocalTokenNotFound"
BROKEN = "ContentLengthError", "TransferEncodingError"  # of aiohttp, for an answer that ends too early
NO_HTTP = "aiohttp.http_exceptions", "aiohttp._http_parser"  # modules whose errors have a status that nobody sent
REDIRECT_ERRORS = {  # of aiohttp
    "NonHttpUrlRedirectClientError": "redirects to an address that is not http, which is not followed",
    "InvalidUrlRedirectClientError": "redirects to an invalid address",
    "TooManyRedirects": f"redirects more than {REDIRECTS} times",
}
CREDENTIALS = {
    "s3": "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; FSSPEC_S3_ANON=true for a public bucket",
    "gs": "Run gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS",
    "hf": "Run hf auth login, or set HF_TOKEN",
}
CREDENTIALS |= {"s3a": CREDENTIALS["s3"], "gcs": CREDENTIALS["gs"]}
# What identifies a version of a file, in the terms of the stores
VERSION_KEYS = "ETag", "etag", "VersionId", "generation", "md5Hash", "crc32c", "blob_id", "lfs", "Content-MD5", "Digest"
TIME_KEYS = "LastModified", "Last-Modified", "last_modified", "mtime", "updated", "created", "last_commit"


class BrokenConnection(ConnectionError):
    """A store sent less than it announced."""


@dataclass(frozen=True)
class RemoteStatus:
    """What a store says of a file or folder. The fingerprint changes with the content.

    `size` is None where a web server does not tell it.
    """

    address: str
    size: int | None
    fingerprint: str
    is_folder: bool = False

    @classmethod
    def of(cls, address: str, info: Any) -> RemoteStatus:
        """The status in fsspec's description of a file."""
        keys = [key for key in VERSION_KEYS if info.get(key)] or [key for key in TIME_KEYS if info.get(key)]
        size = info.get("size")
        said = repr([(key, str(info[key])) for key in keys] + [("size", size)])
        is_folder = info.get("type") == "directory"
        return cls(address, size, sha256(said.encode()).hexdigest()[:32], is_folder)


@cache
def _open_store(scheme: str, process: int) -> Any:
    """The file system of a scheme. Each process has its own: connections do not survive a fork."""
    purpose = f"reading {scheme}:// addresses"
    fsspec = import_name("fsspec", purpose, "remote")
    options: dict[str, Any] = {"use_listings_cache": False, "skip_instance_cache": True}
    if scheme in READ_ONLY:
        aiohttp = import_name("aiohttp", purpose, "remote")
        limits = aiohttp.ClientTimeout(total=None, sock_connect=SECONDS, sock_read=SECONDS)
        # What is compressed stays so: files.py decompresses, with its limits.
        options |= {"client_kwargs": {"timeout": limits, "auto_decompress": False, "trust_env": True}}
        options |= {"max_redirects": REDIRECTS, "headers": {"Accept-Encoding": "identity"}}
    try:
        return fsspec.filesystem(scheme, **options)
    except (ImportError, ValueError) as error:
        package = PACKAGES[scheme]
        raise RemoteError(f"{scheme}://", f"these addresses need a package: pip install {package}") from error


def open_store(address: str) -> tuple[Any, str]:
    """The store of an address, as fsspec's file system, and the path of the address in it."""
    with translate(address):
        store = _open_store(scheme_of(address), os.getpid())
        return store, str(store._strip_protocol(address))


def look(address: str, *, attempts: int = FIRST_CONTACT) -> RemoteStatus:
    """The size and the fingerprint of a file, or what is known of a folder, as of now. A missing one is an error."""
    store, path = open_store(address)

    def ask() -> RemoteStatus:
        store.invalidate_cache()
        return RemoteStatus.of(address, store.info(path))

    return insist(ask, address, attempts=attempts)


def find(address: str) -> RemoteStatus | None:
    """As `look`; None if there is nothing at the address."""
    try:
        return look(address)
    except MissingFile:
        return None


def look_at_all(addresses: Iterable[str]) -> list[RemoteStatus]:
    """The status of each address, asked for in parallel. Ctrl-C does not wait for a server that does not answer."""
    names = list(addresses)
    found: dict[int, RemoteStatus | Exception] = {}
    left = iter(range(len(names)))
    turn = threading.Lock()

    def ask() -> None:
        while True:
            with turn:
                number = next(left, None)
            if number is None:
                return
            try:
                found[number] = look(names[number])
            except Exception as error:
                found[number] = error

    threads = [threading.Thread(target=ask, daemon=True) for _ in names[:ASKED_AT_ONCE]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    statuses = []
    for number in range(len(names)):
        status = found[number]
        if isinstance(status, Exception):
            raise status
        statuses.append(status)
    return statuses


def list_folder(address: str) -> dict[str, RemoteStatus]:
    """The files below a folder by their names in it, sorted. Names that lead out of the folder are an error."""
    store, path = open_store(address)

    def ask() -> dict[str, Any]:
        store.invalidate_cache()
        found: dict[str, Any] = store.find(path, detail=True)
        return found

    start = path.rstrip("/") + "/"
    listing: dict[str, RemoteStatus] = {}
    for name, info in sorted(insist(ask, address, attempts=FIRST_CONTACT).items()):
        if not name.startswith(start) or name == start or info.get("type") == "directory":
            continue
        inside = name[len(start) :]
        if not inside or any(part in ("", ".", "..") for part in inside.split("/")) or "\\" in inside or "\0" in inside:
            raise RemoteError(address, f"the folder contains the name {inside!r:.80}, which is unsafe")
        listing[inside] = RemoteStatus.of(f"{address.rstrip('/')}/{inside}", info)
    return listing


def match(pattern: str) -> list[str]:
    """The addresses of the files that a pattern with *, ? or [ stands for, sorted."""
    store, path = open_store(pattern)
    found = insist(lambda: store.glob(path, detail=True), pattern, attempts=FIRST_CONTACT)
    scheme = scheme_of(pattern)
    return sorted(f"{scheme}://{name.lstrip('/')}" for name, info in found.items() if info.get("type") != "directory")


def insist(ask: Callable[[], Result], address: str, *, attempts: int = len(PAUSES)) -> Result:
    """The result of a call to a store; failures that may pass are tried again, up to `attempts` times.

    A server that answers that it is busy is there: it is asked as often as there are pauses.
    """
    for number, pause in enumerate(PAUSES):
        try:
            return ask()
        except Exception as error:
            if not is_transient(error) or (number >= attempts and find_status(error) is None):
                raise describe(error, address) from error
        time.sleep(pause)
    with translate(address):
        return ask()


@contextmanager
def translate(address: str) -> Iterator[None]:
    """Errors of a store become a RemoteError or a MissingFile that names the address."""
    try:
        yield
    except FirthError:
        raise
    except Exception as error:
        raise describe(error, address) from error


def is_transient(error: BaseException) -> bool:
    """Whether an error may pass: a broken connection, a timeout, a busy server.

    >>> is_transient(ConnectionResetError()), is_transient(FileNotFoundError()), is_transient(PermissionError())
    (True, False, False)
    """
    if isinstance(error, FirthError):
        return False
    status = find_status(error)
    if status is not None:
        return status >= 500 or status in TRANSIENT
    if any(_is_lack_of_credentials(one) or type(one).__name__ in REDIRECT_ERRORS for one in _causes(error)):
        return False
    first = list(_causes(error))[-1]
    refused = FileNotFoundError, PermissionError, IsADirectoryError, ImportError, ValueError, TypeError, LookupError
    return not isinstance(first, (*refused, NotImplementedError, AttributeError))


def find_status(error: BaseException) -> int | None:
    """The HTTP status in an error of a store, or in one of its causes; None if there is none."""
    if any(type(one).__module__ in NO_HTTP for one in _causes(error)):
        return None
    for one in _causes(error):
        response: Any = getattr(one, "response", None)
        if isinstance(response, dict):  # of botocore
            found = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        else:
            found = getattr(one, "status", None) or getattr(response, "status_code", None)
            if type(one).__module__.startswith("gcsfs"):
                found = getattr(one, "code", None)
        if isinstance(found, str) and found.isdecimal():
            found = int(found)
        if isinstance(found, int) and 300 <= found < 600:
            return found
    return None


def describe(error: BaseException, address: str) -> FirthError:
    """The error that a user sees, for an error of a store.

    >>> print(describe(PermissionError("Forbidden"), "https://example.com/a.txt?key=1"))
    https://example.com/a.txt: access is refused (Forbidden). Check the address and your permissions
    """
    if isinstance(error, FirthError):
        return error
    name, status, scheme = shown(address), find_status(error), scheme_of(address)
    first = list(_causes(error))[-1]
    reason = f"{str(first).splitlines()[0] if str(first).strip() else type(first).__name__:.200}"
    if any(_is_lack_of_credentials(one) for one in _causes(error)):
        return RemoteError(name, "there are no credentials", cure=CREDENTIALS.get(scheme, ""))
    if status in (401, 403) or (status is None and isinstance(first, PermissionError)):
        cure = CREDENTIALS.get(scheme, "Check the address and your permissions")
        return RemoteError(name, f"access is refused ({status or reason})", cure=cure)
    if status == 404 or (status is None and isinstance(first, FileNotFoundError)):
        return MissingFile(name)
    if isinstance(first, ImportError):
        return RemoteError(name, f"these addresses need a package: pip install {PACKAGES[scheme]}")
    if status is not None:
        return RemoteError(name, f"the server answers with the status {status}")
    for one in _causes(error):
        if type(one).__name__ in REDIRECT_ERRORS:
            return RemoteError(name, REDIRECT_ERRORS[type(one).__name__])
    if type(first).__name__ in BROKEN:
        return RemoteError(name, "the connection breaks before the end", cure="Check the server and the network")
    if type(first).__module__ in NO_HTTP:
        return RemoteError(name, "what answers there is no web server", cure="Check the address")
    if is_transient(error):
        return RemoteError(name, f"cannot be reached ({reason})", cure="Check the address and the network")
    return RemoteError(name, f"cannot be read or written ({type(first).__name__}: {reason})")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and what caused it, the first cause last."""
    seen: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and not any(one is other for other in seen):
        seen.append(one)
        one = one.__cause__
    return iter(seen)


def _is_lack_of_credentials(error: BaseException) -> bool:
    return type(error).__name__.startswith(NO_CREDENTIALS)
