"""Whether a passage holds the answer to a question at all: the probability that it does not.

The network always finds a best span. A logistic regression on five numbers says how likely that span answers the
question: the logits of its first and its last word, the share of the question's words that the passage has, the share
that stands near the span, and the number of names and figures of the question that the passage lacks. It is fitted on
questions about passages with and without their answers (`scripts/qa_no_answer.py`), half of each; the weights of the
network do not change.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.text.vocabulary import Vocabulary

FEATURES = ("first", "last", "coverage", "near", "names")
COMMON = 300  # rank below which a word says nothing about the topic, such as "the" and "when"
AROUND = 15  # words on each side of a span that are near it
STEM, ENDING = 4, 3  # letters at the beginning that forms of a word share, and letters at the end that may differ
RIDGE = 1e-3  # keeps the regression finite where the two kinds can be separated


@dataclass(frozen=True)
class NoAnswerCalibration:
    """The regression: its probability of no answer is the sigmoid of bias + weights · features.

    >>> calibration = NoAnswerCalibration(1.0, (0.0, -0.5, -2.0, 0.0, 1.0))
    >>> round(calibration.probability((3.0, 4.0, 0.5, 0.5, 0.0)), 3)
    0.119
    """

    bias: float
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        values = (self.bias, *self.weights)
        if len(self.weights) != len(FEATURES) or not all(isinstance(x, (int, float)) for x in values):
            raise OptionError(f"a calibration of no answer has a bias and {len(FEATURES)} weights, all of them numbers")
        if not all(map(math.isfinite, values)):
            raise OptionError("a calibration of no answer has numbers that are NaN or infinite")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The calibration in the metadata of a model."""
        weights = values.get("weights")
        if not isinstance(weights, list):
            raise OptionError("a calibration of no answer has a list of weights")
        return cls(values.get("bias", math.nan), tuple(weights))

    def as_dict(self) -> dict[str, Any]:
        """The values by name, ready for JSON."""
        return asdict(self) | {"weights": list(self.weights)}

    def probability(self, features: Sequence[float]) -> float:
        """The probability that the passage has no answer."""
        total = self.bias + sum(weight * value for weight, value in zip(self.weights, features))
        return 0.5 * (1 + math.tanh(total / 2))

    @classmethod
    def fit(cls, features: NDArray[np.float64], unanswerable: NDArray[np.bool_], steps: int = 50) -> Self:
        """The regression with the highest likelihood, where both kinds of questions weigh the same (Newton's method).

        >>> rows = np.array([[1.0, 0, 0, 0, 0], [2, 0, 0, 0, 0], [3, 0, 0, 0, 0], [4, 0, 0, 0, 0]])
        >>> found = NoAnswerCalibration.fit(rows, np.array([True, False, True, False]))
        >>> found.weights[0] < 0
        True
        """
        inputs = np.column_stack([np.ones(len(features)), features])
        shares = np.where(unanswerable, 0.5 / max(1, unanswerable.sum()), 0.5 / max(1, (~unanswerable).sum()))
        found, ridge = np.zeros(inputs.shape[1]), RIDGE * np.eye(inputs.shape[1])
        for _ in range(steps):
            probabilities = 0.5 * (1 + np.tanh(inputs @ found / 2))
            slope = inputs.T @ (shares * (probabilities - unanswerable)) + ridge @ found
            curvature = (inputs * (shares * probabilities * (1 - probabilities))[:, None]).T @ inputs + ridge
            found = found - np.linalg.solve(curvature, slope)
        return cls(float(found[0]), tuple(map(float, found[1:])))


def describe_span(
    question: Sequence[str],
    passage: Sequence[str],
    span: tuple[int, int],
    logits: Sequence[float],
    vocabularies: Sequence[Vocabulary],
) -> tuple[float, ...]:
    """The features of the best span, the tokens span[0] to before span[1] of the passage.

    >>> words = Vocabulary([f"w{i}" for i in range(300)] + ["built", "mill"])
    >>> found = describe_span(["Who", "built", "Rome"], ["They", "built", "a", "mill"], (0, 1), (2.0, 3.0), [words])
    >>> [round(value, 2) for value in found]
    [2.0, 3.0, 0.99, 0.99, 1.0]
    """
    names = list(dict.fromkeys(word for word in question if any(map(str.isalnum, word))))
    rarities = [rarity(word, vocabularies) for word in names]
    near = passage[max(0, span[0] - AROUND) : span[1] + AROUND]

    def share(words: Sequence[str]) -> float:
        found = sum(weight for name, weight in zip(names, rarities) if weight and has_form(words, name))
        return (1 + found) / (1 + sum(rarities))

    is_name = [word for word in question[1:] if word[:1].isupper() or word[:1].isdigit()]
    missing = sum(not has_form(passage, word) for word in is_name)
    return (float(logits[0]), float(logits[1]), share(passage), share(near), float(missing))


def rarity(word: str, vocabularies: Sequence[Vocabulary]) -> float:
    """The logarithm of a word's frequency rank over that of common words; 0 for those, largest for unknown words.

    >>> rarity("the", [Vocabulary(["the", "tea"])]), rarity("unheard", [])
    (0.0, 0.0)
    """
    size = max((len(vocabulary) for vocabulary in vocabularies), default=COMMON)
    ids = (int(id) for one in vocabularies for id in one.ids([word, word.lower(), word.capitalize()]) if id >= 0)
    return math.log(max(min(ids, default=size), COMMON) / COMMON)


def has_form(words: Sequence[str], word: str) -> bool:
    """Whether a word or another form of it is among these: the same beginning, with other endings.

    >>> has_form(["The", "teachers", "left"], "teaches"), has_form(["tea"], "ten"), has_form(["Mill"], "mill")
    (True, False, True)
    """
    return any(is_form(word.lower(), other.lower()) for other in words)


def is_form(first: str, second: str) -> bool:
    """Whether two words in lower case may be forms of one word.

    >>> is_form("chase", "chased"), is_form("mondays", "monday"), is_form("built", "build"), is_form("port", "portugal")
    (True, True, True, False)
    """
    if first == second:
        return True
    least = max(STEM, max(len(first), len(second)) - ENDING)
    return min(len(first), len(second)) >= least and first[:least] == second[:least]
