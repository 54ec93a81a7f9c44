"""Language models: the perplexity of a text, and sentences ranked by probability."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from firth.evaluate import statistics
from firth.evaluate.score import Score
from firth.models.ngram_model import NgramModel
from firth.models.perplexity import Perplexity, SentenceLogProbs
from firth.text.coverage import Coverage, report_coverage


class LanguageModel(Protocol):
    """A model that returns the natural log probability of each word of a sentence and of the sentence end."""

    def log_probs(self, words: Sequence[str], /) -> NDArray[np.float64]: ...


@dataclass(frozen=True)
class RankedSentence:
    """A sentence and its probability under a language model; the sentence end counts as a word."""

    words: tuple[str, ...]
    log_prob: float
    per_word: float
    unknown_words: tuple[str, ...] = ()

    @property
    def unknown(self) -> int:
        """The number of words outside the model's vocabulary."""
        return len(self.unknown_words)

    def as_dict(self) -> dict[str, Any]:
        """The values by name, ready for JSON; the log probability of an impossible sentence is None."""
        return {**dataclasses.asdict(self), "log_prob": _finite(self.log_prob), "unknown": self.unknown}


def rank_sentences(model: LanguageModel, sentences: Iterable[str | Sequence[str]]) -> list[RankedSentence]:
    """Sentences sorted by probability per word (the geometric mean), highest first; length does not matter.

    A sentence is a list of words, or text: an n-gram model tokenizes it, for other models it is split at spaces.

    >>> class Coin:
    ...     def log_probs(self, words):
    ...         return np.log([0.5 if word == "heads" else 0.25 for word in words] + [1.0])
    >>> [(" ".join(one.words), round(one.per_word, 3)) for one in rank_sentences(Coin(), ["tails", "heads heads"])]
    [('heads heads', 0.63), ('tails', 0.5)]
    """
    ranked = []
    for sentence in sentences:
        if isinstance(model, NgramModel):
            sentence = model.tokenizer.words(sentence)
        words = tuple(sentence.split() if isinstance(sentence, str) else sentence)
        log_probs = model.log_probs(words)
        log_prob = float(log_probs.sum())
        per_word = math.exp(log_prob / len(log_probs))
        ranked.append(RankedSentence(words, log_prob, per_word, _unknown(model, words)))
    report_coverage(Coverage(sum(len(one.words) for one in ranked), sum(one.unknown for one in ranked)))
    return sorted(ranked, key=lambda one: -one.per_word)


def perplexity(model: LanguageModel, sentences: Iterable[Sequence[str]], *, name: str = "text") -> Score:
    """The perplexity per word of a text; each sentence end counts as a word.

    `used` of `total` words are in the model's vocabulary. Unknown words count with the probability that the model
    gives them; the details also contain the perplexity without them. The value is None if the model gives a word
    probability 0. The interval treats sentences as independent draws.

    >>> class Die:
    ...     def log_probs(self, words):
    ...         return np.full(len(words) + 1, np.log(1 / 6))
    >>> round(perplexity(Die(), [["1", "5"], ["3"]]).value, 6)
    6.0
    """
    surprises = SentenceLogProbs.concatenate(_surprises(model, sentences))
    if not len(surprises.words):
        nothing = dict.fromkeys(("log_prob", "bits_per_token", "without_unknown"))
        return Score("language", name, "perplexity", None, None, 0, 0, {"sentences": 0, "tokens": 0, **nothing})
    result = Perplexity.of([surprises])
    is_possible = math.isfinite(result.log_prob)
    edges = statistics.ratio_interval(surprises.log_probs, surprises.words.astype(np.float64)) if is_possible else None
    details = {
        "sentences": result.sentences,
        "tokens": result.words,
        "log_prob": _finite(result.log_prob),
        "bits_per_token": _finite(-result.log_prob / result.words / math.log(2)),
        "without_unknown": _finite(result.without_unknown),
    }
    interval = None if edges is None else (math.exp(-edges[1]), math.exp(-edges[0]))
    value, total = _finite(result.value), result.words - result.sentences
    return Score("language", name, "perplexity", value, interval, total - result.unknown, total, details)


def _surprises(model: LanguageModel, sentences: Iterable[Sequence[str]]) -> Iterator[SentenceLogProbs]:
    """The log probabilities of each sentence; an n-gram model computes many sentences at once."""
    if isinstance(model, NgramModel):
        yield from model.surprises(sentences)
        return
    for words in sentences:
        unknown = set(_unknown(model, words))
        known = np.array([word not in unknown for word in words] + [True], bool)
        yield SentenceLogProbs.of_sentence(model.log_probs(words), known)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _unknown(model: LanguageModel, words: Sequence[str]) -> tuple[str, ...]:
    if isinstance(model, NgramModel):  # it normalizes words that it does not find
        ids = model.tokenizer.find(words, model.vocabulary)[1]
        return tuple(word for word, id in zip(words, ids.tolist()) if id < 0)
    vocabulary = getattr(model, "vocabulary", None)
    return () if vocabulary is None else tuple(word for word in words if word not in vocabulary)
