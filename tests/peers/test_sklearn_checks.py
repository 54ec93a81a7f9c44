"""The checks that scikit-learn has for its own estimators.

scikit-learn runs one of them for an estimator of texts, and skips the others, because its test data are tables of
numbers. Here a number is a word: each estimator is also run on rows of numbers as texts, such as "c0v3 c1v-1". So
every check runs, and the estimator behind it is the one of firth.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")  # has tags for texts

from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted, validate_data

import firth
from firth.tasks.inputs import Embedding
from firth.text.subwords import Subwords


def spell(X: Any) -> list[str]:
    """Rows of numbers as texts."""
    return [" ".join(f"c{column}v{round(2 * float(value))}" for column, value in enumerate(row)) for row in X]


def are_texts(X: Any) -> bool:
    return isinstance(X, list) and bool(X) and isinstance(X[0], (str, tuple))


class OfNumbers:
    """A subclass for tables: rows become texts, and everything else is the estimator's own."""

    def texts(self, X: Any) -> list[Any]:
        return spell(X)

    def fit(self, X: Any, y: Any = None) -> Any:
        X = validate_data(self, X)
        columns = self.n_features_in_
        super().fit(self.texts(X), y)
        self.n_features_in_ = columns
        return self

    def _run(self, name: str, X: Any) -> Any:
        check_is_fitted(self)
        if not are_texts(X):  # predict calls predict_proba
            X = self.texts(validate_data(self, X, reset=False))
        return getattr(super(), name)(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.string = True, False
        return tags


class TransformerOfNumbers(OfNumbers):
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        return self.fit(X, y).transform(X)

    def transform(self, X: Any) -> Any:
        return self._run("transform", X)


class ClassifierOfNumbers(OfNumbers):
    def predict_proba(self, X: Any) -> Any:
        return self._run("predict_proba", X)

    def predict(self, X: Any) -> Any:
        return self._run("predict", X)


class CountsOfNumbers(TransformerOfNumbers, firth.CountsTransformer): ...


class EmbedderOfNumbers(TransformerOfNumbers, firth.Embedder): ...


class WordVectorsOfNumbers(TransformerOfNumbers, firth.WordVectorTransformer): ...


class ElmoOfNumbers(TransformerOfNumbers, firth.ElmoTransformer): ...


class FastTextOfNumbers(ClassifierOfNumbers, firth.FastTextEstimator): ...


class SentimentOfNumbers(ClassifierOfNumbers, firth.SentimentClassifier): ...


class EntailmentOfNumbers(ClassifierOfNumbers, firth.EntailmentClassifier):
    def texts(self, X: Any) -> list[Any]:
        return [(text, text) for text in spell(X)]


def vectors() -> firth.SubwordVectors:
    """Vectors of any word, from its character n-grams."""
    rows = np.random.default_rng(0).standard_normal((501, 8)).astype(np.float32)
    return firth.SubwordVectors(firth.Vocabulary(["c0v0"], [5]), rows, Subwords(3, 6, 500))


NETWORK = {"embedding": Embedding(words=16), "validation": 0.0, "threads": 1, "hidden": 16, "dropout": 0.0}
ESTIMATORS = [
    CountsOfNumbers(),
    EmbedderOfNumbers(vectors(), pooling="sif", remove_component=True),
    WordVectorsOfNumbers(vectors(), pooling="tf-idf", normalize=True),
    ElmoOfNumbers("elmo-en"),
    FastTextOfNumbers(dim=10, epochs=30, learning_rate=0.5, threads=1),
    SentimentOfNumbers(**NETWORK, architecture="plain", epochs=10, learning_rate=0.02),
    EntailmentOfNumbers(**NETWORK, architecture="decomposable", epochs=10, learning_rate=0.02),
]
OF_TEXTS = [
    firth.CountsTransformer(),
    firth.Embedder("svd-en"),
    firth.WordVectorTransformer("svd-en", pooling="tf-idf"),
    firth.ElmoTransformer(),
    firth.FastTextEstimator(),
    firth.SentimentClassifier(),
    firth.EntailmentClassifier(),
]


def with_checks(estimators: Sequence[Any]) -> pytest.MarkDecorator:
    """A test for each estimator and check, without the warnings that estimators of texts skip the checks of tables."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        return parametrize_with_checks(estimators)


@with_checks(OF_TEXTS)
def test_an_estimator_of_texts_passes_the_check_for_texts(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")  # labels that are not numbers
@with_checks(ESTIMATORS)
def test_an_estimator_passes_every_check_when_numbers_are_words(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_words_of_numbers_differ() -> None:
    assert spell(np.array([[1.5, -0.5], [0, 2]])) == ["c0v3 c1v-1", "c0v0 c1v4"]
