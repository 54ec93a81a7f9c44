"""A sentence read by language models."""

from __future__ import annotations

import numpy as np
import pytest

from firth.errors import OptionError
from firth.explorer.answers.language import format_probability, read_sentence, surprisal
from firth.explorer.models import Models


def test_a_reading_has_the_log_probabilities_and_the_score_of_the_model() -> None:
    models = Models()
    reading = read_sentence(models, "elmo-en", "", "She made strong tea .")
    bilm = models.load("elmo-en")
    [score] = bilm.score(["She made strong tea ."])
    assert reading.per_word == pytest.approx(score.per_word, rel=1e-6)
    np.testing.assert_array_equal(reading.forward, bilm.log_probs("She made strong tea .")[0])
    assert reading.known == (True,) * 5
    assert reading.ngram is None
    assert read_sentence(models, "elmo-en", "", "Xqzzt").known == (False,)


def test_what_cannot_be_read_is_an_error() -> None:
    for text in ("  ", "word " * 200):
        with pytest.raises(OptionError, match="words"):
            read_sentence(Models(), "elmo-en", "", text)


def test_surprisal_is_in_bits_and_small_probabilities_keep_two_digits() -> None:
    assert surprisal(np.log(1 / 8)) == pytest.approx(3)
    assert format_probability(1.0) == "100 %"
    assert format_probability(0.0994) == "9.9 %"
    assert format_probability(3e-7) == "0.00003 %"  # never an exponent beside percents
