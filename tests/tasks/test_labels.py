"""The loss, the answers and the metrics of tasks with one label for each example."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score
from torch import Tensor

from firth.tasks.inputs import Text
from firth.tasks.labels import LabelNetwork, accuracy, f1_by_label, likeliest, macro_f1
from firth.tasks.layers import sequence_mask
from firth.tasks.sentiment.data import SentimentExample
from firth.tasks.sentiment.task import Sentiment

label = st.sampled_from(["bad", "good", "neutral"])
LENGTHS = torch.tensor([1, 1])
TEXT = Text(torch.tensor([[[2.0, 0.0]], [[0.0, 1.0]]]), LENGTHS, sequence_mask(LENGTHS, 1), None)


class FirstWord(LabelNetwork):
    """The vector of the first word is the logits."""

    def forward(self, text: Text) -> Tensor:
        return text.vectors[:, 0]


def test_the_loss_is_the_mean_of_minus_log_p() -> None:
    examples = [SentimentExample(("w",), "bad"), SentimentExample(("w",), "bad")]
    expected = -(np.log(np.e**2 / (np.e**2 + 1)) + np.log(1 / (1 + np.e))) / 2
    assert FirstWord(["bad", "good"]).loss((TEXT,), examples).item() == pytest.approx(expected)


def test_an_answer_has_the_probability_of_each_label() -> None:
    first, second = FirstWord(["bad", "good"]).answers((TEXT,), [])
    assert first == pytest.approx({"bad": np.e**2 / (np.e**2 + 1), "good": 1 / (np.e**2 + 1)})
    assert (likeliest(first), likeliest(second)) == ("bad", "good")
    assert list(Sentiment().describe(SentimentExample(("w",)), second)["labels"]) == ["good", "bad"]


@given(st.lists(st.tuples(label, label), min_size=1, max_size=30))
def test_metrics_are_those_of_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    gold, predicted = [one for one, _ in pairs], [one for _, one in pairs]
    labels = sorted(set(gold))
    assert accuracy(gold, predicted) == pytest.approx(accuracy_score(gold, predicted))
    expected = f1_score(gold, predicted, labels=labels, average=None, zero_division=0)
    assert list(f1_by_label(gold, predicted).values()) == pytest.approx(list(expected))
    assert macro_f1(gold, predicted) == pytest.approx(expected.mean())


def test_metrics_of_nothing_are_zero() -> None:
    assert accuracy([], []) == macro_f1([], []) == 0
