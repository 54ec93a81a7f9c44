"""fastText's classifier as scikit-learn knows classifiers: texts and labels in, labels and probabilities out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from firth.arguments import checked
from firth.models.classifier import FastTextClassifier
from firth.models.classifier_model import Classifier
from firth.models.estimator import (
    THREADS,
    TOKENIZER,
    not_fitted,
    option_base,
    read_column,
    read_labels,
    recipe_of,
    tag_text,
)
from firth.options import document_options
from firth.runtime import Runtime
from firth.text.corpus import Corpus, check_words
from firth.text.model_tokenizer import TextLike
from firth.text.tokenize import Tokenizer

PREFIX = "__label__"  # of the numbers of classes in the lines to train on

_FastTextOptions: Any = option_base(
    [FastTextClassifier], [TOKENIZER, THREADS], kind="classifier", without=["label_prefix"]
)


@checked
class FastTextEstimator(_FastTextOptions):  # type: ignore[misc]
    """A text classifier as in fastText, with `fit(X, y)`, `predict` and `predict_proba`.

    >>> texts, labels = ["hot tea", "hot sun", "cold milk", "cold rain"] * 20, ["drink", "sky"] * 40
    >>> classifier = FastTextEstimator(dim=8, learning_rate=0.5, epochs=20).fit(texts, labels)
    >>> classifier.predict(["more tea", "the sun"]).tolist(), classifier.classes_.tolist()
    (['drink', 'sky'], ['drink', 'sky'])

    A text is a string, which the tokenizer splits, or a list of words. A text has one label. With the objectives
    `negative-sampling` and `one-vs-all` a label has a probability of its own; `predict_proba` makes their sum 1.
    The trained model is `model_`: `firth.save(classifier.model_, "classifier.bin")` writes it for fastText. Its labels
    are the numbers of the classes.
    """

    def fit(self, X: Iterable[TextLike], y: Any = None) -> Self:
        """Trains on texts and their labels."""
        lines = self._lines(X)
        self.classes_, numbers = read_labels(y, len(lines))
        labeled = [f"{PREFIX}{number} {line}" for number, line in zip(numbers.tolist(), lines)]
        corpus = Corpus.of(labeled, tokenizer=Tokenizer(mode="whitespace"))
        recipe = recipe_of(self, FastTextClassifier, label_prefix=PREFIX)
        self.model_ = recipe.fit(corpus, runtime=Runtime.from_env(self.threads))
        self.n_features_in_ = 1
        return self

    def _lines(self, X: Iterable[TextLike]) -> list[str]:
        """Texts as lines of words; a word that looks like a label is no word."""
        tokenizer = self.tokenizer or Tokenizer()
        lists = (
            tokenizer.words(text) if isinstance(text, str) else check_words(text, "text", place)
            for place, text in enumerate(read_column(X))
        )
        return [" ".join(word for word in words if not word.startswith(PREFIX)) for words in lists]

    def predict_proba(self, X: Iterable[TextLike]) -> NDArray[np.float64]:
        """The probability of each class, (texts, classes), in the order of `classes_`; rows sum to 1."""
        if not hasattr(self, "model_"):
            raise not_fitted(self)
        model = Classifier(self.model_, runtime=Runtime.from_env(self.threads))
        found = model.probabilities(self._lines(X)).astype(np.float64)
        probabilities = np.zeros((len(found), len(self.classes_)))
        probabilities[:, [int(label.removeprefix(PREFIX)) for label in model.labels]] = found
        sums = probabilities.sum(axis=1, keepdims=True)
        return np.where(sums > 0, probabilities / np.where(sums > 0, sums, 1), 1 / len(self.classes_))

    def predict(self, X: Iterable[TextLike]) -> NDArray[Any]:
        """The likeliest class of each text."""
        best: NDArray[Any] = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        return tag_text(super().__sklearn_tags__())


FastTextEstimator.__doc__ = document_options(FastTextEstimator)
