"""Every recipe by the name that the command line uses."""

from __future__ import annotations

from firth.models.classifier import FastTextClassifier
from firth.models.counts import Counts
from firth.models.doc2vec import Doc2Vec
from firth.models.elmo import Elmo
from firth.models.fasttext import FastText
from firth.models.glove import Glove
from firth.models.ngram import Ngram
from firth.models.phrases import Phrases
from firth.models.segmenter import Segmenter
from firth.models.word2vec import Word2Vec
from firth.options import Recipe

RECIPES: dict[str, type[Recipe]] = {
    "counts": Counts,
    "ngram": Ngram,
    "word2vec": Word2Vec,
    "glove": Glove,
    "fasttext": FastText,
    "doc2vec": Doc2Vec,
    "classifier": FastTextClassifier,
    "phrases": Phrases,
    "segmenter": Segmenter,
    "elmo": Elmo,
}
