"""What Word2Vec and FastText share: options, subsampling, and initial rows that do not depend on threads."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from firth.errors import OptionError
from firth.models.fasttext import FastText
from firth.models.window_network import WindowOptions, cut_vocabulary, keep_thresholds, random_rows
from firth.models.word2vec import Word2Vec
from firth.runtime import Runtime
from firth.text.vocabulary import Vocabulary


def test_subsampling_follows_its_formula():
    share, t = 0.02, 1e-3
    counts = np.array([2000, 98_000 // 2, 98_000 // 2])
    assert keep_thresholds(counts, t)[0] / 2**32 == pytest.approx((np.sqrt(share / t) + 1) * t / share, rel=1e-6)
    assert keep_thresholds(counts, 0).tolist() == [2**32 - 1] * 3


def test_an_option_of_both_recipes_has_one_help_text_and_one_range():
    shared = {field.name: field for field in fields(WindowOptions)}
    for recipe in (Word2Vec, FastText):
        for field in fields(recipe):
            if field.name in shared and field.name not in ("learning_rate", "objective"):  # they depend on the recipe
                assert field.metadata == shared[field.name].metadata
    assert (FastText().subsample, Word2Vec().subsample) == (1e-4, 1e-3)
    assert (FastText().noise_exponent, Word2Vec().noise_exponent) == (0.5, 0.75)


def test_initial_rows_are_within_their_bound_and_the_same_with_any_number_of_threads():
    one, three = (random_rows(100, 10, 0.05, 7, Runtime(threads)) for threads in (1, 3))
    np.testing.assert_array_equal(one, three)
    assert np.abs(one).max() <= 0.05
    assert one[:, :10].std() == pytest.approx(0.05 / np.sqrt(3), rel=0.1)
    assert not np.array_equal(one, random_rows(100, 10, 0.05, 8, Runtime(1)))


def test_a_vocabulary_is_cut_and_must_keep_two_words():
    vocabulary = Vocabulary(["tea", "milk", "rain"], [5, 3, 1])
    assert cut_vocabulary(vocabulary, 3).words == ("tea", "milk")
    with pytest.raises(OptionError, match="only one word, 'tea', occurs 4 times"):
        cut_vocabulary(vocabulary, 4)
    with pytest.raises(OptionError, match=r"the most frequent word, 'tea', occurs 5 times\. Lower min_count \(9\)"):
        cut_vocabulary(vocabulary, 9)
