"""A sentence read by language models: how probable each word is from the left, from the right, and for n-grams."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firth.explorer.models import Models
from firth.explorer.problems import PageError

LONGEST_SENTENCE = 120  # words


@dataclass(frozen=True)
class Reading:
    """The words of a sentence and the log probability of each, natural. `ngram` is None without an n-gram model.

    Forward and n-gram values are of each word and of the end of the sentence; backward ones of its beginning and of
    each word. `known` says which words the softmax has.
    """

    words: tuple[str, ...]
    forward: NDArray[np.float64]
    backward: NDArray[np.float64]
    ngram: NDArray[np.float64] | None
    known: tuple[bool, ...]
    per_word: float


def read_sentence(models: Models, bilm: str, ngram: str, sentence: str) -> Reading:
    """The reading of a sentence by a biLM and, where one is named, an n-gram model.

    >>> reading = read_sentence(Models(), "elmo-en", "", "strong tea")
    >>> reading.words, len(reading.forward), reading.ngram
    (('strong', 'tea'), 3, None)
    """
    model = models.load(bilm)
    words = model.tokenizer.words(sentence)
    if not words:
        raise PageError("sentence-empty")
    if len(words) > LONGEST_SENTENCE:
        raise PageError("sentence-long", count=len(words), most=LONGEST_SENTENCE)
    forward, backward = model.log_probs(words)
    counted = models.load(ngram).log_probs(words) if ngram else None
    known = tuple(bool(id >= 0) for id in model.vocabulary.ids(words))
    per_word = float(np.exp((forward.sum() + backward.sum()) / (2 * len(words) + 2)))
    return Reading(tuple(words), forward, backward, counted, known, per_word)


def surprisal(log_prob: float) -> float:
    """The surprisal in bits of a natural log probability.

    >>> round(surprisal(-0.6931471805599453), 6)
    1.0
    """
    return float(-log_prob / np.log(2))


def format_probability(probability: float) -> str:
    """A probability in percent, with two digits; one digit below a thousandth of a percent.

    >>> [format_probability(one) for one in (0.345, 0.0123, 0.000456, 0.0000083, 0.0000000001)]
    ['34 %', '1.2 %', '0.046 %', '0.0008 %', '< 0.00001 %']
    """
    percent = 100 * probability
    if percent < 1e-5:
        return "< 0.00001 %"
    digits = 2 if percent >= 1e-3 else 1
    places = max(0, digits - 1 - math.floor(math.log10(percent)))
    return f"{percent:.{places}f} %"
