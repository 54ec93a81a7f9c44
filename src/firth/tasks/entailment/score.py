"""Metrics of entailment labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from firth.tasks.entailment.data import EntailmentExample
from firth.tasks.labels import accuracy, f1_by_label, likeliest, macro_f1


def score_entailment(examples: Sequence[EntailmentExample], answers: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The share of right labels, the mean F1 of the labels, and the F1 of each label.

    >>> pairs = [EntailmentExample(("A",), ("B",), "neutral"), EntailmentExample(("B",), ("A",), "entailment")]
    >>> score_entailment(pairs, [{"neutral": 0.9, "entailment": 0.1}] * 2)["accuracy"]
    0.5
    """
    gold, predicted = [example.gold for example in examples], [likeliest(answer) for answer in answers]
    scores = {"accuracy": accuracy(gold, predicted), "macro_f1": macro_f1(gold, predicted)}
    return scores | {f"{label}_f1": f1 for label, f1 in f1_by_label(gold, predicted).items()}
