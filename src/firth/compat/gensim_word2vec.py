"""gensim's `Word2Vec` over our recipe, for code that is ported from gensim."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from firth.compat.gensim_training import KEPT, TrainedModel
from firth.errors import OptionError
from firth.files import Name
from firth.formats.registry import load
from firth.models.word2vec import Word2Vec
from firth.models.word2vec_model import Word2VecModel
from firth.runtime import Runtime
from firth.text.corpus import Corpus

Sentences = Iterable[Sequence[str]]


class GensimWord2Vec(TrainedModel):
    """gensim's word2vec.

    >>> model = GensimWord2Vec([["hot", "tea"], ["cold", "rain"]] * 50, vector_size=8, min_count=1, workers=1)
    >>> model.wv["tea"].shape, len(model.wv), model.corpus_count
    ((8,), 4, 100)
    """

    defaults = {**TrainedModel.defaults, "sg": 0, "cbow_mean": 1}
    sg: int
    cbow_mean: int

    def __init__(self, sentences: Sentences | None = None, corpus_file: Name | None = None, **options: Any) -> None:
        super().__init__(sentences, corpus_file, **options)

    def recipe(self, **changes: Any) -> Word2Vec:
        """The recipe of these options. Words whose number in `wv.vectors_lockf` is 0 are locked."""
        options = {
            **self.shared_options(),
            "architecture": "skip-gram" if self.sg else "cbow",
            "cbow_mean": bool(self.cbow_mean),
            "keep_outputs": True,
            **changes,
        }
        return Word2Vec(**options, locked=find_locked(self.wv))

    def start_vectors(self) -> None:
        """Gives new words random vectors. Output vectors begin with zeros; those of a changed tree do so again."""
        size, old = len(self.vocabulary), self.model
        rows = self.random_vectors(size, 0.5 / self.vector_size)
        shape = (size, self.vector_size)
        outputs = np.zeros(shape, np.float32) if self.negative else None
        nodes = np.zeros(shape, np.float32) if self.hs else None
        if old is not None:
            ids = old.vocabulary.ids(self.vocabulary)
            known = np.flatnonzero(ids >= 0)
            rows[known] = self.wv.words.of([self.vocabulary[int(id)] for id in known])
            if outputs is not None and old.outputs is not None:
                outputs[known] = old.outputs[ids[known]]
        metadata = {"recipe": {"name": "word2vec", **self.recipe().as_dict()}} if old is None else old.metadata
        self.adopt(Word2VecModel(self.vocabulary, rows, outputs=outputs, nodes=nodes, metadata=metadata))

    def adopt(self, model: Any) -> None:
        """Takes the vectors and output vectors of a training."""
        self.model = self.wv.words = model

    def fit(self, recipe: Any, corpus: Corpus, runtime: Runtime, on_epoch: Any) -> Any:
        """Trains from the vectors in `wv`, which may have been changed, and from the output vectors."""
        start, outputs = self.model, {"outputs": self.model.outputs, "nodes": self.model.nodes}
        if self.wv.words is not start:
            rows = self.wv.words.of(self.vocabulary.words)
            start = Word2VecModel(self.vocabulary, rows, **outputs, metadata=start.metadata)
        return recipe.fit(corpus, runtime=runtime, vocabulary=self.vocabulary, start=start, on_epoch=on_epoch)

    @property
    def syn1neg(self) -> NDArray[np.float32]:
        """The output vectors of the words, trained by negative sampling."""
        return self._require("outputs")

    @property
    def syn1(self) -> NDArray[np.float32]:
        """The output vectors of the inner nodes of the Huffman tree, trained by hierarchical softmax."""
        return self._require("nodes")

    def _require(self, name: str) -> NDArray[np.float32]:
        found: NDArray[np.float32] | None = getattr(self.model, name, None)
        if found is None:
            raise AttributeError(f"the model has no {name}: it is not trained so, or has no vocabulary yet")
        return found

    def predict_output_word(
        self, context_words_list: Sequence[str | int], topn: int = 10
    ) -> list[tuple[str, float]] | None:
        """The most probable words between these words or indices, or None if none of them is known."""
        if self.model is None:
            raise RuntimeError("the model has no output vectors. Train it: word vectors alone predict no words")
        context = [word if isinstance(word, str) else self.vocabulary[int(word)] for word in context_words_list]
        return self.model.predict_output_word(context, topn) or None

    def score(self, sentences: Sentences, total_sentences: int = 1_000_000) -> NDArray[np.float64]:
        """The log probability of sentences under hierarchical softmax."""
        scores: NDArray[np.float64] = self.model.score([list(sentence) for sentence in sentences])
        return scores

    @classmethod
    def load(cls, path: Name, mmap: str | None = None) -> Self:
        """Opens a model that `save` wrote; its arrays are always memory-mapped."""
        opened = load(path)
        if not isinstance(opened, Word2VecModel):
            raise OptionError(f"{path}: holds a {type(opened).__name__}, not a word2vec model with its output vectors")
        model = cls()
        model.restore_options(opened.recipe, opened.metadata.get(KEPT, {}))
        model.sg, model.cbow_mean = int(opened.recipe["architecture"] == "skip-gram"), int(opened.recipe["cbow_mean"])
        model.vocabulary = opened.vocabulary
        model.adopt(opened)
        return model


def find_locked(vectors: Any) -> tuple[str, ...]:
    """The words whose number in `vectors_lockf` is 0.

    >>> from firth.compat.gensim import KeyedVectors
    >>> from firth.vectors.words import WordVectors
    >>> vectors = KeyedVectors(WordVectors(["tea", "rain"], [[1, 0], [0, 1]]))
    >>> vectors.vectors_lockf = np.array([0.0, 1.0])
    >>> find_locked(vectors)
    ('tea',)
    """
    factors = np.asarray(vectors.vectors_lockf)
    if not np.isin(factors, (0, 1)).all():
        raise OptionError("vectors_lockf has numbers other than 0, which locks a vector, and 1, which trains it")
    if len(factors) not in (1, len(vectors)):
        raise OptionError(f"vectors_lockf has {len(factors)} numbers for {len(vectors)} words")
    locked = np.flatnonzero(np.broadcast_to(factors, len(vectors)) == 0)
    return tuple(vectors.words.vocabulary[int(id)] for id in locked)
