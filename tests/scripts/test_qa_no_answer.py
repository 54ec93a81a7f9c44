"""The script that calibrates the probability of no answer: its pairs have and lack the answer as they say."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from firth.tasks.qa.no_answer import NoAnswerCalibration

TEXTS = [
    ["The mill is old. Ann built it in 1742. It was sold.", "A road leads to it. Rain fell. Nobody came."],
    ["Tea grows in China. Leaves are dried.", "Milk comes from cows."],
]


@pytest.fixture(scope="module")
def script(load_script: Callable[[str], Any]) -> Any:
    return load_script("scripts/qa_no_answer.py")


def test_pairs_have_or_lack_the_answer(script: Any) -> None:
    articles = [[{"context": text, "qas": []} for text in article] for article in TEXTS]
    articles[0][0]["qas"] = [{"question": "Who built it?", "answers": [{"text": "Ann", "answer_start": 17}]}]
    articles[1][1]["qas"] = [{"question": "What gives milk?", "answers": [{"text": "cows", "answer_start": 16}]}]
    questions = script.list_questions(articles)
    pairs = list(script.make_pairs(questions, articles, random.Random(1)))
    assert {pair.kind for pair in pairs} == set(script.KINDS)
    for pair in pairs:
        gold = "Ann" if "built" in pair.question else "cows"
        assert (gold in pair.passage) == (pair.kind in script.ANSWERABLE) == bool(pair.answers)
    [removed] = [pair.passage for pair in pairs if pair.kind == "answer removed"]
    assert removed == "The mill is old. It was sold."


def test_what_is_refused_and_what_it_costs_are_measured(script: Any) -> None:
    pairs = [script.Pair(kind, "", "", ()) for kind in script.KINDS]
    rows = np.array([[0.0, 0, 0, 0, float(i > 1)] for i in range(len(pairs))])
    found = script.measure(NoAnswerCalibration(-5.0, (0, 0, 0, 0, 10.0)), pairs, rows, np.ones(len(pairs)), 0.5)
    assert found["refused"] == {kind: float(kind not in script.ANSWERABLE) for kind in script.KINDS}
    assert (found["f1"], found["f1_kept"]) == (1.0, 1.0)
