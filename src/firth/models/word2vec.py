"""word2vec: vectors that are trained to predict the words around a word (Mikolov et al., 2013).

Skip-gram predicts each word of the context from the center word, CBOW the center word from its context. Options,
windows and noise are shared with fastText (`window_network.py`); `fit` is in `trained_recipe.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from firth.kernels import word2vec as kernel
from firth.models.continued_training import copy_known_rows, merge_vectors
from firth.models.window_network import (
    KernelLoss,
    Objective,
    WindowNetwork,
    WindowRecipe,
    Windows,
    cut_vocabulary,
    random_rows,
)
from firth.models.word2vec_gpu import Word2VecGpuNetwork
from firth.options import option
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenfile import TokenFile
from firth.training.schedule import BlockSchedule, TextBlock
from firth.vectors.words import WordVectors


@dataclass(frozen=True)
class Word2Vec(WindowRecipe["WindowNetwork[Word2Vec]", WordVectors]):
    """word2vec: vectors that predict neighboring words.

    >>> from firth.text.corpus import Corpus
    >>> corpus = Corpus.of(["the king rules the land", "the queen rules the land"] * 50)
    >>> vectors = Word2Vec(dim=8, min_count=1, epochs=3).fit(corpus)
    >>> len(vectors), vectors.dim, len(vectors.metadata["loss"])
    (5, 8, 3)
    """

    commands = (
        "firth train word2vec corpus.txt --out vectors/",
        "firth train word2vec corpus/ --dim 300 --architecture cbow --checkpoint state/ --out vectors.bin",
        "firth train word2vec new.txt --start vectors/ --held-out other.txt --out grown/",
    )
    on_gpu = True
    name = "word2vec"

    cbow_mean: bool = option(True, "CBOW: average the context vectors; otherwise sum them.")
    seed: int = option(1, "Seed of the random numbers.", minimum=0, maximum=2**32)

    @property
    def first_rate(self) -> float:
        """The initial learning rate."""
        if self.learning_rate is not None:
            return self.learning_rate
        return 0.025 if self.architecture == "skip-gram" else 0.05

    def examples(self, sentence: Sequence[str]) -> list[tuple[Any, str]]:
        """The training examples of a sentence with full windows: (word, neighbor), or for CBOW (neighbors, word).

        >>> Word2Vec(window=1).examples(["a", "b", "c"])
        [('a', 'b'), ('b', 'a'), ('b', 'c'), ('c', 'b')]
        >>> Word2Vec(window=1, architecture="cbow").examples(["a", "b", "c"])
        [(('b',), 'a'), (('a', 'c'), 'b'), (('b',), 'c')]
        """
        examples: list[tuple[Any, str]] = []
        for i, word in enumerate(sentence):
            around = (*sentence[max(0, i - self.window) : i], *sentence[i + 1 : i + 1 + self.window])
            if self.architecture == "cbow":
                examples += [(around, word)] if around else []
            else:
                examples += [(word, other) for other in around]
        return examples

    def _prepare(
        self, corpus: Corpus, tokens: TokenFile, start: WordVectors | None, runtime: Runtime
    ) -> tuple[WindowNetwork[Word2Vec], BlockSchedule]:
        vocabulary = cut_vocabulary(tokens.vocabulary, self.min_count)
        rows = random_rows(len(vocabulary), self.dim, 0.5 / self.dim, self.seed, runtime)
        network = NETWORKS[runtime.device](self, vocabulary, rows)
        if start is not None:
            copy_known_rows(network.inputs, vocabulary, start)
        size = network.block
        return network, BlockSchedule(tokens.ids, tokens.sentences, self.epochs, self.first_rate, size, self.seed)

    def _finish(
        self,
        network: WindowNetwork[Word2Vec],
        tokens: TokenFile,
        start: WordVectors | None,
        metadata: Mapping[str, Any],
    ) -> WordVectors:
        rows = np.ascontiguousarray(network.inputs[:, : self.dim])
        vectors = WordVectors(network.vocabulary, rows, metadata=metadata)
        return vectors if start is None else merge_vectors(vectors, start)


class Word2VecNetwork(WindowNetwork[Word2Vec]):
    """One row of `inputs` and one of `outputs` per word; on the CPU."""

    def _run(self, block: TextBlock, windows: Windows, targets: int, objective: Objective) -> KernelLoss:
        recipe, is_sampled = self.recipe, self.recipe.objective == "negative-sampling"
        scratch = kernel.make_scratch(recipe.window, targets, recipe.dim)
        rest = self.inputs, self.outputs, *objective, (block.rate, block.last_rate), scratch
        if recipe.architecture == "cbow":
            train = kernel.cbow_two_centers if is_sampled and recipe.shared_negatives > 1 else kernel.cbow
            return train(windows, recipe.cbow_mean, *rest)
        by_pair = recipe.objective == "softmax" or (is_sampled and not recipe.shared_negatives)
        return (kernel.skip_gram_by_pair if by_pair else kernel.skip_gram)(windows, *rest)


NETWORKS: dict[str, type[WindowNetwork[Word2Vec]]] = {"cpu": Word2VecNetwork, "cuda": Word2VecGpuNetwork}
