"""Perplexity and ranked sentences: by hand, and equal to those of an n-gram model."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from firth.evaluate import (
    perplexity,
    rank_sentences,
    statistics,
)
from firth.models.ngram import Ngram
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer


class Unigram:
    """A language model that a reader can check: fixed probabilities, whatever came before."""

    vocabulary = ("tea", "strong")

    def log_probs(self, words: Sequence[str]) -> NDArray[np.float64]:
        return np.log([{"tea": 0.5, "strong": 0.25}.get(word, 0.125) for word in words] + [0.5])


def test_perplexity_is_the_inverse_of_the_geometric_mean() -> None:
    score = perplexity(Unigram(), [["strong", "tea"], ["mud", "tea"]])
    logs = [math.log(p) for p in (0.25, 0.5, 0.5, 0.125, 0.5, 0.5)]
    assert score.value == pytest.approx(math.exp(-sum(logs) / 6))
    assert (score.used, score.total) == (3, 4)
    assert score.details["without_unknown"] == pytest.approx(math.exp(-(sum(logs) - math.log(0.125)) / 5))
    assert score.details["bits_per_token"] == pytest.approx((2 + 1 + 1 + 3 + 1 + 1) / 6)
    assert score.interval is not None
    assert score.interval[0] < score.value < score.interval[1]


def test_an_n_gram_model_has_the_same_perplexity_here_as_by_itself() -> None:
    model = Ngram(order=2).fit(Corpus.of(["strong tea", "strong coffee", "tea and coffee"]))
    text = [["strong", "tea"], ["mud", "tea", "<s>"], []]
    score, found = perplexity(model, text), model.perplexity(text)
    logs = [model.log_probs(words) for words in text]
    assert (score.value, score.details["without_unknown"]) == pytest.approx((found.value, found.without_unknown))
    assert found.value == pytest.approx(math.exp(-sum(log.sum() for log in logs) / 8))
    assert (score.used, score.total) == (3, 5)  # a marker inside a sentence is an unknown word
    assert (found.words - found.sentences, found.unknown) == (5, 2)
    assert score.details["log_prob"] == pytest.approx(found.log_prob)
    sums, counts = np.array([log.sum() for log in logs]), np.array([3.0, 4.0, 1.0])
    edges = statistics.ratio_interval(sums, counts)
    assert score.interval == pytest.approx((math.exp(-edges[1]), math.exp(-edges[0])))
    assert perplexity(model, []).value is None


def test_an_impossible_word_leaves_perplexity_without_a_value() -> None:
    class Narrow:
        def log_probs(self, words: Sequence[str]) -> NDArray[np.float64]:
            return np.full(len(words) + 1, -np.inf)

    for text in ([["tea"]], []):
        score = perplexity(Narrow(), text)
        assert (score.value, score.interval) == (None, None)
        json.dumps(score.as_dict(), allow_nan=False)
    assert rank_sentences(Narrow(), ["tea"])[0].as_dict()["log_prob"] is None


def test_sentences_are_ranked_by_probability_per_word() -> None:
    ranked = rank_sentences(Unigram(), ["powerful tea", ["strong", "tea"], "tea tea tea tea"])
    assert [" ".join(one.words) for one in ranked] == ["tea tea tea tea", "strong tea", "powerful tea"]
    assert ranked[1].per_word == pytest.approx((0.25 * 0.5 * 0.5) ** (1 / 3))
    assert ranked[1].log_prob == pytest.approx(math.log(0.0625))
    assert (ranked[2].unknown, ranked[2].unknown_words) == (1, ("powerful",))


def test_a_word_in_another_spelling_is_not_unknown_to_a_model_that_normalizes_it() -> None:
    corpus = Corpus.of(["کتاب خوب"], tokenizer=Tokenizer(language="persian"))
    ranked = rank_sentences(Ngram(order=1).fit(corpus), [["كتاب", "بد"]])
    assert ranked[0].unknown_words == ("بد",)
