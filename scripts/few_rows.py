"""Pruning of fastText models: the most frequent words and the most important n-grams.

The importance of an n-gram is the squared norm of its row, times the number of words that contain it. The vector of an
unseen word becomes the mean of those of its n-grams that are kept. The vectors of known words do not change: the own
row of each word is adjusted to compensate for the n-grams that are removed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firth.models.quantization import row_norms
from firth.runtime import Runtime
from firth.text.subwords import Subwords
from firth.vectors.rows import DenseRows
from firth.vectors.subwords import SubwordVectors


def prune(vectors: SubwordVectors, words: int, ngrams: int) -> SubwordVectors:
    """The first `words` words of an unpruned model, with its `ngrams` most important n-grams.

    >>> rng = np.random.default_rng(1)
    >>> large = SubwordVectors(["tea", "sea", "rain"], rng.standard_normal((53, 4)), Subwords(2, 3, 50))
    >>> small = prune(large, 2, 3)
    >>> len(small), small.rows.shape, np.abs(small["sea"] - large["sea"]).max() < 1e-6
    (2, (5, 4), np.True_)
    """
    size, large = len(vectors), vectors.subwords
    buckets = select_ngrams(vectors, ngrams)
    pruned = {bucket: row for row, bucket in enumerate(buckets.tolist())}
    subwords = Subwords(large.minn, large.maxn, large.buckets, pruned)
    vocabulary = vectors.vocabulary.top(words)
    rows = np.concatenate([np.zeros((words, vectors.dim), np.float32), vectors.rows.take(size + buckets)])
    without = SubwordVectors(vocabulary, DenseRows(rows), subwords)
    row_counts = subwords.table(vocabulary, Runtime(1))[2][:, None]  # rows per word, including its own row
    rows[:words] = row_counts * (vectors.matrix[:words] - without.matrix)
    return SubwordVectors(vocabulary, DenseRows(rows), subwords, metadata=vectors.metadata)


def select_ngrams(vectors: SubwordVectors, ngrams: int) -> NDArray[np.int64]:
    """The buckets of the most important n-grams, in ascending order."""
    size, buckets = len(vectors), vectors.subwords.buckets
    rows, _, _ = vectors.subwords.table(vectors.vocabulary, Runtime(1))
    counts = np.bincount(rows[rows >= size] - size, minlength=buckets)
    squares = row_norms(vectors.rows, Runtime(1))[size:] ** 2
    return np.sort(np.argsort(-counts * squares, kind="stable")[:ngrams])
