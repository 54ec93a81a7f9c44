"""The probability that a passage has no answer: its features, its regression, and the shipped model."""

from __future__ import annotations

import io
import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from rich.console import Console

pytest.importorskip("torch")

from firth.errors import OptionError
from firth.tasks.model import TaskModel, open_task
from firth.tasks.pictures import draw_places
from firth.tasks.qa.no_answer import NoAnswerCalibration, describe_span, has_form, is_form, rarity
from firth.text.vocabulary import Vocabulary

PASSAGE = "The old mill stands beside the river in Harwick. Thomas Green built it in 1742 for 900 pounds."
VOCABULARY = Vocabulary(["who", "the", "in", *(f"w{i}" for i in range(597)), "mill", "Harwick", "built"])


@cache
def shipped() -> TaskModel:
    return open_task("qa")


def features(question: str, span: tuple[int, int] = (9, 11)) -> tuple[float, ...]:
    words = PASSAGE.replace(".", " .").split()
    return describe_span(question.split(), words, span, (1.5, 2.5), [VOCABULARY])


def test_words_of_the_question_are_looked_for_in_the_passage_and_near_the_span() -> None:
    assert features("who built the mill") == (1.5, 2.5, 1.0, 1.0, 0.0)
    *_, coverage, near, names = features("who built the mill in Paris in 1999")
    assert coverage == near < 1
    assert names == 2.0  # Paris and 1999
    far = describe_span(["mill"], ["mill", *["x"] * 40], (39, 40), (0, 0), [VOCABULARY])
    assert far[2] == 1.0 > far[3]


def test_frequent_words_say_nothing_and_unknown_words_most() -> None:
    assert rarity("w7", [VOCABULARY]) == 0.0
    assert rarity("unheard", [VOCABULARY]) == math.log(603 / 300) >= rarity("MILL", [VOCABULARY]) > 0
    assert rarity("mill", []) == 0.0


def test_forms_of_a_word_share_their_beginning() -> None:
    assert has_form(["Teachers"], "teaching")
    assert not has_form(["Educational"], "educated")  # an ending of four letters is too long
    assert is_form("drink", "drinks")
    assert not is_form("car", "cart")
    assert not is_form("", "a")


def test_the_regression_is_that_of_scikit_learn() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 5))
    gold = rows @ np.array([1.0, -2.0, 0.5, 0.0, 1.0]) + rng.logistic(size=400) > 1.0
    ours = NoAnswerCalibration.fit(rows, gold)
    shares = np.where(gold, 0.5 / gold.sum(), 0.5 / (~gold).sum())
    theirs = linear.LogisticRegression(C=1e3, tol=1e-8, max_iter=1000).fit(rows, gold, sample_weight=shares)
    assert ours.weights == pytest.approx(theirs.coef_[0], abs=0.02)
    assert NoAnswerCalibration.from_dict(ours.as_dict()) == ours


@pytest.mark.parametrize(
    "wrong", [{}, {"bias": 1.0, "weights": [1.0]}, {"bias": math.nan, "weights": [0.0] * 5}, {"bias": 0, "weights": 3}]
)
def test_a_wrong_calibration_is_an_error(wrong: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="calibration of no answer"):
        NoAnswerCalibration.from_dict(wrong)


def test_the_shipped_model_answers_or_says_that_there_is_no_answer() -> None:
    answered, refused = shipped().ask(PASSAGE, "Who built the mill?", "Who wrote Hamlet?")
    assert (answered["answer"], refused["answer"], refused["start"]) == ("Thomas Green", None, None)
    assert answered["no_answer"] < 0.5 < 0.7 < refused["no_answer"] == refused["probability"] <= 1
    assert shipped().task.rows(refused)[0][2:] == [None] * 5 + [refused["no_answer"]] * 2


def test_the_threshold_decides_and_one_always_answers() -> None:
    model = shipped()
    task = model.task
    try:
        model.task = replace(task, threshold=1.0)  # type: ignore[call-arg]
        assert model.ask(PASSAGE, "Who wrote Hamlet?")[0]["answer"] == "Thomas Green"
        model.task = replace(task, threshold=0.0)  # type: ignore[call-arg]
        assert model.ask(PASSAGE, "Who built the mill?")[0]["answer"] is None
    finally:
        model.task = task


def test_files_are_scored_on_the_best_spans_whatever_the_threshold() -> None:
    [example] = shipped().task.ask(PASSAGE, "Who wrote Hamlet?")
    [answer] = shipped().predict([example])
    assert answer["text"] == "Thomas Green"


def test_a_model_without_a_calibration_always_answers() -> None:
    model = shipped()
    kept = model.metadata.pop("no_answer")
    try:
        [answer] = model.ask(PASSAGE, "Who wrote Hamlet?")
        assert (answer["answer"], answer["no_answer"]) == ("Thomas Green", None)
    finally:
        model.metadata["no_answer"] = kept


def test_the_table_of_places_has_one_text_and_the_probability_of_no_answer() -> None:
    console = Console(width=100, file=io.StringIO())
    rows = [
        row
        for answer in shipped().ask(PASSAGE, "Who built it?", "Who wrote Hamlet?")
        for row in shipped().task.rows(answer)
    ]
    console.print(draw_places(shipped().task, rows))
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert next(line.split() for line in lines if "input" in line) == [
        "input",
        "text",
        "characters",
        "tokens",
        "probability",
    ]
    assert f"{rows[1][-1]:.0%}" in "".join(lines)
