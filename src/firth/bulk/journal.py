"""Crash-safe output: append-only files, and a journal with the committed size of each.

A job with the output OUT keeps its files in the folder OUT.part. `commit` syncs all files to disk and then replaces the
journal atomically. After a crash the files are truncated to the sizes in the journal, which restores the state of the
last commit.

A finished file is moved to OUT in this order: the journal says which file it is; the file is renamed; OUT.part is
removed. A run that was killed in between is completed by the next one. OUT.part is locked before anything in it is
touched, also with `restart`.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Self

from firth.bulk.append_only import AppendOnlyFile, DirectBuffers
from firth.errors import FormatError, OptionError
from firth.files import Name, exchange, name_in_errors, read_json
from firth.locks import lock_folder
from firth.serialization import check_number

JOURNAL = "journal.json"
DRAFT = JOURNAL + ".draft"
KEYS = {"job": dict, "files": dict, "state": dict, "finished": dict, "checksum": str}
LONGEST_JOURNAL = 1 << 30
MOST = 1 << 48  # sentences, tokens and rows of one output
AFRESH = "Start over with --restart"


@dataclass(frozen=True)
class Snapshot:
    """The state of a job: file sizes, the state of the writer, and the files to sync before it is committed."""

    sizes: dict[str, int]
    state: dict[str, Any]
    files: list[AppendOnlyFile]
    closing: list[AppendOnlyFile]


def has_journal(target: Name) -> bool:
    """Whether a job with this output has begun and is not finished."""
    return (_part_of(Path(target)) / JOURNAL).is_file()


def _is_inside(name: str) -> bool:
    """Whether a name of a file stays in its folder."""
    parts = PurePosixPath(name).parts
    return bool(parts) and not PurePosixPath(name).is_absolute() and ".." not in parts and "\0" not in name


def _part_of(target: Path) -> Path:
    return target.with_name(target.name + ".part")


class Journal:
    """The unfinished output of one job.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     out = Path(folder, "out")
    ...     with Journal(out, {"job": "count"}) as journal:
    ...         journal.append("numbers", b"one ")
    ...         journal.commit({"count": 1})
    ...         journal.append("numbers", b"tw")  # the power fails here
    ...     with Journal(out, {"job": "count"}) as journal:
    ...         journal.append("numbers", b"two")
    ...         journal.publish("numbers", journal.state)
    ...     out.read_bytes()
    b'one two'
    """

    def __init__(self, target: Name, job: Mapping[str, Any], *, restart: bool = False) -> None:
        self.target = Path(target)
        self.folder = _part_of(self.target)
        self.job = json.loads(json.dumps(job))
        self.state: dict[str, Any] = {}
        self.published = False
        self._files: dict[str, AppendOnlyFile] = {}
        self._closing: list[AppendOnlyFile] = []
        self._buffers = DirectBuffers()
        self._sizes: dict[str, int] = {}
        self._finished: dict[str, Any] = {}  # the name and the inode of the finished result
        self._lock = lock_folder(self.folder)
        try:
            if restart:
                self._remove_unfinished()
            self._recover()
        except BaseException:
            self.close()
            raise

    def _remove_unfinished(self) -> None:
        """Removes the files of another run; the folder stays, because it is locked."""
        self._check_ours()
        for path in self.folder.iterdir():
            if path.name != JOURNAL:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        (self.folder / JOURNAL).unlink(missing_ok=True)  # last: it marks the folder as ours

    def _check_ours(self) -> bool:
        """Whether the folder has a journal; without one it must be empty."""
        if (self.folder / JOURNAL).is_file():
            return True
        if any(path.name != DRAFT for path in self.folder.iterdir()):
            raise OptionError(f"{self.folder}: the folder for unfinished work contains other files. Move it away")
        return False

    def _read(self) -> dict[str, Any] | None:
        """The content of the journal; None in an empty folder. A damaged journal is an error."""
        if not self._check_ours():
            return None
        path = self.folder / JOURNAL
        journal = read_json(path, LONGEST_JOURNAL)
        if not isinstance(journal, dict) or not all(isinstance(journal.get(name), kind) for name, kind in KEYS.items()):
            raise FormatError(path, "is not the journal of an unfinished run of this version of firth", cure=AFRESH)
        if journal.pop("checksum") != _checksum(journal):
            raise FormatError(path, "is damaged: its checksum is wrong", cure=AFRESH)
        for name, size in journal["files"].items():
            if type(size) is not int or size < 0 or not _is_inside(name):
                raise FormatError(path, f"names the file {name!r:.60} with {size!r:.40} bytes", cure=AFRESH)
        finished = journal["finished"]
        if finished and (type(finished.get("inode")) is not int or not _is_inside(str(finished.get("name") or ""))):
            raise FormatError(path, "does not name the finished output", cure=AFRESH)
        return journal

    def number(self, name: str) -> int:
        """A count in the state; 0 if nothing was written yet."""
        try:
            return check_number(name, self.state.get(name, 0), 0, MOST)
        except OptionError as error:
            raise FormatError(self.folder / JOURNAL, str(error), cure=AFRESH) from error

    def _recover(self) -> None:
        journal = self._read()
        if journal is None:
            self._write({})
            return
        for name, value in self.job.items():
            if journal["job"].get(name) != value:
                raise OptionError(
                    f"{self.folder}: contains an unfinished run with other settings: {name} was "
                    f"{_abbreviate(journal['job'].get(name))} and is {_abbreviate(value)} now. "
                    "Run it again as it was, or start over with --restart"
                )
        self.state, self._sizes, self._finished = journal["state"], journal["files"], journal["finished"]
        if self._finished:
            self._move_finished()
            self.published = True
        else:
            self._truncate()

    def _truncate(self) -> None:
        """Cuts files to their committed sizes, and removes others."""
        for name, size in self._sizes.items():
            path = self.folder / name
            have = path.stat().st_size if path.is_file() else None
            if have is None or have < size:
                found = "is missing" if have is None else f"has {have:,} bytes"
                problem = f"{found}, but {size:,} bytes were written"
                raise FormatError(path, problem, cure=f"The unfinished output is damaged. {AFRESH}")
            if have > size:
                os.truncate(path, size)
        for path in [path for path in self.folder.rglob("*") if path.is_file() and path.name != JOURNAL]:
            if path.relative_to(self.folder).as_posix() not in self._sizes:
                path.unlink()

    def path(self, name: str) -> Path:
        """The path of a file of the job."""
        return self.folder / name

    def size(self, name: str) -> int:
        """The size of a file in bytes."""
        return self._sizes.get(name, 0)

    def append(self, name: str, *pieces: Any) -> None:
        """Appends bytes or arrays to a file."""
        if name not in self._files:
            self.path(name).parent.mkdir(exist_ok=True)
            self._files[name] = AppendOnlyFile(self.path(name), self.size(name))
        with name_in_errors(self.path(name)):
            self._files[name].append(pieces, self._buffers)
        self._sizes[name] = self._files[name].size

    def patch(self, name: str, data: bytes) -> None:
        """Overwrites the first bytes of a file, for a header whose values are known only at the end."""
        with name_in_errors(self.path(name)), open(self.path(name), "r+b") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def commit(self, state: Mapping[str, Any]) -> None:
        """Commits everything appended so far, and `state`."""
        self.sync(self.snapshot(state))

    def snapshot(self, state: Mapping[str, Any]) -> Snapshot:
        """Captures what was appended so far, so that it can be synced while more is appended."""
        with name_in_errors(self.folder):
            self._buffers.finish()
        closing, self._closing = self._closing, []
        # All values are copies: later appends must not change the snapshot.
        return Snapshot(dict(self._sizes), deepcopy(dict(state)), list(self._files.values()), closing)

    def sync(self, snapshot: Snapshot) -> None:
        """Commits a snapshot. Snapshots must be synced in order."""
        for file in (*snapshot.files, *snapshot.closing):
            with name_in_errors(file.path):
                file.to_disk()
        for file in snapshot.closing:
            file.close()
        self.state = snapshot.state
        self._write(snapshot.sizes)

    def close_file(self, name: str) -> None:
        """Marks a file as complete; it is closed after the next sync."""
        if name in self._files:
            self._closing.append(self._files.pop(name))

    def _write(self, sizes: Mapping[str, int]) -> None:
        journal = {"job": self.job, "files": sizes, "state": self.state, "finished": self._finished}
        draft = self.folder / DRAFT
        with name_in_errors(draft), open(draft, "wb") as file:
            file.write(json.dumps({**journal, "checksum": _checksum(journal)}, indent=1).encode())
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, self.folder / JOURNAL)

    def publish(self, name: str, state: Mapping[str, Any]) -> None:
        """Moves a file or folder of the job to the target, and removes the rest."""
        self.commit(state)
        for file in self._files.values():
            file.close()
        self._files.clear()
        self._finished = {"name": name, "inode": self.path(name).stat().st_ino}
        self._write(self._sizes)
        self._move_finished()
        self.published = True
        self.discard()

    def _move_finished(self) -> None:
        """Moves the finished file or folder to the target, unless a killed run has already done so."""
        path = self.path(self._finished["name"])
        if self.target.exists() and self.target.stat().st_ino == self._finished["inode"]:
            return
        if not path.exists():
            raise FormatError(path, "the finished output is missing", cure=AFRESH)
        if not self.target.is_dir():
            os.replace(path, self.target)
        elif not exchange(path, self.target):  # what was there before is removed with the rest
            os.replace(self.target, self.folder / "old")
            os.replace(path, self.target)

    def discard(self) -> None:
        """Removes the folder of a finished job."""
        self._remove_unfinished()
        self.folder.rmdir()

    def close(self) -> None:
        """Closes the files; uncommitted data is dropped on recovery."""
        self._buffers.close()
        for file in (*self._files.values(), *self._closing):
            file.close()
        self._files.clear()
        self._closing.clear()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _checksum(journal: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(journal, sort_keys=True).encode()).hexdigest()[:16]


def _abbreviate(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"
