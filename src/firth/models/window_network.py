"""What networks over windows of text share: the words, the windows, the noise, the tree, and two matrices.

`Word2Vec` and `FastText` differ in the rows that stand for a word; how text becomes predictions is the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.kernels import random as random_kernel
from firth.kernels.simd_float import matrix
from firth.kernels.windows import draw_windows
from firth.models.huffman import Tree
from firth.runtime import Runtime
from firth.text.tokenfile import TokenFile
from firth.text.vocabulary import Vocabulary
from firth.training.loop import BLOCK, Block, HeldOut, Tally

Floats = NDArray[np.float32]
Laid = tuple[NDArray[np.uint32], NDArray[np.int32], NDArray[np.int32]]
Found = Any  # what kernels give, which are not typed: the loss, summed, and the number of predictions
LESSON = (
    "no word is left with a neighbor. Sentences of one word teach nothing, and in a small text subsample may drop too "
    "much; 0 keeps all"
)
ALWAYS = 2**32 - 1  # a threshold that every 32 random bits pass
FIRST_ROWS = 2**32 - 1  # the epoch whose random numbers are the first rows


class WindowRecipe(Protocol):
    """The options that say how windows are laid and what is predicted in them."""

    @property
    def dim(self) -> int: ...
    @property
    def objective(self) -> str: ...
    @property
    def negatives(self) -> int: ...
    @property
    def window(self) -> int: ...
    @property
    def dynamic_window(self) -> bool: ...
    @property
    def subsample(self) -> float: ...
    @property
    def noise_exponent(self) -> float: ...
    @property
    def seed(self) -> int: ...


Options = TypeVar("Options", bound=WindowRecipe)


class WindowNetwork(Generic[Options]):
    """Two matrices and how a block of text changes them: `inputs` become the vectors, `outputs` make predictions."""

    block = BLOCK  # words of a block

    def __init__(self, recipe: Options, vocabulary: Vocabulary, inputs: Floats) -> None:
        self.recipe, self.vocabulary = recipe, vocabulary
        self.counts = np.asarray(vocabulary.counts, np.int64)
        self.keep = keep_thresholds(self.counts, recipe.subsample)
        self.inputs, self.outputs = inputs, matrix(len(vocabulary), recipe.dim)

    @property
    def arrays(self) -> Mapping[str, Floats]:
        return {"inputs": self.inputs, "outputs": self.outputs}

    @property
    def guess(self) -> float:
        """The loss of a prediction by chance."""
        if self.recipe.objective == "negative-sampling":
            return (1 + self.recipe.negatives) * math.log(2)
        return math.log(2) * max(1.0, math.log2(len(self.counts)))

    @cached_property
    def noise(self) -> NDArray[np.uint32]:
        """The table from which negatives are drawn, by count to the power of the exponent."""
        shares = self.counts.astype(np.float64) ** self.recipe.noise_exponent
        return cast(NDArray[np.uint32], random_kernel.alias_table(shares))

    @cached_property
    def tree(self) -> Tree:
        """The words as leaves, for hierarchical softmax."""
        return Tree.of_counts(self.counts)

    def held_out(self, tokens: TokenFile) -> HeldOut:
        """Another text in the ids of this network's words; a word that it does not know is left out."""
        ids = self.vocabulary.ids(tokens.vocabulary)
        ids[ids < 0] = len(self.vocabulary)
        return HeldOut(self, ids.astype(np.uint32)[np.asarray(tokens.ids)], tokens.sentences)

    def train(self, block: Block) -> Tally:
        """Trains one block."""
        objectives = {
            "negative-sampling": self.negative_sampling,
            "hierarchical-softmax": self.hierarchical_softmax,
            "softmax": self.softmax,
        }
        loss, count = objectives[self.recipe.objective](block, self._lay_windows(block))
        return Tally(float(loss), int(count))

    def _lay_windows(self, block: Block) -> Laid:
        """The words of a block that are trained, and how many words of each side belong to each."""
        recipe = self.recipe
        words = np.empty(len(block.ids), np.uint32)
        before, after = np.empty(len(words), np.int32), np.empty(len(words), np.int32)
        state = stream(recipe.seed, block, 0)
        count = draw_windows(
            block.ids, block.ends, self.keep, recipe.window, recipe.dynamic_window, state, words, before, after
        )
        return words[:count], before, after

    def negative_sampling(self, block: Block, laid: Laid) -> Found:
        """Tells the word that is there from some that were drawn at random."""
        raise NotImplementedError

    def hierarchical_softmax(self, block: Block, laid: Laid) -> Found:
        """Finds the way to a word through a tree of all words."""
        raise NotImplementedError

    def softmax(self, block: Block, laid: Laid) -> Found:
        """Tells a word from all others."""
        raise NotImplementedError


def trained_words(vocabulary: Vocabulary, min_count: int) -> Vocabulary:
    """The words that are frequent enough; fewer than two are an error, because there is nothing to tell apart."""
    if len(vocabulary) == 0:
        raise OptionError("the corpus holds no words")
    kept = vocabulary.cut(min_count)
    if len(kept) == 0:
        most = vocabulary.most_common(1)[0]
        raise OptionError(
            f"no word is seen {min_count} times: the most frequent, {most[0]!r}, is seen {most[1]} times. "
            f"Lower min_count ({min_count}), or read more text"
        )
    if len(kept) == 1:
        raise OptionError(f"only one word, {kept[0]!r}, is seen {min_count} times, so there is nothing to tell apart")
    return kept


def keep_thresholds(counts: NDArray[np.int64], subsample: float) -> NDArray[np.uint32]:
    """How often a word is kept, as a part of 2³²: (√(f/t) + 1)·t/f, f its share of the text and t the threshold.

    >>> keep_thresholds(np.array([90, 10]), 0.1) / 2**32
    array([0.44444444, 1.        ])
    """
    if subsample == 0:
        return np.full(len(counts), ALWAYS, np.uint32)
    ratio = subsample * counts.sum() / counts
    share = np.minimum((np.sqrt(1 / ratio) + 1) * ratio, 1.0)
    return np.asarray(share * ALWAYS, np.uint32)


def stream(seed: int, block: Block, purpose: int) -> np.uint64:
    """The random numbers of a block for one of two purposes: 0 for its windows, 1 for its negatives."""
    return np.uint64(random_kernel.key(seed, block.epoch, 2 * block.number + purpose))


def random_rows(count: int, dim: int, reach: float, seed: int, runtime: Runtime) -> Floats:
    """Rows uniform in ±reach, from which training starts; each row has random numbers of its own."""
    rows = matrix(count, dim)
    state = np.uint64(random_kernel.key(seed, FIRST_ROWS, 0))

    def fill(share: slice) -> None:
        random_kernel.fill_uniform(rows[share], dim, share.start, reach, state)

    runtime.map(fill, runtime.shares(count))
    return rows
