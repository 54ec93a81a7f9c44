"""How the words of a test set find their vectors.

Test sets and models seldom agree on spelling: a set asks for `Athens` where the model has `athens`, for `ice hockey`
where it has `ice_hockey`. What is done about it is written here once, for every test. On words without blanks and
accents the rules are those of gensim's evaluators.
"""

from __future__ import annotations

from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from firth.errors import FirthError, OptionError
from firth.text.normalize import Normalizer
from firth.vectors.neighbors import unit_rows
from firth.vectors.subwords import SubwordVectors
from firth.vectors.words import WordVectors

Floats = NDArray[np.float32]
BLOCK = 1 << 14
NORMALIZERS = Normalizer(), Normalizer.persian()


class Lookup:
    """Word vectors as a test sees them: the first `restrict_vocab` words, with or without regard to case.

    Where case does not matter, the first of several spellings stands for all of them: in a vocabulary that is ordered
    by count, the commonest. A word that is not found as written is tried in normalized spelling, unless `normalize` is
    off: Persian sets that use Arabic letters so meet models of normalized text. Subword vectors also answer for words
    that they never saw, unless `compose` is off.

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
        self.spellings = np.array(firsts, np.int64)  # of each word, the id of the spelling that stands for it

    def _form(self, word: str) -> str:
        return word.upper() if self.case_insensitive else word

    @cached_property
    def unit(self) -> Floats:
        """The words' vectors, scaled to length 1. Values that are not numbers would win every comparison: an error."""
        if self.size == len(self.vectors):
            unit = self.vectors.unit
        else:  # of millions of words only the first are asked for, so the others are left alone
            starts = range(0, self.size, BLOCK)
            rows = self.vectors.known
            unit = np.concatenate([unit_rows(rows.block(start, min(start + BLOCK, self.size))) for start in starts])
        broken = np.flatnonzero(~np.isfinite(unit.sum(axis=1)))
        if len(broken):
            word = self.vectors.vocabulary[int(broken[0])]
            raise FirthError(f"the vector of {word!r} holds values that are not finite. Remove or mend it first")
        return unit

    def find(self, word: str) -> int:
        """The id of a word, or -1. A phrase is also looked up with underscores."""
        spellings = [word, word.replace(" ", "_")] if " " in word else [word]
        if self.normalize and not word.isascii():
            spellings += [normalizer(word) for normalizer in NORMALIZERS]
        for spelling in spellings:
            id = self._ids.get(self._form(spelling))
            if id is not None:
                return id
        return -1

    def vector(self, word: str) -> Floats | None:
        """The unit vector of a word, or None. A phrase that is no entry is the mean of its words, if all are known."""
        id = self.find(word)
        if id >= 0:
            return np.asarray(self.unit[id])
        parts = word.split()
        if len(parts) > 1:
            found = [vector for part in parts if (vector := self.vector(part)) is not None]
            return np.asarray(unit_rows(np.mean(found, axis=0)[None])[0]) if len(found) == len(parts) else None
        if self.compose and isinstance(self.vectors, SubwordVectors) and word in self.vectors:
            return np.asarray(unit_rows(self.vectors.of([word]))[0])
        return None
