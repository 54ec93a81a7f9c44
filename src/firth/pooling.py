"""One vector for each text: the vectors of its words, pooled. `encode` of every model that has vectors.

`mean` and `max` are over the words of a text. `sif` is the smooth inverse frequency of Arora et al. (2017): the mean of
the vectors, each multiplied by a / (a + p(w)), where p(w) is the share of the word in the training text, less the
projection on the first principal component of many such vectors. `IdfWeights` are the weights of words in a mean that
is weighted by TF-IDF.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from firth.arguments import checked
from firth.errors import OptionError
from firth.text.corpus import check_list
from firth.text.coverage import collect_coverage
from firth.text.model_tokenizer import ModelTokenizer, TextLike
from firth.text.vocabulary import Vocabulary

Floats = NDArray[np.float32]
TextPooling = Literal["mean", "max", "sif"]
BATCH = 1024  # texts that are embedded together
SIF = 1e-3  # the `a` of the paper


class WordEmbedder(Protocol):
    """A model with a vector for each word of a sentence."""

    @property
    def tokenizer(self) -> ModelTokenizer: ...
    @property
    def vocabulary(self) -> Vocabulary | None: ...
    @property
    def embed(self) -> Any: ...


@dataclass(frozen=True)
class IdfWeights:
    """The inverse document frequencies of words, log((1 + N) / (1 + df)) + 1, as scikit-learn has them.

    N is the number of texts, df that of the texts with the word. The mean of the vectors of the words of a text with
    these weights is weighted by TF-IDF, since a word counts as often as it occurs.

    >>> weights = IdfWeights.of([["the", "tea"], ["the", "rain", "rain"]])
    >>> weights.find(["the", "rain", "fog"]).round(3).tolist()
    [1.0, 1.405, 2.099]
    """

    texts: int
    frequencies: Mapping[str, int]

    @classmethod
    def of(cls, texts: Iterable[Sequence[str]]) -> IdfWeights:
        """The frequencies in texts as lists of words."""
        count, frequencies = 0, Counter[str]()
        for words in texts:
            count += 1
            frequencies.update(set(words))
        return cls(count, frequencies)

    def find(self, words: Sequence[str]) -> NDArray[np.float64]:
        """The weight of each word; one of no text has df = 0."""
        frequencies = np.array([self.frequencies.get(word, 0) for word in words], np.float64)
        return np.log((1 + self.texts) / (1 + frequencies)) + 1


@checked
def encode_texts(
    model: WordEmbedder,
    texts: TextLike | Iterable[TextLike],
    *,
    pooling: TextPooling = "mean",
    normalize: bool = False,
    a: float = SIF,
    component: NDArray[Any] | Sequence[float] | None = None,
    weights: IdfWeights | None = None,
    **settings: Any,
) -> Floats:
    """The vectors of texts, (texts, dim) as float32; one text as a string has a vector, (dim,).

    A text is a string, which is tokenized as the model's training text was, or a list of words. Words without a vector
    do not count; a text without any, such as an empty one, has a row of zeros. `pooling` is "mean", "max" or "sif",
    the mean weighted by a / (a + p(w)), which needs the counts of the words. `weights` weight the words of a mean.
    `component` is subtracted: each vector loses its projection on it (see `principal_component`). `normalize` scales
    vectors to length 1. Further settings are those of `embed`, such as `layers` of a biLM.

    >>> from firth.vectors.words import WordVectors
    >>> vectors = WordVectors(Vocabulary(["the", "tea"], [99, 1]), [[1, 0], [0, 1]])
    >>> vectors.encode(["the tea", ["tea", "tea"], ""]).tolist()
    [[0.5, 0.5], [0.0, 1.0], [0.0, 0.0]]
    >>> [f"{number:.3f}" for number in vectors.encode("the tea", pooling="sif", a=0.01)]
    ['0.005', '0.250']
    """
    if isinstance(texts, (str, PathLike)):
        options: dict[str, Any] = {"normalize": normalize, "a": a, "component": component, "weights": weights}
        row: Floats = encode_texts(model, [texts], pooling=pooling, **options, **settings)[0]
        return row
    check_list(texts, "the texts are")
    if pooling == "sif" and not a > 0:
        raise OptionError(f"a is {a}, but must be above 0")
    if weights is not None and pooling != "mean":
        raise OptionError(f'pooling is {pooling!r}, but weights of words are those of a mean. Use pooling="mean"')
    with collect_coverage():
        parts = [_encode_batch(model, batch, pooling, a, weights, settings) for batch in _batches(texts)]
    if not parts:
        parts = [_encode_batch(model, [[]], pooling, a, weights, settings)[:0]]
    vectors = np.concatenate(parts)
    if component is not None:
        vectors = remove_component(vectors, component)
    if normalize:
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
        vectors = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return vectors


def _batches(texts: Iterable[TextLike]) -> Iterator[list[TextLike]]:
    rest = iter(texts)
    while batch := list(islice(rest, BATCH)):
        yield batch


def _encode_batch(
    model: WordEmbedder,
    texts: Sequence[TextLike],
    pooling: TextPooling,
    a: float,
    idf: IdfWeights | None,
    settings: dict[str, Any],
) -> Floats:
    tokenizer = model.tokenizer
    lists = [tokenizer.words(text) for text in texts]
    arrays = model.embed(lists, **settings)
    if any(array.ndim != 2 for array in arrays):
        raise OptionError("encode needs one vector per word, but these settings of embed give several layers")
    vectors = np.zeros((len(lists), arrays[0].shape[1]), np.float32)
    weights = _sif_weights(model, [word for words in lists for word in words], a) if pooling == "sif" else None
    first = 0
    for vector, words, array in zip(vectors, lists, arrays):
        known = array.any(axis=1)
        rows = np.asarray(array[known], np.float32)
        if weights is not None:
            rows = rows * weights[first : first + len(words)][known, None]
        first += len(words)
        if idf is not None and len(rows):
            vector[:] = np.average(rows, axis=0, weights=idf.find(words)[known])
        elif len(rows):
            vector[:] = rows.max(axis=0) if pooling == "max" else rows.mean(axis=0)
    return vectors


def _sif_weights(model: WordEmbedder, words: list[str], a: float) -> Floats:
    """a / (a + p(w)) of each word; a word outside the vocabulary has the weight 1."""
    vocabulary = model.vocabulary
    if vocabulary is None or vocabulary.counts is None or not vocabulary.total:
        raise OptionError('pooling is "sif", but this model has no counts of words. Use "mean", or a model with counts')
    ids = model.tokenizer.find(words, vocabulary)[1]
    counts = np.where(ids >= 0, vocabulary.counts[np.maximum(ids, 0)], 0)
    return np.asarray(a / (a + counts / vocabulary.total), np.float32)


@checked
def principal_component(vectors: NDArray[Any]) -> Floats:
    """The first principal direction of vectors as rows, (dim,), of length 1: the right singular vector, not centered.

    >>> principal_component(np.array([[2.0, 0.0], [4.0, 0.0], [0.0, 1.0]])).tolist()
    [1.0, 0.0]
    """
    table = np.asarray(vectors, np.float64)
    if table.ndim != 2 or not table.any():
        raise OptionError("a principal component needs rows of numbers that are not all zero")
    values, directions = np.linalg.eigh(table.T @ table)
    direction = directions[:, int(np.argmax(values))]
    return np.asarray(direction * np.sign(direction[np.argmax(np.abs(direction))]), np.float32)


def remove_component(vectors: Floats, component: NDArray[Any] | Sequence[float]) -> Floats:
    """Vectors less their projection on a direction."""
    direction = np.asarray(component, np.float64)
    if direction.shape != vectors.shape[1:]:
        raise OptionError(f"the component has the shape {direction.shape}, but must have {vectors.shape[1:]}")
    length = float(np.linalg.norm(direction))
    direction = direction / (length if length > 0 else 1)
    return np.asarray(vectors - np.outer(vectors @ direction, direction), np.float32)
