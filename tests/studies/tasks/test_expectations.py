"""Expectations of behavioral cases, on answers made by hand."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

from firth.studies.tasks.expectations import CHECKERS

GRADES = {"very negative": 0.1, "negative": 0.2, "neutral": 0.4, "positive": 0.2, "very positive": 0.1}
ANN: dict[str, Any] = {"label": "PER", "text": "Ann", "token_start": 0, "token_end": 1}
ROME: dict[str, Any] = {"label": "LOC", "text": "Rome", "token_start": 2, "token_end": 3}


def frame(predicate: str, *roles: tuple[str, str, int]) -> dict[str, Any]:
    found = [
        {"label": label, "text": text, "token_start": at, "token_end": at + len(text.split())}
        for label, text, at in roles
    ]
    return {"predicate": {"text": predicate}, "bracketed": "", "roles": found}


def clusters(*mentions: str) -> list[dict[str, Any]]:
    """An answer with a cluster for each string of mentions."""
    return [{"clusters": [{"mentions": [{"text": text} for text in one.split()]} for one in mentions]}]


STATES = [
    ("ner", "none", [{"entities": []}], [{"entities": [ANN]}]),
    ("ner", "PER Ann; LOC Rome", [{"entities": [ROME]}, {"entities": [ANN]}], [{"entities": [ANN]}]),
    ("ner", "PER Ann", [{"entities": [ANN]}], [{"entities": [ANN | {"label": "LOC"}]}]),
    ("ner", "PER Ann", [{"entities": [ANN]}], [{"entities": [ANN, ROME]}]),
    ("ner", "warning", [{"entities": [], "warning": "Persian"}], [{"entities": []}]),
    ("sentiment", "negative", [{"labels": GRADES | {"very negative": 0.9}}], [{"labels": GRADES}]),
    ("sentiment", "not negative", [{"labels": GRADES}], [{"labels": GRADES | {"negative": 0.9}}]),
    ("entailment", "neutral", [{"labels": {"neutral": 0.5, "entailment": 0.4}}], [{"labels": {"entailment": 1.0}}]),
    ("entailment", "not neutral", [{"labels": {"entailment": 1.0}}], [{"labels": {"neutral": 1.0}}]),
    ("qa", "Rome / in Rome", [{"answer": "the rome", "probability": 0.1}], [{"answer": "Ann", "probability": 0.9}]),
    ("qa", "no answer", [{"answer": None, "probability": 0.9}], [{"answer": "Rome", "probability": 0.1}]),
    ("srl", "frames ate", [{"frames": [frame("ate")]}], [{"frames": [frame("has"), frame("ate")]}]),
    ("srl", "frames none", [{"frames": []}], [{"frames": [frame("has")]}]),
    ("srl", "ate: ARG0 He", [{"frames": [frame("ate", ("ARG0", "He", 0))]}], [{"frames": [frame("ate")]}]),
    (
        "srl",
        "ate: ARG0 He",
        [{"frames": [frame("ate", ("ARG0", "He", 0))]}],
        [{"frames": [frame("a", ("ARG0", "He", 0))]}],
    ),
    ("coref", "none", clusters(), clusters("Ann she")),
    ("coref", "together Ann, She", clusters("Ann she"), clusters("Ann her", "she Eve")),
    ("coref", "together Ann, Ann", clusters("Ann Ann"), clusters("Ann she")),
    ("coref", "apart He, she", clusters("Ann she"), clusters("Ann she he")),
    ("coref", "together a, b; apart a, c", clusters("a b"), clusters("a b c")),
]


@pytest.mark.parametrize(("task", "expected", "right", "wrong"), STATES)
def test_a_right_answer_passes_and_a_wrong_one_fails(task: str, expected: str, right: Any, wrong: Any) -> None:
    checker = CHECKERS[task]
    assert checker.understands("MFT", expected)
    assert checker.passes(expected, right)
    assert not checker.passes(expected, wrong)


SHIFTS = [
    ("ner", "gains LOC", [{"entities": [ANN]}], [{"entities": [ANN, ROME]}]),
    ("ner", "none -> PER Ann", [{"entities": []}], [{"entities": [ANN]}]),
    ("sentiment", "more positive", [{"labels": GRADES}], [{"labels": GRADES | {"neutral": 0.3, "positive": 0.3}}]),
    ("sentiment", "more negative", [{"labels": GRADES}], [{"labels": GRADES | {"neutral": 0.3, "negative": 0.3}}]),
    ("sentiment", "neutral -> positive", [{"labels": GRADES}], [{"labels": GRADES | {"positive": 0.9}}]),
    ("entailment", "less entailment", [{"labels": {"entailment": 0.9}}], [{"labels": {"entailment": 0.8}}]),
    ("entailment", "more neutral", [{"labels": {"neutral": 0.1}}], [{"labels": {"neutral": 0.2}}]),
    ("qa", "less sure", [{"answer": "Rome", "probability": 0.9}], [{"answer": "Ann", "probability": 0.3}]),
    ("qa", "Ann -> Rome", [{"answer": "Ann", "probability": 0.1}], [{"answer": "Rome", "probability": 0.1}]),
    ("srl", "gains ARGM-NEG", [{"frames": [frame("ate")]}], [{"frames": [frame("eat", ("ARGM-NEG", "not", 2))]}]),
    ("coref", "together a, b -> apart a, b", clusters("a b"), clusters()),
]


@pytest.mark.parametrize(("task", "expected", "before", "after"), SHIFTS)
def test_a_direction_passes_one_way_only(task: str, expected: str, before: Any, after: Any) -> None:
    checker = CHECKERS[task]
    assert checker.understands("DIR", expected)
    assert checker.passes(expected, before, after)
    assert not checker.passes(expected, after, before)
    assert not checker.passes(expected, before, before)


EQUALS = [
    ("ner", [{"entities": [ANN]}], [{"entities": [ANN | {"text": "Eve"}]}], [{"entities": [ANN | {"label": "LOC"}]}]),
    ("sentiment", [{"labels": {"positive": 1.0}}], [{"labels": {"very positive": 1.0}}], [{"labels": GRADES}]),
    ("entailment", [{"labels": {"neutral": 0.9}}], [{"labels": {"neutral": 0.4}}], [{"labels": {"entailment": 0.9}}]),
    ("qa", [{"answer": "The cat"}], [{"answer": "cat"}], [{"answer": "The dog"}]),
    (
        "srl",
        [{"frames": [frame("ate", ("ARG0", "He", 0))]}],
        [{"frames": [frame("ate", ("ARG0", "She", 0))]}],
        [{"frames": [frame("ate", ("ARG1", "He", 0))]}],
    ),
    (
        "coref",
        [{"bracketed": "[Ann]1 saw [her]1 dog"}],
        [{"bracketed": "[Tom]1 saw [his]1 dog"}],
        [{"bracketed": "[Ann]1 saw her [dog]1"}],
    ),
]


@pytest.mark.parametrize(("task", "before", "same", "other"), EQUALS)
def test_invariance_compares_the_answer_and_not_the_words(task: str, before: Any, same: Any, other: Any) -> None:
    checker = CHECKERS[task]
    assert checker.passes("same", before, same)
    assert not checker.passes("same", before, other)


@pytest.mark.parametrize("task", CHECKERS)
def test_what_is_not_an_expectation_is_not_understood(task: str) -> None:
    checker = CHECKERS[task]
    assert checker.understands("INV", "same")
    assert not checker.understands("INV", "none")
    assert not checker.understands("MFT", "")
    assert not checker.understands("DIR", "sideways")
