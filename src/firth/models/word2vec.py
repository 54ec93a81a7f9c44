"""word2vec: vectors that are trained to predict the words around a word (Mikolov et al., 2013).

Skip-gram predicts each word of the context from the center word, CBOW the center word from its context. Options,
windows and noise are shared with fastText (`window_network.py`); `fit` is in `trained_recipe.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.kernels import word2vec as kernel
from firth.kernels.simd_float import matrix
from firth.models.continued_training import copy_known_rows, merge_vectors
from firth.models.window_network import (
    Floats,
    KernelLoss,
    Objective,
    WindowNetwork,
    WindowRecipe,
    Windows,
    cut_vocabulary,
    random_rows,
)
from firth.models.word2vec_gpu import Word2VecGpuNetwork
from firth.models.word2vec_model import Word2VecModel
from firth.options import option
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenfile import TokenFile
from firth.text.vocabulary import Vocabulary
from firth.training.averaging import scale_rate
from firth.training.loop import BlockLoss
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

    objective: Literal["negative-sampling", "hierarchical-softmax", "softmax", "both"] = option(  # type: ignore[assignment]
        "negative-sampling",
        "Training objective. softmax is the full softmax, for small vocabularies. both: hierarchical softmax and "
        "negative sampling, one after the other in each block of text.",
    )
    cbow_mean: bool = option(True, "CBOW: average the context vectors; otherwise sum them.")
    keep_outputs: bool = option(
        False, "Keep the output vectors in the model, which then predicts words and scores sentences."
    )
    lock_start: bool = option(
        False, "With vectors to start from: keep them as they are, and train only the vectors of other words."
    )
    locked: tuple[str, ...] = option(
        (), "With vectors to start from: words whose vectors stay as they are, while all others are trained."
    )
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
        vocabulary = cut_vocabulary(tokens.vocabulary, self.min_count, self.max_vocabulary)
        rows = random_rows(len(vocabulary), self.dim, 0.5 / self.dim, self.seed, runtime)
        network = NETWORKS[runtime.device](self, vocabulary, rows)
        if start is not None:
            copy_known_rows(network.inputs, vocabulary, start)
        if isinstance(start, Word2VecModel):
            copy_outputs(network, start)
        if self.lock_start or self.locked:
            if start is None or runtime.device != "cpu":
                name = "lock_start" if self.lock_start else "locked"
                raise OptionError(f"Word2Vec: {name} needs vectors to start from, and the CPU")
            network.locks = self._find_locks(vocabulary, start)
        is_scaled = self.learning_rate is None and self.architecture == "skip-gram"  # CBOW: not tried
        rate = scale_rate(self.first_rate, runtime.workers) if is_scaled else self.first_rate
        return network, BlockSchedule(tokens.ids, tokens.sentences, self.epochs, rate, network.block, self.seed)

    def _find_locks(self, vocabulary: Vocabulary, start: WordVectors) -> NDArray[np.uint8]:
        """1 for each word whose vector stays as it is."""
        known = start.vocabulary.ids(vocabulary) >= 0
        if self.lock_start:
            return known.astype(np.uint8)
        locks, ids = np.zeros(len(vocabulary), np.uint8), vocabulary.ids(list(self.locked))
        for word, id in zip(self.locked, ids.tolist()):
            if id < 0 or not known[id]:
                raise OptionError(f"Word2Vec: locked names {word!r}, which the vectors to start from or the text lack")
        locks[ids] = 1
        return locks

    def _finish(
        self,
        network: WindowNetwork[Word2Vec],
        tokens: TokenFile,
        start: WordVectors | None,
        metadata: Mapping[str, Any],
    ) -> WordVectors:
        rows = np.ascontiguousarray(network.inputs[:, : self.dim])
        if not self.keep_outputs:
            vectors = WordVectors(network.vocabulary, rows, metadata=metadata)
            return vectors if start is None else merge_vectors(vectors, start)
        if start is not None and not set(start.vocabulary) <= set(network.vocabulary):
            problem = "words that only the vectors to start from have would have no output vectors"
            raise OptionError(f"Word2Vec: {problem}. Train without keep_outputs, or on a text with these words")
        outputs, nodes = (
            None if array is None else np.ascontiguousarray(array[:, : self.dim])
            for array in (network.word_outputs, network.node_outputs)
        )
        return Word2VecModel(network.vocabulary, rows, outputs=outputs, nodes=nodes, metadata=metadata)


def copy_outputs(network: WindowNetwork[Word2Vec], start: Word2VecModel) -> None:
    """Copies the output vectors of `start`: those of the words it has, and those of the tree if it is the same."""
    if network.word_outputs is not None and start.outputs is not None:
        ids = start.vocabulary.ids(network.vocabulary)
        known = np.flatnonzero(ids >= 0)
        network.word_outputs[known, : start.dim] = start.outputs[ids[known]]
    words, counts = start.vocabulary, start.vocabulary.counts
    is_same_tree = words == network.vocabulary and np.array_equal(np.asarray(counts), network.counts)
    if network.node_outputs is not None and start.nodes is not None and is_same_tree:
        network.node_outputs[:, : start.dim] = start.nodes


class Word2VecNetwork(WindowNetwork[Word2Vec]):
    """One row of `inputs` and one of `outputs` per word; on the CPU."""

    def __init__(self, recipe: Word2Vec, vocabulary: Vocabulary, inputs: Floats) -> None:
        super().__init__(recipe, vocabulary, inputs)
        if recipe.objective == "both":
            self.nodes = matrix(len(vocabulary), recipe.dim)

    @property
    def arrays(self) -> Mapping[str, Floats]:
        return {**super().arrays, "nodes": self.nodes} if self.recipe.objective == "both" else super().arrays

    def train(self, block: TextBlock) -> BlockLoss:
        """Trains one block. With both objectives its windows are trained twice, and the losses are added."""
        if self.recipe.objective != "both":
            return super().train(block)
        windows, _ = self._draw_windows(block)
        losses = [half._run(block, windows, *half._objective(block)) for half in self.halves]
        return BlockLoss(sum(float(loss) for loss, _ in losses), int(losses[0][1]))

    @cached_property
    def halves(self) -> tuple[Word2VecNetwork, Word2VecNetwork]:
        """The same network with each of both objectives alone."""
        by_tree, sampled = copy(self), copy(self)
        by_tree.recipe, by_tree.outputs = replace(self.recipe, objective="hierarchical-softmax"), self.nodes
        sampled.recipe = replace(self.recipe, objective="negative-sampling")
        return by_tree, sampled

    @property
    def chance_loss(self) -> float:
        """The expected loss of a random prediction."""
        negatives = float(1 + self.recipe.negatives) * math.log(2) if self.recipe.objective == "both" else 0.0
        return super().chance_loss + negatives

    def _run(self, block: TextBlock, windows: Windows, targets: int, objective: Objective) -> KernelLoss:
        recipe, is_sampled = self.recipe, self.recipe.objective == "negative-sampling"
        scratch = kernel.make_scratch(recipe.window, targets, recipe.dim)
        rest = self.inputs, self.outputs, *objective, (block.rate, block.last_rate), scratch, None, self.locks
        if recipe.architecture == "cbow":
            train = kernel.cbow_two_centers if is_sampled and recipe.shared_negatives > 1 else kernel.cbow
            return train(windows, recipe.cbow_mean, *rest)
        by_pair = recipe.objective == "softmax" or (is_sampled and not recipe.shared_negatives)
        return (kernel.skip_gram_by_pair if by_pair else kernel.skip_gram)(windows, *rest)


NETWORKS: dict[str, type[WindowNetwork[Word2Vec]]] = {"cpu": Word2VecNetwork, "cuda": Word2VecGpuNetwork}
