"""A supervised fastText model with the methods of fastText: what `firth.load` and the classifier's training return."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from firth.arguments import checked
from firth.files import Name
from firth.models.classifier_model import Classifier
from firth.text.vocabulary import Vocabulary
from firth.vectors.fasttext_names import check_line
from firth.vectors.rows import Floats
from firth.vectors.subwords import SubwordVectors

Labels = tuple[tuple[str, ...], NDArray[np.float64]]
ManyLabels = tuple[list[list[str]], list[NDArray[np.float64]]]


@checked
class SupervisedVectors(SubwordVectors):
    """Vectors with labels: a text classifier.

    >>> from firth.models.classifier import FastTextClassifier
    >>> model = FastTextClassifier(dim=8, learning_rate=0.5).fit(["__label__drink hot tea", "__label__sky sun"] * 40)
    >>> model.predict("tea")[0], model.labels
    (('__label__drink',), ['__label__drink', '__label__sky'])
    """

    @classmethod
    def from_vectors(cls, vectors: SubwordVectors) -> SupervisedVectors:
        """The same model, which must have labels."""
        model = cls(
            vectors.vocabulary, vectors.rows, vectors.subwords, output=vectors.output, metadata=vectors.metadata
        )
        _ = model.classifier
        return model

    @cached_property
    def classifier(self) -> Classifier:
        """Predictions and scores in firth's own form."""
        return Classifier(self)

    @property
    def _outputs(self) -> Vocabulary:
        return self.classifier.labels

    @property
    def _label_prefix(self) -> str:
        return self.classifier.features.label_prefix

    @overload  # type: ignore[override]
    def predict(self, text: str, k: int = 1, threshold: float = 0.0) -> Labels: ...

    @overload
    def predict(self, text: list[str] | tuple[str, ...], k: int = 1, threshold: float = 0.0) -> ManyLabels: ...

    def predict(self, text: str | Sequence[str], k: int = 1, threshold: float = 0.0) -> Labels | ManyLabels:
        """The k most probable labels of a line and their probabilities, best first; -1 is all labels.

        A list of lines gives a list of lists of labels, and a list of arrays of probabilities.
        """
        lines = [text] if isinstance(text, str) else text
        labels: list[list[str]] = []
        probabilities: list[NDArray[np.float64]] = []
        for best in self.classifier.predict_all(lines, k, threshold):
            labels.append([label for label, _ in best])
            probabilities.append(np.array([probability for _, probability in best]))
        return (tuple(labels[0]), probabilities[0]) if isinstance(text, str) else (labels, probabilities)

    def test(self, path: Name, k: int = 1, threshold: float = 0.0) -> tuple[int, float, float]:
        """The number of labeled lines of a file, and precision and recall at k."""
        score = self.classifier.test(path, k, threshold)
        return score.lines, score.precision, score.recall

    def test_label(self, path: Name, k: int = 1, threshold: float = 0.0) -> dict[str, dict[str, float]]:
        """Precision, recall and F1 of each label on the labeled lines of a file."""
        scores = self.classifier.test(path, k, threshold).by_label
        return {
            label: {"precision": score.precision, "recall": score.recall, "f1score": score.f1}
            for label, score in scores.items()
        }

    def get_label_id(self, label: str) -> int:
        """The number of a label, or -1."""
        return self.classifier.labels.find(label)

    def get_output_matrix(self) -> Floats:
        """The rows of the labels."""
        rows = self.classifier.output.rows
        return rows.block(0, rows.shape[0])

    def get_sentence_vector(self, text: str) -> Floats:
        """The mean of the rows of a line, from which its labels are predicted."""
        check_line(text)
        return np.asarray(self.classifier.vectors([text])[0])
