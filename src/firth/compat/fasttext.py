"""The methods of fastText's Python module over `SubwordVectors`, for code that is ported from it.

As in fastText, a text is split at blanks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.files import Name
from firth.formats.registry import load
from firth.models.classifier_model import Classifier
from firth.vectors.neighbors import unit_rows
from firth.vectors.subwords import SubwordVectors

Floats = NDArray[np.float32]
Labels = tuple[tuple[str, ...], NDArray[np.float64]]


def load_model(path: Name) -> FastTextModel:
    """Opens a model of fastText or of firth."""
    vectors = load(path)
    if not isinstance(vectors, SubwordVectors):
        raise OptionError(f"{path}: holds no fastText model but a {type(vectors).__name__}")
    return FastTextModel(vectors)


class FastTextModel:
    """A model with fastText's names.

    >>> from firth.text.subwords import Subwords
    >>> model = FastTextModel(SubwordVectors(["tea", "rain"], np.arange(24).reshape(12, 2), Subwords(3, 3, 10)))
    >>> model.get_subwords("tea")
    (['tea', '<te', 'tea', 'ea>'], array([ 0, 10,  9,  7]))
    >>> model.get_nearest_neighbors("tea", k=1)[0][1]
    'rain'
    """

    def __init__(self, vectors: SubwordVectors) -> None:
        self.vectors = vectors

    @cached_property
    def _classifier(self) -> Classifier:
        return Classifier(self.vectors)

    @property
    def _is_supervised(self) -> bool:
        return self.vectors.output is not None and self.vectors.output.model == "supervised"

    @property
    def words(self) -> list[str]:
        """The words of the vocabulary."""
        return list(self.vectors.vocabulary)

    @property
    def labels(self) -> list[str]:
        """The labels of a supervised model; the words of another one."""
        return list(self._classifier.labels) if self._is_supervised else self.words

    def get_words(self) -> list[str]:
        """The words of the vocabulary."""
        return self.words

    def get_labels(self) -> list[str]:
        """The labels of a supervised model; the words of another one."""
        return self.labels

    def get_dimension(self) -> int:
        """The length of a vector."""
        return self.vectors.dim

    def get_word_id(self, word: str) -> int:
        """The id of a word, or -1."""
        return self.vectors.vocabulary.find(word)

    def get_word_vector(self, word: str) -> Floats:
        """The vector of a word; zeros for an unseen word without n-grams."""
        return np.asarray(self.vectors.embed([[word]])[0][0])

    def get_subwords(self, word: str) -> tuple[list[str], NDArray[np.int64]]:
        """The pieces of a word, itself first if it is known, and their rows."""
        size, id = len(self.vectors), self.get_word_id(word)
        pieces = [(word, id)] if id >= 0 else []
        pieces += [(ngram, size + row) for ngram, row in self.vectors.subwords.pairs(word)]
        return [piece for piece, _ in pieces], np.array([row for _, row in pieces], np.int64)

    def get_sentence_vector(self, text: str) -> Floats:
        """The mean of the unit vectors of the words, or of the rows of the line in a supervised model."""
        if "\n" in text:
            raise OptionError("a sentence must be one line, but this one has several. Join or split it first")
        if self._is_supervised:
            return np.asarray(self._classifier.vectors([text])[0])
        vectors = self.vectors.embed([text.split()])[0]
        vectors = unit_rows(vectors[vectors.any(axis=1)])
        return vectors.mean(axis=0) if len(vectors) else np.zeros(self.vectors.dim, np.float32)

    def get_nearest_neighbors(self, word: str, k: int = 10) -> list[tuple[float, str]]:
        """The nearest words, each after its cosine."""
        return [(cosine, other) for other, cosine in self.vectors.most_similar(word, topn=k)]

    def get_analogies(self, a: str, b: str, c: str, k: int = 10) -> list[tuple[float, str]]:
        """The words nearest to a - b + c, each after its cosine."""
        return [(cosine, other) for other, cosine in self.vectors.most_similar([a, c], [b], topn=k)]

    def predict(self, text: str | Sequence[str], k: int = 1, threshold: float = 0.0) -> Labels | list[Labels]:
        """The k most probable labels of a line and their probabilities; a list of lines gives a list. -1 is all."""
        count = len(self._classifier.labels) if k == -1 else k
        lines = [text] if isinstance(text, str) else text
        answers: list[Labels] = []
        for best in self._classifier.predict_all(lines, count, threshold):
            answers.append((tuple(label for label, _ in best), np.array([probability for _, probability in best])))
        return answers[0] if isinstance(text, str) else answers

    def test(self, path: Name, k: int = 1, threshold: float = 0.0) -> tuple[int, float, float]:
        """The number of labeled lines of a file, and precision and recall at k."""
        score = self._classifier.test(path, k, threshold)
        return score.lines, score.precision, score.recall
