"""TF-IDF by the codes of the SMART system: one letter each for term frequency, document frequency, normalization."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.sparse import csr_matrix

from firth.errors import OptionError
from firth.models import weighting
from firth.models.weighting import Floats, Idf, Log, TermFrequency
from firth.text.vocabulary import Vocabulary

Normalization = Literal["none", "cosine", "pivoted-unique", "pivoted-characters"]

TERM_FREQUENCIES: dict[str, TermFrequency] = {
    "n": "raw",
    "t": "raw",
    "b": "binary",
    "l": "log",
    "a": "augmented",
    "d": "double-log",
    "L": "log-average",
}
DOCUMENT_FREQUENCIES: dict[str, Idf] = {
    "n": "constant",
    "x": "constant",
    "f": "none",
    "t": "zero-corrected",
    "p": "probabilistic",
}
NORMALIZATIONS: dict[str, Normalization] = {
    "n": "none",
    "x": "none",
    "c": "cosine",
    "u": "pivoted-unique",
    "b": "pivoted-characters",
}


@dataclass(frozen=True)
class SmartCode:
    """The three parts of a SMART code.

    >>> SmartCode.parse("ltc")
    SmartCode(tf='log', idf='zero-corrected', normalization='cosine')
    >>> SmartCode.parse("lsc")
    Traceback (most recent call last):
    firth.errors.OptionError: smart is 'lsc', but its document frequency 's' must be one of n, x, f, t, p
    """

    tf: TermFrequency
    idf: Idf
    normalization: Normalization

    @classmethod
    def parse(cls, code: str) -> SmartCode:
        """The parts of a code of three letters."""
        problem = f"smart is {code!r:.60}, but"
        if len(code) == 7 and code[3] == ".":
            cure = f"Fit one matrix with {code[:3]!r} and one with {code[4:]!r}"
            raise OptionError(f"{problem} must be one code, not one for documents and one for queries. {cure}")
        if len(code) != 3:
            raise OptionError(f"{problem} must be three letters, such as 'ltc'")
        parts = {
            "term frequency": list(TERM_FREQUENCIES),
            "document frequency": list(DOCUMENT_FREQUENCIES),
            "normalization": list(NORMALIZATIONS),
        }
        for (part, known), letter in zip(parts.items(), code):
            if letter not in known:
                raise OptionError(f"{problem} its {part} {letter!r} must be one of {', '.join(known)}")
        return cls(TERM_FREQUENCIES[code[0]], DOCUMENT_FREQUENCIES[code[1]], NORMALIZATIONS[code[2]])

    @property
    def is_pivoted(self) -> bool:
        """Whether documents are normalized by their length and the mean length of the fitted documents."""
        return self.normalization in ("pivoted-unique", "pivoted-characters")

    def lengths(self, counts: csr_matrix, words: Vocabulary) -> Floats:
        """The length of each document: its distinct words, or the characters of its words with one space each.

        >>> counts, words = csr_matrix([[2.0, 1.0], [0.0, 1.0]]), Vocabulary(["tea", "black"])
        >>> SmartCode.parse("Lnu").lengths(counts, words), SmartCode.parse("Lnb").lengths(counts, words)
        (array([2., 1.]), array([14.,  6.]))
        """
        if self.normalization == "pivoted-unique":
            return np.asarray(np.diff(counts.indptr), np.float64)
        return np.asarray(counts @ np.array([len(word) + 1.0 for word in words], np.float64), np.float64)

    def pivot(self, counts: csr_matrix, words: Vocabulary) -> float | None:
        """The mean length of the documents; None for a code without pivoted normalization."""
        return float(self.lengths(counts, words).mean()) if self.is_pivoted else None

    def weigh(
        self, counts: csr_matrix, words: Vocabulary, idf: Floats, *, log: Log, slope: float, pivot: float | None
    ) -> csr_matrix:
        """The weights of documents as rows, by the idf and the pivot of the fitted documents."""
        weights = weighting.tf_idf(counts, idf, tf=self.tf, log=log)
        if self.normalization == "cosine":
            return weighting.normalize_rows(weights)
        if pivot is None:
            return weights
        return weighting.divide_rows(weights, (1 - slope) * pivot + slope * self.lengths(counts, words))
