"""`firth.evaluate` as a package that can be called: `firth.evaluate(vectors)` is `firth.evaluate.evaluate(vectors)`.

Type checkers take the name `firth.evaluate` for an object of the class below, so that they know both the call and the
functions of the package.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from os import PathLike
from types import ModuleType
from typing import TYPE_CHECKING, cast

from firth import data
from firth.evaluate import intrinsic, language
from firth.evaluate.score import Score, Scores
from firth.evaluate.senses import senses
from firth.files import Name
from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.vectors.words import WordVectors


class EvaluatePackage(ModuleType):
    """The package `firth.evaluate`, which is also a function."""

    SETS = data.SETS
    LanguageModel = language.LanguageModel
    RankedSentence = language.RankedSentence
    Score = Score
    analogies = staticmethod(intrinsic.analogies)
    categories = staticmethod(intrinsic.categories)
    evaluate = staticmethod(intrinsic.evaluate)
    fits = staticmethod(intrinsic.fits)
    perplexity = staticmethod(language.perplexity)
    rank_sentences = staticmethod(language.rank_sentences)
    senses = staticmethod(senses)
    similarity = staticmethod(intrinsic.similarity)

    def __call__(
        self,
        vectors: WordVectors | Name,
        sets: Name | Iterable[Name] | None = None,
        *,
        restrict_vocab: int = 300_000,
        case_insensitive: bool = True,
        normalize: bool = True,
        compose: bool = True,
        dummy4unknown: bool = False,
        seed: int = 0,
        runtime: Runtime | None = None,
        report: Report = silent,
        progress: bool = False,
    ) -> Scores:
        """The scores of word vectors, or of a model by its name or path; the options are those of `evaluate`."""
        if isinstance(vectors, (str, PathLike)):
            from firth import load  # formats are not known here

            vectors = cast(WordVectors, load(vectors))
        return intrinsic.evaluate(
            vectors,
            sets,
            restrict_vocab=restrict_vocab,
            case_insensitive=case_insensitive,
            normalize=normalize,
            compose=compose,
            dummy4unknown=dummy4unknown,
            seed=seed,
            runtime=runtime,
            report=report,
            progress=progress,
        )


evaluate: EvaluatePackage = cast(EvaluatePackage, sys.modules["firth.evaluate"])
evaluate.__class__ = EvaluatePackage

if TYPE_CHECKING:  # what users write must pass the type checker
    import firth

    scores: Scores = firth.evaluate("word2vec-en", "wordsim353", seed=1)
    score: float | None = firth.evaluate.similarity(firth.load("word2vec-en"), "wordsim353").value
