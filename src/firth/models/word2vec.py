"""word2vec: a word is known by the company it keeps, so its vector is trained to tell that company.

Skip-gram predicts a word from each word around it, CBOW from the mean of all words around it. What is common to all
networks over windows (which words, which windows, which noise) is in `network.py`, and `fit` in `trained.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from firth.kernels import word2vec as kernel
from firth.kernels.hierarchical_softmax import NO_TREE
from firth.kernels.negative_sampling import NO_SAMPLING
from firth.models.continued_training import grown, take_up
from firth.models.trained_recipe import Trained
from firth.models.window_network import LESSON, Found, Laid, WindowNetwork, random_rows, stream, trained_words
from firth.models.word2vec_gpu import CudaNetwork
from firth.options import option
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenfile import TokenFile
from firth.training.loop import Block, Schedule
from firth.vectors.words import WordVectors


@dataclass(frozen=True)
class Word2Vec(Trained["WindowNetwork[Word2Vec]", WordVectors]):
    """Word vectors by prediction.

    >>> from firth.text.corpus import Corpus
    >>> corpus = Corpus.of(["the king rules the land", "the queen rules the land"] * 50)
    >>> vectors = Word2Vec(dim=8, min_count=1, epochs=3).fit(corpus)
    >>> len(vectors), vectors.dim, len(vectors.metadata["loss"])
    (5, 8, 3)
    """

    name = "word2vec"
    lesson = LESSON

    dim: int = option(100, "length of the vectors", minimum=1)
    architecture: Literal["skip-gram", "cbow"] = option(
        "skip-gram", "predict a word from each word around it, or from all of them together"
    )
    objective: Literal["negative-sampling", "hierarchical-softmax", "softmax"] = option(
        "negative-sampling", "how a word is predicted; softmax compares with every word: for small vocabularies"
    )
    negatives: int = option(5, "words drawn from the noise for each prediction", minimum=1)
    shared_negatives: int = option(
        2,
        "so many windows in a row share their negatives (cbow: an odd number above 1 counts as one less); "
        "0: every pair draws its own, as word2vec.c",
        minimum=0,
    )
    window: int = option(5, "words looked at on each side, never across a sentence", minimum=1, maximum=1000)
    dynamic_window: bool = option(True, "draw each window's reach from 1 to `window`, so that near words count more")
    min_count: int = option(5, "leave out words that are rarer", minimum=1)
    subsample: float = option(1e-3, "drop words more frequent than this share at random; 0: keep all", minimum=0)
    noise_exponent: float = option(0.75, "negatives are drawn by count to this power")
    learning_rate: float | None = option(
        None, "first step size; falls to 0. If not given 0.025, and 0.05 for cbow", minimum=0
    )
    epochs: int = option(5, "times that the text is read", minimum=1)
    cbow_mean: bool = option(True, "cbow: the mean of the words around, else their sum")
    seed: int = option(1, "where the random numbers start", minimum=0, maximum=2**32)

    @property
    def first_rate(self) -> float:
        """The learning rate that training starts with."""
        if self.learning_rate is not None:
            return self.learning_rate
        return 0.025 if self.architecture == "skip-gram" else 0.05

    def examples(self, sentence: Sequence[str]) -> list[tuple[Any, str]]:
        """What a sentence teaches with a window of full reach: (word, neighbor), or for CBOW (neighbors, word).

        >>> Word2Vec(window=1).examples(["a", "b", "c"])
        [('a', 'b'), ('b', 'a'), ('b', 'c'), ('c', 'b')]
        >>> Word2Vec(window=1, architecture="cbow").examples(["a", "b", "c"])
        [(('b',), 'a'), (('a', 'c'), 'b'), (('b',), 'c')]
        """
        found: list[tuple[Any, str]] = []
        for i, word in enumerate(sentence):
            around = (*sentence[max(0, i - self.window) : i], *sentence[i + 1 : i + 1 + self.window])
            if self.architecture == "cbow":
                found += [(around, word)] if around else []
            else:
                found += [(word, other) for other in around]
        return found

    def _prepare(
        self, corpus: Corpus, tokens: TokenFile, start: WordVectors | None, runtime: Runtime
    ) -> tuple[WindowNetwork[Word2Vec], Schedule]:
        vocabulary = trained_words(tokens.vocabulary, self.min_count)
        rows = random_rows(len(vocabulary), self.dim, 0.5 / self.dim, self.seed, runtime)
        network = NETWORKS[runtime.device](self, vocabulary, rows)
        if start is not None:
            take_up(network.inputs, vocabulary, start)
        size = network.block
        return network, Schedule(tokens.ids, tokens.sentences, self.epochs, self.first_rate, size, self.seed)

    def _finish(
        self,
        network: WindowNetwork[Word2Vec],
        tokens: TokenFile,
        start: WordVectors | None,
        metadata: Mapping[str, Any],
    ) -> WordVectors:
        rows = np.ascontiguousarray(network.inputs[:, : self.dim])
        made = WordVectors(network.vocabulary, rows, metadata=metadata)
        return made if start is None else grown(made, start)


class Network(WindowNetwork[Word2Vec]):
    """A row of `inputs` and one of `outputs` for each word."""

    def negative_sampling(self, block: Block, laid: Laid) -> Found:
        recipe, state = self.recipe, np.array([stream(self.recipe.seed, block, 1)])
        sampling = self.noise, recipe.negatives, recipe.shared_negatives, state
        scratch = kernel.make_scratch(recipe.window, 1 + recipe.negatives, recipe.dim)
        windows, layers, rates = (*laid, recipe.window), (self.inputs, self.outputs), (block.rate, block.last_rate)
        if recipe.architecture == "cbow" and recipe.shared_negatives > 1:
            return kernel.cbow_two_centers(windows, recipe.cbow_mean, *layers, sampling, rates, scratch)
        if recipe.architecture == "cbow":
            return kernel.cbow(windows, recipe.cbow_mean, *layers, sampling, NO_TREE, None, rates, scratch)
        if recipe.shared_negatives:
            return kernel.skip_gram(windows, *layers, sampling, NO_TREE, rates, scratch)
        return kernel.skip_gram_by_pair(windows, *layers, sampling, None, rates, scratch)

    def hierarchical_softmax(self, block: Block, laid: Laid) -> Found:
        recipe, tree = self.recipe, (self.tree.starts, self.tree.nodes, self.tree.turns)
        scratch = kernel.make_scratch(recipe.window, self.tree.depth, recipe.dim)
        windows, layers, rates = (*laid, recipe.window), (self.inputs, self.outputs), (block.rate, block.last_rate)
        if recipe.architecture == "cbow":
            return kernel.cbow(windows, recipe.cbow_mean, *layers, NO_SAMPLING, tree, None, rates, scratch)
        return kernel.skip_gram(windows, *layers, NO_SAMPLING, tree, rates, scratch)

    def softmax(self, block: Block, laid: Laid) -> Found:
        recipe, probabilities = self.recipe, np.empty(len(self.outputs), np.float32)
        scratch = kernel.make_scratch(recipe.window, 1, recipe.dim)
        windows, layers, rates = (*laid, recipe.window), (self.inputs, self.outputs), (block.rate, block.last_rate)
        if recipe.architecture == "cbow":
            return kernel.cbow(windows, recipe.cbow_mean, *layers, NO_SAMPLING, NO_TREE, probabilities, rates, scratch)
        return kernel.skip_gram_by_pair(windows, *layers, NO_SAMPLING, probabilities, rates, scratch)


NETWORKS: dict[str, type[WindowNetwork[Word2Vec]]] = {"cpu": Network, "cuda": CudaNetwork}  # by device
