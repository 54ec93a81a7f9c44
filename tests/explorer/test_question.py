"""A question and its line of Python give the same answer."""

from __future__ import annotations

from tests.explorer.conftest import run_copied

from firth.explorer.models import Models
from firth.explorer.question import Question


def test_the_line_of_a_question_gives_its_answer() -> None:
    question = Question("svd-en", "most_similar", (["tea", "'s"],), {"negative": ["war"], "topn": 3})
    assert run_copied(f"import firth\n{question.python()}") == question.ask(Models())
