"""Word vectors together with the output vectors of word2vec: what predicts words, and what they are predicted with.

The output vectors are kept on request (`Word2Vec(keep_outputs=True)`). With negative sampling and softmax each word has
one, with hierarchical softmax each inner node of the Huffman tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.models.huffman import HuffmanTree
from firth.serialization import Parts, check_array, check_number
from firth.text.model_tokenizer import Sentences, TextLike
from firth.text.vocabulary import Vocabulary
from firth.vectors.neighbors import Near
from firth.vectors.rows import Floats, Rows
from firth.vectors.words import WordVectors

Doubles = NDArray[np.float64]


class Word2VecModel(WordVectors):
    """Word vectors that also predict words and score sentences.

    >>> from firth.models.word2vec import Word2Vec
    >>> from firth.runtime import Runtime
    >>> text = [["hot", "tea", "with", "milk"], ["cold", "rain", "and", "wind"]] * 200
    >>> recipe = Word2Vec(dim=16, min_count=1, subsample=0, keep_outputs=True)
    >>> model = recipe.fit(text, runtime=Runtime(threads=1))
    >>> [word for word, probability in model.predict_output_word(["hot", "with"], topn=1)]
    ['tea']
    """

    kind = "word2vec"

    def __init__(
        self,
        vocabulary: Vocabulary | Iterable[str],
        rows: Rows | NDArray[Any],
        *,
        outputs: Floats | None = None,
        nodes: Floats | None = None,
        metadata: Mapping[str, Any],
    ) -> None:
        super().__init__(vocabulary, rows, metadata=metadata)
        self.outputs, self.nodes = outputs, nodes
        for found in (outputs, nodes):
            if found is not None and found.shape != (len(self.vocabulary), self.dim):
                raise OptionError(f"the output vectors have the shape {found.shape}, not that of the words")

    @property
    def recipe(self) -> Mapping[str, Any]:
        """The options of the training."""
        options: Mapping[str, Any] = self.metadata["recipe"]
        return options

    @cached_property
    def tree(self) -> HuffmanTree:
        """The Huffman tree of the words."""
        if self.vocabulary.counts is None:
            raise OptionError("the words have no counts, of which the tree of hierarchical softmax is made")
        return HuffmanTree.of_counts(np.asarray(self.vocabulary.counts, np.int64))

    def predict_output_word(self, context: TextLike, topn: int = 10) -> Near:
        """The most probable words between these context words, with their probabilities.

        As in gensim, the mean of the context vectors (the sum, without `cbow_mean`) is the input, and the softmax of
        the scores of all words gives the probabilities; with hierarchical softmax alone they are those of its tree.
        """
        ids = self.ids(self.tokenizer.words(context))
        ids = ids[ids >= 0]
        if not len(ids):
            return []
        hidden = self.take(ids).astype(np.float64).sum(axis=0)
        hidden = hidden / len(ids) if self.recipe.get("cbow_mean", True) else hidden
        logs = self._log_tree(hidden[None])[0] if self.outputs is None else self.outputs.astype(np.float64) @ hidden
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        order = np.argsort(-weights, kind="stable")[:topn]
        return [(self.vocabulary[int(id)], float(weights[id])) for id in order]

    def _log_tree(self, hidden: Doubles) -> Doubles:
        """The log probability of every word by hierarchical softmax, for each row of `hidden`."""
        starts, nodes, turns = self.tree.arrays
        scores = hidden @ np.asarray(self._checked_nodes, np.float64).T
        signs = 1.0 - 2.0 * turns
        return np.asarray(np.add.reduceat(-np.logaddexp(0, -signs * scores[:, nodes]), starts[:-1], axis=1))

    @property
    def _checked_nodes(self) -> Floats:
        if self.nodes is None:
            problem = "this model has no hierarchical softmax, whose probabilities are needed"
            raise OptionError(f'{problem}. Train with objective="hierarchical-softmax" and keep_outputs')
        return self.nodes

    def score(self, sentences: Sentences) -> Doubles:
        """The log probability of each sentence under hierarchical softmax, as gensim's `score`.

        It is the sum over all predictions of the sentence with full windows: with skip-gram each word from each word
        around it, with CBOW each word from the mean of the words around it. Unknown words are left out.
        """
        nodes, (starts, path_nodes, turns) = np.asarray(self._checked_nodes, np.float64), self.tree.arrays
        window, by_pair = int(self.recipe["window"]), self.recipe["architecture"] == "skip-gram"
        totals = []
        for sentence in self.tokenizer.sentences(sentences):
            ids = self.ids(sentence)
            ids = ids[ids >= 0]
            rows, total = self.take(ids).astype(np.float64), 0.0
            for place, word in enumerate(ids.tolist()):
                around = np.concatenate([rows[max(0, place - window) : place], rows[place + 1 : place + 1 + window]])
                if not len(around):
                    continue
                if not by_pair:
                    around = around.sum(axis=0, keepdims=True) / (len(around) if self.recipe["cbow_mean"] else 1)
                path = slice(starts[word], starts[word + 1])
                signs = 1.0 - 2.0 * turns[path]
                total -= float(np.logaddexp(0, -signs * (around @ nodes[path_nodes[path]].T)).sum())
            totals.append(total)
        return np.array(totals)

    def _with_rows(self, rows: Rows, metadata: Mapping[str, Any]) -> WordVectors:
        return Word2VecModel(self.vocabulary, rows, outputs=self.outputs, nodes=self.nodes, metadata=metadata)

    def to_parts(self) -> Parts:
        """The config, arrays and vocabularies to save."""
        parts = super().to_parts()
        more = {name: array for name, array in (("outputs", self.outputs), ("nodes", self.nodes)) if array is not None}
        return Parts(self.kind, parts.config, {**parts.arrays, **more}, parts.vocabularies)

    @classmethod
    def from_parts(cls, parts: Parts) -> Word2VecModel:
        """Inverse of `to_parts`."""
        arrays = dict(parts.arrays)
        outputs, nodes = arrays.pop("outputs", None), arrays.pop("nodes", None)
        plain = WordVectors.from_parts(Parts(parts.kind, parts.config, arrays, parts.vocabularies))
        for name, found in (("outputs", outputs), ("nodes", nodes)):
            if found is not None:
                check_array(name, found, "f", len(plain.vocabulary), plain.dim)
        recipe = parts.metadata.get("recipe", {})
        check_number("metadata.recipe.window", recipe.get("window"), 1, 1 << 31)
        if not isinstance(recipe.get("architecture"), str) or not isinstance(recipe.get("cbow_mean"), bool):
            raise OptionError("metadata.recipe must have architecture and cbow_mean")
        return cls(plain.vocabulary, plain.rows, outputs=outputs, nodes=nodes, metadata=plain.metadata)
