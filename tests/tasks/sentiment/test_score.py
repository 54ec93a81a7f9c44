"""Metrics of sentiment are those of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from firth.tasks.sentiment.data import GRADES, SentimentExample
from firth.tasks.sentiment.task import Sentiment


def test_measures_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    gold = rng.choice(GRADES, 60).tolist()
    predicted = [label if rng.random() < 0.5 else rng.choice(GRADES) for label in gold]
    found = Sentiment().score([SentimentExample(("x",), one) for one in gold], [{label: 1.0} for label in predicted])
    assert found["accuracy"] == pytest.approx(accuracy_score(gold, predicted))
    assert found["macro_f1"] == pytest.approx(f1_score(gold, predicted, average="macro"))
