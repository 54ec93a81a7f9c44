"""fastText's classifier as a classifier of scikit-learn."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import firth
from firth.errors import OptionError
from firth.models.fasttext_estimator import FastTextEstimator

TEXTS = ["good tea today", "a fine good film", "good good day", "bad tea today", "an awful bad film", "bad bad day"] * 5
LABELS = np.array([1, 1, 1, 0, 0, 0] * 5)
FAST = {"dim": 8, "epochs": 20, "learning_rate": 0.5, "threads": 1}


def test_it_learns_in_a_grid_search() -> None:
    pytest.importorskip("sklearn")
    from sklearn.model_selection import GridSearchCV

    search = GridSearchCV(FastTextEstimator(**FAST), {"word_ngrams": [1, 2], "buckets": [1000]}, cv=3)
    search.fit(TEXTS, LABELS)
    assert search.best_score_ == 1.0
    assert search.predict(["such good milk"]).tolist() == [1]


def test_its_probabilities_are_those_of_fasttext_in_the_order_of_the_classes() -> None:
    model = FastTextEstimator(**FAST).fit(TEXTS, ["fine" if label else "awful" for label in LABELS])
    found = model.predict_proba(["good", "bad", ""])
    assert model.classes_.tolist() == ["awful", "fine"]
    assert found.argmax(axis=1)[:2].tolist() == [1, 0]
    assert np.allclose(found.sum(axis=1), 1)
    trained = firth.Classifier(model.model_)
    assert dict(trained.predict("good", k=-1)) == pytest.approx(
        {f"__label__{number}": share for number, share in enumerate(found[0])}, abs=1e-6
    )


def test_a_word_that_looks_like_a_label_is_no_label() -> None:
    texts = [f"{text} __label__{label}" for text, label in zip(TEXTS, 1 - LABELS)]
    model = FastTextEstimator(**FAST).fit([text.split() for text in texts], LABELS)
    assert model.predict([["good", "__label__0"]]).tolist() == [1]


@pytest.mark.parametrize("objective", ["hierarchical-softmax", "negative-sampling", "one-vs-all"])
def test_every_objective_gives_probabilities(objective: str) -> None:
    model = FastTextEstimator(**FAST, objective=objective).fit(TEXTS, LABELS)
    assert np.allclose(model.predict_proba(TEXTS).sum(axis=1), 1)
    assert (model.predict(TEXTS) == LABELS).mean() == 1.0


def test_wrong_targets_and_options_are_refused_in_fit() -> None:
    with pytest.raises(OptionError, match="requires y to be passed"):
        FastTextEstimator().fit(TEXTS)
    with pytest.raises(OptionError, match="30 texts need as many labels"):
        FastTextEstimator().fit(TEXTS, LABELS[:-1])
    with pytest.raises(OptionError, match="all are of one class, 1"):
        FastTextEstimator().fit(TEXTS, [1] * 30)
    with pytest.raises(OptionError, match="dim is 0"):
        FastTextEstimator(dim=0).fit(TEXTS, LABELS)
    with pytest.raises(OptionError, match="Call fit first"):
        FastTextEstimator().predict(TEXTS)


def test_it_works_where_scikit_learn_is_not_installed() -> None:
    code = (
        "import sys; sys.modules['sklearn'] = sys.modules['sklearn.base'] = None\n"
        "from firth.models.fasttext_estimator import FastTextEstimator\n"
        "model = FastTextEstimator(dim=8, epochs=20, learning_rate=0.5, threads=1)\n"
        "model.fit(['hot tea', 'cold rain'] * 20, ['drink', 'sky'] * 20)\n"
        "assert model.predict(['tea']).tolist() == ['drink']"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
