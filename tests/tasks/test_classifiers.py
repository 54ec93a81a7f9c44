"""Sentiment and entailment as classifiers of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import firth
from firth.errors import OptionError
from firth.tasks.classifiers import EntailmentClassifier, SentimentClassifier
from firth.tasks.inputs import Embedding

TEXTS = ["good tea today", "a fine good film", "good good day", "bad tea today", "an awful bad film", "bad bad day"] * 4
LABELS = np.array([1, 1, 1, 0, 0, 0] * 4)
PAIRS = [("hot tea", "hot tea"), ("hot tea", "cold rain"), ("cold rain", "cold rain"), ("cold rain", "hot tea")] * 6
SAME = ["yes", "no"] * 12
SMALL: dict[str, Any] = {"embedding": Embedding(words=8), "hidden": 8, "dropout": 0.0, "threads": 1}
PLAIN: dict[str, Any] = {**SMALL, "architecture": "plain", "epochs": 12, "learning_rate": 0.03, "validation": 0.0}


def test_it_works_in_a_grid_search() -> None:
    pytest.importorskip("sklearn")
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV

    search = GridSearchCV(SentimentClassifier(**PLAIN), {"cell": ["lstm", "gru"]}, cv=2).fit(TEXTS, LABELS)
    assert search.best_score_ == 1.0
    assert search.best_estimator_.score(TEXTS, LABELS) == 1.0
    assert clone(search.best_estimator_).get_params() == search.best_estimator_.get_params()


def test_the_model_is_one_of_the_task_with_its_labels(tmp_path: Any) -> None:
    labels = ["fine" if label else "awful" for label in LABELS]
    fitted = SentimentClassifier(**PLAIN).fit(TEXTS, labels)
    firth.save(fitted.model_, tmp_path / "model")
    opened = firth.open_task(tmp_path / "model")
    assert opened.ask("a good day")[0]["label"] == "fine"
    again = SentimentClassifier.of_model(tmp_path / "model")
    assert np.allclose(again.predict_proba(TEXTS), fitted.predict_proba(TEXTS))
    assert again.classes_.tolist() == fitted.classes_.tolist() == ["awful", "fine"]


def test_the_seed_decides_the_numbers() -> None:
    first, second, other = (SentimentClassifier(**PLAIN, seed=seed).fit(TEXTS, LABELS) for seed in (1, 1, 2))
    assert np.array_equal(first.predict_proba(TEXTS), second.predict_proba(TEXTS))
    assert not np.array_equal(first.predict_proba(TEXTS), other.predict_proba(TEXTS))


def test_examples_are_held_out_but_never_all_of_a_class() -> None:
    labels = [0] * 23 + [1]
    fitted = SentimentClassifier(**{**PLAIN, "validation": 0.5}).fit(TEXTS, labels)
    assert fitted.model_.metadata["examples"] == {"train": 12, "dev": 12}
    assert fitted.model_.labels["labels"] == ["0", "1"]
    assert SentimentClassifier(**PLAIN).fit(TEXTS, LABELS).model_.metadata["examples"]["dev"] == 0


def test_a_text_without_words_has_the_shares_of_the_classes() -> None:
    fitted = SentimentClassifier(**PLAIN).fit([*TEXTS, ""], [*LABELS, 1])
    assert fitted.predict_proba(["", "bad day"])[0].tolist() == pytest.approx([12 / 25, 13 / 25])


def test_entailment_takes_pairs_from_lists_arrays_and_tables() -> None:
    import pandas

    options = {**SMALL, "architecture": "esim", "epochs": 10, "learning_rate": 0.03, "batch": 8}
    fitted = EntailmentClassifier(**options, validation=0.0).fit(PAIRS, SAME)
    assert (fitted.predict(PAIRS) == SAME).all()
    expected = fitted.predict_proba(PAIRS)
    for X in (np.array(PAIRS), np.array(PAIRS, object), pandas.DataFrame(PAIRS, columns=["first", "second"])):
        assert np.array_equal(fitted.predict_proba(X), expected)
    tokens = [tuple(text.split() for text in pair) for pair in PAIRS]
    assert np.array_equal(fitted.predict_proba(tokens), expected)


def test_wrong_input_is_refused() -> None:
    with pytest.raises(OptionError, match="pair 0 is 'one text', but must be two texts"):
        EntailmentClassifier().fit(["one text"], [1])
    with pytest.raises(OptionError, match="expected two columns"):
        EntailmentClassifier().fit(np.array([["a", "b", "c"]]), [1])
    with pytest.raises(OptionError, match="the model is one of ner, but SentimentClassifier needs sentiment"):
        SentimentClassifier.of_model("ner")
    with pytest.raises(OptionError, match=r"validation is 1\.0"):
        SentimentClassifier(**{**PLAIN, "validation": 1.0}).fit(TEXTS, LABELS)
    with pytest.raises(OptionError, match="embedding is None"):
        SentimentClassifier(embedding=None).fit(TEXTS, LABELS)
    with pytest.raises(OptionError, match="Call fit first"):
        SentimentClassifier().predict(TEXTS)


def test_the_options_are_those_of_the_task_and_its_training() -> None:
    options = SentimentClassifier().get_params()
    assert {"architecture", "cell", "hidden", "dropout", "epochs", "batch", "learning_rate", "seed"} <= set(options)
    assert options["batch"] == 64  # the default of the task, not of every training
    assert EntailmentClassifier().get_params()["learning_rate"] == 4e-4
    assert "Units of each recurrent layer" in str(SentimentClassifier.__doc__)
