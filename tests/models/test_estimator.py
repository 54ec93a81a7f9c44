"""Counts as scikit-learn knows transformers."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import issparse

from firth.errors import OptionError
from firth.models.analyzer import Analyzer
from firth.models.counts import Counts
from firth.models.estimator import CountsTransformer
from firth.text.tokenize import Tokenizer

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

TEXTS = ["good tea today", "a fine good film", "good good day", "bad tea today", "an awful bad film", "bad bad day"] * 3
LABELS = [1, 1, 1, 0, 0, 0] * 3


@pytest.mark.parametrize("kind", ["document-term", "tf-idf", "one-hot", "co-occurrence", "pmi", "ppmi", "svd"])
def test_every_kind_works_in_a_pipeline(kind):
    model = make_pipeline(CountsTransformer(kind=kind, dim=6), LogisticRegression(C=1000)).fit(TEXTS, LABELS)
    assert model.score(TEXTS, LABELS) == 1.0
    features = model[0].transform(TEXTS)
    assert features.shape == (len(TEXTS), len(model[0].get_feature_names_out()))
    assert issparse(features) == (kind != "svd")


def test_a_grid_search_clones_and_sets_options():
    grid = {"countstransformer__kind": ["tf-idf", "ppmi"], "countstransformer__stop_words": [(), ("tea",), "english"]}
    found = GridSearchCV(make_pipeline(CountsTransformer(), LogisticRegression()), grid, cv=3).fit(TEXTS, LABELS)
    assert found.best_score_ == 1.0
    assert len(found.cv_results_["params"]) == 6


def test_a_clone_has_the_options_and_not_the_words():
    first = CountsTransformer(kind="document-term", stop_words=("a", "an"), tokenizer=Tokenizer()).fit(TEXTS)
    second = clone(first)
    assert second.get_params() == first.get_params()
    with pytest.raises(OptionError, match="Call fit first"):
        second.transform(TEXTS)


def test_its_options_are_those_of_counts():
    expected = {field.name: field.default for recipe in (Counts, Analyzer) for field in dataclasses.fields(recipe)}
    assert CountsTransformer().get_params() == {**expected, "kind": "tf-idf", "tokenizer": None, "threads": None}
    assert CountsTransformer().set_params(window=3).window == 3


def test_its_help_lists_every_option_with_its_default():
    listed = CountsTransformer.__doc__.partition("Parameters\n----------\n")[2]
    names = [line.partition(" : ")[0] for line in listed.splitlines() if not line.startswith(" ")]
    assert sorted(names) == sorted(CountsTransformer().get_params())
    assert "default 'tf-idf'" in listed


def test_an_impossible_option_is_refused_when_it_is_used():
    with pytest.raises(OptionError, match="window"):
        CountsTransformer(window=0).fit(TEXTS)


def test_tf_idf_agrees_with_scikit_learn():
    ours = CountsTransformer(kind="tf-idf", smooth="add-one", normalize="l2", tf="log")
    theirs = TfidfVectorizer(analyzer=Tokenizer().words, sublinear_tf=True)
    found, expected = ours.fit_transform(TEXTS).toarray(), theirs.fit_transform(TEXTS).toarray()
    order = [list(ours.get_feature_names_out()).index(word) for word in theirs.get_feature_names_out()]
    np.testing.assert_allclose(found[:, order], expected, rtol=1e-14)


def test_features_of_a_document_are_the_mean_of_its_words():
    model = CountsTransformer(kind="svd", dim=3).fit(TEXTS)
    good, bad, both = model.transform([["good"], ["bad"], ["good", "bad", "never-seen"]])
    np.testing.assert_allclose(both, (good + bad) / 2, rtol=1e-6)
    assert model.transform([["never-seen"], []]).tolist() == [[0.0] * 3] * 2


def test_texts_and_lists_of_words_are_the_same_documents():
    texts = CountsTransformer(kind="document-term").fit_transform(TEXTS)
    lists = CountsTransformer(kind="document-term").fit_transform([text.split() for text in TEXTS])
    assert (texts != lists).nnz == 0


def test_a_stream_of_documents_is_read_once():
    features = CountsTransformer().fit_transform(iter(TEXTS))
    assert features.shape[0] == len(TEXTS)


def test_one_text_in_place_of_a_list_is_refused():
    with pytest.raises(OptionError, match="must be a list"):
        CountsTransformer().fit("one text")


def test_it_works_where_scikit_learn_is_not_installed():
    code = (
        "import sys; sys.modules['sklearn'] = sys.modules['sklearn.base'] = None\n"
        "from firth.models.estimator import CountsTransformer\n"
        "model = CountsTransformer(kind='document-term').set_params(min_count=2)\n"
        "assert model.get_params()['min_count'] == 2\n"
        "assert model.fit_transform(['tea tea rain']).toarray().tolist() == [[2.0]]\n"
        "assert 'sklearn.linear_model' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_counting_alone_does_not_bring_scikit_learn_in():
    code = "import sys, firth; firth.Counts; firth.CountMatrix; assert 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
