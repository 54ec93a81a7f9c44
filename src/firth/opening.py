"""`firth.load` with the types of what it opens, so that editors complete the methods of a model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from firth.files import Name
from firth.formats import registry

if TYPE_CHECKING:
    from firth.models.count_matrix import CountMatrix
    from firth.models.ngram_model import NgramModel
    from firth.models.phrases import PhraseModel
    from firth.neural.bilm import BiLM
    from firth.tasks.model import TaskModel
    from firth.text.vocabulary import Vocabulary
    from firth.vectors.occurrences import Occurrences
    from firth.vectors.subwords import SubwordVectors
    from firth.vectors.words import WordVectors

Words: TypeAlias = "Vocabulary | Iterable[str] | Name | None"
AnyModel: TypeAlias = (
    "WordVectors | SubwordVectors | BiLM | TaskModel | NgramModel | CountMatrix | PhraseModel | Occurrences | Any"
)
WordVectorsName = Literal["word2vec-en", "glove-en", "svd-en"]
FastTextName = Literal["fasttext-en", "fasttext-fa"]
BiLMName = Literal["elmo-en", "elmo-fa"]
TaskName = (
    Literal["task-sentiment", "task-entailment", "task-ner", "task-srl", "task-coref", "task-qa"]
    | Literal["sentiment", "entailment", "ner", "srl", "coref", "qa"]
)


@overload
def load(path: WordVectorsName, *, limit: int | None = ..., vocabulary: Words = ...) -> WordVectors: ...
@overload
def load(path: FastTextName, *, limit: int | None = ..., vocabulary: Words = ...) -> SubwordVectors: ...
@overload
def load(path: BiLMName) -> BiLM: ...
@overload
def load(path: TaskName) -> TaskModel: ...
@overload
def load(path: Name, *, limit: int | None = ..., vocabulary: Words = ..., format: str | None = ...) -> AnyModel: ...
def load(path: Name, *, limit: int | None = None, vocabulary: Words = None, format: str | None = None) -> AnyModel:
    """Opens vectors or a model in any known format, or a pretrained model by its name or the name of its task.

    An address, such as s3://bucket/model, is downloaded into the cache first (docs/remote.md).

    A pretrained model is opened by its name unless the current folder contains a file of that name. The format is
    detected by content; `format` overrides this. `limit` loads only the first rows of word vectors, `vocabulary`
    (words, or a file of words) only the rows of these words; other rows are never kept in memory.

    >>> import firth
    >>> vectors = firth.load("svd-en", vocabulary=["tea", "coffee"])
    >>> len(vectors), vectors.dim
    (2, 100)
    """
    return registry.load(path, limit=limit, vocabulary=vocabulary, format=format)
