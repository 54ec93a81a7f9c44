"""Compiled kernels are stored in a folder that can be written and that belongs to the user alone."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from firth.kernels import cache_folder


@pytest.fixture(autouse=True)
def nothing_writable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(cache_folder.VARIABLE, raising=False)
    monkeypatch.setattr(cache_folder, "is_writable", lambda folder: False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_without_a_writable_folder_the_kernels_go_to_the_temporary_directory(tmp_path: Path) -> None:
    cache_folder.set_cache_folder()
    folder = Path(os.environ[cache_folder.VARIABLE])
    assert folder == tmp_path / f"firth-kernels-{os.getuid()}"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert cache_folder.temporary_cache() == folder  # the same for the next process


@pytest.mark.parametrize("attack", ["open to others", "a link", "a file"])
def test_a_folder_that_others_can_write_to_is_not_used(tmp_path: Path, attack: str) -> None:
    taken = tmp_path / f"firth-kernels-{os.getuid()}"
    if attack == "a link":
        taken.symlink_to(tmp_path)
    elif attack == "a file":
        taken.touch()
    else:
        taken.mkdir()
        taken.chmod(0o777)
    folder = cache_folder.temporary_cache()
    assert folder != taken
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_the_user_names_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache_folder.VARIABLE, "/elsewhere")
    cache_folder.set_cache_folder()
    assert os.environ[cache_folder.VARIABLE] == "/elsewhere"


def test_numba_chooses_where_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_folder, "is_writable", lambda folder: folder == cache_folder.user_cache())
    cache_folder.set_cache_folder()
    assert cache_folder.VARIABLE not in os.environ
