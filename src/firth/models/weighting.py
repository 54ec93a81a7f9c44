"""Weights from counts: TF-IDF, PMI and row normalization of sparse matrices.

The functions are pure and keep matrices sparse: an empty cell stays empty.
"""

from __future__ import annotations

import itertools
import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

Floats = NDArray[np.float64]
Log = Literal["natural", "base2", "base10"]
TermFrequency = Literal["raw", "relative", "log", "binary", "augmented", "double-log", "log-average"]
Idf = Literal["none", "plus-one", "add-one", "constant", "zero-corrected", "probabilistic"]

BLOCK = 1 << 20  # cells weighted at a time


def logarithm(values: Floats, log: Log) -> Floats:
    """The natural, the binary or the decimal logarithm."""
    if log == "natural":
        return np.log(values)
    return np.log2(values) if log == "base2" else np.log10(values)


def replace_data(counts: csr_matrix, data: Floats) -> csr_matrix:
    """The same cells with other values."""
    return csr_matrix((data, counts.indices, counts.indptr), shape=counts.shape, copy=False)


def term_frequency(counts: csr_matrix, tf: TermFrequency = "raw", log: Log = "natural") -> csr_matrix:
    """The term frequency of each word in a document (a row), from its count n.

    raw           n
    relative      n / (sum of the counts of the document)
    log           1 + log n
    binary        1
    augmented     0.5 + 0.5 n / (largest count of the document)
    double-log    1 + log(1 + log n)
    log-average   (1 + log n) / (1 + log(mean count of the document's words))

    >>> term_frequency(csr_matrix([[4.0, 4.0, 0.0]]), "relative").toarray()
    array([[0.5, 0.5, 0. ]])
    """
    if tf == "raw":
        return counts.astype(np.float64)
    if tf == "binary":
        return replace_data(counts, np.ones(counts.nnz))
    if tf == "relative":
        return divide_rows(counts, row_sums(counts))
    if tf == "augmented":
        largest = np.asarray(counts.max(axis=1).toarray(), np.float64).ravel()
        shares = divide_rows(counts, largest)
        return replace_data(shares, 0.5 + 0.5 * shares.data)
    logs = replace_data(counts, 1.0 + logarithm(counts.data.astype(np.float64), log))
    if tf == "double-log":
        return replace_data(counts, 1.0 + logarithm(logs.data, log))
    if tf == "log-average":
        means = row_sums(counts) / np.maximum(np.diff(counts.indptr), 1)
        return divide_rows(logs, 1.0 + logarithm(np.maximum(means, 1.0), log))
    return logs


def inverse_document_frequency(counts: csr_matrix, log: Log = "natural", smooth: Idf = "none") -> Floats:
    """The idf of each word (a column), from the number of documents N and of those with the word, df.

    none             log(N / df): a word of every document has weight 0
    plus-one         log(N / df) + 1
    add-one          log((1 + N) / (1 + df)) + 1: as if one more document had every word (scikit-learn's default)
    constant         1
    zero-corrected   log((N + 1) / df)
    probabilistic    max(0, log((N - df) / df))

    A word of no document has idf 0 where the logarithm, with 1 / df, is undefined.

    >>> inverse_document_frequency(csr_matrix([[1, 0], [1, 1]]), "base10").round(4)
    array([0.   , 0.301])
    """
    documents = counts.shape[0]
    df = np.bincount(counts.indices, weights=counts.data != 0, minlength=counts.shape[1])
    if smooth == "add-one":
        return logarithm((1.0 + documents) / (1.0 + df), log) + 1.0
    if smooth == "constant":
        return np.ones(counts.shape[1])
    odds = {"zero-corrected": documents + 1.0, "probabilistic": np.maximum(documents - df, df)}
    idf = logarithm(odds.get(smooth, float(documents)) / np.maximum(df, 1.0), log)
    idf[df == 0] = 0.0
    return idf + 1.0 if smooth == "plus-one" else idf


def tf_idf(
    counts: csr_matrix,
    idf: Floats | None = None,
    *,
    tf: TermFrequency = "raw",
    log: Log = "natural",
    smooth: Idf = "none",
) -> csr_matrix:
    """tf(word, document) * idf(word) for documents as rows; idf is computed from these counts unless it is given.

    >>> counts = csr_matrix([[1, 1, 2, 4, 0], [1, 1, 0, 0, 2]])  # This, is, about, Messi, TF-IDF
    >>> tf_idf(counts, tf="relative", log="base10").toarray()[0].round(4)
    array([0.    , 0.    , 0.0753, 0.1505, 0.    ])
    """
    if idf is None:
        idf = inverse_document_frequency(counts, log, smooth)
    frequencies = term_frequency(counts, tf, log)
    data = frequencies.data * idf[frequencies.indices]
    return keep_cells(replace_data(frequencies, data), data != 0)


def pmi(
    counts: csr_matrix,
    *,
    shift: float = 1.0,
    context_smoothing: float = 1.0,
    positive: bool = False,
    log: Log = "natural",
) -> csr_matrix:
    """Pointwise mutual information: log ratio of P(c | w) to P(c) for word w and context c.

        PMI(w, c) = log(P(c | w) / P(c)) - log(shift)
        P(c | w)  = X(w, c) / X(w, ·)
        P(c)      = X(·, c)^a / (sum over all c of X(·, c)^a)        a = context_smoothing

    With a = 1 this is log(X(w, c) X(·, ·) / (X(w, ·) X(·, c))). The PMI of a pair with count 0 would be minus
    infinity; it stays an empty cell. Positive PMI is max(PMI, 0): its zeros are not stored.

    >>> pmi(csr_matrix([[2.0, 0.0], [1.0, 1.0]])).toarray().round(4)
    array([[ 0.2877,  0.    ],
           [-0.4055,  0.6931]])
    """
    row_totals, contexts = row_sums(counts), column_sums(counts)
    context_probs = np.where(contexts > 0, contexts, 1.0) ** context_smoothing
    context_probs[contexts == 0] = 0.0
    context_probs /= context_probs.sum() if context_probs.sum() else 1.0
    data = np.empty(counts.nnz, np.float64)
    lengths = np.diff(counts.indptr)
    base = {"natural": 1.0, "base2": 1.0 / math.log(2.0), "base10": 1.0 / math.log(10.0)}[log]
    for first, last in row_blocks(counts.indptr):
        span = slice(int(counts.indptr[first]), int(counts.indptr[last]))
        block = data[span]
        np.divide(counts.data[span], np.repeat(row_totals[first:last] * shift, lengths[first:last]), out=block)
        block /= context_probs[counts.indices[span]]
        np.log(block, out=block)
        block *= base
    weights = replace_data(counts, data)
    return keep_cells(weights, data > 0) if positive else weights


def keep_cells(weights: csr_matrix, keep: NDArray[np.bool_]) -> csr_matrix:
    """The matrix without the cells whose `keep` is false."""
    starts = np.concatenate([[0], np.cumsum(keep)])[weights.indptr]
    starts = starts.astype(weights.indptr.dtype)
    return csr_matrix((weights.data[keep], weights.indices[keep], starts), shape=weights.shape)


def normalize_rows(weights: csr_matrix) -> csr_matrix:
    """Every row divided by its Euclidean norm; an empty row stays empty.

    >>> normalize_rows(csr_matrix([[3.0, 4.0], [0.0, 0.0]])).toarray()
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    return divide_rows(weights, np.sqrt(row_sums(replace_data(weights, weights.data**2))))


def divide_rows(weights: csr_matrix, divisors: Floats) -> csr_matrix:
    """Every row divided by its divisor; a row whose divisor is 0 stays as it is.

    >>> divide_rows(csr_matrix([[3.0, 4.0], [0.0, 0.0]]), np.array([2.0, 0.0])).toarray()
    array([[1.5, 2. ],
           [0. , 0. ]])
    """
    divisors = np.where(divisors == 0, 1.0, divisors)
    return replace_data(weights, weights.data / np.repeat(divisors, np.diff(weights.indptr)))


def row_sums(matrix: csr_matrix) -> Floats:
    """The sum of each row."""
    return np.asarray(matrix.sum(axis=1, dtype=np.float64)).ravel()


def column_sums(matrix: csr_matrix) -> Floats:
    """The sum of each column."""
    return np.bincount(matrix.indices, weights=matrix.data, minlength=matrix.shape[1]).astype(np.float64)


def row_blocks(starts: NDArray[np.integer]) -> list[tuple[int, int]]:
    """Blocks of rows (first, last) of about BLOCK cells, so that temporary arrays stay small."""
    cuts = np.unique(np.searchsorted(starts, np.arange(0, int(starts[-1]) + BLOCK, BLOCK)))
    cuts = np.unique(np.concatenate([[0], cuts, [len(starts) - 1]]))
    return [(int(a), int(b)) for a, b in itertools.pairwise(cuts) if b < len(starts)]
