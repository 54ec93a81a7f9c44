"""BLEU by hand, and against sacrebleu where it is installed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firth.tasks.seq2seq.score import bleu


def words(*texts: str) -> list[list[str]]:
    return [text.split() for text in texts]


def test_hits_are_clipped_and_short_answers_pay() -> None:
    """Papineni et al. (2002): seven times "the" hits twice. And three of six words, all right, cost exp(1 - 6/3)."""
    gold = words("the cat is on the mat")
    unigrams = 2 / 7  # then 1/2, 1/4, 1/8 of a hit in 6, 5 and 4
    expected = (unigrams * (1 / 2 / 6) * (1 / 4 / 5) * (1 / 8 / 4)) ** 0.25
    assert bleu(gold, words("the the the the the the the")) == pytest.approx(expected)
    assert bleu(gold, words("the cat is")) == pytest.approx(math.exp(1 - 6 / 3))
    assert bleu(gold, words("the cat is on the mat now")) == pytest.approx((6 / 7 * 5 / 6 * 4 / 5 * 3 / 4) ** 0.25)


def test_counts_are_summed_over_texts() -> None:
    """Of 3 words 2 hit, of 1 pair 1: the text of one word has no pair, and no text has three words."""
    assert bleu(words("a b", "c"), words("a b", "x")) == pytest.approx((2 / 3 * 1 / 1) ** 0.5)


def test_the_same_is_one_and_nothing_is_zero() -> None:
    assert bleu(words("a b c"), words("a b c")) == 1.0
    assert bleu(words("a b c"), words("x y")) == 0.0
    assert bleu(words("a"), [[]]) == 0.0
    assert bleu([], []) == 0.0


texts = st.lists(st.sampled_from("abcde"), min_size=1, max_size=9)


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=4))
def test_it_is_that_of_sacrebleu(pairs: Sequence[tuple[list[str], list[str]]]) -> None:
    sacrebleu = pytest.importorskip("sacrebleu", reason="compares with sacrebleu, which is not installed")
    truths, answers = zip(*pairs)
    found = sacrebleu.corpus_bleu(
        [" ".join(one) for one in answers],
        [[" ".join(one) for one in truths]],
        tokenize="none",
        force=True,
        use_effective_order=True,
    )
    assert bleu(truths, answers) == pytest.approx(found.score / 100, abs=1e-9)
