"""The features of a document before they are counted: words, n-grams of words, n-grams of characters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from firth.errors import OptionError
from firth.options import Recipe, option
from firth.text.tokenize import Tokenizer

BLANKS = re.compile(r"\s+")


@dataclass(frozen=True)
class Analyzer(Recipe):
    """Splits documents into features, with the options and the results of scikit-learn's vectorizers.

    >>> Analyzer(ngram_range=(1, 2)).features(["hot", "green", "tea"])
    ['hot', 'green', 'tea', 'hot green', 'green tea']
    >>> Analyzer(analyzer="char_wb", ngram_range=(3, 3)).features("hot tea")
    [' ho', 'hot', 'ot ', ' te', 'tea', 'ea ']
    """

    analyzer: Literal["word", "char", "char_wb"] = option(
        "word", "Features: words, n-grams of characters (char), or those within words, with a blank on each side."
    )
    ngram_range: tuple[int, ...] = option((1, 1), "Shortest and longest n-grams.")
    binary: bool = option(False, "Count a feature once per document.")
    min_df: float = option(1, "Least documents of a feature: a number, or a share below 1.0 as a float.", minimum=0)
    max_df: float = option(1.0, "Most documents of a feature: a number, or a share as a float.", minimum=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.ngram_range) != 2 or not 1 <= self.ngram_range[0] <= self.ngram_range[1]:
            raise OptionError(f"ngram_range is {self.ngram_range}, but must be two numbers, from 1 up, in order")

    @property
    def is_plain(self) -> bool:
        """Whether the features are the words themselves, each as often as it occurs."""
        return self == Analyzer()

    def features(self, document: str | Sequence[str], tokenizer: Tokenizer | None = None) -> list[str]:
        """The features of one document: a text or, for words, a list of words."""
        shortest, longest = self.ngram_range
        if self.analyzer == "word":
            words = (tokenizer or Tokenizer()).words(document) if isinstance(document, str) else list(document)
            grams = [
                " ".join(words[start : start + n])
                for n in range(shortest, longest + 1)
                for start in range(len(words) - n + 1)
            ]
        else:
            text = document if isinstance(document, str) else " ".join(document)
            if tokenizer is not None and tokenizer.normalizer is not None:
                text = tokenizer.normalizer(text)
            grams = list(self._characters(BLANKS.sub(" ", text)))
        return list(dict.fromkeys(grams)) if self.binary else grams

    def _characters(self, text: str) -> Iterator[str]:
        shortest, longest = self.ngram_range
        if self.analyzer == "char":
            for n in range(shortest, longest + 1):
                yield from (text[start : start + n] for start in range(len(text) - n + 1))
            return
        for word in text.split():
            padded = f" {word} "
            for n in range(shortest, longest + 1):
                yield from (padded[start : start + n] for start in range(max(1, len(padded) - n + 1)))
                if n >= len(padded):  # longer n-grams would be this one again
                    break

    def is_frequent(self, documents: Sequence[Iterable[str]]) -> Callable[[str], bool]:
        """Whether a feature occurs in as many of these documents as `min_df` and `max_df` allow.

        >>> Analyzer(min_df=2).is_frequent([["tea", "milk"], ["tea"]])("milk")
        False
        """
        counts = Counter(feature for features in documents for feature in set(features))
        least, most = (
            limit * len(documents) if isinstance(limit, float) else limit for limit in (self.min_df, self.max_df)
        )
        if least > most:
            raise OptionError(f"min_df is {self.min_df}, but max_df, {self.max_df}, allows fewer documents")
        return lambda feature: least <= counts[feature] <= most
