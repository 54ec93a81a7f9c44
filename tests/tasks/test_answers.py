"""Answers are lists for programs, and pictures in a notebook."""

from __future__ import annotations

import json

import pytest

import firth
from firth.tasks.answers import TextAnswers


@pytest.mark.parametrize(
    ("task", "texts", "expected"),
    [
        ("ner", ["Mary Smith went to Rome."], ["Mary Smith", "PER", "Rome", "LOC"]),
        ("srl", ["John broke the vase."], ["ARG0", "broke"]),
        ("sentiment", ["The movie was fantastic!"], ["very positive", "%"]),
        ("entailment", ["A woman plays a guitar.", "A woman makes music."], ["entailment", "makes"]),
        ("qa", ["The cat sat on the mat.", "Where did the cat sit?"], ["Where did the cat sit", "mat"]),
        ("coref", ["Mary went to the store. She bought <milk>."], ["Mary", "]1", "&lt;"]),
    ],
)
def test_a_notebook_draws_the_answers_of_every_task(task: str, texts: list[str], expected: list[str]) -> None:
    answers = firth.load(task).ask(*texts)
    page = answers._repr_html_()
    assert page is not None
    assert all(text in page for text in expected)
    assert json.loads(json.dumps(answers)) == list(answers)


def test_a_list_that_was_changed_is_not_drawn() -> None:
    answers = firth.load("ner").ask("Mary left.")
    answers.append({})
    assert answers._repr_html_() is None
    assert TextAnswers([{}])._repr_html_() is None
    assert TextAnswers() == []
