"""gensim's `FastText` over our recipe, and its functions for files of fastText, for code that is ported from gensim."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from firth.compat.gensim import KeyedVectors
from firth.compat.gensim_training import KEPT, SingleOutputModel
from firth.errors import OptionError
from firth.files import Name
from firth.formats.registry import load, save
from firth.models.fasttext import FastText
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.subwords import Subwords
from firth.text.vocabulary import Vocabulary, to_bytes
from firth.vectors.rows import DenseRows
from firth.vectors.subwords import Output, SubwordVectors
from firth.vectors.words import WordVectors

Sentences = Iterable[Sequence[str]]


class FastTextKeyedVectors(KeyedVectors):
    """Word vectors with character n-grams. Words that are not in the vocabulary have vectors too.

    >>> from firth.text.subwords import Subwords
    >>> vectors = FastTextKeyedVectors(SubwordVectors(["tea"], np.ones((5, 2), np.float32), Subwords(3, 3, 4)))
    >>> vectors.bucket, vectors.vectors_ngrams.shape, vectors["teas"].shape
    (4, (4, 2), (2,))
    """

    compatible_hash = True  # n-grams have fastText's own hash

    def __init__(self, vector_size: WordVectors | int, min_n: int = 3, max_n: int = 6, bucket: int = 2_000_000) -> None:
        super().__init__(vector_size)
        if isinstance(vector_size, int):
            rows = np.zeros((bucket, vector_size), np.float32)
            self.words = SubwordVectors([], rows, Subwords(min_n, max_n, bucket))
        self.vectors_vocab_lockf = self.vectors_ngrams_lockf = np.ones(1, np.float32)

    @property
    def bucket(self) -> int:
        """The number of rows of n-grams."""
        return self._subwords.buckets

    @property
    def min_n(self) -> int:
        """The length of the shortest n-grams."""
        return self._subwords.minn

    @property
    def max_n(self) -> int:
        """The length of the longest n-grams."""
        return self._subwords.maxn

    @property
    def _subwords(self) -> Subwords:
        return self.words.subwords if isinstance(self.words, SubwordVectors) else Subwords(0, 0, 0)

    @property
    def vectors(self) -> NDArray[np.float32]:
        """The vectors of all words: the means of their own rows and those of their n-grams."""
        return self.words.matrix

    @property
    def vectors_vocab(self) -> NDArray[np.float32]:
        """The words' own rows."""
        return self.words.rows.block(0, len(self.words))

    @property
    def vectors_ngrams(self) -> NDArray[np.float32]:
        """The rows of the n-grams, by bucket."""
        return self.words.rows.block(len(self.words), self.words.rows.shape[0])

    def get_vector(self, key: str | int, norm: bool = False) -> NDArray[np.float32]:
        """The vector of a word; zeros for one without n-grams, such as the empty text."""
        if isinstance(key, str) and self.bucket and self.max_n and key not in self.words:
            return np.zeros(self.vector_size, np.float32)
        return super().get_vector(key, norm)

    def adjust_vectors(self) -> None:
        """Does nothing: vectors always are the means of the rows."""


class GensimFastText(SingleOutputModel):
    """gensim's fastText. It has either hierarchical softmax or negative sampling.

    >>> model = GensimFastText([["hot", "tea"], ["cold", "rain"]] * 50, vector_size=8, min_count=1, bucket=100)
    >>> model.wv["teas"].shape, len(model.wv)
    ((8,), 4)
    """

    defaults = {**SingleOutputModel.defaults, "sg": 0, "cbow_mean": 1, "min_n": 3, "max_n": 6, "bucket": 2_000_000}
    defaults |= {"word_ngrams": 1}
    sg: int
    min_n: int
    max_n: int
    bucket: int

    def __init__(self, sentences: Sentences | None = None, corpus_file: Name | None = None, **options: Any) -> None:
        for name in ("cbow_mean", "word_ngrams"):
            if options.get(name, 1) != 1:
                raise OptionError(f"{name} is {options[name]}, but fastText's word vectors have only 1")
        super().__init__(sentences, corpus_file, **options)

    def recipe(self, **changes: Any) -> FastText:
        """The recipe of these options."""
        options = self.shared_options()
        if options["objective"] == "both":
            raise OptionError("FastText cannot have hs and negative together. Use negative=0 with hs=1")
        has_ngrams = self.bucket > 0 and self.max_n > 0
        options |= {
            "architecture": "skip-gram" if self.sg else "cbow",
            "minn": max(1, self.min_n),
            "maxn": self.max_n if has_ngrams else 0,
            "buckets": self.bucket if has_ngrams else 0,
        }
        return FastText(**{**options, **changes})

    def start_vectors(self) -> None:
        """Gives new words random rows; the rows of new n-grams are drawn when training begins."""
        recipe, size = self.recipe(), len(self.vocabulary)
        rows = np.zeros((size + recipe.subwords.size, self.vector_size), np.float32)
        rows[:size] = self.random_vectors(size, 1.0 / self.vector_size)
        metadata: dict[str, Any] = {"recipe": {"name": "fasttext", **recipe.as_dict()}}
        output: Output | None = None
        if self.model is not None:
            old: SubwordVectors = self.model
            ids = old.vocabulary.ids(self.vocabulary)
            known = np.flatnonzero(ids >= 0)
            rows[known] = old.rows.take(ids[known])
            rows[size:] = old.rows.block(len(old), old.rows.shape[0])
            metadata = old.metadata
            if old.output is not None and self.negative:
                outputs = np.zeros((size, self.vector_size), np.float32)
                outputs[known] = old.output.rows.take(ids[known])
                output = Output(DenseRows(outputs), None, old.output.model, old.output.loss)
        self.adopt(SubwordVectors(self.vocabulary, rows, recipe.subwords, output=output, metadata=metadata))

    def adopt(self, model: Any) -> None:
        """Takes the vectors of a training."""
        if not isinstance(self.wv, FastTextKeyedVectors):
            self.wv = FastTextKeyedVectors(model)
        self.model = self.wv.words = model

    def fit(self, recipe: Any, corpus: Corpus, runtime: Runtime, on_epoch: Any) -> Any:
        """Trains from the rows of words and n-grams so far. Counts stay those of the vocabulary."""
        options = {"runtime": runtime, "vocabulary": self.vocabulary, "on_epoch": on_epoch}
        found: SubwordVectors = recipe.fit(corpus, start=self.model, **options)
        order = found.vocabulary.ids(self.vocabulary)
        rows = np.concatenate([order, np.arange(len(found), found.rows.shape[0])])
        output = found.output
        if output is not None and not self.hs:
            output = Output(output.rows.pick(order), None, output.model, output.loss)
        metadata = found.metadata
        return SubwordVectors(self.vocabulary, found.rows.pick(rows), found.subwords, output=output, metadata=metadata)

    def _output_rows(self) -> NDArray[np.float32]:
        output: Output | None = self.model.output
        return np.zeros((len(self.wv), self.vector_size), np.float32) if output is None else output.rows.decode()

    @classmethod
    def load(cls, path: Name, mmap: str | None = None) -> Self:
        """Opens a model that `save` or fastText wrote."""
        return cls.of(open_subwords(path))

    @classmethod
    def of(cls, vectors: SubwordVectors) -> Self:
        """The model of subword vectors, with the options of their training as far as the file has them."""
        model, names = cls(), vectors.metadata.get("fasttext", {})
        recipe = vectors.metadata.get("recipe")
        if recipe is not None:
            model.restore_options(recipe, vectors.metadata.get(KEPT, {}))
        pairs = {"window": "ws", "epochs": "epoch", "sample": "t", "min_count": "minCount"}
        for name, theirs in pairs.items():
            if theirs in names and (recipe is None or name != "min_count"):
                setattr(model, name, names[theirs])
        output = vectors.output
        if output is not None:
            model.sg, model.hs = int(output.model == "skipgram"), int(output.loss == "hs")
            model.negative = 0 if model.hs else names.get("neg", model.negative)
        model.vector_size, subwords = vectors.dim, vectors.subwords
        model.min_n, model.max_n, model.bucket = subwords.minn, subwords.maxn, subwords.buckets
        model.vocabulary = vectors.vocabulary
        model.adopt(vectors)
        return model


def load_facebook_model(path: Name, encoding: str = "utf-8") -> GensimFastText:
    """The model in a `.bin` file of fastText, which can be trained further. A classifier is an error, as in gensim."""
    vectors = open_subwords(path, encoding)
    if vectors.output is not None and vectors.output.labels is not None:
        raise NotImplementedError(f"{path}: holds a classifier. Open it with firth.load")
    return GensimFastText.of(vectors)


def load_facebook_vectors(path: Name, encoding: str = "utf-8") -> FastTextKeyedVectors:
    """The word vectors in a `.bin` file of fastText."""
    return FastTextKeyedVectors(open_subwords(path, encoding))


def save_facebook_model(model: GensimFastText, path: Name) -> None:
    """Writes a model as a `.bin` file of fastText."""
    save(model.model, path, format="fasttext")


def open_subwords(path: Name, encoding: str = "utf-8") -> SubwordVectors:
    """Subword vectors; words in another encoding are decoded. As in gensim, their n-grams are then those of UTF-8."""
    vectors = load(path)
    if not isinstance(vectors, SubwordVectors):
        raise OptionError(f"{path}: holds a {type(vectors).__name__}, no vectors with character n-grams")
    if encoding.lower().replace("-", "").replace("_", "") == "utf8":
        return vectors
    words = Vocabulary([to_bytes(word).decode(encoding) for word in vectors.vocabulary], vectors.vocabulary.counts)
    return SubwordVectors(words, vectors.rows, vectors.subwords, output=vectors.output, metadata=vectors.metadata)
