"""Locks of folders: one run at a time, and folders of killed runs are removed."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from firth.errors import OptionError
from firth.locks import exclusive_folder, find_owner, lock_folder, locked, make_locked_folder, remove_abandoned

HOLDER = """
import signal, sys
from pathlib import Path
from firth.locks import lock_folder
handle = lock_folder(Path(sys.argv[1]))
print("locked", flush=True)
signal.pause()
"""


def test_a_second_run_on_a_folder_is_told_which_process_has_it_until_that_is_killed(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, tmp_path / "state"], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "locked\n"
    owner = rf" \(process {holder.pid}\)" if sys.platform == "linux" else ""
    with pytest.raises(OptionError, match=rf"state: another run{owner} is writing there. Wait for it"):
        lock_folder(tmp_path / "state")
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    handle = lock_folder(tmp_path / "state")
    assert handle is not None
    os.close(handle)


def test_a_folder_that_stays_empty_is_removed_at_the_end(tmp_path: Path) -> None:
    for name in ("empty", "full"):
        with exclusive_folder(tmp_path / name):
            if name == "full":
                (tmp_path / name / "file").touch()
    assert [path.name for path in tmp_path.iterdir()] == ["full"]


def test_only_folders_that_nobody_has_locked_are_removed(tmp_path: Path) -> None:
    (tmp_path / "left").mkdir()
    (tmp_path / "left" / "file").touch()
    used, handle = make_locked_folder(tmp_path, "used-")
    remove_abandoned([tmp_path / "left", used, tmp_path / "missing"])
    assert list(tmp_path.iterdir()) == [used]
    assert handle is not None
    os.close(handle)
    remove_abandoned([used])
    assert list(tmp_path.iterdir()) == []


def test_a_new_folder_that_another_run_takes_for_abandoned_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other run comes between the making and the locking, twice: it has the lock, or it has removed the folder."""
    real, visits = fcntl.flock, [0]

    def visit(handle: int, operation: int) -> None:
        visits[0] += 1
        if visits[0] == 1:
            raise BlockingIOError(errno.EWOULDBLOCK, "busy")
        if visits[0] == 2:
            for path in tmp_path.iterdir():
                path.rmdir()
        real(handle, operation)

    monkeypatch.setattr(fcntl, "flock", visit)
    folder, handle = make_locked_folder(tmp_path, "mine-")
    assert visits == [3]
    assert folder.is_dir()
    assert handle is not None
    os.close(handle)


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP, errno.EBADF])
def test_on_a_disk_without_locks_work_goes_on_and_nothing_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(code, "no locks")

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert lock_folder(tmp_path / "state") is None
    folder, handle = make_locked_folder(tmp_path, "mine-")
    assert handle is None
    remove_abandoned([folder])
    assert folder.is_dir()


def test_a_system_without_locks_has_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)  # as on Windows
    assert lock_folder(tmp_path / "state") is None
    remove_abandoned([tmp_path / "state"])
    assert (tmp_path / "state").is_dir()


def test_the_owner_of_a_lock_stands_in_the_list_of_the_system(tmp_path: Path) -> None:
    locks = tmp_path / "locks"
    locks.write_text(
        "1: POSIX  ADVISORY  WRITE 11 08:01:77 0 EOF\n2: FLOCK  ADVISORY  WRITE 12 08:01:77 0 EOF\n"
        "3: FLOCK  ADVISORY  WRITE 0 08:01:78 0 EOF\n"
    )
    assert find_owner(77, locks) == "12"
    assert find_owner(78, locks) is None  # of a process in another container
    assert find_owner(79, locks) is None
    assert find_owner(77, tmp_path / "missing") is None


WAITER = """
import sys
from pathlib import Path
from firth.locks import locked
print("begin", flush=True)
with locked(Path(sys.argv[1])):
    print(Path(sys.argv[1], "done").exists(), flush=True)
"""


def test_a_second_process_waits_for_the_first(tmp_path: Path) -> None:
    with locked(tmp_path):
        waiter = subprocess.Popen([sys.executable, "-c", WAITER, tmp_path], stdout=subprocess.PIPE, text=True)
        assert waiter.stdout is not None
        assert waiter.stdout.readline() == "begin\n"
        (tmp_path / "done").touch()
    assert waiter.communicate(timeout=60)[0] == "True\n"
