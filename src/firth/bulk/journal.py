"""Work that survives a crash: files that only grow, and a journal that says how much of each is finished.

A long job for the output OUT keeps its files in the folder OUT.part. `commit` makes what was appended so far count:
everything is on disk before the journal is replaced, in one step. After a kill the files are cut back to what the last
journal says, so that they are what they were at that moment, whatever was half written.
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
from firth.errors import FormatError, OptionError
from firth.files import Name

JOURNAL = "journal.json"


@dataclass(frozen=True)
class Snapshot:
    """Where a job stands: the sizes of its files, its state, and the files that must be on disk before it counts."""

    sizes: dict[str, int]
    state: dict[str, Any]
    files: list[AppendOnlyFile]
    closing: list[AppendOnlyFile]


class Journal:
    """The unfinished output of one job.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     out = Path(folder, "out")
    ...     with Journal(out, {"job": "count"}) as journal:
    ...         journal.append("numbers", b"one ")
    ...         journal.commit({"count": 1})
    ...         journal.append("numbers", b"tw")  # and now the power fails
    ...     with Journal(out, {"job": "count"}) as journal:
    ...         journal.append("numbers", b"two")
    ...         journal.publish("numbers", journal.state)
    ...     out.read_bytes()
    b'one two'
    """

    def __init__(self, target: Name, job: Mapping[str, Any], *, restart: bool = False) -> None:
        self.target = Path(target)
        self.folder = self.target.with_name(self.target.name + ".part")
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
            self._read()  # a folder that is not ours stays
            shutil.rmtree(self.folder)

    def _read(self) -> dict[str, Any] | None:
        """What the journal says; None in an empty folder. A folder with other files is nobody's to change."""
        path = self.folder / JOURNAL
        if not path.exists():
            if any(self.folder.iterdir()):
                raise OptionError(f"{self.folder}: the folder for unfinished work holds other files. Move it away")
            return None
        try:
            journal: dict[str, Any] = json.loads(path.read_bytes())
        except ValueError as error:
            raise FormatError(path, f"is not a journal of ours: {error}", cure="Move it away") from error
        return journal

    def _recover(self) -> None:
        journal = self._read()
        if journal is None:
            self._write({})
            return
        for name, value in self.job.items():
            if journal["job"].get(name) != value:
                raise OptionError(
                    f"{self.folder}: holds an unfinished run with other settings: {name} was "
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
        """Where a file of the job lies."""
        return self.folder / name

    def size(self, name: str) -> int:
        """How many bytes a file has."""
        return self._sizes.get(name, 0)

    def append(self, name: str, *pieces: Any) -> None:
        """Adds bytes, or arrays as bytes, to the end of a file."""
        if name not in self._files:
            self.path(name).parent.mkdir(exist_ok=True)
            self._files[name] = AppendOnlyFile(self.path(name), self.size(name))
        self._files[name].append(pieces, self._buffers)
        self._sizes[name] = self._files[name].size

    def patch(self, name: str, data: bytes) -> None:
        """Writes over the first bytes of a file, for a header whose values are known only at the end."""
        with open(self.path(name), "r+b") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def commit(self, state: Mapping[str, Any]) -> None:
        """From now on everything appended so far is finished, and `state` is where the job stands."""
        self.sync(self.snapshot(state))

    def snapshot(self, state: Mapping[str, Any]) -> Snapshot:
        """What was appended so far, to be synced while more is appended."""
        self._buffers.finish()
        closing, self._closing = self._closing, []
        # All of it is a copy: what is appended before the snapshot is synced must not change it.
        return Snapshot(dict(self._sizes), deepcopy(dict(state)), list(self._files.values()), closing)

    def sync(self, snapshot: Snapshot) -> None:
        """From now on everything up to the snapshot is finished. Marks are synced in their order."""
        for file in (*snapshot.files, *snapshot.closing):
            file.to_disk()
        for file in snapshot.closing:
            file.close()
        self.state = snapshot.state
        self._write(snapshot.sizes)

    def close_file(self, name: str) -> None:
        """Says that nothing more comes to a file."""
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
        """A file or folder of the job takes the place of the target, and the rest goes."""
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
        """Removes what is left of a job that is done."""
        shutil.rmtree(self.folder)

    def close(self) -> None:
        """Lets go of the files; what was not committed does not count."""
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
    """Keeps a second run away for as long as this one lives; None where the system has no such locks."""
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
