"""`firth pull`: fetches published models by name, checks them, and remembers what it fetched.

A model has a folder of its own in the cache. `lock.json` in it has the address, size and SHA-256 of each file. Where no
checksum is published, the first download fixes it: the same name never silently becomes another file.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firth.archives import open_zip
from firth.data import cache_folder
from firth.downloads import download, hash_file
from firth.errors import FormatError, OptionError
from firth.files import atomic_file, name_in_errors, read_json
from firth.hub.published import PublishedFile, PublishedModel, find_published, published_models
from firth.locks import exclusive_folder
from firth.progress import Progress, Report, silent

LOCK = "lock.json"
LONGEST_LOCK = 1 << 20  # bytes
BLOCK = 1 << 20


@dataclass(frozen=True)
class PulledModel:
    """A model on this machine: its path for `firth.load`, its SHA-256 by file, and whether it was there before."""

    name: str
    path: Path
    sha256: Mapping[str, str]
    was_there: bool


def pull(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    keep_archive: bool = False,
    report: Report = silent,
) -> PulledModel:
    """Fetches a published model to the cache, or to a folder, unless it is there; then its files are checked.

    A broken download continues. Files of archives are unpacked; the archive is removed unless `keep_archive` is on.

    >>> pull("glov-6b-50d")
    Traceback (most recent call last):
    firth.errors.OptionError: no published model is called 'glov-6b-50d'. Did you mean 'glove-6b-50d'?
    """
    model = find_published(name)
    place = place_of(name, folder)
    with exclusive_folder(place):
        lock = _read_lock(place)
        was_there = all((place / file.kept).is_file() for file in model.files)
        for file in model.files:
            _pull_file(model, file, place, lock, keep_archive, report)
    sums = {file.kept: str(lock[file.kept]["sha256"]) for file in model.files}
    return PulledModel(name, path_of(model, place), sums, was_there)


def place_of(name: str, folder: str | os.PathLike[str] | None = None) -> Path:
    """The folder of a pulled model."""
    return (cache_folder("published") if folder is None else Path(folder)) / name


def path_of(model: PublishedModel, place: Path) -> Path:
    """What `firth.load` opens: the only file of a model, or its folder."""
    return place / model.files[0].kept if len(model.files) == 1 else place


def find_pulled(name: str) -> Path | None:
    """The path of a published model by its name; None for any other name. One that was not pulled is an error.

    >>> find_pulled("my-vectors") is None
    True
    """
    if name not in published_models():
        return None
    model = find_published(name)
    place = place_of(name)
    if not all((place / file.kept).is_file() for file in model.files):
        raise OptionError(f"{name}: is a published model that is not on this machine. Fetch it: firth pull {name}")
    return path_of(model, place)


def _pull_file(
    model: PublishedModel, file: PublishedFile, place: Path, lock: dict[str, Any], keep_archive: bool, report: Report
) -> None:
    target = place / file.kept
    known = lock.get(file.kept)
    if target.is_file() and known is not None:
        _check_kept(target, known, report)
        return
    fetched = place / file.name
    if not (file.member and fetched.is_file() and hash_file(fetched, report) == file.sha256):
        sha256, origin = file.sha256, "the published one"
        if sha256 is None and file.name in lock:
            sha256, origin = lock[file.name]["sha256"], f"the first download ({place / LOCK})"
        got = download(file.address, fetched, size=file.size, sha256=sha256, known_from=origin, report=report)
        lock[file.name] = {"address": file.address, "size": got.size, "sha256": got.sha256, "licence": model.licence}
    if file.member is not None:
        extract_member(fetched, file.member, target, report)
        sums = {"size": target.stat().st_size, "sha256": hash_file(target, report)}
        lock[file.kept] = {"address": f"{file.address}#{file.member}", **sums, "licence": model.licence}
    _write_lock(place, lock)
    if file.member is not None and not keep_archive:
        fetched.unlink(missing_ok=True)


def _check_kept(target: Path, known: Mapping[str, Any], report: Report) -> None:
    """Compares a file with its lock."""
    size = target.stat().st_size
    if size == known.get("size") and hash_file(target, report) == known.get("sha256"):
        return
    problem = f"the file has changed since it was downloaded: {size:,} bytes now, {known.get('size'):,} then"
    raise FormatError(target, problem, cure="Delete it, and pull it again")


def extract_member(archive: Path, member: str, target: Path, report: Report = silent) -> None:
    """Copies a file of a zip archive to `target`, atomically. Only a member of exactly this name is read."""
    with open_zip(archive, cure="Delete it, and pull it again") as opened:
        if member not in opened.namelist():
            problem = f"the archive has no file {member}, only {', '.join(opened.namelist()[:5])}"
            raise FormatError(archive, problem)
        size = opened.getinfo(member).file_size
        if size > shutil.disk_usage(target.parent).free:
            raise OptionError(f"{target}: needs {size:,} bytes, more than the disk has. Free some space")
        with atomic_file(target) as draft, opened.open(member) as source, open(draft, "wb") as copy:
            while block := source.read(BLOCK):
                copy.write(block)
                report(Progress(f"unpacking {member}", copy.tell(), size, "bytes"))


def _read_lock(place: Path) -> dict[str, Any]:
    """The entries of a lock file by the names of files."""
    path = place / LOCK
    if not path.is_file():
        return {}
    lock = read_json(path, LONGEST_LOCK)
    files = lock.get("files") if isinstance(lock, dict) else None
    if not isinstance(files, dict) or not all(_is_entry(one) for one in files.values()):
        raise FormatError(path, "is not a lock file of firth pull", cure="Delete the folder, and pull the model again")
    return files


def _is_entry(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("sha256"), str) and isinstance(entry.get("size"), int)


def _write_lock(place: Path, files: Mapping[str, Any]) -> None:
    with name_in_errors(place / LOCK), atomic_file(place / LOCK) as draft:
        draft.write_text(json.dumps({"library": "firth", "files": files}, indent=2) + "\n", encoding="utf-8")
