"""Metrics of semantic roles, as srl-eval counts them."""

from __future__ import annotations

from typing import Any

import pytest

from firth.tasks.srl.data import SrlExample
from firth.tasks.srl.score import collect_arguments
from firth.tasks.srl.task import Srl
from firth.tasks.tags import Span, encode_tags

JOHN = ("John", "wants", "to", "go", ".")
WANTS = (Span("ARG0", 0, 1), Span("V", 1, 2), Span("ARG1", 2, 4))
GOES = (Span("ARG0", 0, 1), Span("V", 3, 4))


def frame(place: int, roles: list[Span], words: int, found: list[int]) -> dict[str, Any]:
    return {"predicates": found, "frames": [{"predicate": place, "tags": encode_tags(roles, words)}]}


def test_pieces_of_an_argument_are_right_together_or_not_at_all() -> None:
    whole = [Span("ARG1", 0, 2), Span("V", 2, 3), Span("C-ARG1", 4, 6)]
    example = SrlExample(("w",) * 6, 2, tuple(whole), (2,))
    assert Srl().score([example], [frame(2, whole, 6, [2])])["f1"] == 1
    assert Srl().score([example], [frame(2, whole[:2], 6, [2])])["f1"] == 0
    merged = [Span("ARG1", 0, 2), Span("V", 2, 3), Span("ARG1", 4, 6)]
    assert Srl().score([example], [frame(2, merged, 6, [2])])["f1"] == 0


def test_references_count_and_predicates_do_not() -> None:
    """Two arguments are gold and two are predicted, one of them right; V and C-V do not count."""
    gold = [Span("ARG0", 0, 1), Span("R-ARG0", 1, 2), Span("V", 2, 3), Span("C-V", 4, 5)]
    predicted = [Span("ARG0", 0, 1), Span("ARG0", 1, 2), Span("V", 2, 3)]
    examples, answers = [SrlExample(("w",) * 5, 2, tuple(gold), (2,))], [frame(2, predicted, 5, [2])]
    scores = Srl().score(examples, answers)
    assert scores == {
        "f1": 0.5,
        "precision": 0.5,
        "recall": 0.5,
        "perfect": 0.0,
        "predicates": 1.0,
    }
    roles = Srl().by_role(examples, answers)
    assert {role: values["f1"] for role, values in roles.items()} == {"ARG0": pytest.approx(2 / 3), "R-ARG0": 0.0}


def test_a_continuation_of_nothing_is_an_argument_of_its_own() -> None:
    assert collect_arguments([Span("C-ARG1", 0, 2)]) == {("ARG1", ((0, 2),))}
    twice = [Span("ARG1", 0, 1), Span("ARG1", 1, 2), Span("C-ARG1", 3, 4), Span("C-ARG1", 5, 6)]
    assert collect_arguments(twice) == {("ARG1", ((0, 1),)), ("ARG1", ((1, 2), (3, 4), (5, 6)))}


def test_finding_predicates_counts_a_sentence_once() -> None:
    """Of two predicates one is found, in a sentence that comes twice; another sentence has none, and one is found."""
    examples = [
        SrlExample(JOHN, 1, WANTS, (1, 3)),
        SrlExample(JOHN, 3, GOES, (1, 3)),
        SrlExample(("Ouch",), predicates=()),
    ]
    answers = [frame(1, list(WANTS), 5, [1]), frame(3, list(GOES), 5, [1]), {"predicates": [0], "frames": []}]
    scores = Srl().score(examples, answers)
    assert scores["predicates"] == pytest.approx(0.5)  # right 1, found 2, true 2
    assert scores["f1"] == scores["perfect"] == 1
