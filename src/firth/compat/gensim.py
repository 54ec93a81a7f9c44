"""gensim's `KeyedVectors` over `WordVectors`, for code that is ported from gensim.

Most names are methods of `WordVectors` itself (`most_similar`, `doesnt_match`, `wmdistance`, `vectors_for_all`); this
class adds those that change the vectors or return gensim's tuples.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from firth.errors import OptionError
from firth.evaluate.analogy_search import solve
from firth.evaluate.intrinsic import similarity
from firth.evaluate.lookup import Lookup
from firth.evaluate.questions import read_analogies
from firth.files import Name
from firth.formats.registry import load, save
from firth.vectors.words import WordVectors

Correlation = tuple[float, float]  # the coefficient and its two-sided p-value
Section = dict[str, Any]


class KeyedVectors:
    """Word vectors that can be changed, with gensim's names. Names that are not here are those of `WordVectors`.

    >>> vectors = KeyedVectors(2)
    >>> vectors.add_vectors(["tea", "coffee"], [[1, 0.1], [1, 0.2]])
    >>> vectors["rain"] = [0, 1]
    >>> vectors.most_similar("tea", topn=1)[0][0], vectors.vector_size, len(vectors)
    ('coffee', 2, 3)
    """

    def __init__(self, vectors: WordVectors | int) -> None:
        self.words = WordVectors([], np.zeros((0, vectors), np.float32)) if isinstance(vectors, int) else vectors

    @classmethod
    def load(cls, path: Name) -> Self:
        """Opens vectors in any format that `firth.load` knows, those of gensim's `save_word2vec_format` included."""
        vectors = load(path)
        if not isinstance(vectors, WordVectors):
            raise OptionError(f"{path}: holds no word vectors but a {type(vectors).__name__}")
        return cls(vectors)

    load_word2vec_format = load

    def save(self, path: Name) -> None:
        """Saves the vectors as `firth.save` does: the ending of the name selects the format."""
        save(self.words, path)

    def __getattr__(self, name: str) -> Any:
        if name == "words":  # not set yet, while the object is copied
            raise AttributeError(name)
        return getattr(self.words, name)

    def __getitem__(self, words: str | Sequence[str]) -> NDArray[np.float32]:
        return self.words[words]

    def __setitem__(self, words: str | Sequence[str], rows: Any) -> None:
        if isinstance(words, str):
            words, rows = [words], [rows]
        self.add_vectors(words, rows, replace=True)

    def __contains__(self, word: object) -> bool:
        return word in self.words

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"KeyedVectors({self.words!r})"

    @property
    def vectors(self) -> NDArray[np.float32]:
        """All vectors as one array."""
        return self.words.matrix

    @property
    def vector_size(self) -> int:
        """The length of a vector."""
        return self.words.dim

    def add_vector(self, key: str, vector: Any) -> int:
        """Adds the vector of one word, or replaces it; returns the id of the word."""
        self.add_vectors([key], [vector], replace=True)
        return self.words.vocabulary.id(key)

    def add_vectors(self, keys: Sequence[str], weights: Any, *, replace: bool = False) -> None:
        """Adds vectors of words. Words that are known keep their vectors, unless `replace` is on."""
        words, rows = list(keys), list(weights)
        if len(words) != len(rows):
            raise OptionError(f"{len(words)} words need as many vectors, but there are {len(rows)}")
        if not replace:
            chosen = [place for place, word in enumerate(words) if word not in self.words.vocabulary]
            words, rows = [words[place] for place in chosen], [rows[place] for place in chosen]
        if words:
            self.words = self.words.add(words, rows)

    def get_vecattr(self, key: str, attr: str) -> int:
        """The count of a word; other attributes are not stored."""
        if attr != "count":
            raise OptionError(f"attr is {attr!r}, but only 'count' is stored")
        return self.words.count(key)

    def evaluate_word_pairs(
        self,
        pairs: Name,
        restrict_vocab: int = 300_000,
        case_insensitive: bool = True,
        dummy4unknown: bool = False,
    ) -> tuple[Correlation, Correlation, float]:
        """Pearson's and Spearman's correlation with human ratings, each with its p-value, and the unknown pairs in %.

        `pairs` is a file or a named test set.
        """
        score = similarity(self._lookup(restrict_vocab, case_insensitive), pairs, dummy4unknown=dummy4unknown)
        count = score.total if dummy4unknown else score.used
        unknown = 100 * (score.total - score.used) / score.total if score.total else 0.0
        return with_p_value(score.details["pearson"], count), with_p_value(score.value, count), unknown

    def evaluate_word_analogies(
        self,
        analogies: Name,
        restrict_vocab: int = 300_000,
        case_insensitive: bool = True,
        dummy4unknown: bool = False,
    ) -> tuple[float, list[Section]]:
        """The accuracy of the best answers by 3CosAdd, and the questions of each section that are right and wrong.

        `analogies` is a file or a named test set. The last section has all questions. Questions with an unknown word
        are left out, or wrong with `dummy4unknown`.
        """
        sections = read_analogies(analogies)
        questions = [question for section in sections.values() for question in section]
        answers = solve(self._lookup(restrict_vocab, case_insensitive), questions, ("3cosadd",))
        outcomes = zip(answers.known.tolist(), answers.correct("3cosadd").tolist())
        result: list[Section] = []
        for name, section in sections.items():
            lists: dict[bool, list[tuple[str, ...]]] = {True: [], False: []}
            for question, (known, correct) in zip(section, outcomes):
                if known or dummy4unknown:
                    lists[correct].append(tuple(word.upper() if case_insensitive else word for word in question))
            result.append({"section": name, "correct": lists[True], "incorrect": lists[False]})
        total = {
            "section": "Total accuracy",
            "correct": [question for section in result for question in section["correct"]],
            "incorrect": [question for section in result for question in section["incorrect"]],
        }
        used = len(total["correct"]) + len(total["incorrect"])
        return len(total["correct"]) / used if used else math.nan, [*result, total]

    def _lookup(self, restrict_vocab: int, case_insensitive: bool) -> Lookup:
        options = {"case_insensitive": case_insensitive, "normalize": False, "compose": False}
        return Lookup(self.words, restrict_vocab=restrict_vocab, **options)


def with_p_value(correlation: float | None, count: int) -> Correlation:
    """A correlation of `count` pairs and the probability of a larger one, in absolute value, by chance (Student's t).

    >>> [round(value, 4) for value in with_p_value(0.5, 18)]
    [0.5, 0.0346]
    """
    if correlation is None:
        return math.nan, math.nan
    if count < 3 or abs(correlation) >= 1:
        return correlation, 1.0 if count < 3 else 0.0
    freedom = count - 2
    t = correlation * math.sqrt(freedom / (1 - correlation**2))
    return correlation, float(2 * stdtr(freedom, -abs(t)))
