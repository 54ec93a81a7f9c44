"""A map as a table: what is written is the map of the library, and its neighbors are the exact ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from firth.errors import OptionError
from firth.maps.cache import cached_map
from firth.maps.table import write_map_table
from firth.text.vocabulary import Vocabulary
from firth.vectors.words import WordVectors


@pytest.fixture(scope="module")
def vectors() -> WordVectors:
    rng = np.random.default_rng(1)
    words = [f"w{row}" for row in range(59)] + ["چای"]
    return WordVectors(Vocabulary(words, range(160, 100, -1)), rng.normal(size=(60, 8)).astype(np.float32))


def test_a_parquet_file_has_the_columns_that_embedding_atlas_reads(vectors: WordVectors, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "map.parquet"
    result = write_map_table(vectors, path, neighbors=4)
    table = parquet.read_table(path)
    assert table.column_names == ["word", "rank", "count", "x", "y", "cluster", "kept", "neighbors"]
    assert table["word"].to_pylist() == list(vectors.vocabulary)
    assert table["count"].to_pylist()[:2] == [160, 159]
    expected = cached_map(vectors.unit)
    np.testing.assert_array_equal(np.stack([table["x"], table["y"]], axis=1), expected.positions)
    np.testing.assert_array_equal(table["kept"], result.kept)
    ids = vectors.ids([word for word, _ in vectors.most_similar("w7", topn=4)]).tolist()
    row = table["neighbors"].to_pylist()[7]
    assert row["ids"] == ids
    assert row["distances"] == pytest.approx([1 - cosine for _, cosine in vectors.most_similar("w7", topn=4)], abs=1e-5)


def test_a_file_without_neighbors_and_of_fewer_words(vectors: WordVectors, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    write_map_table(vectors, tmp_path / "map.parquet", 20, neighbors=0)
    table = parquet.read_table(tmp_path / "map.parquet")
    assert table.num_rows == 20
    assert "neighbors" not in table.column_names


def test_tab_separated_values_have_the_same_numbers(vectors: WordVectors, tmp_path: Path) -> None:
    result = write_map_table(vectors, tmp_path / "map.tsv")
    lines = [line.split("\t") for line in (tmp_path / "map.tsv").read_text(encoding="utf-8").splitlines()]
    assert lines[0] == ["word", "rank", "count", "x", "y", "cluster", "kept"]
    assert lines[60][:3] == ["چای", "60", "101"]
    np.testing.assert_allclose([float(line[3]) for line in lines[1:]], result.positions[:, 0], rtol=1e-6)


def test_another_extension_and_no_words_are_errors(vectors: WordVectors, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"map.csv: a map is written as .parquet or .tsv"):
        write_map_table(vectors, tmp_path / "map.csv")
    with pytest.raises(OptionError, match="at least one word"):
        write_map_table(vectors, tmp_path / "map.tsv", 0)
    assert not list(tmp_path.iterdir())
