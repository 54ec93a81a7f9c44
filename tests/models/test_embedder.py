"""Any model as a transformer of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest

import firth
from firth.errors import OptionError
from firth.models.embedder import Embedder

sklearn = pytest.importorskip("sklearn")

TEXTS = ["hot tea and milk", "a cup of coffee", "cold rain and wind", "a storm at sea"]
LABELS = [0, 0, 1, 1]


@pytest.fixture(scope="module")
def vectors() -> firth.WordVectors:
    words = sorted({word for text in TEXTS for word in text.split()})
    rng = np.random.default_rng(0)
    return firth.WordVectors(firth.Vocabulary(words, range(len(words), 0, -1)), rng.standard_normal((len(words), 3)))


def test_it_passes_the_checks_of_scikit_learn() -> None:
    from sklearn.utils.estimator_checks import check_estimator

    check_estimator(Embedder("svd-en"))


def test_it_works_in_a_pipeline_and_a_grid_search(vectors: firth.WordVectors) -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline

    pipeline = make_pipeline(Embedder(vectors), LogisticRegression())
    search = GridSearchCV(pipeline, {"embedder__pooling": ["mean", "max", "sif"]}, cv=2).fit(TEXTS, LABELS)
    assert search.predict(TEXTS).shape == (4,)


def test_a_clone_shares_the_model_and_is_not_fitted(vectors: firth.WordVectors) -> None:
    from sklearn.base import clone
    from sklearn.exceptions import NotFittedError

    fitted = Embedder(vectors, normalize=True).fit(TEXTS)
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert copy.model is vectors
    with pytest.raises(NotFittedError, match="Call fit first"):
        copy.transform(TEXTS)
    with pytest.raises(OptionError):
        copy.get_feature_names_out()


def test_the_component_is_that_of_the_fitted_texts(vectors: firth.WordVectors) -> None:
    fitted = Embedder(vectors, pooling="sif", remove_component=True, normalize=True).fit(TEXTS)
    assert np.allclose(fitted.transform(TEXTS) @ fitted.component_, 0, atol=1e-6)
    expected = vectors.encode(TEXTS, pooling="sif", component=fitted.component_, normalize=True)
    assert np.allclose(fitted.transform(TEXTS), expected)


def test_its_columns_have_names(vectors: firth.WordVectors) -> None:
    assert Embedder(vectors).fit(TEXTS).get_feature_names_out().tolist() == ["embedding0", "embedding1", "embedding2"]
    import pandas  # of the extra `test`: its absence must fail

    frame = Embedder(vectors).set_output(transform="pandas").fit_transform(TEXTS)
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["embedding0", "embedding1", "embedding2"]


def test_a_model_without_vectors_and_a_single_text_are_errors() -> None:
    with pytest.raises(OptionError, match="a NgramModel has no vectors of texts"):
        Embedder(firth.Ngram(order=1).fit(TEXTS)).fit(TEXTS)
    with pytest.raises(OptionError, match="must be a list"):
        Embedder("svd-en").fit("tea")
