"""The HDF5 that we write, read by the library of those who made the format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firth.bulk.hdf5 import Hdf5Writer
from firth.bulk.journal import Journal
from firth.bulk.lines import LineBlock
from firth.errors import OptionError

h5py = pytest.importorskip("h5py")


def written(folder: Path, lines: Sequence[str], arrays: Sequence[Any], dtype: str = "float32", **choices: Any) -> Path:
    with Journal(folder / "out.hdf5", {}) as journal:
        writer = Hdf5Writer(journal, dtype, **choices)
        for start in range(0, len(lines), 100):
            part = slice(start, start + 100)
            writer.append(LineBlock(list(lines[part]), [], "", 0), arrays[part])
            journal.commit({})
        journal.publish(writer.finish(), {})
    return folder / "out.hdf5"


# A symbol table holds 8 names and a node of the tree 32 tables: sizes around their edges.
@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 255, 256, 257, 8191, 8192, 8193])
def test_every_number_of_datasets_can_be_found_again(tmp_path: Path, count: int) -> None:
    arrays = [np.full((i % 3, 2), i, np.float32) for i in range(count)]
    lines = [f"sentence {i} é" for i in range(count)]
    with h5py.File(written(tmp_path, lines, arrays)) as file:
        assert sorted(file) == sorted([*map(str, range(count)), "sentence_to_index"])
        for i in range(0, count, 1 + count // 300):
            assert file[str(i)].shape == arrays[i].shape
            assert np.array_equal(file[str(i)], arrays[i])
        assert json.loads(file["sentence_to_index"][0]) == {line: str(i) for i, line in enumerate(lines)}


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("shape", [(7,), (5, 3), (3, 5, 3), (3, 0, 4), (0, 4)])
def test_shapes_and_types_are_kept(tmp_path: Path, dtype: str, shape: tuple[int, ...]) -> None:
    array = np.random.default_rng(1).standard_normal(shape).astype(dtype)
    with h5py.File(written(tmp_path, ["one"], [array], dtype)) as file:
        assert file["0"].dtype == array.dtype
        assert np.array_equal(file["0"], array)
        assert file["0"].shape == shape


def test_the_library_can_add_to_our_file(tmp_path: Path) -> None:
    path = written(tmp_path, ["one", "two"], [np.ones((2, 3), np.float32)] * 2)
    with h5py.File(path, "a") as file:
        file["more/0"] = np.arange(4)
        file["2"] = np.zeros(3)
    with h5py.File(path) as file:
        assert sorted(file) == ["0", "1", "2", "more", "sentence_to_index"]
        assert file["1"][1, 2] == 1


def test_sentences_can_be_the_names(tmp_path: Path) -> None:
    lines = ["tea", "a cup of tea", "چای داغ", "zebra", "Tea"]
    arrays = [np.full((1, 2), i, np.float32) for i in range(5)]
    with h5py.File(written(tmp_path, lines, arrays, keys="sentence")) as file:
        assert sorted(file) == sorted(lines)
        assert all(file[line][0, 0] == i for i, line in enumerate(lines))


@pytest.mark.parametrize("line", ["", "and/or", ".", "tea"])
def test_a_sentence_that_cannot_be_a_name_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(OptionError, match=r"line 2: .*Leave out --use-sentence-keys"):
        written(tmp_path, ["tea", line], [np.ones((1, 2), np.float32)] * 2, keys="sentence")


def test_sentences_can_be_forgotten(tmp_path: Path) -> None:
    with h5py.File(written(tmp_path, ["tea"], [np.ones((1, 2), np.float32)], texts=False)) as file:
        assert list(file) == ["0"]


def test_of_a_sentence_that_comes_twice_the_last_number_stays(tmp_path: Path) -> None:
    with h5py.File(written(tmp_path, ["tea", "tea"], [np.ones((1, 2), np.float32)] * 2)) as file:
        assert json.loads(file["sentence_to_index"][0]) == {"tea": "1"}
