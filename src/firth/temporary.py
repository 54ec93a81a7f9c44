"""Temporary folders that do not outlive their process for long.

A folder is locked while it is used. A killed process cannot remove its folder, but its lock is gone: the next process
that needs a temporary folder removes those that nobody has locked.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Self

from firth.locks import make_locked_folder, remove_abandoned

NAME = re.compile(r"firth-(?!kernels)[a-z]+-\w{8}")  # firth-kernels-… has compiled kernels, which stay


class TemporaryFolder:
    """A new folder in the temporary directory, or in `parent`. It is removed by `close` or at the end of `with`.

    >>> with TemporaryFolder("example") as folder:
    ...     folder.path.is_dir()
    True
    >>> folder.path.exists()
    False
    """

    def __init__(self, purpose: str, parent: str | os.PathLike[str] | None = None) -> None:
        above = Path(tempfile.gettempdir() if parent is None else parent)
        remove_abandoned(find_temporary(above))
        self.path, self._lock = make_locked_folder(above, f"firth-{purpose}-")
        self._owner = os.getpid()

    def close(self) -> None:
        """Removes the folder. A forked child does not remove that of its parent."""
        if os.getpid() == self._owner:
            shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def find_temporary(above: Path) -> list[Path]:
    """The temporary folders of firth in a folder."""
    with suppress(OSError), os.scandir(above) as entries:
        return [Path(one.path) for one in entries if NAME.fullmatch(one.name) and one.is_dir(follow_symlinks=False)]
    return []
