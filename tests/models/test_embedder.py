"""Any model as a transformer of scikit-learn. tests/peers/test_sklearn_checks.py runs scikit-learn's own checks."""

from __future__ import annotations

import numpy as np
import pytest

import firth
from firth.errors import OptionError
from firth.models.embedder import ElmoTransformer, Embedder, WordVectorTransformer
from firth.neural.architecture import Architecture

sklearn = pytest.importorskip("sklearn")

TEXTS = ["hot tea and milk", "a cup of coffee", "cold rain and wind", "a storm at sea"]
LABELS = [0, 0, 1, 1]


@pytest.fixture(scope="module")
def vectors() -> firth.WordVectors:
    words = sorted({word for text in TEXTS for word in text.split()})
    rng = np.random.default_rng(0)
    return firth.WordVectors(firth.Vocabulary(words, range(len(words), 0, -1)), rng.standard_normal((len(words), 3)))


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


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
def test_a_recipe_is_trained_on_the_texts_of_fit() -> None:
    from sklearn.model_selection import GridSearchCV
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline

    recipes = [
        firth.Word2Vec(dim=4, min_count=1, epochs=1),
        firth.Glove(dim=4, min_count=1, epochs=1),
        firth.FastText(dim=4, min_count=1, epochs=1, buckets=100),
        firth.Counts(kind="svd", dim=4),
    ]
    for recipe in recipes:
        assert WordVectorTransformer(recipe).fit_transform(TEXTS).shape == (4, 4)
    assert Embedder(firth.Doc2Vec(dim=4, min_count=1, epochs=1)).fit_transform(TEXTS).shape == (4, 4)
    pipeline = make_pipeline(WordVectorTransformer(), KNeighborsClassifier(1))
    search = GridSearchCV(pipeline, {"wordvectortransformer__model": recipes}, cv=2).fit(TEXTS, LABELS)
    assert search.best_params_["wordvectortransformer__model"] in recipes


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
def test_tf_idf_is_the_mean_with_the_weights_of_scikit_learn(vectors: firth.WordVectors) -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [*TEXTS, "tea tea tea and rain", "and unknown"]
    counts = TfidfVectorizer(analyzer=str.split, norm="l1")
    weights = counts.fit_transform(texts).toarray()
    known = [word in vectors for word in counts.get_feature_names_out()]
    rows = vectors[list(counts.get_feature_names_out()[known])]
    expected = weights[:, known] @ rows / weights[:, known].sum(axis=1, keepdims=True)
    found = WordVectorTransformer(vectors, pooling="tf-idf").fit_transform(texts)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert WordVectorTransformer(vectors, pooling="tf-idf").fit(texts).transform(["", "no-word"]).any() == np.False_


def test_means_and_sif_are_those_of_encode(vectors: firth.WordVectors) -> None:
    for pooling in ("mean", "max", "sif"):
        found = WordVectorTransformer(vectors, pooling=pooling).fit_transform(TEXTS)
        assert np.array_equal(found, vectors.encode(TEXTS, pooling=pooling))


def test_elmo_gives_the_layers_that_are_asked_for() -> None:
    bilm = firth.BiLM(Architecture.named("tiny"))
    for layers in ("mix", "top", 0, 1, firth.ScalarMix(3, weights=[1.0, 2.0, 0.5])):
        found = ElmoTransformer(bilm, layers=layers).fit_transform(TEXTS)
        assert np.allclose(found, bilm.encode(TEXTS, layers=layers), atol=1e-6)
    with pytest.raises(OptionError, match="several layers"):
        ElmoTransformer(bilm, layers="all").fit_transform(TEXTS)


def test_elmo_works_in_a_grid_search_over_its_layers() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline

    pipeline = make_pipeline(ElmoTransformer(firth.BiLM(Architecture.named("tiny"))), LogisticRegression())
    grid = {"elmotransformer__layers": ["mix", "top", 0], "elmotransformer__pooling": ["mean", "max"]}
    assert len(GridSearchCV(pipeline, grid, cv=2).fit(TEXTS, LABELS).cv_results_["params"]) == 6


def test_a_model_of_another_family_is_refused(vectors: firth.WordVectors) -> None:
    with pytest.raises(OptionError, match=r"a WordVectors is not a biLM\. Use WordVectorTransformer"):
        ElmoTransformer(vectors).fit(TEXTS)
    with pytest.raises(OptionError, match=r"a BiLM is not a table of word vectors\. Use ElmoTransformer"):
        WordVectorTransformer(firth.BiLM(Architecture.named("tiny"))).fit(TEXTS)


def test_a_table_with_one_column_is_its_texts(vectors: firth.WordVectors) -> None:
    import pandas
    from sklearn.compose import ColumnTransformer

    frame = pandas.DataFrame({"text": TEXTS, "size": [1, 2, 3, 4]})
    expected = vectors.encode(TEXTS)
    for X in (frame["text"], frame[["text"]], np.array(TEXTS)[:, None], np.array(TEXTS), tuple(TEXTS), iter(TEXTS)):
        assert np.array_equal(Embedder(vectors).fit_transform(X), expected)
    for column in ("text", ["text"]):
        columns = ColumnTransformer([("vectors", Embedder(vectors), column)], remainder="passthrough")
        assert np.allclose(columns.fit_transform(frame)[:, :3], expected)
    with pytest.raises(OptionError, match="expected one column of texts, but the table has 2"):
        Embedder(vectors).fit(frame)
