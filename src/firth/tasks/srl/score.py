"""Metrics of semantic roles, as the official `srl-eval` script counts them.

The pieces of an argument (`ARG1 … C-ARG1`) are right together or not at all, references (`R-ARG0`) count like other
arguments, and the predicate itself does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from firth.tasks.columns import PREDICATE
from firth.tasks.srl.data import SrlExample
from firth.tasks.tags import Span, SpanCounts, decode_spans, precision_recall_f1

CONTINUED = "C-"
Argument = tuple[str, tuple[tuple[int, int], ...]]  # its label, and start and end of its pieces


def collect_arguments(roles: Iterable[Span]) -> set[Argument]:
    """The arguments of a predicate: each a label and its pieces. A continuation without a beginning is a beginning.

    >>> collect_arguments([Span("ARG1", 0, 2), Span("V", 2, 3), Span("C-ARG1", 4, 6)])
    {('ARG1', ((0, 2), (4, 6)))}
    """
    arguments: list[tuple[str, list[tuple[int, int]]]] = []
    latest: dict[str, list[tuple[int, int]]] = {}
    for label, start, end in roles:
        name = label.removeprefix(CONTINUED)
        if name != label and name in latest:
            latest[name].append((start, end))
            continue
        latest[name] = [(start, end)]
        arguments.append((name, latest[name]))
    return {(label, tuple(pieces)) for label, pieces in arguments if label != PREDICATE}


def score_frames(examples: Sequence[SrlExample], answers: Sequence[Any]) -> dict[str, float]:
    """F1, precision and recall of arguments, the share of frames without an error, and the F1 of predicates."""
    frames = perfect = 0
    predicates = [0.0, 0.0, 0.0]  # right, predicted, gold
    for example, answer in zip(examples, answers, strict=True):
        if example.predicates is not None:
            weight = 1 / max(len(example.predicates), 1)  # a sentence comes once for each predicate, and counts once
            gold, predicted = set(example.predicates), set(answer["predicates"])
            for number, size in enumerate((len(gold & predicted), len(predicted), len(gold))):
                predicates[number] += weight * size
        if example.predicate is not None:
            frames += 1
            perfect += _predicted_arguments(answer) == collect_arguments(example.gold)
    scores = count_arguments(examples, answers).scores()
    return scores | {"perfect": perfect / max(frames, 1), "predicates": precision_recall_f1(*predicates)["f1"]}


def count_arguments(examples: Sequence[SrlExample], answers: Sequence[Any]) -> SpanCounts:
    """The predicted and the gold arguments of the predicates that examples name, counted."""
    counts = SpanCounts()
    for example, answer in zip(examples, answers, strict=True):
        if example.predicate is not None:
            counts.add(predicted=_predicted_arguments(answer), gold=collect_arguments(example.gold))
    return counts


def _predicted_arguments(answer: Any) -> set[Argument]:
    return collect_arguments(decode_spans(answer["frames"][0]["tags"]))
