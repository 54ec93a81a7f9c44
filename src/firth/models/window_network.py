"""What Word2Vec and FastText share: the options, the windows, the noise distribution, the Huffman tree, two matrices.

The two differ in the rows that represent a word; how text becomes predictions is the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.kernels import random as random_kernel
from firth.kernels.simd_float import matrix
from firth.kernels.windows import draw_windows
from firth.models.huffman import HuffmanTree
from firth.models.trained_recipe import Artifact, NetworkType, TrainedRecipe
from firth.options import Recipe, option
from firth.runtime import Runtime
from firth.text.tokenfile import TokenFile
from firth.text.vocabulary import Vocabulary
from firth.training.loop import BlockLoss, HeldOutBlocks
from firth.training.schedule import BLOCK, TextBlock

Floats = NDArray[np.float32]
Windows = tuple[NDArray[np.uint32], NDArray[np.int32], NDArray[np.int32], int]  # words, reach to each side, window
Objective = tuple[Any, Any, Any]  # sampling, tree, probabilities: one is used, the others are None
KernelLoss = Any  # kernels are not typed: the summed loss and the number of predictions
ALWAYS = 2**32 - 1  # a threshold that all random 32-bit numbers pass
INITIAL_ROWS = 2**32 - 1  # the epoch number whose random numbers initialize the rows


@dataclass(frozen=True)
class PredictionOptions(Recipe):
    """What is predicted. A class of its own, so that the n-grams of FastText come right after these options."""

    dim: int = option(100, "Dimension of the vectors.", minimum=1, maximum=1_000_000)
    architecture: Literal["skip-gram", "cbow"] = option(
        "skip-gram",
        "Prediction task: skip-gram predicts each context word from the center word, cbow the center word from its "
        "context words.",
    )
    objective: Literal["negative-sampling", "hierarchical-softmax", "softmax"] = option(
        "negative-sampling", "Training objective. softmax is the full softmax, for small vocabularies."
    )


@dataclass(frozen=True)
class WindowOptions(PredictionOptions):
    """The options of every model that is trained on windows of text."""

    negatives: int = option(5, "Negative samples per prediction.", minimum=1, maximum=1_000_000)
    shared_negatives: int = option(
        2,
        "Number of consecutive windows that share one set of negative samples, which is faster. 0 draws new ones for "
        "each pair, as the original does. Word2Vec with cbow rounds odd numbers above 1 down.",
        minimum=0,
        maximum=1_000_000,
    )
    window: int = option(
        5, "Context words on each side of the center word, within its sentence.", minimum=1, maximum=1000
    )
    dynamic_window: bool = option(
        True, "Draw the size of each window uniformly from 1 to `window`, which gives near words more weight."
    )
    min_count: int = option(5, "Ignore words with fewer occurrences.", minimum=1)
    max_vocabulary: int | None = option(
        None, "Keep at most this many words, the most frequent. Default: no limit.", minimum=2
    )
    subsample: float = option(
        1e-3,
        "Randomly drop occurrences of words whose relative frequency exceeds this; 0 keeps all, and so does a text of "
        "fewer than 1 / subsample words.",
        minimum=0,
    )
    noise_exponent: float = option(
        0.75, "Negative samples are drawn in proportion to count to this power.", minimum=-10, maximum=10
    )
    learning_rate: float | None = option(
        None, "Initial learning rate; decays linearly to 0. Default: 0.025, or 0.05 for cbow.", minimum=0
    )
    epochs: int = option(5, "Passes over the corpus.", minimum=1, maximum=1_000_000)


class WindowRecipe(WindowOptions, TrainedRecipe[NetworkType, Artifact]):
    """A recipe that predicts words from the words around them."""

    has_word_choice = True

    no_examples = (
        "no word has a neighbor to learn from. A sentence of one word gives no examples, and in a small text subsample "
        "may drop too many words; 0 keeps all"
    )


Options = TypeVar("Options", bound=WindowRecipe[Any, Any])


class PredictionNetwork:
    """Two matrices: `inputs` become the vectors, `outputs` score what is predicted, the words of `vocabulary`."""

    def __init__(self, recipe: Any, vocabulary: Vocabulary, inputs: Floats) -> None:
        self.recipe, self.vocabulary = recipe, vocabulary
        self.counts = np.asarray(vocabulary.counts, np.int64)
        self.inputs, self.outputs = inputs, matrix(len(vocabulary), recipe.dim)

    @property
    def arrays(self) -> Mapping[str, Floats]:
        return {"inputs": self.inputs, "outputs": self.outputs}

    @property
    def chance_loss(self) -> float:
        """The expected loss of a random prediction."""
        if self.recipe.objective == "negative-sampling":
            return float(1 + self.recipe.negatives) * math.log(2)
        if self.recipe.objective == "one-vs-all":
            return len(self.counts) * math.log(2)
        return math.log(2) * max(1.0, math.log2(len(self.counts)))

    @cached_property
    def noise(self) -> NDArray[np.uint32]:
        """The alias table of the noise distribution: counts to the power of `noise_exponent`."""
        weights = self.counts.astype(np.float64) ** self.recipe.noise_exponent
        return cast(NDArray[np.uint32], random_kernel.alias_table(weights))

    @cached_property
    def tree(self) -> HuffmanTree:
        """The Huffman tree of the words, for hierarchical softmax."""
        return HuffmanTree.of_counts(self.counts)


class WindowNetwork(PredictionNetwork, Generic[Options]):
    """A network that is trained on windows of text."""

    block = BLOCK  # words per block
    recipe: Options
    locks: NDArray[np.uint8] | None = None  # 1 for each input row that stays as it is
    nodes: Floats  # the outputs of hierarchical softmax, where `outputs` are those of negative sampling

    def __init__(self, recipe: Options, vocabulary: Vocabulary, inputs: Floats) -> None:
        super().__init__(recipe, vocabulary, inputs)
        self.keep = keep_thresholds(self.counts, recipe.subsample)
        self.dynamic_window = recipe.dynamic_window

    @property
    def word_outputs(self) -> Floats | None:
        """The output rows of the words; None if hierarchical softmax alone is trained."""
        return None if self.recipe.objective == "hierarchical-softmax" else self.outputs

    @property
    def node_outputs(self) -> Floats | None:
        """The output rows of the inner nodes; None without hierarchical softmax."""
        if self.recipe.objective == "hierarchical-softmax":
            return self.outputs
        return getattr(self, "nodes", None)

    def held_out(self, tokens: TokenFile) -> HeldOutBlocks:
        """Another text with the ids of this network; words that are not in its vocabulary are left out."""
        ids = self.vocabulary.ids(tokens.vocabulary)
        ids[ids < 0] = len(self.vocabulary)
        return HeldOutBlocks(self, ids.astype(np.uint32)[np.asarray(tokens.ids)], tokens.sentences)

    def train(self, block: TextBlock) -> BlockLoss:
        """Trains one block."""
        windows, _ = self._draw_windows(block)
        loss, count = self._run(block, windows, *self._objective(block))
        return BlockLoss(float(loss), int(count))

    def _draw_windows(self, block: TextBlock) -> tuple[Windows, NDArray[np.int64]]:
        """The words of a block after subsampling, with the size of the window on each side, and the sentence ends."""
        recipe = self.recipe
        words = np.empty(len(block.ids), np.uint32)
        before, after = np.empty(len(words), np.int32), np.empty(len(words), np.int32)
        text, ends = (block.ids, block.ends, self.keep), np.empty_like(block.ends)
        state = random_state(recipe.seed, block, 0)
        count = draw_windows(*text, recipe.window, self.dynamic_window, state, words, before, after, ends)
        return (words[:count], before, after, recipe.window), ends

    def _objective(self, block: TextBlock) -> tuple[int, Objective]:
        """The number of targets of a prediction, at most, and the objective as the kernels take it."""
        recipe = self.recipe
        if recipe.objective == "negative-sampling":
            state = np.array([random_state(recipe.seed, block, 1)])
            return 1 + recipe.negatives, ((self.noise, recipe.negatives, recipe.shared_negatives, state), None, None)
        if recipe.objective == "hierarchical-softmax":
            return self.tree.depth, (None, self.tree.arrays, None)
        return 1, (None, None, np.empty(len(self.outputs), np.float32))

    def _run(self, block: TextBlock, windows: Windows, targets: int, objective: Objective) -> KernelLoss:
        """Trains the windows of a block with a kernel."""
        raise NotImplementedError


def cut_vocabulary(vocabulary: Vocabulary, min_count: int, most: int | None = None) -> Vocabulary:
    """The words with at least `min_count` occurrences, at most so many. Fewer than two words are an error."""
    if len(vocabulary) == 0:
        raise OptionError("the corpus holds no words")
    kept = vocabulary.cut(min_count)
    kept = kept if most is None else kept.top(most)
    if len(kept) == 0:
        word, count = vocabulary.most_common(1)[0]
        raise OptionError(
            f"no word occurs {min_count} times: the most frequent word, {word!r}, occurs {count} times. "
            f"Lower min_count ({min_count}), or use more text"
        )
    if len(kept) == 1:
        raise OptionError(f"only one word, {kept[0]!r}, occurs {min_count} times, but training needs at least two")
    return kept


def keep_thresholds(counts: NDArray[np.int64], subsample: float) -> NDArray[np.uint32]:
    """The probability of keeping a word, times 2³²: (√(f/t) + 1)·t/f, where f is its frequency and t is `subsample`.

    In a text of fewer than 1 / t words every word exceeds the threshold, even one that occurs once: all are kept.

    >>> keep_thresholds(np.array([90, 10]), 0.1) / 2**32
    array([0.44444444, 1.        ])
    """
    if subsample == 0 or subsample * counts.sum() < 1:
        return np.full(len(counts), ALWAYS, np.uint32)
    ratio = subsample * counts.sum() / counts
    probability = np.minimum((np.sqrt(1 / ratio) + 1) * ratio, 1.0)
    return np.asarray(probability * ALWAYS, np.uint32)


def random_state(seed: int, block: TextBlock, purpose: int) -> np.uint64:
    """The state of the random numbers of a block; purpose 0 is its windows, 1 its negative samples."""
    return np.uint64(random_kernel.key(seed, block.epoch, 2 * block.number + purpose))


def random_rows(count: int, dim: int, bound: float, seed: int, runtime: Runtime) -> Floats:
    """Initial rows, uniform in ±bound. Each row has its own random numbers, whatever the number of threads."""
    rows = matrix(count, dim)
    state = np.uint64(random_kernel.key(seed, INITIAL_ROWS, 0))

    def fill(share: slice) -> None:
        random_kernel.fill_uniform(rows[share], dim, share.start, bound, state)

    runtime.map(fill, runtime.shares(count))
    return rows
