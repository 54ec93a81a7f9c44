"""Methods of word vectors that convert them for other packages. `exchange/` does the work, and is imported then."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, Self

from firth.arguments import checked
from firth.lazy import import_name

if TYPE_CHECKING:
    from firth.vectors.words import WordVectors

FrameLibrary = Literal["arrow", "pandas", "polars"]
IndexKind = Literal["flat", "hnsw", "ivf"]


def _call(place: str, *values: Any, **options: Any) -> Any:
    return import_name(f"firth.exchange.{place}", "a conversion", "all")(*values, **options)


@checked
class Conversions:
    """Exports of word vectors, and imports as class methods."""

    def to_gensim(self) -> Any:
        """The vectors as gensim's `KeyedVectors`, with counts; with character n-grams, as `FastTextKeyedVectors`.

        Arrays are shared, not copied, where both sides store float32. Needs gensim.
        """
        return _call("gensim:to_gensim", self)

    @classmethod
    def from_gensim(cls, model: Any) -> WordVectors:
        """The vectors of gensim's `KeyedVectors`, `Word2Vec`, `FastText` or `Doc2Vec`, with counts and n-grams."""
        vectors: WordVectors = _call("gensim:from_gensim", model)
        return vectors

    def to_frame(self, library: FrameLibrary = "pandas") -> Any:
        """The vectors as a frame of pandas, polars or Arrow, with the columns word, count (if known) and vector.

        Needs the extra `arrow`, and pandas or polars for their frames.
        """
        return _call("frames:vectors_to_frame", self, library)

    @classmethod
    def from_frame(
        cls, frame: Any, *, word: str = "word", vector: str = "vector", count: str | None = "count"
    ) -> WordVectors:
        """The vectors in a frame of pandas, polars, Arrow, or any package with Arrow's interface.

        Needs the extra `arrow`. A missing column of counts is fine. Rows that are float32 in one piece are shared, not
        copied.
        """
        vectors: WordVectors = _call("frames:vectors_from_frame", frame, word=word, vector=vector, count=count)
        return vectors

    def to_sentence_transformers(self, folder: str | os.PathLike[str]) -> None:
        """Writes a model for sentence-transformers: a `StaticEmbedding` whose `encode` is the mean of word vectors.

        docs/exchange.md says where its tokens differ from firth's.
        """
        _call("sentence_transformers:save_static_embedding", self, folder)

    def to_faiss(self, kind: IndexKind = "hnsw", *, m: int = 32) -> Any:
        """An index of faiss over the vectors at length 1, so that inner products are cosines; id i is word i.

        `kind` is "flat" (exact), "hnsw" (a graph with `m` links a word) or "ivf" (cells, of which a few are searched).
        Needs the extra `ann`.
        """
        return _call("indexes:to_faiss", self, kind, m=m)

    def to_hnswlib(self, *, m: int = 32) -> Any:
        """A graph of hnswlib over the vectors, by cosine; label i is word i. Needs hnswlib."""
        return _call("indexes:to_hnswlib", self, m=m)

    def save_index(
        self,
        folder: str | os.PathLike[str],
        kind: IndexKind = "hnsw",
        *,
        engine: Literal["faiss", "hnswlib"] = "faiss",
        m: int = 32,
    ) -> None:
        """Writes an index of faiss or hnswlib with its words to a folder; `firth.open_index` reads it."""
        _call("indexes:save_index", self, folder, kind, engine=engine, m=m)

    def with_index(self, folder: str | os.PathLike[str]) -> Self:
        """The same vectors with the saved graph of faiss for `engine="faiss"`, which is then not built again."""
        vectors: Self = _call("indexes:with_index", self, folder)
        return vectors
