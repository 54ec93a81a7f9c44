"""Rows of sentences in safetensors files, read by us and by the library of those who made the format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firth.bulk import shards
from firth.bulk.journal import Journal
from firth.bulk.lines import LineBlock
from firth.bulk.shards import Shards, ShardWriter
from firth.errors import FormatError
from firth.formats import safetensors

LENGTHS = [3, 0, 1, 4, 2, 0, 5, 1]
ROW_BYTES = 3 * 4


def arrays_of(row: tuple[int, ...], dtype: str = "float32", *, pooled: bool = False) -> list[Any]:
    """A sentence of each length; no two numbers of all are alike."""
    numbers = iter(range(10_000))
    shapes = [row if pooled else (*row[:-1], length, row[-1]) for length in LENGTHS]
    return [np.array([next(numbers) for _ in range(int(np.prod(s)))], dtype).reshape(s) for s in shapes]


def append(writer: ShardWriter, arrays: Sequence[Any]) -> None:
    """A sentence a block."""
    for array in arrays:
        writer.append(LineBlock([""], [[]], "", 0), [array])


def written(out: Path, arrays: Sequence[Any], row: tuple[int, ...], dtype: str = "float32", **choices: Any) -> Path:
    with Journal(out, {}) as journal:
        writer = ShardWriter(journal, dtype, row, **choices)
        append(writer, arrays)
        journal.publish(writer.finish(), {})
    return out


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("size, dtype", [(1 << 20, "float16"), (4 * ROW_BYTES, "float32"), (1, "float32")])
@pytest.mark.parametrize("row, pooled", [((3,), False), ((2, 3), False), ((3,), True), ((2, 3), True)])
def test_arrays_come_back_whatever_the_size_of_a_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: tuple[int, ...], pooled: bool, size: int, dtype: str
) -> None:
    monkeypatch.setattr(shards, "SHARD", size)
    arrays = arrays_of(row, dtype, pooled=pooled)
    found = Shards(written(tmp_path / "out", arrays, row, dtype, pooled=pooled))
    assert len(found) == len(arrays)
    for number, array in enumerate(arrays):
        assert found[number].dtype == array.dtype
        assert found[number].shape == array.shape
        assert np.array_equal(found[number], array)
    assert np.array_equal(found[-1], arrays[-1])


def test_the_librarys_reader_opens_every_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load_file = pytest.importorskip("safetensors.numpy").load_file
    monkeypatch.setattr(shards, "SHARD", 4 * ROW_BYTES)
    arrays = arrays_of((3,))
    out = written(tmp_path / "out", arrays, (3,))
    names = sorted(path.name for path in out.glob("embeddings-*"))
    assert len(names) == 4
    assert np.array_equal(np.concatenate([load_file(out / name)["vectors"] for name in names]), np.concatenate(arrays))
    assert load_file(out / "starts.safetensors")["starts"].tolist() == [0, *np.cumsum(LENGTHS).tolist()]


def test_layers_are_turned_in_groups_with_the_same_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = arrays_of((2, 3))
    block = LineBlock([""] * len(arrays), [[]] * len(arrays), "", 0)
    for group in (1 << 20, 30, 1):
        monkeypatch.setattr(shards, "GROUP", group)
        with Journal(tmp_path / f"{group}", {}) as journal:
            writer = ShardWriter(journal, "float32", (2, 3))
            writer.append(block, arrays)
            journal.publish(writer.finish(), {})
    assert files_of(tmp_path / "1") == files_of(tmp_path / "30") == files_of(tmp_path / str(1 << 20))


@pytest.mark.parametrize("done", [0, 1, 2, 4, 7])  # before, inside and at the end of shards
def test_a_kill_in_any_shard_leaves_the_same_files_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: int
) -> None:
    monkeypatch.setattr(shards, "SHARD", 3 * ROW_BYTES)
    arrays = arrays_of((3,))
    with Journal(tmp_path / "out", {}) as journal:
        writer = ShardWriter(journal, "float32", (3,))
        append(writer, arrays[:done])
        journal.commit(writer.state)
        append(writer, arrays[done : done + 3])  # maybe in a new shard, and never committed
    with Journal(tmp_path / "out", {}) as journal:
        writer = ShardWriter(journal, "float32", (3,))
        append(writer, arrays[done:])
        journal.publish(writer.finish(), {})
    assert files_of(tmp_path / "out") == files_of(written(tmp_path / "whole", arrays, (3,)))


def test_a_sentence_that_there_is_not_is_told(tmp_path: Path) -> None:
    found = Shards(written(tmp_path / "out", arrays_of((3,)), (3,)))
    for number in (8, -9):
        with pytest.raises(IndexError, match=f"there are 8 sentences, but the index is {number}"):
            found[number]


@pytest.mark.parametrize("text", ["[]", "{}", '{"library": "firth"}', '{"library": "another", "shards": []}'])
def test_an_index_of_somebody_elses_is_refused_with_its_place(tmp_path: Path, text: str) -> None:
    (tmp_path / "index.json").write_text(text)
    with pytest.raises(FormatError, match=r"index.json: is not the index of a folder of embeddings"):
        Shards(tmp_path)


def test_an_index_that_is_cut_short_is_named(tmp_path: Path) -> None:
    out = written(tmp_path / "out", arrays_of((3,)), (3,))
    (out / "index.json").write_bytes((out / "index.json").read_bytes()[:-10])
    with pytest.raises(FormatError, match=r"index.json: is not JSON"):
        Shards(out)


def test_a_shard_that_is_cut_short_or_gone_is_named(tmp_path: Path) -> None:
    out = written(tmp_path / "out", arrays_of((3,)), (3,))
    [shard] = out.glob("embeddings-*")
    shard.write_bytes(shard.read_bytes()[:-1])
    with pytest.raises(FormatError, match=r"embeddings-00001.safetensors: .* cut short or broken"):
        Shards(out)[0]
    shard.unlink()
    with pytest.raises(FileNotFoundError, match=r"embeddings-00001.safetensors"):
        Shards(out)[0]


def test_the_index_says_what_there_is(tmp_path: Path) -> None:
    about = json.loads((written(tmp_path / "out", arrays_of((2, 3)), (2, 3)) / "index.json").read_text())
    assert (about["sentences"], about["rows"], about["shape"], about["pooled"]) == (8, sum(LENGTHS), [2, 3], False)
    assert about["shards"] == [{"file": "embeddings-00001.safetensors", "first": 0, "rows": sum(LENGTHS)}]


@pytest.mark.parametrize(
    "change",
    [
        {"sentences": 2**60},
        {"sentences": 7},
        {"rows": None},
        {"rows": 10**20},
        {"shape": [0]},
        {"shape": 3},
        {"dtype": "object"},
        {"pooled": 1},
        {"pooled": True},
        {"shards": {}},
        {"shards": [7]},
        {"shards": [{"file": "embeddings-00001.safetensors", "first": 0, "rows": 2}]},
        {"shards": [{"file": "embeddings-00001.safetensors", "first": 3, "rows": sum(LENGTHS)}]},
        {"shards": [{"file": "../embeddings-00001.safetensors", "first": 0, "rows": sum(LENGTHS)}]},
        {"shards": [{"file": "/etc/passwd", "first": 0, "rows": sum(LENGTHS)}]},
    ],
    ids=str,
)
def test_an_index_that_contradicts_its_files_or_leads_elsewhere_is_refused(tmp_path: Path, change: Any) -> None:
    out = written(tmp_path / "out", arrays_of((3,)), (3,))
    index = json.loads((out / "index.json").read_text())
    (out / "index.json").write_text(json.dumps(index | change))
    with pytest.raises(FormatError):
        Shards(out)[0]


def test_starts_that_fall_and_vectors_of_another_shape_are_refused(tmp_path: Path) -> None:
    out = written(tmp_path / "out", arrays_of((3,)), (3,))
    starts = safetensors.read(out / "starts.safetensors")["starts"].copy()
    safetensors.write({"starts": starts[::-1].copy()}, out / "starts.safetensors")
    with pytest.raises(FormatError, match=r"starts\.safetensors: the array 'starts' must begin with 0"):
        Shards(out)
    safetensors.write({"starts": starts}, out / "starts.safetensors")
    safetensors.write({"vectors": np.zeros((2, 3), np.float32)}, out / "embeddings-00001.safetensors")
    with pytest.raises(FormatError, match=r"embeddings-00001\.safetensors: the array 'vectors' is 2 × 3"):
        Shards(out)[0]
    safetensors.write({"rows": np.zeros((2, 3), np.float32)}, out / "embeddings-00001.safetensors")
    with pytest.raises(FormatError, match="the array 'vectors' is missing"):
        Shards(out)[0]
