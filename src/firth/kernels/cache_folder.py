"""Where numba stores compiled kernels, so that they are compiled once.

numba writes beside the source files or into the user's cache folder, and raises an error if it can write to neither, as
in a read-only container without a home. Then the folder is in the temporary directory, for this user alone: numba
executes what it finds there, so nobody else may write to it.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path

VARIABLE = "NUMBA_CACHE_DIR"


def set_cache_folder() -> None:
    """Names a folder for compiled kernels to numba, if numba would find none. Called before any kernel is defined."""
    if os.environ.get(VARIABLE) or is_writable(Path(__file__).parent / "__pycache__"):
        return
    if user_cache().is_absolute() and is_writable(user_cache()):  # it is relative for a user who has no home
        return
    folder = str(temporary_cache())
    os.environ[VARIABLE] = folder
    if "numba" in sys.modules:  # it has read the variable already
        sys.modules["numba"].config.CACHE_DIR = folder


def user_cache() -> Path:
    """The folder in which numba stores the compiled functions of packages that it cannot write to."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", os.path.expanduser("~")), "numba")
    if sys.platform == "darwin":
        return Path(os.path.expanduser("~/Library/Caches/numba"))
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "numba")


def is_writable(folder: Path) -> bool:
    """Whether files can be created in a folder, which is created if it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def temporary_cache() -> Path:
    """A folder in the temporary directory that belongs to this user alone.

    It is the same for all processes of the user. If another user has taken its name, it is a new one for this process.
    """
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    folder = Path(tempfile.gettempdir(), f"firth-kernels-{user}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        is_private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077 and found.st_uid == user
        if is_private or sys.platform == "win32":
            return folder
    except OSError:
        pass
    folder = Path(tempfile.mkdtemp(prefix="firth-kernels-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
