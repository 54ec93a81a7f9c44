"""A finished map as a table: a Parquet file for embedding-atlas and data frames, or tab-separated values.

A row is a word: `word`, `rank` from 1, `count` where the vocabulary has counts, `x`, `y`, `cluster`, `kept` (the share
of its ten nearest neighbors that it kept in the plane), and `neighbors` in the form that embedding-atlas reads: row
numbers and cosine distances.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from os import PathLike, fspath
from typing import Any

import numpy as np

from firth.errors import OptionError
from firth.files import write_bytes
from firth.lazy import import_name
from firth.maps.cache import cached_map
from firth.maps.clusters import Clusters
from firth.maps.layout import Layout, PointMap, search_blocks
from firth.text.vocabulary import make_printable
from firth.vectors.words import WordVectors

FORMS = (".parquet", ".tsv")
NEIGHBORS = 10
Columns = dict[str, Any]


def tabulate_map(vectors: WordVectors, result: PointMap) -> Columns:
    """The columns of a map by name: all but the neighbors.

    >>> vectors = WordVectors(["tea", "coffee", "rain", "snow"], np.eye(4) + 0.1)
    >>> columns = tabulate_map(vectors, Layout(neighbors=2).fit(vectors.unit))
    >>> list(columns), columns["word"][:2], columns["rank"].tolist()
    (['word', 'rank', 'x', 'y', 'cluster', 'kept'], ['tea', 'coffee'], [1, 2, 3, 4])
    """
    size = len(result.positions)
    words = list(vectors.vocabulary[:size])
    clusters = Clusters.of(vectors.unit[:size])
    names = clusters.names(words)
    columns: Columns = {"word": [make_printable(word) for word in words], "rank": np.arange(1, size + 1)}
    if vectors.vocabulary.counts is not None:
        columns["count"] = np.asarray(vectors.vocabulary.counts[:size])
    x, y = result.positions.T
    return columns | {"x": x, "y": y, "cluster": [names[label] for label in clusters.labels], "kept": result.kept}


def pack_parquet(vectors: WordVectors, result: PointMap, *, neighbors: int = NEIGHBORS) -> bytes:
    """A map as the bytes of a Parquet file. Neighbors are the exact ones, by cosine, among the words of the map."""
    arrow, parquet = (import_name(name, "writing Parquet", "arrow") for name in ("pyarrow", "pyarrow.parquet"))
    columns = tabulate_map(vectors, result)
    near = min(neighbors, len(result.positions) - 1)
    if near > 0:
        columns["neighbors"] = arrow.array(find_neighbors(vectors, len(result.positions), near))
    file = io.BytesIO()
    parquet.write_table(arrow.table(columns), file, compression="ZSTD")
    return file.getvalue()


def find_neighbors(vectors: WordVectors, size: int, near: int) -> Iterator[dict[str, list[Any]]]:
    """The nearest rows of each row and their cosine distances.

    >>> vectors = WordVectors(["tea", "coffee", "rain"], [[1, 0], [1, 0.1], [0, 1]])
    >>> [row["ids"] for row in find_neighbors(vectors, 3, 1)]
    [[1], [0], [1]]
    """
    unit = np.ascontiguousarray(vectors.unit[:size])
    for _, ids, cosines in search_blocks(unit, near):
        for row, distances in zip(ids.tolist(), np.maximum(0, 1 - cosines).tolist()):
            yield {"ids": row, "distances": distances}


def pack_tsv(vectors: WordVectors, result: PointMap) -> bytes:
    """A map as tab-separated values, without neighbors.

    >>> vectors = WordVectors(["tea", "coffee", "rain", "snow"], np.eye(4) + 0.1)
    >>> pack_tsv(vectors, Layout(neighbors=2).fit(vectors.unit)).decode().splitlines()[0].split("\\t")
    ['word', 'rank', 'x', 'y', 'cluster', 'kept']
    """
    columns = tabulate_map(vectors, result)
    lines = ["\t".join(columns)]
    for row in zip(*columns.values()):
        lines.append("\t".join(f"{one:.7g}" if isinstance(one, np.floating) else str(one) for one in row))
    return "\n".join([*lines, ""]).encode()


def write_map_table(
    vectors: WordVectors,
    path: str | PathLike[str],
    words: int = 100_000,
    *,
    layout: Layout | None = None,
    neighbors: int = NEIGHBORS,
) -> PointMap:
    """Writes the map of the most frequent words as a table. The extension is .parquet or .tsv.

    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "map.tsv")
    >>> vectors = WordVectors(["tea", "coffee", "rain", "snow"], np.eye(4) + 0.1)
    >>> result = write_map_table(vectors, path, layout=Layout(neighbors=2))
    >>> len(path.read_text(encoding="utf-8").splitlines())
    5
    """
    form = check_form(path)
    if words < 1 or not len(vectors):
        raise OptionError("a map needs at least one word")
    if form == ".parquet":
        import_name("pyarrow", "writing Parquet", "arrow")  # before the work, not after it
    result = cached_map(vectors.unit[:words], layout)
    content = pack_tsv(vectors, result) if form == ".tsv" else pack_parquet(vectors, result, neighbors=neighbors)
    with write_bytes(path) as file:
        file.write(content)
    return result


def check_form(path: str | PathLike[str]) -> str:
    """The extension of a table; another is an error.

    >>> check_form("map.parquet")
    '.parquet'
    """
    for form in FORMS:
        if fspath(path).lower().endswith(form):
            return form
    raise OptionError(f"{fspath(path)}: a map is written as {' or '.join(FORMS)}. Change the extension")
