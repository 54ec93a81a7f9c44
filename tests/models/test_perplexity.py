"""What sentences add to a perplexity."""

from __future__ import annotations

import math

import numpy as np
import pytest

from firth.errors import OptionError
from firth.models.perplexity import Perplexity, SentenceLogProbs

TEA = SentenceLogProbs.of_sentence(np.log([0.5, 0.125, 0.5]), np.array([True, False, True]))
NOTHING = SentenceLogProbs.of_sentence(np.log([0.25]), np.array([True]))


def test_sentences_one_by_one_and_joined_come_to_the_same() -> None:
    apart, together = Perplexity.of([TEA, NOTHING]), Perplexity.of([SentenceLogProbs.concatenate([TEA, NOTHING])])
    assert apart.value == pytest.approx(2 ** (7 / 4))
    assert apart.without_unknown == pytest.approx(2 ** (4 / 3))
    assert (apart.words, apart.unknown, apart.sentences) == (4, 1, 2)
    assert together == apart


def test_an_impossible_unknown_word_is_left_out_with_the_others() -> None:
    found = Perplexity.of([SentenceLogProbs.of_sentence(np.array([-np.inf, math.log(0.5)]), np.array([False, True]))])
    assert (found.value, found.without_unknown) == (math.inf, pytest.approx(2))


def test_without_a_sentence_there_is_no_perplexity() -> None:
    for parts in ([], [SentenceLogProbs.concatenate([])]):
        with pytest.raises(OptionError, match="no sentence was given"):
            Perplexity.of(parts)
