"""The curve of precision and recall, against a plain count and by hand."""

from __future__ import annotations

import random

import pytest

from firth.errors import OptionError
from firth.models.autotune import Autotune, Metric
from firth.models.classifier import FastTextClassifier
from firth.models.classifier_model import Classifier
from firth.models.precision_recall import PrecisionRecallCurve
from firth.runtime import Runtime

LINES = [
    *["__label__drink hot tea", "__label__drink cold milk", "__label__sky rain and wind"] * 20,
    *["__label__sky hot sun", "__label__drink __label__sky cold rain"] * 4,
]


@pytest.fixture(scope="module")
def classifier() -> Classifier:
    recipe = FastTextClassifier(dim=8, epochs=3, learning_rate=0.3, objective="one-vs-all", min_count=1)
    return Classifier(recipe.fit(LINES, runtime=Runtime(1)), runtime=Runtime(1))


def test_every_point_is_the_count_above_a_probability() -> None:
    rng = random.Random(3)
    for size in (0, 1, 2, 30):
        probabilities = [rng.choice([0.1, 0.2, 0.5, 0.8, 0.9]) for _ in range(size)]
        right = [rng.random() < 0.5 for _ in range(size)]
        gold = sum(right) + 3
        curve = PrecisionRecallCurve.of(probabilities, right, gold)
        expected = []
        for least in sorted(set(probabilities), reverse=True):
            made = [hit for probability, hit in zip(probabilities, right) if probability >= least]
            expected.append((sum(made) / len(made), sum(made) / gold))
        assert curve.precision.tolist() == pytest.approx([*(point[0] for point in expected), 1.0])
        assert curve.recall.tolist() == pytest.approx([*(point[1] for point in expected), 0.0])


def test_points_after_full_recall_are_left_out() -> None:
    curve = PrecisionRecallCurve.of([0.9, 0.8, 0.7], [True, False, False], gold=1)
    assert list(zip(curve.precision.tolist(), curve.recall.tolist())) == [(1.0, 1.0), (1.0, 0.0)]


def test_the_ends_of_a_curve() -> None:
    curve = PrecisionRecallCurve.of([0.9, 0.8, 0.7], [True, False, True], gold=4)
    assert (curve.precision_at_recall(0.5), curve.precision_at_recall(0.6)) == (pytest.approx(2 / 3), 0.0)
    assert (curve.recall_at_precision(0.6), curve.recall_at_precision(1.0)) == (0.5, 0.25)
    empty = PrecisionRecallCurve.of([], [], gold=0)
    assert (empty.precision_at_recall(0.0), empty.recall_at_precision(0.5)) == (1.0, 0.0)


def test_the_curve_of_a_classifier_counts_the_predictions_of_a_label(classifier: Classifier) -> None:
    curve = classifier.precision_recall_curve(LINES, label="__label__drink")
    probabilities, right = [], []
    for line in LINES:
        words = [word for word in line.split() if not word.startswith("__label__")]
        [(_, probability)] = [one for one in classifier.predict(words, k=-1) if one[0] == "__label__drink"]
        probabilities.append(probability)
        right.append("__label__drink" in line)
    expected = PrecisionRecallCurve.of(probabilities, right, sum(right))
    assert curve.precision.tolist() == expected.precision.tolist()
    assert curve.recall.tolist() == expected.recall.tolist()
    every = classifier.precision_recall_curve(LINES)
    assert every.recall.max() == 1.0
    with pytest.raises(OptionError, match="'__label__drunk' is no label"):
        classifier.precision_recall_curve(LINES, label="__label__drunk")


@pytest.mark.parametrize("metric", ["precisionAtRecall:50", "recallAtPrecision:80:__label__sky"])
def test_a_search_maximizes_an_end_of_the_curve(metric: str) -> None:
    recipe = FastTextClassifier(dim=4, epochs=2, objective="one-vs-all", min_count=1)
    model = Autotune(trials=2, metric=metric, predictions=-1).fit(recipe, LINES, validation=LINES, runtime=Runtime(1))
    found = model.metadata["autotune"]
    assert found["score"] == max(trial["score"] for trial in found["trials"])
    again = Metric.parse(metric).measure(Classifier(model, runtime=Runtime(1)), LINES, -1)
    assert again == pytest.approx(found["score"])


@pytest.mark.parametrize("wrong", ["precisionAtRecall", "recallAtPrecision:x", "precisionAtRecall:101", "f2", "f2:50"])
def test_a_wrong_metric_is_an_error(wrong: str) -> None:
    with pytest.raises(OptionError, match="precisionAtRecall:X"):
        Autotune(metric=wrong)
