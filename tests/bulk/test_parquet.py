"""Tables of words and of sentences, read by the library of those who made the format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firth.bulk.journal import Journal
from firth.bulk.lines import LineBlock
from firth.bulk.parquet import ParquetWriter

parquet = pytest.importorskip("pyarrow.parquet")

LINES = ["tea and rain", "", "rain", "more tea"]
ARRAYS = [np.full((len(line.split()), 2), i, np.float32) for i, line in enumerate(LINES)]


def append(writer: ParquetWriter, lines: Sequence[str], arrays: Sequence[Any]) -> None:
    """Two sentences a block."""
    for start in range(0, len(lines), 2):
        some = list(lines[start : start + 2])
        writer.append(LineBlock(some, [line.split() for line in some], "", 0), arrays[start : start + 2])


def written(
    out: Path,
    lines: Sequence[str],
    arrays: Sequence[Any],
    dtype: str = "float32",
    row: tuple[int, ...] = (2,),
    **choices: Any,
) -> Path:
    with Journal(out, {}) as journal:
        writer = ParquetWriter(journal, dtype, row, **choices)
        append(writer, lines, arrays)
        journal.publish(writer.finish(), {})
    return out


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_words_have_their_places_and_numbers_their_type(tmp_path: Path, dtype: str) -> None:
    arrays = [array.astype(dtype) for array in ARRAYS]
    table = parquet.read_table(written(tmp_path / "out", LINES, arrays, dtype))
    assert table["sentence"].to_pylist() == [0, 0, 0, 2, 3, 3]
    assert table["position"].to_pylist() == [0, 1, 2, 0, 0, 1]
    assert table["word"].to_pylist() == ["tea", "and", "rain", "rain", "more", "tea"]
    vectors = table["vector"].combine_chunks()
    assert vectors.type.list_size == 2
    assert np.array_equal(vectors.flatten().to_numpy().reshape(-1, 2), np.concatenate(arrays))
    assert vectors.flatten().to_numpy().dtype == dtype


def test_all_layers_of_pooled_sentences_are_columns(tmp_path: Path) -> None:
    arrays = [np.array([[i, i + 1], [10 + i, 11 + i]], np.float32) for i in range(len(LINES))]
    table = parquet.read_table(written(tmp_path / "out", LINES, arrays, row=(2, 2), pooled=True)).to_pydict()
    assert (table["sentence"], table["text"]) == ([0, 1, 2, 3], LINES)
    assert table["layer_0"] == [[0, 1], [1, 2], [2, 3], [3, 4]]
    assert table["layer_1"] == [[10, 11], [11, 12], [12, 13], [13, 14]]


@pytest.mark.parametrize(
    "pooled, columns", [(False, ["sentence", "position", "vector"]), (True, ["sentence", "vector"])]
)
def test_texts_can_be_forgotten(tmp_path: Path, pooled: bool, columns: list[str]) -> None:
    arrays = [np.ones(2, np.float32)] * len(LINES) if pooled else ARRAYS
    out = written(tmp_path / "out", LINES, arrays, pooled=pooled, texts=False)
    assert parquet.read_table(out).column_names == columns


def test_an_empty_text_is_a_table_without_rows(tmp_path: Path) -> None:
    table = parquet.read_table(written(tmp_path / "out", [], []))
    assert (table.num_rows, table.column_names) == (0, ["sentence", "position", "word", "vector"])


def test_half_a_character_does_not_stop_the_table(tmp_path: Path) -> None:
    table = parquet.read_table(written(tmp_path / "out", ["é caf\ud83d"], [np.ones((2, 2), np.float32)]))
    assert table["word"].to_pylist() == ["é", "caf?"]


def test_after_a_kill_numbers_and_files_go_on_where_they_were(tmp_path: Path) -> None:
    with Journal(tmp_path / "out", {}) as journal:
        writer = ParquetWriter(journal, "float32", (2,))
        append(writer, LINES[:2], ARRAYS[:2])
        journal.commit(writer.state)
        append(writer, ["never committed"], [np.ones((2, 2), np.float32)])
    with Journal(tmp_path / "out", {}) as journal:
        writer = ParquetWriter(journal, "float32", (2,))
        append(writer, LINES[2:], ARRAYS[2:])
        journal.publish(writer.finish(), {})
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "_firth.json",
        "part-00000.parquet",
        "part-00001.parquet",
    ]
    whole = written(tmp_path / "whole", LINES, ARRAYS)
    assert parquet.read_table(tmp_path / "out").equals(parquet.read_table(whole))
