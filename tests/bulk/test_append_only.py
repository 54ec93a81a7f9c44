"""Files that grow: the same bytes, whichever way they went."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firth.bulk import append_only
from firth.bulk.append_only import PAGE, AppendOnlyFile, DirectBuffers


def grown(path: Path, appends: list[list[int]]) -> bytes:
    """Appends pieces of these sizes to a file, which is opened again for each; what it should hold then."""
    rng = np.random.default_rng(len(appends))
    buffers, whole = DirectBuffers(), b""
    for sizes in appends:
        pieces = [rng.integers(0, 256, size, dtype=np.uint8) for size in sizes]
        file = AppendOnlyFile(path, len(whole))
        file.append([piece.tobytes() if len(piece) % 2 else piece for piece in pieces], buffers)
        buffers.finish()
        file.to_disk()
        file.close()
        whole += b"".join(piece.tobytes() for piece in pieces)
        assert file.size == len(whole)
    buffers.close()
    return whole


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(0, 3 * PAGE), max_size=12), min_size=1, max_size=5))
def test_pieces_of_any_size_lie_one_behind_the_other(
    tmp_path_factory: pytest.TempPathFactory, appends: list[list[int]]
) -> None:
    path = tmp_path_factory.mktemp("growing") / "file"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(append_only, "STAGE", 2 * PAGE)
        patch.setattr(append_only, "LARGE", PAGE // 2)
        whole = grown(path, appends)
    assert path.read_bytes() == whole


@pytest.mark.parametrize("refused", ["open", "write"])
def test_where_a_file_system_does_not_write_directly_it_goes_the_usual_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    direct: set[int] = set()
    open_file, write = os.open, os.pwrite

    def careful_open(path: Any, flags: int, *mode: int) -> int:
        if flags & os.O_DIRECT and refused == "open":
            raise OSError(errno.EINVAL, "no")
        file = open_file(path, flags, *mode)
        direct.update([file] if flags & os.O_DIRECT else [])
        return file

    def careful_write(file: int, data: Any, place: int) -> int:
        if file in direct:
            raise OSError(errno.EINVAL, "no")
        return write(file, data, place)

    monkeypatch.setattr(os, "open", careful_open)
    monkeypatch.setattr(os, "pwrite", careful_write)
    whole = grown(tmp_path / "file", [[append_only.LARGE + 5, 7], [3], [2 * append_only.LARGE]])
    assert (tmp_path / "file").read_bytes() == whole


def test_an_error_of_the_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: int, data: Any, place: int) -> int:
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(OSError, match="no space left"):
        grown(tmp_path / "file", [[2 * append_only.STAGE]])


def test_a_system_without_writes_at_a_place_seeks_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pwrite", "pwritev", "O_DIRECT"):  # as on Windows
        monkeypatch.delattr(os, name, raising=False)
    whole = grown(tmp_path / "file", [[append_only.LARGE + 5, 7], [3], [2 * append_only.LARGE]])
    assert (tmp_path / "file").read_bytes() == whole
