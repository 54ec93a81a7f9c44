"""Perplexity of a language model, from the log-probabilities of sentences."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class SentenceLogProbs:
    """Natural log-probabilities and word counts of sentences, for all words and for known words only.

    The end of a sentence counts as a known word.
    """

    log_probs: Floats
    words: Numbers
    known_log_probs: Floats
    known: Numbers

    @classmethod
    def of_sentence(cls, log_probs: Floats, known: NDArray[np.bool_]) -> SentenceLogProbs:
        """One sentence, from the log-probabilities of its words and its end, and the mask of the known ones."""
        words, known_words = np.array([len(known)]), np.array([np.count_nonzero(known)])
        return cls(np.array([log_probs.sum()]), words, np.array([log_probs[known].sum()]), known_words)

    @classmethod
    def concatenate(cls, parts: Iterable[SentenceLogProbs]) -> SentenceLogProbs:
        """The sentences of all parts."""
        rows = [(part.log_probs, part.words, part.known_log_probs, part.known) for part in parts]
        if not rows:
            return cls(np.empty(0), np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64))
        log_probs, words, known_log_probs, known = (np.concatenate(column) for column in zip(*rows))
        return cls(log_probs, words, known_log_probs, known)


def exponential(value: float) -> float:
    """exp(value); infinite where it is too large for a float.

    >>> exponential(0.0), exponential(1e6)
    (1.0, inf)
    """
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


@dataclass(frozen=True)
class Perplexity:
    """exp(-mean log-probability of a word): lower is better.

    `value` includes unknown words with the probability of <unk>; `without_unknown` excludes them. The end of a sentence
    counts as a word, so `words` = tokens + sentences.
    """

    value: float
    without_unknown: float
    log_prob: float
    words: int
    unknown: int
    sentences: int

    @classmethod
    def of(cls, parts: Iterable[SentenceLogProbs]) -> Perplexity:
        """The perplexity of all sentences; infinite if a word has probability 0.

        >>> sentence = SentenceLogProbs.of_sentence(np.log([0.5, 0.25, 0.5]), np.array([True, False, True]))
        >>> result = Perplexity.of([sentence, sentence])
        >>> round(result.value, 4), round(result.without_unknown, 4), result.words, result.unknown, result.sentences
        (2.5198, 2.0, 6, 2, 2)
        """
        log_prob, known_log_prob, words, known, sentences = 0.0, 0.0, 0, 0, 0
        for part in parts:
            log_prob += float(part.log_probs.sum())
            known_log_prob += float(part.known_log_probs.sum())
            words, known = words + int(part.words.sum()), known + int(part.known.sum())
            sentences += len(part.words)
        if sentences == 0:
            raise OptionError("no sentence was given. Perplexity needs at least one")
        value, without = exponential(-log_prob / words), exponential(-known_log_prob / max(1, known))
        return cls(value, without, log_prob, words, words - known, sentences)

    def as_dict(self) -> dict[str, Any]:
        """The values by name, ready for JSON."""
        return asdict(self)

    def __float__(self) -> float:
        return self.value
