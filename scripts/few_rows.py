"""A fastText model of few rows: the n-grams that matter most, and words whose vectors are still those of the large one.

An n-gram matters by the square of its row's length, times the number of words that have it. The others are left out,
so an unseen word is the mean of those of its n-grams that are left. A word that is kept would lose by that too, but it
has a row of its own: this row is changed so that the mean of all its rows is what it was.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firth.models.quantization import row_norms
from firth.runtime import Runtime
from firth.text.subwords import Subwords
from firth.vectors.rows import DenseRows
from firth.vectors.subwords import SubwordVectors


def with_few_rows(vectors: SubwordVectors, words: int, ngrams: int) -> SubwordVectors:
    """The first `words` words of a model that is not pruned yet, with so many of its n-grams.

    >>> rng = np.random.default_rng(1)
    >>> large = SubwordVectors(["tea", "sea", "rain"], rng.standard_normal((53, 4)), Subwords(2, 3, 50))
    >>> small = with_few_rows(large, 2, 3)
    >>> len(small), small.rows.shape, np.abs(small["sea"] - large["sea"]).max() < 1e-6
    (2, (5, 4), np.True_)
    """
    size, large = len(vectors), vectors.subwords
    buckets = most_important(vectors, ngrams)
    pruned = {bucket: row for row, bucket in enumerate(buckets.tolist())}
    subwords = Subwords(large.minn, large.maxn, large.buckets, pruned)
    kept = vectors.vocabulary.top(words)
    rows = np.concatenate([np.zeros((words, vectors.dim), np.float32), vectors.rows.take(size + buckets)])
    without = SubwordVectors(kept, DenseRows(rows), subwords)
    pieces = subwords.table(kept, Runtime(1))[2][:, None]  # rows of each word, its own among them
    rows[:words] = pieces * (vectors.matrix[:words] - without.matrix)
    return SubwordVectors(kept, DenseRows(rows), subwords, metadata=vectors.metadata)


def most_important(vectors: SubwordVectors, ngrams: int) -> NDArray[np.int64]:
    """The buckets of the n-grams that matter most, by their number."""
    size, buckets = len(vectors), vectors.subwords.buckets
    rows, _, _ = vectors.subwords.table(vectors.vocabulary, Runtime(1))
    counts = np.bincount(rows[rows >= size] - size, minlength=buckets)
    squares = row_norms(vectors.rows, Runtime(1))[size:] ** 2
    return np.sort(np.argsort(-counts * squares, kind="stable")[:ngrams])
