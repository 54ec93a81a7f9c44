"""The methods of KenLM's Python module over `NgramModel`, for code that is ported from it.

As in KenLM, a sentence is split at blanks and logarithms have base 10.
"""

from __future__ import annotations

from collections.abc import Iterator

from firth.errors import OptionError
from firth.files import Name
from firth.formats.registry import load
from firth.models.ngram_model import NgramModel


class KenlmModel:
    """An n-gram model with KenLM's names; `Model` is the same class.

    >>> from firth.models.ngram import Ngram
    >>> model = Model(Ngram(order=2).fit(["strong tea", "strong coffee"]))
    >>> model.order, "tea" in model, model.score("strong tea") > model.score("tea strong")
    (2, True, True)
    >>> [(length, unknown) for _, length, unknown in model.full_scores("strong rain")]
    [(2, False), (1, True), (1, False)]
    """

    def __init__(self, model: NgramModel | Name) -> None:
        loaded = model if isinstance(model, NgramModel) else load(model)
        if not isinstance(loaded, NgramModel):
            raise OptionError(f"{model}: holds no n-gram model but a {type(loaded).__name__}")
        self.model = loaded

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return self.model.order

    def __contains__(self, word: object) -> bool:
        return word in self.model.vocabulary

    def score(self, sentence: str, bos: bool = True, eos: bool = True) -> float:
        """The log10 probability of a sentence; `bos` begins it with <s>, `eos` ends it with </s>."""
        return sum(value for value, _, _ in self.full_scores(sentence, bos, eos))

    def full_scores(self, sentence: str, bos: bool = True, eos: bool = True) -> Iterator[tuple[float, int, bool]]:
        """For each word, then </s>: log10 probability, length of the matched n-gram, whether the word is unknown."""
        return iter(self.model.full_scores(sentence.split(), bos=bos, eos=eos))

    def perplexity(self, sentence: str) -> float:
        """The perplexity of a sentence, </s> included."""
        return float(10.0 ** (-self.score(sentence) / (len(sentence.split()) + 1)))


Model = KenlmModel
