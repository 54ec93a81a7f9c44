"""Lookup of the words of test sets in word vectors.

Test sets and models often spell words differently: `Athens` and `athens`, `ice hockey` and `ice_hockey`. For words
without spaces and accents, the rules are those of gensim's evaluation functions.
"""

from __future__ import annotations

from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.text.normalize import Normalizer
from firth.vectors.neighbors import unit_rows
from firth.vectors.subwords import SubwordVectors
from firth.vectors.words import WordVectors

Floats = NDArray[np.float32]
BLOCK = 1 << 14
NORMALIZERS = Normalizer(), Normalizer.persian()


class Lookup:
    """The first `restrict_vocab` words of a model, looked up with or without regard to case.

    With `case_insensitive`, the first of several spellings is used for all of them; in a vocabulary sorted by count it
    is the most frequent one. With `normalize`, a word that is not found is looked up again after normalization, so that
    Persian sets with Arabic letters fit models of normalized text; the normalizer of the model itself is always used.
    With `compose`, subword vectors also give vectors
    of words outside their vocabulary.

    >>> lookup = Lookup(WordVectors(["athens", "Athens", "ice_hockey"], [[3, 4], [1, 0], [0, 1]]))
    >>> lookup.find("ATHENS"), lookup.find("ice hockey"), lookup.find("Sparta")
    (0, 2, -1)
    >>> lookup.vector("Athens")
    array([0.6, 0.8], dtype=float32)
    """

    def __init__(
        self,
        vectors: WordVectors,
        *,
        restrict_vocab: int = 300_000,
        case_insensitive: bool = True,
        normalize: bool = True,
        compose: bool = True,
    ) -> None:
        if restrict_vocab < 1:
            raise OptionError(f"restrict_vocab is {restrict_vocab}, but must be at least 1")
        self.vectors, self.case_insensitive = vectors, case_insensitive
        self.normalize, self.compose = normalize, compose
        self.size = min(restrict_vocab, len(vectors.vocabulary))
        self._ids: dict[str, int] = {}
        firsts = [
            self._ids.setdefault(self._form(word), id) for id, word in enumerate(islice(vectors.vocabulary, self.size))
        ]
        self.spellings = np.array(firsts, np.int64)  # (words,), the id of the spelling that is used for each word

    def _form(self, word: str) -> str:
        return word.upper() if self.case_insensitive else word

    @cached_property
    def unit(self) -> Floats:
        """The vectors of the words, scaled to length 1. NaN and infinity are an error."""
        is_whole = self.size == len(self.vectors)  # of a large model only the first rows are read
        return self.vectors.unit if is_whole else self.vectors.first_unit_rows(self.size)

    def find(self, word: str) -> int:
        """The id of a word, or -1. A phrase is also looked up with underscores instead of spaces."""
        spellings = [word, word.replace(" ", "_")] if " " in word else [word]
        if self.normalize and not word.isascii():
            spellings += [normalizer(word) for normalizer in NORMALIZERS]
        if self.vectors.normalizer is not None:
            spellings.append(self.vectors.normalizer(word))
        for spelling in spellings:
            id = self._ids.get(self._form(spelling))
            if id is not None:
                return id
        return -1

    def vector(self, word: str) -> Floats | None:
        """The unit vector of a word, or None. An unknown phrase is the mean of its words, if all of them are known."""
        id = self.find(word)
        if id >= 0:
            return np.asarray(self.unit[id])
        parts = word.split()
        if len(parts) > 1:
            vectors = [vector for part in parts if (vector := self.vector(part)) is not None]
            return np.asarray(unit_rows(np.mean(vectors, axis=0)[None])[0]) if len(vectors) == len(parts) else None
        if self.compose and isinstance(self.vectors, SubwordVectors) and word in self.vectors:
            return np.asarray(unit_rows(self.vectors.of([word]))[0])
        return None
