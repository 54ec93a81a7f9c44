"""firth: one modern home for word representations.

>>> import firth
>>> corpus = firth.Corpus.of(["I like deep learning .", "I like NLP .", "I enjoy flying ."])
>>> corpus.vocabulary[:3]
('.', 'I', 'like')

The public names are those below; each is imported when it is first used, so that `import firth` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firth.lazy import import_name, lazy_attributes, read_imports

if TYPE_CHECKING:
    from firth import plot as plot
    from firth.bulk.embed_file import embed_file as embed_file
    from firth.errors import CoverageWarning as CoverageWarning
    from firth.errors import FirthError as FirthError
    from firth.evaluate.package import evaluate as evaluate
    from firth.exchange.frames import encode_frame as encode_frame
    from firth.exchange.frames import to_frame as to_frame
    from firth.exchange.indexes import open_index as open_index
    from firth.formats.registry import save as save
    from firth.hub.repository import from_pretrained as from_pretrained
    from firth.hub.repository import push_to_hub as push_to_hub
    from firth.models.classifier import FastTextClassifier as FastTextClassifier
    from firth.models.classifier_model import Classifier as Classifier
    from firth.models.count_matrix import CountMatrix as CountMatrix
    from firth.models.counts import Counts as Counts
    from firth.models.doc2vec import Doc2Vec as Doc2Vec
    from firth.models.doc2vec import DocumentVectors as DocumentVectors
    from firth.models.elmo import Elmo as Elmo
    from firth.models.embedder import ElmoTransformer as ElmoTransformer
    from firth.models.embedder import Embedder as Embedder
    from firth.models.embedder import WordVectorTransformer as WordVectorTransformer
    from firth.models.estimator import CountsTransformer as CountsTransformer
    from firth.models.fasttext import FastText as FastText
    from firth.models.fasttext_estimator import FastTextEstimator as FastTextEstimator
    from firth.models.glove import Glove as Glove
    from firth.models.ngram import Ngram as Ngram
    from firth.models.ngram_model import NgramModel as NgramModel
    from firth.models.phrases import Phrases as Phrases
    from firth.models.quantization import quantize as quantize
    from firth.models.segmenter import Segmenter as Segmenter
    from firth.models.segmenter import SegmenterModel as SegmenterModel
    from firth.models.vector_map import VectorMap as VectorMap
    from firth.models.vector_map import align as align
    from firth.models.word2vec import Word2Vec as Word2Vec
    from firth.neural.bilm import BiLM as BiLM
    from firth.neural.mix import ScalarMix as ScalarMix
    from firth.opening import load as load
    from firth.runtime import Runtime as Runtime
    from firth.tasks.classifiers import EntailmentClassifier as EntailmentClassifier
    from firth.tasks.classifiers import SentimentClassifier as SentimentClassifier
    from firth.tasks.elmo_embedding import ElmoEmbedding as ElmoEmbedding
    from firth.tasks.elmo_embedding import batch_to_ids as batch_to_ids
    from firth.tasks.model import open_task as open_task
    from firth.text.corpus import Corpus as Corpus
    from firth.text.normalize import Normalizer as Normalizer
    from firth.text.tokenize import Tokenizer as Tokenizer
    from firth.text.vocabulary import Vocabulary as Vocabulary
    from firth.vectors.subwords import SubwordVectors as SubwordVectors
    from firth.vectors.words import WordVectors as WordVectors

__version__ = "0.1.0"

PLACES = read_imports("firth") | {"plot": "firth.plot"}
__all__ = sorted([*PLACES, "__version__"])

__getattr__ = lazy_attributes("firth", PLACES, lambda name: import_name(PLACES[name], f"firth.{name}", "elmo"))


def __dir__() -> list[str]:
    return __all__
