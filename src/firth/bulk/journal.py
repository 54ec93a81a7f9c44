"""Crash-safe output: append-only files, and a journal with the committed size of each.

A job with the output OUT keeps its files in the folder OUT.part. `commit` syncs all files to disk and then replaces the
journal atomically. After a crash the files are truncated to the sizes in the journal, which restores the state of the
last commit.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from firth.bulk.append_only import AppendOnlyFile, DirectBuffers
from firth.errors import OptionError
from firth.files import Name, read_json

JOURNAL = "journal.json"


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
        if restart:
            self._remove_unfinished()
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = _lock(self.folder)
        try:
            self._recover()
        except BaseException:
            self.close()
            raise

    def _remove_unfinished(self) -> None:
        if self.folder.is_dir():
            self._read()  # raises if the folder is not ours
            shutil.rmtree(self.folder)

    def _read(self) -> dict[str, Any] | None:
        """The content of the journal; None in an empty folder. A folder with other files is refused."""
        path = self.folder / JOURNAL
        if not path.exists():
            if any(self.folder.iterdir()):
                raise OptionError(f"{self.folder}: the folder for unfinished work contains other files. Move it away")
            return None
        journal: dict[str, Any] = read_json(path)
        return journal

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
        self.state, self.published, self._sizes = journal["state"], journal["published"], journal["files"]
        if not self.published:
            self._truncate()

    def _truncate(self) -> None:
        for path in [path for path in self.folder.rglob("*") if path.is_file() and path.name != JOURNAL]:
            size = self._sizes.get(path.relative_to(self.folder).as_posix())
            if size is None:
                path.unlink()
            else:
                os.truncate(path, size)

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
        self._files[name].append(pieces, self._buffers)
        self._sizes[name] = self._files[name].size

    def patch(self, name: str, data: bytes) -> None:
        """Overwrites the first bytes of a file, for a header whose values are known only at the end."""
        with open(self.path(name), "r+b") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def commit(self, state: Mapping[str, Any]) -> None:
        """Commits everything appended so far, and `state`."""
        self.sync(self.snapshot(state))

    def snapshot(self, state: Mapping[str, Any]) -> Snapshot:
        """Captures what was appended so far, so that it can be synced while more is appended."""
        self._buffers.finish()
        closing, self._closing = self._closing, []
        # All values are copies: later appends must not change the snapshot.
        return Snapshot(dict(self._sizes), deepcopy(dict(state)), list(self._files.values()), closing)

    def sync(self, snapshot: Snapshot) -> None:
        """Commits a snapshot. Snapshots must be synced in order."""
        for file in (*snapshot.files, *snapshot.closing):
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
        journal = {"job": self.job, "files": sizes, "state": self.state, "published": self.published}
        draft = self.folder / (JOURNAL + ".draft")
        with open(draft, "wb") as file:
            file.write(json.dumps(journal, indent=1).encode())
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, self.folder / JOURNAL)

    def publish(self, name: str, state: Mapping[str, Any]) -> None:
        """Moves a file or folder of the job to the target, and removes the rest."""
        self.commit(state)
        for file in self._files.values():
            file.close()
        self._files.clear()
        self.published = True
        self._write(self._sizes)
        if self.target.is_dir():
            aside = self.folder / "old"
            os.replace(self.target, aside)
        os.replace(self.path(name), self.target)
        shutil.rmtree(self.folder)

    def discard(self) -> None:
        """Removes the folder of a finished job."""
        shutil.rmtree(self.folder)

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


def _lock(folder: Path) -> int | None:
    """Locks the folder against a second run; None if the system has no flock."""
    try:
        import fcntl
    except ImportError:
        return None
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(handle)
        raise OptionError(f"{folder}: another run is writing there. Wait for it, or choose another output") from error
    return handle


def _abbreviate(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"
