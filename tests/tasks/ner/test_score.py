"""Metrics of named entities, by hand and against seqeval."""

from __future__ import annotations

import pytest
import torch

from firth.tasks.ner.data import NerExample
from firth.tasks.ner.task import Ner
from firth.tasks.tags import decode_spans


def test_results_are_counted_as_conlleval_counts() -> None:
    """Five entities are gold and five are predicted; three are the same: both PER, and one LOC of two."""
    gold = ["B-PER", "I-PER", "O", "B-LOC", "O", "B-ORG", "I-ORG", "B-LOC", "O", "B-PER"]
    predicted = ["B-PER", "I-PER", "O", "B-LOC", "O", "B-ORG", "O", "I-LOC", "I-LOC", "I-PER"]
    examples = [NerExample(("w",) * 10, tuple(decode_spans(gold)))]
    answers = [{"tags": predicted}]
    scores = Ner().score(examples, answers)
    assert scores == {"f1": 3 / 5, "precision": 3 / 5, "recall": 3 / 5, "accuracy": 8 / 10}
    assert next(iter(scores)) == "f1"
    kinds = Ner().by_kind(examples, answers)
    assert {kind: values["f1"] for kind, values in kinds.items()} == {"LOC": 0.5, "ORG": 0.0, "PER": 1.0}


def test_results_are_those_of_seqeval() -> None:
    metrics = pytest.importorskip("seqeval.metrics")
    rng = torch.Generator().manual_seed(5)
    tags = ["O", "O", *(f"{place}-{kind}" for place in "BIES" for kind in ("PER", "LOC"))]
    gold = [[tags[id] for id in row] for row in torch.randint(len(tags), (60, 9), generator=rng).tolist()]
    other = [[tags[id] for id in row] for row in torch.randint(len(tags), (60, 9), generator=rng).tolist()]
    predicted = [[*row[:5], *off[5:]] for row, off in zip(gold, other)]
    examples = [NerExample(("w",) * 9, tuple(decode_spans(row))) for row in gold]
    answers = [{"tags": tags} for tags in predicted]
    scores = Ner().score(examples, answers)
    assert scores["f1"] == pytest.approx(metrics.f1_score(gold, predicted))
    assert scores["precision"] == pytest.approx(metrics.precision_score(gold, predicted))
    report = metrics.classification_report(gold, predicted, output_dict=True)
    assert Ner().by_kind(examples, answers)["LOC"]["f1"] == pytest.approx(report["LOC"]["f1-score"])
