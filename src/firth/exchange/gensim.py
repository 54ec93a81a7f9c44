"""Vectors to and from gensim: `KeyedVectors`, the vectors of FastText, and models that have them.

The arrays are shared where both sides store them the same way. `firth.compat.gensim` is something else: gensim's names
for code that is ported to firth.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.exchange.ranked import Floats, rank_words
from firth.lazy import import_package
from firth.text.subwords import Subwords
from firth.text.vocabulary import Vocabulary
from firth.vectors.subwords import SubwordVectors
from firth.vectors.words import WordVectors

SAMPLE = 100  # words whose vectors are compared with the means of their rows
SENTENCE_END = "</s>"


def to_gensim(vectors: WordVectors) -> Any:
    """Word vectors as gensim's `KeyedVectors`, with counts; those with character n-grams as `FastTextKeyedVectors`.

    gensim has no pruned n-grams: pruned rows become zeros. Then the vectors of unseen words have the same direction, so
    that neighbors and cosines are the same, but are shorter, which a warning says.
    """
    if isinstance(vectors, SubwordVectors) and vectors.subwords.used:
        return _fasttext_to_gensim(vectors)
    keyed = import_package("gensim.models:KeyedVectors", "an export to gensim")(vectors.dim, dtype=np.float32)
    return _fill(keyed, vectors)


def _fill(keyed: Any, vectors: WordVectors) -> Any:
    words = list(vectors.vocabulary)
    keyed.index_to_key = words
    keyed.key_to_index = {word: id for id, word in enumerate(words)}
    keyed.vectors = np.asarray(vectors.matrix)
    keyed.next_index = len(words)
    counts = vectors.vocabulary.counts
    if counts is not None:
        keyed.expandos["count"] = np.array(counts, np.int64)
    return keyed


def _fasttext_to_gensim(vectors: SubwordVectors) -> Any:
    subwords, size = vectors.subwords, len(vectors)
    if subwords.units != "characters":
        cure = "Export the words without n-grams: vectors.restrict(vectors).to_gensim()"
        raise OptionError(f"gensim has no n-grams of {subwords.units}. {cure}")
    place = "gensim.models.fasttext:FastTextKeyedVectors"
    make = import_package(place, "an export to gensim")
    keyed = make(vectors.dim, subwords.minn, subwords.maxn, subwords.buckets, dtype=np.float32)
    _fill(keyed, vectors)
    keyed.vectors_vocab = vectors.rows.block(0, size)
    keyed.vectors_ngrams = _ngram_rows(vectors)
    rows, pointers, lengths = subwords.table(vectors.vocabulary)
    buckets = rows - size
    if subwords.pruned is not None:
        of_row = {row: bucket for bucket, row in subwords.pruned.items()}
        buckets = np.array([of_row.get(row, 0) for row in buckets.tolist()], np.int64)
    keyed.buckets_word = [
        buckets[start + 1 : start + length].astype(np.uint32)  # the first row is that of the word itself
        for start, length in zip(pointers[:-1].tolist(), lengths.tolist())
    ]
    return keyed


def _ngram_rows(vectors: SubwordVectors) -> Floats:
    """A row for each bucket; those of pruned buckets are zeros."""
    subwords, size = vectors.subwords, len(vectors)
    if subwords.pruned is None:
        return vectors.rows.block(size, size + subwords.buckets)
    problem = "these vectors have pruned n-grams, which gensim has not: there, vectors of unseen words are shorter"
    warnings.warn(f"{problem}, but have the same direction", stacklevel=6)
    rows = np.zeros((subwords.buckets, vectors.dim), np.float32)
    rows[list(subwords.pruned)] = vectors.rows.take([size + row for row in subwords.pruned.values()])
    return rows


def from_gensim(model: Any) -> WordVectors:
    """The vectors of a gensim model: `KeyedVectors`, `Word2Vec`, `FastText`, or the words of a `Doc2Vec`.

    Counts are kept. Vectors of FastText become `SubwordVectors`, which have vectors for unseen words too. gensim gives
    the words of files without counts the numbers n, n - 1, …, 1: these are not taken for counts.
    """
    keyed = getattr(model, "wv", model)
    words, matrix = getattr(keyed, "index_to_key", None), getattr(keyed, "vectors", None)
    if words is None or not isinstance(matrix, np.ndarray) or matrix.ndim != 2:
        raise OptionError(f"{model!r:.80} is no model of gensim. Pass KeyedVectors, Word2Vec, FastText or Doc2Vec")
    if not all(isinstance(word, str) for word in words):
        raise OptionError("the keys of these vectors are not words but numbers. Vectors of words have texts as keys")
    what = f"gensim's {type(keyed).__name__}"
    vocabulary, counts = Vocabulary(words), _counts(keyed)
    metadata = {"gensim": type(model).__name__}
    ngrams = getattr(keyed, "vectors_ngrams", None)
    if ngrams is None or not getattr(keyed, "bucket", 0) or not getattr(keyed, "max_n", 0):
        vocabulary, rows = rank_words(vocabulary, counts, matrix.astype(np.float32, copy=False)[: len(words)], what)
        return WordVectors(vocabulary, rows, metadata=metadata)
    own = np.asarray(keyed.vectors_vocab, np.float32)[: len(words)]
    is_end = SENTENCE_END in keyed.key_to_index
    with_ngrams = is_end and not np.allclose(*(part[keyed.key_to_index[SENTENCE_END]] for part in (matrix, own)))
    subwords = Subwords(int(keyed.min_n), int(keyed.max_n), int(keyed.bucket), sentence_end=bool(with_ngrams))
    vocabulary, own = rank_words(vocabulary, counts, own, what)
    rows = np.concatenate([own, np.asarray(ngrams, np.float32)])
    vectors = SubwordVectors(vocabulary, rows, subwords, metadata=metadata)
    _check_means(vectors, keyed, what)
    return vectors


def _counts(keyed: Any) -> NDArray[np.int64] | None:
    counts = getattr(keyed, "expandos", {}).get("count")
    size = len(keyed.index_to_key)
    if counts is None or len(counts) < size or not size:
        return None
    numbers = np.asarray(counts[:size], np.int64)
    return None if np.array_equal(numbers, np.arange(size, 0, -1)) and size > 1 else numbers


def _check_means(vectors: SubwordVectors, keyed: Any, what: str) -> None:
    """Refuses vectors that were changed after training, such as normalized ones: n-grams do not give them."""
    words = list(keyed.index_to_key[:SAMPLE])
    if not np.allclose(vectors.of(words), keyed.vectors[: len(words)], rtol=1e-3, atol=1e-4):
        problem = "the vectors of the words are not the means of their n-grams, as after a normalization"
        raise OptionError(f"{what}: {problem}. Convert them before they are changed")
