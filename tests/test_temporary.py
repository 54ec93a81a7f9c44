"""Temporary folders are removed, also those that killed processes left."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from firth.temporary import TemporaryFolder, find_temporary

LEFT = """
import os, signal, sys
from firth.temporary import TemporaryFolder
print(TemporaryFolder("killed", sys.argv[1]).path, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_folder_of_a_killed_process_is_removed_by_the_next_one(tmp_path: Path) -> None:
    left = Path(subprocess.run([sys.executable, "-c", LEFT, tmp_path], capture_output=True, text=True).stdout.strip())
    assert left.is_dir()
    with TemporaryFolder("next", tmp_path) as folder:
        assert not left.exists()
        assert folder.path.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_use_is_kept(tmp_path: Path) -> None:
    with TemporaryFolder("busy", tmp_path) as folder, TemporaryFolder("other", tmp_path):
        assert folder.path.is_dir()


@pytest.mark.parametrize(
    "name", ["firth-notes", "firth-corpus-short", "other-corpus-abcdefgh", "firth-kernels-12345678"]
)
def test_folders_with_other_names_are_kept(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    assert find_temporary(tmp_path) == []


def test_a_forked_child_does_not_remove_the_folder_of_its_parent(tmp_path: Path) -> None:
    folder = TemporaryFolder("parent", tmp_path)
    child = os.fork()
    if not child:
        folder.close()
        os._exit(0)
    os.waitpid(child, 0)
    assert folder.path.is_dir()
    folder.close()
