"""Copies of remote files and folders in the cache, for what is memory-mapped: models, vocabularies.

    CACHE/remote/KEY/FINGERPRINT/NAME        the copy of the file or folder at one address
    CACHE/remote/KEY/FINGERPRINT.part/NAME   a copy that is not complete; the next call continues it

KEY is a hash of the address; the process that downloads locks its folder. The fingerprint is that of the remote file: a
changed one is copied again, and the old copy is removed. CACHE is `FIRTH_CACHE`, or the user's folder for caches.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from firth.array_names import array_files
from firth.data import user_folder
from firth.errors import MissingFile, RemoteError
from firth.locks import locked
from firth.remote.addresses import READ_ONLY, base_name, join, scheme_of, shown
from firth.remote.stores import RemoteStatus, find, list_folder, look
from firth.remote.streams import PIECE, RemoteFile

CONFIG, CARD = "config.json", "README.md"
MARK = re.compile(rb'"library"\s*:\s*"firth"')
LIST_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")  # of the word lists of a model
LONGEST_CONFIG = 64 << 20
MOST_FILES = 1000  # of a model
ROOM = 1 << 30  # bytes that a file of unknown size leaves free on the disk
ENDINGS = re.compile(r"(?i)options?.*\.json$|weights?.*\.(hdf5|h5)$")  # of the files of an ELMo model
FINGERPRINTS = ".fingerprints.json"  # of the files of a copy
WHOLE = ""  # the name of the only file of what is no folder
Listing = Mapping[str, RemoteStatus]


def cache_root() -> Path:
    """The folder of all copies."""
    return Path(os.environ.get("FIRTH_CACHE") or user_folder()) / "remote"


def fetch(address: str) -> Path:
    """The local copy of a remote file or of the folder of a model. It is downloaded unless the copy is current."""
    listing = list_files(address)
    version = sha256(repr([(name, one.fingerprint) for name, one in listing.items()]).encode()).hexdigest()[:32]
    folder = cache_root() / sha256(address.encode()).hexdigest()[:24]
    target, part = folder / version / base_name(address), folder / f"{version}.part" / base_name(address)
    if is_complete(target, listing):
        return target
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        if is_complete(target, listing):  # another process has just downloaded it
            return target
        for old in folder.iterdir():
            if old.is_dir() and old != part.parent:
                keep_unchanged(old, part, listing)
                shutil.rmtree(old, ignore_errors=True)
        check_space(listing, folder, address)
        for name, status in listing.items():
            download(status, part / name if name else part)
        if list_files(address) != listing:
            shutil.rmtree(part.parent, ignore_errors=True)
            raise RemoteError(shown(address), "changed while it was read", cure="Start again")
        fingerprints = {name: one.fingerprint for name, one in listing.items()}
        (part.parent / FINGERPRINTS).write_text(json.dumps(fingerprints), encoding="utf-8")
        os.replace(part.parent, target.parent)
    return target


def keep_unchanged(old: Path, part: Path, listing: Listing) -> None:
    """Moves the files of an old copy that have not changed to the new one."""
    with suppress(OSError, ValueError, AttributeError):
        before = json.loads((old / FINGERPRINTS).read_bytes())
        for name, status in listing.items():
            if name and before.get(name) == status.fingerprint:
                (part / name).parent.mkdir(parents=True, exist_ok=True)
                os.replace(old / part.name / name, part / name)


def list_files(address: str) -> Listing:
    """The files of the model at an address: the file itself, under the name "", or the files of a folder.

    A folder without a config.json that firth wrote, and without the files of an ELMo model, is not a model yet: an
    upload writes config.json last.
    """
    if scheme_of(address) in READ_ONLY:
        return _list_web(address)
    status = look(address)
    if not status.is_folder:
        return {WHOLE: status}
    listing = list_folder(address)
    is_elmo = any(ENDINGS.search(name) for name in listing)
    if not is_elmo and (CONFIG not in listing or not has_mark(join(address, CONFIG))):
        cure = "Use the address of a file of vectors, of a folder that firth wrote, or of an ELMo model"
        raise RemoteError(shown(address), f"the folder contains no {CONFIG} of a firth model", cure=cure)
    if len(listing) > MOST_FILES:
        raise RemoteError(shown(address), f"the folder contains {len(listing):,} files, more than a model has")
    return listing


def has_mark(address: str) -> bool:
    """Whether a file at an address says that firth wrote it."""
    with RemoteFile(address) as file:
        head = b""
        while len(head) < 1 << 16 and (data := file.read(1 << 16)):
            head += data
        return MARK.search(head) is not None


def _list_web(address: str) -> Listing:
    """As `list_files`. A web server does not list folders, so the names are those that the config.json implies."""
    if Path(base_name(address)).suffix and not shown(address).endswith("/"):
        return {WHOLE: look(address)}
    config = find(join(address, CONFIG))
    if config is None:
        return {WHOLE: look(address)}
    try:
        with RemoteFile(config.address, status=config) as file:
            data = file.read(LONGEST_CONFIG) if (config.size or 0) <= LONGEST_CONFIG else b""
        settings = json.loads(data)
        lists = [str(name) for name in settings["vocabularies"] if LIST_NAME.fullmatch(name)]
        names = [*array_files(settings), *lists]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise RemoteError(shown(config.address), "is not the config.json of a firth model") from error
    found = {CONFIG: config}
    for name in (*names, CARD):
        status = find(join(address, name)) or find(join(address, f"{name}.xz"))
        if status is not None:
            found[base_name(status.address)] = status
        elif name != CARD:
            raise MissingFile(shown(join(address, name)))
    return found


def is_complete(target: Path, listing: Listing) -> bool:
    """Whether a copy has all files of a listing, in their sizes."""
    with suppress(OSError):
        sizes = [os.path.getsize(target / name if name else target) for name in listing]
        return all(status.size in (None, size) for status, size in zip(listing.values(), sizes))
    return False


def check_space(listing: Listing, folder: Path, address: str) -> None:
    """Refuses a download that does not fit onto the disk."""
    size, free = sum(one.size or 0 for one in listing.values()), shutil.disk_usage(folder).free
    if size > free:
        problem = f"has {size:,} bytes, but only {free:,} are free in {cache_root()}"
        raise RemoteError(shown(address), problem, cure="Set FIRTH_CACHE to a folder on a larger disk")


def download(status: RemoteStatus, target: Path) -> None:
    """Copies a remote file; what is there already of the same version stays, and the rest is asked for."""
    target.parent.mkdir(parents=True, exist_ok=True)
    there = target.stat().st_size if target.exists() and status.size is not None else 0
    if status.size is not None and there > status.size:
        there = 0
    with open(target, "r+b" if there else "wb") as file:
        file.seek(there)
        if there == status.size:
            return
        with RemoteFile(status.address, there, status=look_again(status)) as remote:
            while data := remote.read(PIECE):
                file.write(data)
                if status.size is None and shutil.disk_usage(target.parent).free < ROOM:
                    os.truncate(target, 0)
                    problem = f"has no size, and after {file.tell():,} bytes {ROOM:,} are not free in {cache_root()}"
                    cure = "Set FIRTH_CACHE to a folder on a larger disk"
                    raise RemoteError(shown(status.address), problem, cure=cure)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())


def look_again(status: RemoteStatus) -> RemoteStatus:
    """The present status of a file: a listing may describe the same version in other terms."""
    now = look(status.address)
    if now.size != status.size:
        raise RemoteError(shown(status.address), "changed while it was read", cure="Start again")
    return now
