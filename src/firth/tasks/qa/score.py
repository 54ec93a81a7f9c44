"""Metrics of answers, as the official script of SQuAD 1.1 computes them (there as percentages)."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from firth.tasks.qa.data import QaExample

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)


def score_answers(examples: Sequence[QaExample], answers: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The mean token F1 and the mean exact match."""
    gold, texts = [example.gold for example in examples], [answer["text"] for answer in answers]
    count = max(len(gold), 1)
    return {
        "f1": sum(map(token_f1, texts, gold)) / count,
        "exact_match": sum(map(exact_match, texts, gold)) / count,
    }


def normalize_answer(answer: str) -> str:
    """An answer in the form that is compared: lowercase, without punctuation and articles, single spaces.

    >>> normalize_answer("The  U.S. Army's")
    'us armys'
    """
    return " ".join(ARTICLES.sub(" ", answer.lower().translate(PUNCTUATION)).split())


def exact_match(answer: str, gold: Sequence[str]) -> float:
    """1 where the answer equals one of the gold answers after normalization.

    >>> exact_match("the Normans", ["Normans", "Vikings"])
    1.0
    """
    return float(any(normalize_answer(answer) == normalize_answer(one) for one in gold))


def token_f1(answer: str, gold: Sequence[str]) -> float:
    """The F1 of the answer's words against those of the best-matching gold answer.

    >>> token_f1("in Northern France", ["France", "northern Spain"])
    0.5
    """
    words = normalize_answer(answer).split()
    return max((_overlap(words, normalize_answer(one).split()) for one in gold), default=0.0)


def _overlap(words: Sequence[str], gold: Sequence[str]) -> float:
    same = (Counter(words) & Counter(gold)).total()
    return 2 * same / (len(words) + len(gold)) if same else 0.0
