"""A matrix of counts as a test of word vectors sees it: its rows are long and nearly empty, and stay sparse."""

from __future__ import annotations

from functools import cached_property
from typing import Any, cast

import numpy as np
from scipy.sparse import csr_matrix, diags

from firth.evaluate.lookup import Floats, Lookup
from firth.models.count_matrix import CountMatrix
from firth.vectors.words import WordVectors


class SparseLookup(Lookup):
    """The words of a count matrix with their rows, scaled to length 1.

    >>> from firth.evaluate.analogy_search import AnalogyQuestion, solve
    >>> from firth.text.vocabulary import Vocabulary
    >>> words = Vocabulary(["king", "man", "woman", "queen"])
    >>> counts = csr_matrix([[1.0, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1]])
    >>> lookup = SparseLookup(CountMatrix(counts, words, Vocabulary(["crown", "he", "she"])))
    >>> lookup.vector("man"), solve(lookup, [AnalogyQuestion("man", "woman", "king", "queen")]).correct("3cosadd")
    (array([0., 1., 0.], dtype=float32), array([ True]))
    """

    def __init__(self, counts: CountMatrix, **options: Any) -> None:
        self.counts = counts
        super().__init__(cast(WordVectors, counts), **options)  # which looks at its vocabulary only

    @cached_property
    def unit(self) -> csr_matrix:
        """The rows as a sparse matrix: dense rows times it are dense cosines, as they are for vectors."""
        rows = self.counts.matrix[: self.size].astype(np.float32)
        lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1), np.float64).ravel())
        scaled = diags((1 / np.where(lengths > 0, lengths, 1)).astype(np.float32)) @ rows
        return csr_matrix(scaled)

    def vector(self, word: str) -> Floats | None:
        """The row of a word, dense, or None."""
        id = self.find(word)
        return None if id < 0 else np.asarray(self.unit[id].toarray()[0], np.float32)
