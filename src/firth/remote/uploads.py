"""Writing to addresses, whole or not at all.

An object store shows an object when its upload is complete; the store in memory gets a temporary name first. A folder
is written file by file, and its mark (config.json) last: until then, readers take the folder for absent. What could not
be uploaded stays on this machine, and the error says where.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from firth.errors import OptionError, RemoteError
from firth.remote.addresses import READ_ONLY, base_name, join, scheme_of, shown
from firth.remote.downloads import CONFIG, cache_root, has_mark
from firth.remote.stores import find, insist, list_folder, open_store

ATOMIC = "s3", "s3a", "gs", "gcs", "hf"  # an object appears when its upload is complete


def check_writable(address: str, markers: Iterable[str] | None = (CONFIG,)) -> None:
    """Raises an error if an address cannot be written, or is a folder with files that firth did not write.

    One of the files in `markers` marks a folder that firth wrote; with None, only the scheme is checked.

    >>> check_writable("https://example.com/model")
    Traceback (most recent call last):
    firth.errors.OptionError: https://example.com/model: https:// addresses can be read, but not written
    """
    scheme = scheme_of(address)
    if scheme in READ_ONLY:
        raise OptionError(f"{shown(address)}: {scheme}:// addresses can be read, but not written")
    status = None if markers is None else find(address)
    if markers is None or status is None or not status.is_folder:
        return
    listing = list_folder(address)
    if listing and not any(name in listing and has_mark(join(address, name)) for name in markers):
        raise OptionError(f"{shown(address)}: the folder contains other files. Choose another name or empty it")


def upload_file(path: Path, address: str) -> None:
    """Copies a local file to an address. The object appears when it is complete."""
    store, target = open_store(address)
    if scheme_of(address) in ATOMIC:
        insist(lambda: store.put_file(str(path), target), address)
        return
    draft = f"{target}.{uuid.uuid4().hex}.firth-part"

    def move() -> None:
        try:
            store.put_file(str(path), draft)
            store.mv(draft, target)
        finally:
            if store.exists(draft):
                store.rm_file(draft)

    insist(move, address)


def upload_folder(folder: Path, address: str, mark: str = CONFIG) -> None:
    """Copies a folder to an address, and the file that marks it last. Files of the model that was there are removed."""
    files = sorted(str(path.relative_to(folder).as_posix()) for path in folder.rglob("*") if path.is_file())
    store, target = open_store(address)
    old = list_folder(address) if find(address) is not None else {}
    if mark in old:
        insist(lambda: store.rm_file(f"{target}/{mark}"), address)
    for name in files:
        if name != mark:
            upload_file(folder / name, join(address, name))
    for name in old:
        if name not in files:
            insist(lambda name=name: store.rm_file(f"{target}/{name}"), address)  # type: ignore[misc]
    if mark in files:
        upload_file(folder / mark, join(address, mark))


def publish(draft: Path, address: str, mark: str = CONFIG) -> None:
    """Uploads a file or a folder. On failure it is kept on this machine, where the error says."""
    try:
        if draft.is_dir():
            upload_folder(draft, address, mark)
        else:
            upload_file(draft, address)
    except RemoteError as error:
        kept = staging_path(address)
        if kept != draft:
            shutil.rmtree(kept.parent, ignore_errors=True)
            kept.parent.mkdir(parents=True)
            shutil.move(draft, kept)
        cure = f"{error.cure}{'. ' if error.cure else ''}What was to be written is in {kept}"
        raise RemoteError(shown(address), error.problem, cure=cure) from error


def staging_path(address: str) -> Path:
    """Where long work writes its output before it is uploaded; the same path each time, so that the work can resume."""
    key = sha256(address.encode()).hexdigest()[:24]
    return cache_root().with_name("outgoing") / key / base_name(address)


def discard_staged(address: str) -> None:
    """Removes what was staged for an address."""
    shutil.rmtree(staging_path(address).parent, ignore_errors=True)


def is_staged(address: str) -> bool:
    """Whether the work for an address is under way or could not be uploaded."""
    return os.path.isdir(staging_path(address).parent)
