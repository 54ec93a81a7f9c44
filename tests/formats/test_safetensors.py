"""safetensors files: exchanged with its own library, mapped into memory, and checked."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from firth.errors import FormatError
from firth.formats import safetensors


def test_other_programs_read_our_arrays_and_we_read_theirs(tmp_path: Path) -> None:
    arrays = {"b": np.arange(3, dtype=np.uint8), "a": np.eye(2), "c": np.zeros((0, 4), np.float16), "d": np.array(5)}
    safetensors.write(arrays, tmp_path / "ours")
    save_file(arrays, tmp_path / "theirs")
    for found in (
        load_file(tmp_path / "ours"),
        safetensors.read(tmp_path / "ours"),
        safetensors.read(tmp_path / "theirs"),
    ):
        assert sorted(found) == sorted(arrays)
        assert all(
            np.array_equal(found[name], arrays[name]) and found[name].dtype == arrays[name].dtype for name in arrays
        )


def test_wide_numbers_come_first_and_every_array_is_an_aligned_view(tmp_path: Path) -> None:
    safetensors.write({"a": np.ones(3, np.uint8), "b": np.ones(2), "c": np.ones(3, np.float16)}, tmp_path / "file")
    arrays = safetensors.read(tmp_path / "file")
    assert list(arrays) == ["b", "c", "a"]
    for array in arrays.values():
        assert array.flags.aligned
        assert not array.flags.owndata
        assert not array.flags.writeable


def build_entry(**change: object) -> dict[str, object]:
    return {"vectors": {"dtype": "F32", "shape": [7, 3], "data_offsets": [0, 84]} | change}


@pytest.mark.parametrize(
    "header",
    [
        b"{",
        b"[]",
        b'{"vectors": 5}',
        json.dumps(build_entry(dtype="F8")).encode(),
        json.dumps(build_entry(shape=[10**12, 10**12])).encode(),
        json.dumps(build_entry(shape=[-7, -3])).encode(),
        json.dumps(build_entry(shape=[7.0, 3])).encode(),
        json.dumps(build_entry(data_offsets=[84, 168])).encode(),
        json.dumps(build_entry(data_offsets=[-84, 0])).encode(),
        json.dumps(build_entry(data_offsets=[0])).encode(),
        b"[" * 100000,
        json.dumps(build_entry(shape=[7, 3, *[1] * 70])).encode(),
        json.dumps(build_entry(dtype=["F32"])).encode(),
        json.dumps(build_entry(data_offsets=[4, 88])).encode(),
        json.dumps(
            build_entry() | {"empty": {"dtype": "U8", "shape": [0, 1 << 61], "data_offsets": [84, 84]}}
        ).encode(),
        json.dumps(build_entry() | {"again": {"dtype": "U8", "shape": [84], "data_offsets": [0, 84]}}).encode(),
        json.dumps(build_entry(shape=[20], data_offsets=[0, 80])).encode(),
        json.dumps({"flags": {"dtype": "BOOL", "shape": [84], "data_offsets": [0, 84]}}).encode(),
    ],
)
def test_a_header_of_arrays_that_is_wrong_is_refused(tmp_path: Path, header: bytes) -> None:
    (tmp_path / "file").write_bytes(struct.pack("<Q", len(header)) + header + bytes([2] * 84))
    with pytest.raises(FormatError):
        safetensors.read(tmp_path / "file")


def test_a_file_cut_short_and_a_false_length_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    safetensors.write({"vectors": np.ones((7, 3), np.float32)}, path)
    whole = path.read_bytes()
    for broken in (b"", whole[:5], whole[:50], whole[:-1], struct.pack("<Q", 2**63) + whole[8:]):
        path.write_bytes(broken)
        with pytest.raises(FormatError):
            safetensors.read(path)
