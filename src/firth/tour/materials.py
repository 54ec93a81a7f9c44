"""A step of the tour, and the materials that all steps share: the text, its corpus and its models."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from rich.console import RenderableType

from firth.errors import OptionError
from firth.formats.registry import load
from firth.models.count_matrix import CountMatrix
from firth.models.counts import ENGLISH_STOP_WORDS, Counts
from firth.models.fasttext import FastText
from firth.models.ngram import Ngram
from firth.models.ngram_model import NgramModel
from firth.text.corpus import Corpus
from firth.text.normalize import Normalizer
from firth.text.tokenize import Tokenizer
from firth.vectors.subwords import SubwordVectors
from firth.vectors.words import WordVectors

OWN = "tour.txt"
OWN_WORDS = ("tea", "coffee", "king", "queen", "dog", "cat", "boat", "ferry", "rain", "snow", "bread", "fish")
ELMO = "elmo-en"


@dataclass(frozen=True)
class TourStep:
    """One step of the tour: an explanation, a picture, the command that makes it, and its values."""

    title: str
    sentence: str
    picture: RenderableType
    command: str
    values: dict[str, Any]


@dataclass(frozen=True)
class Materials:
    """What the steps share: the text, its corpus, and the models that were trained on it."""

    paths: tuple[str, ...]
    folder: Path
    elmo: str | None = None

    @property
    def name(self) -> str:
        """The name of the text in the commands of the tour."""
        return " ".join(self.paths) or os.path.relpath(str(files("firth").joinpath(OWN)))

    @cached_property
    def corpus(self) -> Corpus:
        """The text as a corpus: a document per line, in lower case."""
        tokenizer = Tokenizer(normalizer=Normalizer(fold_case=True))
        if self.paths:
            return Corpus(self.paths, tokenizer=tokenizer, documents="line")
        return Corpus.of([line for line in read_own_text().splitlines() if line], tokenizer=tokenizer)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Twelve words to show: a fixed list, or the most frequent content words of the user's text."""
        if not self.paths:
            return OWN_WORDS
        stop = set(ENGLISH_STOP_WORDS)
        frequent = self.corpus.vocabulary[:2000]
        chosen = [word for word in frequent if len(word) > 2 and word.isalpha() and word not in stop][:12]
        if len(chosen) < 3:
            raise OptionError(
                f"{self.name}: the text is too small for a tour. Use a text of at least a few hundred words"
            )
        return tuple(chosen)

    @property
    def has_torch(self) -> bool:
        """Whether torch is installed."""
        return find_spec("torch") is not None

    @cached_property
    def contextual(self) -> tuple[str, Any] | None:
        """The name of a contextual model and the model, or None without torch."""
        if not self.has_torch:
            return None
        name = ELMO if self.elmo is None else self.elmo
        return name, load(name)

    @cached_property
    def counts(self) -> CountMatrix:
        return cast(CountMatrix, Counts(kind="co-occurrence", window=5, weighting="flat").fit(self.corpus))

    @cached_property
    def vectors(self) -> WordVectors:
        frequent = self.corpus.vocabulary.cut(2)
        meaningful = [word for word in frequent if word.isalpha() and word not in ENGLISH_STOP_WORDS]
        dim = min(40, len(meaningful))
        recipe = Counts(kind="svd", window=2, dim=dim, min_count=2, stop_words="english", punctuation=False, seed=1)
        return cast(WordVectors, recipe.fit(self.corpus))

    @property
    def fasttext_recipe(self) -> FastText:
        return FastText(dim=30, epochs=60, min_count=2, buckets=20_000, subsample=0.0)

    @cached_property
    def fasttext(self) -> SubwordVectors:
        return self.fasttext_recipe.fit(self.corpus)

    @cached_property
    def ngrams(self) -> NgramModel:
        return Ngram(order=3).fit(self.corpus)


def read_own_text() -> str:
    """The text that comes with firth."""
    return files("firth").joinpath(OWN).read_text(encoding="utf-8")
