"""Indexes of nearest neighbors for faiss and hnswlib, with the words beside them.

An index stores unit vectors, so that its inner product is the cosine; id i is word i. A saved index is a folder with
`config.json`, the word list `vocab`, and the file of the engine, whose SHA-256 is in the config. The engines read their
files in C++ and trust them: a damaged file is refused by its checksum, but open only indexes that you made, or people
whom you trust. `firth.load` never opens them.
"""

from __future__ import annotations

import json
import os
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from firth.arguments import checked
from firth.downloads import hash_file
from firth.errors import FormatError, OptionError
from firth.files import Name, atomic_folder, read_json, refuse_outer_link
from firth.lazy import import_name, import_package
from firth.text.vocabulary import Vocabulary
from firth.vectors.conversions import IndexKind
from firth.vectors.neighbors import Neighbors, unit_rows
from firth.vectors.search import Answer, FaissIndex, check_queries

Engine = Literal["faiss", "hnswlib"]
Vectors = TypeVar("Vectors", bound=Neighbors)
KIND, VERSION = "neighbor-index", 1
CONFIG, WORDS = "config.json", "vocab"
FILES: dict[str, str] = {"faiss": "index.faiss", "hnswlib": "index.hnswlib"}
LONGEST_CONFIG = 1 << 20
BLOCK = 65536  # rows that are added together
CONSTRUCTION = 200  # candidates of a new word in a graph
SEARCH = 128  # candidates of a query
MOST_LINKS = 256  # of a word in a graph
WORDS_PER_CELL = 39  # that the clustering of faiss asks for


@dataclass(frozen=True, eq=False)
class StoredIndex:
    """An index that was opened, with its words: `search` by vectors, `most_similar` with words."""

    vocabulary: Vocabulary
    engine: Engine
    kind: str
    dim: int
    index: Any

    def search(self, queries: NDArray[Any], topn: int = 10) -> Answer:
        """(ids, cosines) of the words nearest to each row of queries, as far as the index finds them.

        Missing results have the id -1 and the cosine -inf.
        """
        table = unit_rows(check_queries(np.atleast_2d(np.asarray(queries)), self.dim))
        wanted = max(1, min(topn, len(self.vocabulary)))
        if self.engine == "hnswlib":
            self.index.set_ef(max(SEARCH, 4 * wanted))
            ids, distances = self.index.knn_query(table, wanted)
            return np.asarray(ids, np.int64), np.asarray(1 - distances, np.float32)
        if self.kind == "hnsw":
            self.index.hnsw.efSearch = max(SEARCH, 4 * wanted)
        cosines, ids = self.index.search(table, wanted)
        return np.asarray(ids, np.int64), np.where(ids >= 0, cosines, -np.inf).astype(np.float32)

    def most_similar(self, vector: NDArray[Any], topn: int = 10) -> list[tuple[str, float]]:
        """The words nearest to a vector, with their cosines."""
        ids, cosines = (values[0].tolist() for values in self.search(vector, topn))
        return [(self.vocabulary[id], cosine) for id, cosine in zip(ids, cosines) if id >= 0]

    def __repr__(self) -> str:
        return f"StoredIndex({self.engine}, {self.kind}: {len(self.vocabulary):,} words × {self.dim})"


def check_links(m: int) -> None:
    """Raises an error for a number of links that a graph cannot have."""
    if type(m) is not int or not 2 <= m <= MOST_LINKS:
        raise OptionError(f"m is {m!r:.40}, but must be a whole number from 2 to {MOST_LINKS}")


def to_faiss(vectors: Neighbors, kind: IndexKind = "hnsw", *, m: int = 32) -> Any:
    """An index of faiss over the unit vectors: "flat" is exact, "hnsw" a graph, "ivf" cells."""
    if kind not in get_args(IndexKind):
        raise OptionError(f"kind is {kind!r}, but must be one of {', '.join(get_args(IndexKind))}")
    check_links(m)
    faiss = import_name("faiss", "an index of faiss", "ann")
    size, dim, product = len(vectors.vocabulary), vectors.dim, faiss.METRIC_INNER_PRODUCT
    if kind == "flat":
        index = faiss.IndexFlatIP(dim)
    elif kind == "hnsw":
        index = faiss.IndexHNSWFlat(dim, m, product)
        index.hnsw.efConstruction = CONSTRUCTION
    else:
        cells = min(int(4 * np.sqrt(size)), size // WORDS_PER_CELL)
        if cells < 1:
            raise OptionError(f"kind is 'ivf', which needs {WORDS_PER_CELL} words, but there are {size}. Use 'hnsw'")
        index = faiss.index_factory(dim, f"IVF{cells},Flat", product)
        index.nprobe = min(cells, max(8, cells // 16))
        index.train(unit_rows(vectors.known.block(0, size)))
    for start in range(0, size, BLOCK):
        index.add(unit_rows(vectors.known.block(start, min(start + BLOCK, size))))
    return index


def to_hnswlib(vectors: Neighbors, *, m: int = 32) -> Any:
    """A graph of hnswlib over the vectors, by cosine; label i is word i."""
    check_links(m)
    hnswlib = import_package("hnswlib", "an index of hnswlib")
    size = len(vectors.vocabulary)
    index = hnswlib.Index(space="cosine", dim=vectors.dim)
    index.init_index(max_elements=max(1, size), ef_construction=CONSTRUCTION, M=m, random_seed=1)
    for start in range(0, size, BLOCK):
        stop = min(start + BLOCK, size)
        index.add_items(unit_rows(vectors.known.block(start, stop)), np.arange(start, stop), num_threads=1)
    return index


def save_index(
    vectors: Neighbors, folder: Name, kind: IndexKind = "hnsw", *, engine: Engine = "faiss", m: int = 32
) -> None:
    """Writes an index with its words to a folder, atomically."""
    if engine not in FILES:
        raise OptionError(f"engine is {engine!r}, but must be one of {', '.join(FILES)}")
    if engine == "hnswlib" and kind != "hnsw":
        raise OptionError(f"kind is {kind!r}, but hnswlib has only 'hnsw'. Use engine='faiss'")
    index = to_faiss(vectors, kind, m=m) if engine == "faiss" else to_hnswlib(vectors, m=m)
    with atomic_folder(folder) as place:
        file = place / FILES[engine]
        if engine == "faiss":
            import_name("faiss", "an index of faiss", "ann").write_index(index, str(file))
        else:
            index.save_index(str(file))
        vectors.vocabulary.save(place / WORDS)
        config = {
            "library": "firth",
            "format_version": VERSION,
            "kind": KIND,
            "engine": engine,
            "index": kind,
            "metric": "cosine",
            "dim": vectors.dim,
            "words": len(vectors.vocabulary),
            "sha256": hash_file(file),
        }
        (place / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="ascii")


@checked
def open_index(folder: Name) -> StoredIndex:
    """Opens an index that `save_index` wrote. Its file is compared with its SHA-256 first."""
    place = Path(folder)
    path = place / CONFIG
    config = read_json(refuse_outer_link(path), LONGEST_CONFIG) if path.is_file() else None
    if not isinstance(config, dict) or config.get("library") != "firth" or config.get("kind") != KIND:
        raise FormatError(place, "is no index that firth wrote", cure="Make one: vectors.save_index(folder)")
    engine: Any = config.get("engine")
    dim, kind = config.get("dim"), str(config.get("index"))
    is_known = isinstance(engine, str) and engine in FILES and kind in get_args(IndexKind)
    if not is_known or type(dim) is not int or dim < 1:
        problem = f"names the engine {engine!r:.40} and the index {kind!r:.40}, which firth does not know"
        raise FormatError(path, problem)
    file = refuse_outer_link(place / FILES[engine])
    if not file.is_file() or hash_file(file) != config.get("sha256"):
        raise FormatError(
            file, "is missing or damaged: it does not have the SHA-256 of its config", cure="Make it again"
        )
    vocabulary = Vocabulary.load(refuse_outer_link(place / WORDS))
    if engine == "faiss":
        index = import_name("faiss", "an index of faiss", "ann").read_index(os.fspath(file))
        found = index.d, index.ntotal
    else:
        index = import_package("hnswlib", "an index of hnswlib").Index(space="cosine", dim=dim)
        index.load_index(os.fspath(file), max_elements=max(1, len(vocabulary)))
        found = index.dim, index.element_count
    if found != (dim, len(vocabulary)):
        raise FormatError(
            file, f"has {found[1]:,} vectors of {found[0]}, but the words are {len(vocabulary):,} of {dim}"
        )
    return StoredIndex(vocabulary, engine, kind, dim, index)


def with_index(vectors: Vectors, folder: Name) -> Vectors:
    """The vectors with the graph of a folder for `engine="faiss"`, which is then not built again."""
    stored = open_index(folder)
    if (stored.engine, stored.kind) != ("faiss", "hnsw"):
        raise OptionError(
            f"{os.fspath(folder)}: is an index of the kind {stored.kind} of {stored.engine}, not a graph of faiss"
        )
    if stored.dim != vectors.dim or stored.vocabulary.words != vectors.vocabulary.words:
        raise OptionError(f"{os.fspath(folder)}: is the index of other words or dimensions. Make one of these vectors")
    result = copy(vectors)
    result.__dict__["graph"] = FaissIndex(result.index, stored.index)
    return result
