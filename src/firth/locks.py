"""Locks of folders: one run at a time, and no folders that killed runs left behind.

The lock is `flock` on the folder itself. The system releases it when the process ends, however it ends: a folder that
can be locked belongs to nobody. Systems and file systems without `flock` (Windows, some network disks) have no locks:
there a second run is not noticed, and folders of killed runs are kept.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from firth.errors import OptionError

# What file systems without flock answer; network disks lock only what is open for writing, which no folder is (EBADF).
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL, errno.EBADF)
LOCKS = Path("/proc/locks")  # of Linux: the locks of all processes


@contextmanager
def exclusive_folder(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Keeps a folder for one run: it is created and locked, and removed at the end if it is still empty."""
    path = Path(folder)
    handle = lock_folder(path)
    try:
        yield
    finally:
        with suppress(OSError):  # it contains files
            path.rmdir()
        if handle is not None:
            os.close(handle)


def lock_folder(folder: Path) -> int | None:
    """Makes a folder and locks it against a second run until the handle is closed or the process ends.

    The handle is None where there are no locks.
    """
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # the other run has just finished and removed the folder
            try:
                return _lock(folder)
            except BlockingIOError as error:
                owner = find_owner(folder.stat().st_ino)
                run = f"another run{f' (process {owner})' if owner else ''} is writing there"
                raise OptionError(f"{folder}: {run}. Wait for it, or choose another folder") from error


def make_locked_folder(parent: Path, prefix: str, suffix: str = "") -> tuple[Path, int | None]:
    """A new folder with a random name that is locked, and the handle of the lock."""
    while True:
        folder = Path(tempfile.mkdtemp(suffix, prefix, parent))
        with suppress(BlockingIOError, FileNotFoundError):  # before it was locked, another run took it for abandoned
            return folder, _lock(folder)


def remove_abandoned(folders: Iterable[Path]) -> None:
    """Removes the folders that no process has locked. Systems without locks keep them."""
    for folder in folders:
        with suppress(OSError):  # it is in use, was just removed, or belongs to another user
            handle = _lock(folder)
            if handle is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(handle)


def _lock(folder: Path) -> int | None:
    """The handle of the lock of a folder."""
    try:
        import fcntl
    except ImportError:
        return None
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if folder.stat().st_ino != os.fstat(handle).st_ino:
            raise FileNotFoundError(errno.ENOENT, "the folder was replaced", str(folder))
        return handle
    except OSError as error:
        os.close(handle)
        if error.errno in NO_LOCKS:
            return None
        raise


def wait_for_lock(handle: int) -> None:
    """Locks an open file until it is closed, where there are locks; waits while another process has it."""
    with suppress(ImportError, OSError):
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Locks a folder, where there are locks; waits while another process has it."""
    with ExitStack() as held:
        with suppress(OSError):  # Windows does not open folders
            handle = os.open(folder, os.O_RDONLY)
            held.callback(os.close, handle)
            wait_for_lock(handle)
        yield


def find_owner(inode: int, locks: Path = LOCKS) -> str | None:
    """The number of the process that has locked a file or folder, where the system tells it.

    >>> find_owner(-1) is None
    True
    """
    with suppress(OSError):
        for line in locks.read_text(encoding="ascii", errors="replace").splitlines():
            fields = line.split()  # 1: FLOCK ADVISORY WRITE process device:inode start end
            if len(fields) > 5 and fields[1] == "FLOCK" and fields[5].rpartition(":")[2] == str(inode):
                return fields[4] if fields[4].isdecimal() and fields[4] != "0" else None
    return None
