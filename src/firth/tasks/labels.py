"""What tasks share that assign one label to an example: the loss, the answers and their metrics."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from firth.tasks.inputs import Text
from firth.tasks.layers import require_finite
from firth.tasks.task import Answer, Example, Labels, Task


class LabelNetwork(nn.Module):
    """Base of networks that choose a label. `forward` takes the texts and returns logits, (batch, labels)."""

    def __init__(self, labels: Sequence[str]) -> None:
        super().__init__()
        self.labels = list(labels)
        self.ids = {label: id for id, label in enumerate(labels)}

    def loss(self, texts: tuple[Text, ...], examples: Sequence[Example]) -> Tensor:
        """The mean cross-entropy."""
        logits = self(*texts)
        ids = torch.tensor([self.ids[example.gold] for example in examples])
        return functional.cross_entropy(logits, ids.to(logits.device))

    def answers(self, texts: tuple[Text, ...], examples: Sequence[Example]) -> list[dict[str, float]]:
        """The probability of each label."""
        return [dict(zip(self.labels, row)) for row in torch.softmax(require_finite(self(*texts)), 1).tolist()]


@dataclass(frozen=True)
class LabelTask(Task):
    """Base of tasks that choose a label. `ordered` are the labels that come first in the network."""

    ordered: ClassVar[tuple[str, ...]]
    no_answer: ClassVar[Answer] = {}

    def learn_labels(self, examples: Sequence[Example]) -> Labels:
        """The labels: those of `ordered` first, then others by alphabet."""
        labels = {example.gold for example in examples}
        ordered = [label for label in self.ordered if label in labels]
        return {"labels": ordered + sorted(labels.difference(ordered))}

    def describe(self, example: Any, answer: Mapping[str, float]) -> dict[str, Any]:
        """The text, the likeliest label, its probability, and all labels by falling probability."""
        ranked = rank_labels(answer)
        label = next(iter(ranked), None)
        choice = {"label": label, "probability": None if label is None else ranked[label], "labels": ranked}
        return self.describe_input(example) | choice

    @abstractmethod
    def describe_input(self, example: Any) -> dict[str, Any]:
        """The number of the input, and its texts."""

    def rows(self, described: Mapping[str, Any]) -> list[list[Any]]:
        """One row: the number of the input, the label, its probability, and the texts."""
        return [[described[name] for name in self.columns]]


def likeliest(answer: Mapping[str, float]) -> str:
    """The label with the highest probability."""
    return max(answer, key=lambda label: answer[label])


def rank_labels(answer: Mapping[str, float]) -> dict[str, float]:
    """The labels by falling probability.

    >>> rank_labels({"bad": 0.25, "good": 0.75})
    {'good': 0.75, 'bad': 0.25}
    """
    return dict(sorted(answer.items(), key=itemgetter(1), reverse=True))


def accuracy(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """The share of examples whose label is right."""
    return sum(label == other for label, other in zip(gold, predicted, strict=True)) / max(len(gold), 1)


def f1_by_label(gold: Sequence[str], predicted: Sequence[str]) -> dict[str, float]:
    """The F1 of each gold label, in alphabetical order.

    >>> f1_by_label(["yes", "yes", "no", "no"], ["yes", "no", "no", "no"])
    {'no': 0.8, 'yes': 0.6666666666666666}
    """
    right = Counter(label for label, other in zip(gold, predicted, strict=True) if label == other)
    totals = Counter(gold) + Counter(predicted)
    return {label: 2 * right[label] / totals[label] for label in sorted(set(gold))}


def macro_f1(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """The mean F1 of the gold labels."""
    scores = f1_by_label(gold, predicted)
    return sum(scores.values()) / max(len(scores), 1)
