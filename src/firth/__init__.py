"""firth: one modern home for word representations.

>>> import firth
>>> corpus = firth.Corpus.of(["I like deep learning .", "I like NLP .", "I enjoy flying ."])
>>> corpus.vocabulary[:3]
('.', 'I', 'like')

The public names are below; each is imported when it is first used, so that `import firth` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from firth.errors import MissingExtra

if TYPE_CHECKING:
    from firth import evaluate as evaluate
    from firth.errors import FirthError as FirthError
    from firth.formats.registry import load as load
    from firth.formats.registry import save as save
    from firth.models.classifier import FastTextClassifier as FastTextClassifier
    from firth.models.count_matrix import CountMatrix as CountMatrix
    from firth.models.counts import Counts as Counts
    from firth.models.elmo import Elmo as Elmo
    from firth.models.estimator import CountsTransformer as CountsTransformer
    from firth.models.fasttext import FastText as FastText
    from firth.models.glove import Glove as Glove
    from firth.models.ngram import Ngram as Ngram
    from firth.models.ngram_model import NgramModel as NgramModel
    from firth.models.phrases import Phrases as Phrases
    from firth.models.word2vec import Word2Vec as Word2Vec
    from firth.neural.bilm import BiLM as BiLM
    from firth.neural.mix import ScalarMix as ScalarMix
    from firth.runtime import Runtime as Runtime
    from firth.text.corpus import Corpus as Corpus
    from firth.text.normalize import Normalizer as Normalizer
    from firth.text.tokenize import Tokenizer as Tokenizer
    from firth.text.vocabulary import Vocabulary as Vocabulary
    from firth.vectors.subwords import SubwordVectors as SubwordVectors
    from firth.vectors.words import WordVectors as WordVectors

__version__ = "0.1.0"

PLACES = {
    "BiLM": "firth.neural.bilm",
    "Corpus": "firth.text.corpus",
    "CountMatrix": "firth.models.count_matrix",
    "Counts": "firth.models.counts",
    "CountsTransformer": "firth.models.estimator",
    "Elmo": "firth.models.elmo",
    "FastText": "firth.models.fasttext",
    "FastTextClassifier": "firth.models.classifier",
    "FirthError": "firth.errors",
    "Glove": "firth.models.glove",
    "Ngram": "firth.models.ngram",
    "NgramModel": "firth.models.ngram_model",
    "Normalizer": "firth.text.normalize",
    "Phrases": "firth.models.phrases",
    "Runtime": "firth.runtime",
    "ScalarMix": "firth.neural.mix",
    "SubwordVectors": "firth.vectors.subwords",
    "Tokenizer": "firth.text.tokenize",
    "Vocabulary": "firth.text.vocabulary",
    "Word2Vec": "firth.models.word2vec",
    "WordVectors": "firth.vectors.words",
    "load": "firth.formats.registry",
    "save": "firth.formats.registry",
}


def __getattr__(name: str) -> Any:
    if name == "evaluate":
        return import_module("firth.evaluate")
    if name not in PLACES:
        raise AttributeError(f"module 'firth' has no attribute {name!r}")
    try:
        return getattr(import_module(PLACES[name]), name)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtra(f"firth.{name}", "elmo") from error


def __dir__() -> list[str]:
    return sorted([*PLACES, "__version__", "evaluate"])
