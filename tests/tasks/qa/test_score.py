"""Metrics of answers, as the official script computes them."""

from __future__ import annotations

import pytest

from firth.tasks.qa.data import Passage, QaExample
from firth.tasks.qa.score import exact_match, normalize_answer, token_f1
from firth.tasks.qa.task import Qa
from firth.text.tokenize import Tokenizer


@pytest.mark.parametrize(
    ("answer", "plain"),
    [
        ("The Denver Broncos", "denver broncos"),
        ("an  apple a day", "apple day"),
        ("U.S.", "us"),
        ("twenty-one", "twentyone"),
        ("Theatre", "theatre"),
        ("the", ""),
        ("“quoted”", "“quoted”"),  # the official script knows ASCII punctuation only
        (" Saint\tBernadette\nSoubirous ", "saint bernadette soubirous"),
    ],
)
def test_answers_are_compared_as_the_official_script_does(answer: str, plain: str) -> None:
    assert normalize_answer(answer) == plain


def test_the_best_of_several_gold_answers_counts() -> None:
    gold = ["Santa Clara, California", "Levi's Stadium", "Levi's Stadium in the San Francisco Bay Area at Santa Clara"]
    assert exact_match("levis stadium", gold) == 1
    assert exact_match("Stadium", gold) == 0
    assert token_f1("Levi's Stadium", gold) == 1
    # words: in levis stadium at santa clara (6); against "santa clara california" 2 are the same: 2·2 / (6 + 3)
    assert token_f1("in Levi's Stadium at Santa Clara", gold[:1]) == pytest.approx(4 / 9)
    # against the third, of 10 words without its article, all 6 are the same
    assert token_f1("in Levi's Stadium at Santa Clara", gold) == pytest.approx(12 / 16)


def test_a_word_that_is_said_twice_counts_twice_only_where_gold_has_it_twice() -> None:
    assert token_f1("New New York", ["New York"]) == pytest.approx(2 * 2 / 5)
    assert token_f1("the", ["a"]) == 0  # nothing is left of both: the official script sees no word in common


MAT = Passage.of("The cat sat on the mat.", Tokenizer())


def test_the_score_is_the_mean_of_the_questions_f1_then_exact_match() -> None:
    examples = [QaExample(MAT, ("Who", "?"), ("The cat", "cat")), QaExample(MAT, ("Where", "?"), ("on the mat",))]
    scores = Qa().score(examples, [{"text": "the Cat"}, {"text": "the mat."}])
    assert list(scores) == ["f1", "exact_match"]
    assert scores["f1"] == pytest.approx((1 + 2 / 3) / 2)  # "mat" against "on mat": precision 1, recall 1/2
    assert scores["exact_match"] == 0.5
