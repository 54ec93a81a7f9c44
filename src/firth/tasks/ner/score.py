"""Metrics of named entities, as the `conlleval` script counts them: an entity is right when its span and type are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from firth.tasks.ner.data import NerExample
from firth.tasks.tags import SpanCounts, decode_spans, encode_tags


def score_entities(examples: Sequence[NerExample], answers: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """F1, precision and recall of entities, and the share of words with the right tag."""
    right = words = 0
    for example, answer in zip(examples, answers, strict=True):
        spans = example.gold, decode_spans(answer["tags"])
        gold, predicted = (encode_tags(one, len(example.words)) for one in spans)
        right += sum(one == other for one, other in zip(gold, predicted))
        words += len(gold)
    return count_entities(examples, answers).scores() | {"accuracy": right / max(words, 1)}


def count_entities(examples: Sequence[NerExample], answers: Sequence[Mapping[str, Any]]) -> SpanCounts:
    """The predicted and the gold entities, counted."""
    counts = SpanCounts()
    for example, answer in zip(examples, answers, strict=True):
        counts.add(predicted=set(decode_spans(answer["tags"])), gold=set(example.gold))
    return counts
