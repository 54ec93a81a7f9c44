"""Queries on word vectors: nearest neighbors, analogies, the odd one out.

Method names and results are gensim's: a query is the weighted mean of the unit vectors of its words, and a query's own
words are excluded from the results.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from firth.arguments import checked
from firth.errors import OptionError, UnknownWord
from firth.runtime import Runtime
from firth.text.vocabulary import Vocabulary
from firth.vectors.rows import Floats, Ids, Rows
from firth.vectors.search import Answer, FaissIndex, NeighborIndex, cosines, select_best

Key = str | NDArray[Any]
Term = Key | tuple[Key, float]
Query = Key | Sequence[Term]
Allowed = Iterable[str] | Callable[[str], bool]
Engine = Literal["exact", "faiss"]
AnalogyMethod = Literal["3cosadd", "3cosmul"]
Near = list[tuple[str, float]]
Terms = list[tuple[Key, float]]
ANALOGY_METHODS: dict[AnalogyMethod, str] = {
    "3cosadd": "3CosAdd",
    "3cosmul": "3CosMul",
}  # option: name in the literature
NO_WORDS = "the query has no words. Pass at least one"
NOT_FINITE = "a vector has numbers that are NaN or infinite, so it has no direction. Train or download it again"


def unit_rows(rows: NDArray[Any]) -> Floats:
    """Rows scaled to length 1; a row of zeros stays zero. A number that is not finite is an OptionError."""
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise OptionError(NOT_FINITE)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), np.float32)


def cosine(a: NDArray[Any], b: NDArray[Any]) -> float:
    """The cosine of two vectors; 0 where one of them is zero. A number that is not finite is an OptionError."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    if not math.isfinite(lengths):
        raise OptionError(NOT_FINITE)
    return float(np.dot(a, b)) / lengths if lengths > 0 else 0.0


@checked
class Neighbors(ABC):
    """The queries; `WordVectors` implements the look-up of vectors."""

    vocabulary: Vocabulary

    @property
    @abstractmethod
    def known(self) -> Rows:
        """The rows of the words of the vocabulary, by id."""

    @property
    @abstractmethod
    def dim(self) -> int:
        """The length of a vector."""

    @abstractmethod
    def ids(self, words: Iterable[str]) -> Ids:
        """The ids of words, -1 for a word that is not in the vocabulary."""

    @abstractmethod
    def of(self, words: Sequence[str]) -> Floats:
        """The vectors of words; a word that has none raises `UnknownWord`."""

    @cached_property
    def runtime(self) -> Runtime:
        """The threads of searches; assign another Runtime to change them."""
        return Runtime.from_env()

    @cached_property
    def index(self) -> NeighborIndex:
        """The int8 index of the search, built on first use; its size is a quarter of the float32 rows."""
        return NeighborIndex.of(self.known, self.runtime)

    @cached_property
    def graph(self) -> FaissIndex:
        """The graph that `engine="faiss"` searches, built on first use, which takes minutes for large vocabularies."""
        return FaissIndex.of(self.index)

    def search(
        self,
        queries: NDArray[Any],
        topn: int = 10,
        *,
        exclude: Sequence[Sequence[int]] | None = None,
        allowed: Sequence[int] | Ids | None = None,
        limit: int | None = None,
        engine: Engine = "exact",
    ) -> Answer:
        """(ids, cosines) of the words nearest to each row of queries; see `NeighborIndex.search`.

        With `allowed` or `limit` the search is exact.
        """
        if engine not in ("exact", "faiss"):
            raise OptionError(f"engine is {engine!r}, but must be 'exact' or 'faiss'")
        if engine == "faiss" and allowed is None and limit is None:
            return self.graph.search(queries, topn, exclude=exclude)
        return self.index.search(queries, topn, exclude=exclude, allowed=allowed, limit=limit)

    @overload
    def most_similar(
        self,
        positive: Query | None = ...,
        negative: Query | None = ...,
        topn: int = ...,
        *,
        restrict_vocab: int | None = ...,
        allowed: Allowed | None = ...,
        min_count: int | None = ...,
        engine: Engine = ...,
    ) -> Near: ...
    @overload
    def most_similar(self, positive: Query | None = ..., negative: Query | None = ..., *, topn: None) -> Floats: ...
    def most_similar(
        self,
        positive: Query | None = None,
        negative: Query | None = None,
        topn: int | None = 10,
        *,
        restrict_vocab: int | None = None,
        allowed: Allowed | None = None,
        min_count: int | None = None,
        engine: Engine = "exact",
    ) -> Near | Floats:
        """The words nearest to the mean of the positive words less the negative ones, with their cosines.

        A term is a word or a vector, or a pair of one and its weight. Results can be restricted to the first
        `restrict_vocab` words, to `allowed` words (a list or a predicate), to words that occur `min_count` times. With
        `topn=None` the result is the cosine of every word, by id, as in gensim.

        >>> from firth.vectors.words import WordVectors
        >>> vectors = WordVectors(["tea", "coffee", "rain"], [[1, 0.1], [1, 0.2], [0, 1]])
        >>> vectors.most_similar("tea", topn=None).round(3)
        array([1.   , 0.995, 0.1  ], dtype=float32)
        >>> [(word, round(cosine, 3)) for word, cosine in vectors.most_similar("tea")]
        [('coffee', 0.995), ('rain', 0.1)]
        >>> [word for word, _ in vectors.most_similar("tea", allowed=lambda word: "a" in word)]
        ['rain']
        """
        query = as_terms(positive, 1.0) + as_terms(negative, -1.0)
        if topn is None:
            ids = np.arange(len(self.vocabulary))
            if restrict_vocab is not None or allowed is not None or min_count is not None:
                raise OptionError("topn=None gives the cosines of all words. Use a number with a restriction")
            return self._cosines(self._mean(query), ids)
        return self.most_similar_each(
            [query], topn, restrict_vocab=restrict_vocab, allowed=allowed, min_count=min_count, engine=engine
        )[0]

    def most_similar_each(
        self,
        queries: Sequence[Query],
        topn: int = 10,
        *,
        restrict_vocab: int | None = None,
        allowed: Allowed | None = None,
        min_count: int | None = None,
        engine: Engine = "exact",
    ) -> list[Near]:
        """`most_similar` of each query, all in one pass; a query has the form of `positive`, weights included.

        >>> from firth.vectors.words import WordVectors
        >>> vectors = WordVectors(["tea", "coffee", "rain"], [[1, 0.1], [1, 0.2], [0, 1]])
        >>> [near[0][0] for near in vectors.most_similar_each(["tea", [("rain", 1.0), ("tea", -0.5)]])]
        ['coffee', 'coffee']
        """
        pool = self._allowed_ids(allowed, min_count)
        if not len(queries):
            return []
        terms = [as_terms(query, 1.0) for query in queries]
        means, exclude = np.stack(list(map(self._mean, terms))), list(map(self._own_ids, terms))
        answer = self.search(means, topn, exclude=exclude, allowed=pool, limit=restrict_vocab, engine=engine)
        return [self._with_words(ids, scores) for ids, scores in zip(*answer)]

    def _with_words(self, ids: Ids, scores: NDArray[Any]) -> Near:
        return [(self.vocabulary[id], score) for id, score in zip(ids.tolist(), scores.tolist()) if id >= 0]

    def _own_ids(self, terms: Terms) -> list[int]:
        ids = self.ids([key for key, _ in terms if isinstance(key, str)]).tolist()
        return [id for id in ids if id >= 0]

    def _mean(self, terms: Terms, unit: bool = True) -> Floats:
        """The weighted mean of terms; the vectors of words are scaled to length 1 first, other vectors are not."""
        if not terms:
            raise OptionError(NO_WORDS)
        vectors = [self._vector(key) for key, _ in terms]
        if unit:
            vectors = [unit_rows(v[None])[0] if isinstance(k, str) else v for v, (k, _) in zip(vectors, terms)]
        weights = np.array([weight for _, weight in terms])
        total = np.abs(weights).sum()
        return np.asarray(weights @ np.stack(vectors) / (total if total > 0 else 1), np.float32)

    def _vector(self, key: Key) -> Floats:
        """The vector of a word, or a vector itself."""
        if isinstance(key, str):
            return np.asarray(self.of([key])[0])
        try:
            vector = np.asarray(key, np.float32)
        except (TypeError, ValueError):
            vector = np.zeros(0, np.float32)
        if vector.shape != (self.dim,):
            shape = f" of shape {np.shape(key)}" if isinstance(key, np.ndarray) else ""
            problem = f"{key!r:.60} is no word and no vector{shape}"
            raise OptionError(f"{problem}. Pass words, or vectors of shape ({self.dim},)")
        return vector

    def _allowed_ids(self, allowed: Allowed | None, min_count: int | None) -> Ids | None:
        ids: Ids | None = None
        if callable(allowed):
            ids = np.array([id for id, word in enumerate(self.vocabulary.words) if allowed(word)], np.int64)
        elif allowed is not None:
            ids = self.ids([allowed] if isinstance(allowed, str) else allowed)
            ids = ids[ids >= 0]
        if min_count is None:
            return ids
        if self.vocabulary.counts is None:
            raise OptionError("these vectors have no counts, so min_count cannot be used. Use restrict_vocab")
        frequent = np.flatnonzero(self.vocabulary.counts >= min_count)
        return frequent if ids is None else np.intersect1d(ids, frequent)

    def similar_by_word(self, word: str, topn: int = 10, restrict_vocab: int | None = None) -> Near:
        """The words nearest to a word."""
        return self.most_similar(word, topn=topn, restrict_vocab=restrict_vocab)

    def similar_by_vector(self, vector: NDArray[Any], topn: int = 10, restrict_vocab: int | None = None) -> Near:
        """The words nearest to a vector."""
        return self.most_similar(np.asarray(vector), topn=topn, restrict_vocab=restrict_vocab)

    def most_similar_cosmul(
        self,
        positive: Query | None = None,
        negative: Query | None = None,
        topn: int = 10,
        *,
        restrict_vocab: int | None = None,
        allowed: Allowed | None = None,
        min_count: int | None = None,
    ) -> Near:
        """As `most_similar`, but cosines are multiplied (3CosMul), so that no single term dominates.

        The score of a word is Π (1 + cos) / 2 over the positive terms / (the same over the negative terms + 1e-6).
        """
        plus, minus = as_terms(positive, 1.0), as_terms(negative, -1.0)
        if not plus + minus:
            raise OptionError(NO_WORDS)
        size = len(self.vocabulary) if restrict_vocab is None else min(restrict_vocab, len(self.vocabulary))
        pool = self._allowed_ids(allowed, min_count)
        ids = np.arange(size) if pool is None else pool[pool < size]
        ids = np.setdiff1d(ids, self._own_ids(plus + minus))
        scores = self._product(plus, ids) / (self._product(minus, ids) + np.float32(1e-6))
        return self._with_words(*select_best(ids, scores, max(0, topn)))

    def _product(self, terms: Terms, ids: Ids) -> Floats:
        product = np.ones(len(ids), np.float32)
        for term in terms:
            product *= (1 + self._cosines(self._mean([(term[0], 1.0)]), ids)) / np.float32(2)
        return product

    def analogy(self, a: str, b: str, c: str, topn: int = 10, *, method: AnalogyMethod = "3cosadd") -> Near:
        """The words that are to c as b is to a: nearest to b - a + c.

        >>> from firth.vectors.words import WordVectors
        >>> vectors = WordVectors(["man", "king", "woman", "queen", "tea"], [[3, 0], [3, 2], [-3, 0], [-3, 2], [0, -1]])
        >>> vectors.analogy("man", "king", "woman", topn=1)[0][0]
        'queen'
        """
        check_method(method)
        if method == "3cosmul":
            return self.most_similar_cosmul([b, c], [a], topn)
        return self.most_similar([b, c], [a], topn)

    def _cosines(self, vector: NDArray[Any], ids: Ids) -> Floats:
        length = float(np.linalg.norm(vector.astype(np.float64)))
        unit = vector.astype(np.float64)[None] / (length if length > 0 else 1)
        return cosines(self.known, ids, np.zeros(len(ids), np.int64), unit, self.runtime)

    def similarity(self, a: str, b: str) -> float:
        """The cosine of two words."""
        first, second = self.of([a, b])
        return cosine(first, second)

    def similarities(self, words: Sequence[str]) -> Floats:
        """The cosine of every pair of words, as a square table."""
        units = unit_rows(self.of(words)).astype(np.float64)
        return np.asarray(units @ units.T, np.float32)

    def relative_cosine_similarity(self, a: str, b: str, topn: int = 10) -> float:
        """The cosine of two words over the sum of the cosines of a with its `topn` neighbors (Leeuwenberg et al. 2016).

        A value above 1 / topn says that b is nearer to a than its neighbors are on average.
        """
        total = sum(cosine for _, cosine in self.most_similar(a, topn=topn))
        if total == 0:
            raise OptionError(f"{a!r} has no neighbors that differ from it. Use a larger topn or more words")
        return self.similarity(a, b) / total

    def n_similarity(self, first: Sequence[str], second: Sequence[str]) -> float:
        """The cosine of the means of two sets of words."""
        if not len(first) or not len(second):
            raise OptionError(NO_WORDS)
        return cosine(self.of(first).mean(axis=0), self.of(second).mean(axis=0))

    def distance(self, a: str, b: str) -> float:
        """1 - the cosine of two words."""
        return 1 - self.similarity(a, b)

    def distances(self, word: Key, others: Sequence[str] = ()) -> Floats:
        """1 - cosine of a word or vector with the others, or with every word of the vocabulary."""
        vector = self._vector(word)
        if len(others):
            return np.array([1 - cosine(vector, other) for other in self.of(others)], np.float32)
        return 1 - self._cosines(vector, np.arange(len(self.vocabulary)))

    def closer_than(self, a: str, b: str) -> list[str]:
        """The words nearer to a than b."""
        distances = self.distances(a)
        id, other = self.ids([a, b]).tolist()
        if other < 0:
            raise UnknownWord(b, self.vocabulary.near(b))
        return [self.vocabulary[i] for i in np.flatnonzero(distances < distances[other]).tolist() if i != id]

    def rank(self, a: str, b: str) -> int:
        """The rank of b among the neighbors of a; 1 is the nearest."""
        return len(self.closer_than(a, b)) + 1

    def doesnt_match(self, words: Sequence[str]) -> str:
        """The word farthest from the mean of all these words.

        >>> from firth.vectors.words import WordVectors
        >>> WordVectors(["tea", "coffee", "rain"], [[1, 0.1], [1, 0.2], [0, 1]]).doesnt_match(["tea", "rain", "coffee"])
        'rain'
        """
        if not len(words):
            raise OptionError(NO_WORDS)
        units = unit_rows(self.of(words)).astype(np.float64)
        return words[int(np.argmin(units @ units.mean(axis=0)))]

    def mean(self, words: Query, *, unit: bool = True) -> Floats:
        """The weighted mean of words, each scaled to length 1 first unless `unit` is off."""
        return self._mean(as_terms(words, 1.0), unit)

    def get_mean_vector(
        self,
        keys: Sequence[Key],
        weights: Sequence[float] | None = None,
        pre_normalize: bool = True,
        post_normalize: bool = False,
        ignore_missing: bool = True,
    ) -> Floats:
        """gensim's name for `mean`; words without a vector are skipped unless `ignore_missing` is off."""
        if weights is not None and len(weights) != len(keys):
            raise OptionError(f"{len(keys)} words need as many weights, but there are {len(weights)}")
        pairs = list(zip(keys, [1.0] * len(keys) if weights is None else weights))
        if ignore_missing:
            pairs = [(key, weight) for key, weight in pairs if not isinstance(key, str) or key in self]
        mean = self._mean(pairs, pre_normalize)
        return unit_rows(mean[None])[0] if post_normalize else mean

    @abstractmethod
    def __contains__(self, word: object) -> bool: ...


def check_method(method: str) -> None:
    """Raises OptionError for an unknown method of analogies.

    >>> check_method("3CosAdd")
    Traceback (most recent call last):
    firth.errors.OptionError: method is '3CosAdd', but must be one of '3cosadd', '3cosmul'
    """
    if method not in ANALOGY_METHODS:
        raise OptionError(f"method is {method!r}, but must be one of {', '.join(map(repr, ANALOGY_METHODS))}")


def as_terms(query: Query | None, weight: float) -> Terms:
    """A query as (word or vector, weight) pairs; `weight` is the default for terms without one.

    >>> as_terms(["tea", ("rain", 0.5)], 1.0)
    [('tea', 1.0), ('rain', 0.5)]
    """
    if query is None:
        return []
    if isinstance(query, np.ndarray) and (query.ndim == 0 or (query.ndim == 1 and query.dtype.kind in "fiu")):
        return [(query, weight)]
    if isinstance(query, (str, bytes)) or not isinstance(query, Iterable):
        return [(query, weight)]
    return [(term[0], float(term[1])) if isinstance(term, tuple) else (term, weight) for term in query]
