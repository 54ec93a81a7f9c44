"""Metrics of sentiment labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from firth.tasks.labels import accuracy, likeliest, macro_f1
from firth.tasks.sentiment.data import SentimentExample


def score_sentiment(examples: Sequence[SentimentExample], answers: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The share of texts whose likeliest label is right, and the mean F1 of the labels.

    >>> score_sentiment([SentimentExample(("fine",), "positive")], [{"positive": 0.8, "negative": 0.2}])
    {'accuracy': 1.0, 'macro_f1': 1.0}
    """
    gold, predicted = [example.gold for example in examples], [likeliest(answer) for answer in answers]
    return {"accuracy": accuracy(gold, predicted), "macro_f1": macro_f1(gold, predicted)}
