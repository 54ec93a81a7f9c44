"""Truecasing of texts without usual case."""

from __future__ import annotations

import pytest

from firth.tasks.truecase import Case, Truecaser, find_case, has_case
from firth.text.vocabulary import Vocabulary

WORDS = Vocabulary(
    ["the", "in", "a", "of", "Boston", "closes", "schools", "Maria", "storm", "NASA", "may", "May", "boston", "Storm"]
)


@pytest.mark.parametrize(
    ("text", "case"),
    [
        ("Maria lives in Boston .", "mixed"),
        ("maria lives in boston .", "lower"),
        ("i think I know boston", "lower"),
        ("MARIA LIVES IN BOSTON !", "upper"),
        ("Storm Closes Schools in Boston", "title"),
        ("Storm Closes Schools in Boston .", "mixed"),  # a sentence of names
        ("Dr. Verna Shepherd is President", "mixed"),
        ("Elon Musk", "mixed"),
        ("hello", "mixed"),
        ("NASA 1969 !", "mixed"),
        ("", "mixed"),
        ("\u0639\u0644\u06cc \u062f\u0631 \u062a\u0647\u0631\u0627\u0646 \u0627\u0633\u062a", "mixed"),
    ],
)
def test_the_case_of_a_text_is_told_from_its_words(text: str, case: Case) -> None:
    assert find_case([tuple(text.split())]) == case


def test_words_get_their_most_frequent_form() -> None:
    truecaser = Truecaser((WORDS,))
    restore = lambda text: " ".join(truecaser.restore([tuple(text.split())])[0])  # noqa: E731
    assert restore("storm closes schools in boston") == "Storm closes schools in Boston"
    assert restore("STORM CLOSES SCHOOLS IN BOSTON , NASA MAY ZORK") == (
        "Storm closes schools in Boston , NASA may zork"
    )
    assert restore("Storm Closes Zork Schools in Boston") == "Storm closes Zork schools in Boston"
    assert restore("Maria Storm closes") == "Maria Storm closes"


def test_the_sentences_of_a_document_are_judged_together() -> None:
    truecaser = Truecaser((WORDS,))
    assert truecaser.restore([("storm", "closes"), ("maria", "may")]) == [("Storm", "closes"), ("Maria", "may")]
    assert truecaser.restore([("storm", "closes"), ("Maria", "may")]) == [("storm", "closes"), ("Maria", "may")]
    assert truecaser.restore([()]) == [()]


def test_without_a_vocabulary_with_case_nothing_changes() -> None:
    assert Truecaser(()).restore([("in", "boston", "may")]) == [("in", "boston", "may")]
    assert has_case(WORDS[:9])
    assert not has_case(["tea", "42", "\u0686\u0627\u06cc"])
