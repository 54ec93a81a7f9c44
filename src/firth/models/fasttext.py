"""fastText: a word is the sum of its parts, so its vector is trained together with those of its character n-grams.

Everything else is word2vec (see `network.py`): the same text, windows, noise and loop. Only the n-grams that the words
of the text have are trained, and their rows lie by falling frequency; the rows of all other buckets stay zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.kernels import fasttext as kernel
from firth.kernels import subwords as subwords_kernel
from firth.kernels.hierarchical_softmax import NO_TREE
from firth.kernels.negative_sampling import NO_SAMPLING
from firth.models.continued_training import grown_subwords, has_ngrams, outputs_of, own_rows
from firth.models.trained_recipe import Trained
from firth.models.window_network import LESSON, Floats, Found, Laid, WindowNetwork, random_rows, stream, trained_words
from firth.options import option
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.subwords import Subwords
from firth.text.tokenfile import TokenFile
from firth.text.vocabulary import Vocabulary
from firth.training.loop import Block, Schedule
from firth.vectors.rows import DenseRows
from firth.vectors.subwords import Output, SubwordVectors
from firth.vectors.words import WordVectors

LOSSES: dict[str, Literal["ns", "hs", "softmax"]] = {
    "negative-sampling": "ns",
    "hierarchical-softmax": "hs",
    "softmax": "softmax",
}


@dataclass(frozen=True)
class FastText(Trained["Network", SubwordVectors]):
    """Vectors of words and of their character n-grams: also words that were never seen have one.

    >>> corpus = Corpus.of(["the king rules the land", "the queen rules the land"] * 50)
    >>> vectors = FastText(dim=8, min_count=1, epochs=3, buckets=1000).fit(corpus)
    >>> len(vectors), vectors["kings"].shape, len(vectors.metadata["loss"])
    (5, (8,), 3)
    """

    name = "fasttext"
    lesson = LESSON

    dim: int = option(100, "length of the vectors", minimum=1)
    architecture: Literal["skip-gram", "cbow"] = option(
        "skip-gram", "predict each word around a word, or a word from all words around it"
    )
    objective: Literal["negative-sampling", "hierarchical-softmax", "softmax"] = option(
        "negative-sampling", "how a word is predicted; softmax compares with every word: for small vocabularies"
    )
    minn: int = option(3, "shortest n-gram, in characters", minimum=1, maximum=100)
    maxn: int = option(6, "longest n-gram; 0: words have no n-grams", minimum=0, maximum=100)
    buckets: int = option(2_000_000, "rows for n-grams, which are hashed to them", minimum=0, maximum=2**31 - 1)
    negatives: int = option(5, "words drawn from the noise for each prediction", minimum=1)
    shared_negatives: int = option(
        2, "so many centers in a row share their negatives; 0: every pair draws its own, as fastText", minimum=0
    )
    window: int = option(5, "words looked at on each side, never across a sentence", minimum=1, maximum=1000)
    dynamic_window: bool = option(True, "draw each window's reach from 1 to `window`, so that near words count more")
    min_count: int = option(5, "leave out words that are rarer", minimum=1)
    subsample: float = option(1e-4, "drop words more frequent than this share at random; 0: keep all", minimum=0)
    noise_exponent: float = option(0.5, "negatives are drawn by count to this power")
    learning_rate: float = option(0.05, "first step size; falls to 0", minimum=0)
    epochs: int = option(5, "times that the text is read", minimum=1)
    seed: int = option(1, "where the random numbers start", minimum=0, maximum=2**32)

    def __post_init__(self) -> None:
        super().__post_init__()
        if 0 < self.maxn < self.minn:
            raise OptionError(f"FastText: maxn is {self.maxn}, but must be at least minn, {self.minn}, or 0")

    @property
    def subwords(self) -> Subwords:
        """The n-grams of this recipe; none of them has a row where there are no buckets or no lengths."""
        buckets = self.buckets if self.maxn else 0
        return Subwords(self.minn, self.maxn if buckets else 0, buckets)

    def _prepare(
        self, corpus: Corpus, tokens: TokenFile, start: WordVectors | None, runtime: Runtime
    ) -> tuple[Network, Schedule]:
        vocabulary = trained_words(tokens.vocabulary, self.min_count)
        pieces = Pieces.of(vocabulary, self.subwords, runtime)
        count = len(vocabulary) + len(pieces.buckets)
        rows = random_rows(count, self.dim, 1.0 / self.dim, self.seed, runtime)
        network = Network(self, vocabulary, rows, pieces)
        if start is not None:
            network.go_on_from(start)
        return network, Schedule(tokens.ids, tokens.sentences, self.epochs, self.learning_rate, seed=self.seed)

    def _finish(
        self, network: Network, tokens: TokenFile, start: WordVectors | None, metadata: Mapping[str, Any]
    ) -> SubwordVectors:
        metadata = {**metadata, "fasttext": self._arguments(len(tokens))}
        rows, output = network.all_rows(), network.output()
        made = SubwordVectors(network.vocabulary, rows, self.subwords, output=output, metadata=metadata)
        return made if start is None else grown_subwords(made, start)

    def _arguments(self, tokens: int) -> dict[str, Any]:
        """What fastText's own files say about a training, under its names."""
        subwords = self.subwords
        return {
            "version": 12,
            "dim": self.dim,
            "ws": self.window,
            "epoch": self.epochs,
            "minCount": self.min_count,
            "neg": self.negatives,
            "wordNgrams": 1,
            "bucket": subwords.buckets,
            "minn": subwords.minn,
            "maxn": subwords.maxn,
            "lrUpdateRate": 100,
            "t": self.subsample,
            "tokens": tokens,
            "qout": False,
        }


@dataclass(frozen=True, eq=False)
class Pieces:
    """The rows of each word, numbered without gaps: the words' own first, then those of the n-grams that are used.

    The rows of word w are rows[pointers[w] : pointers[w + 1]]. `buckets[k]` is the bucket of the k-th n-gram row; the
    most frequent come first, so that the rows which are needed all the time lie together.

    >>> vocabulary = Vocabulary(["tea", "eat"], [5, 2])
    >>> pieces = Pieces.of(vocabulary, Subwords(3, 3, 1000), Runtime(1))
    >>> pieces.rows.tolist(), pieces.pointers.tolist(), len(pieces.buckets)
    ([0, 2, 3, 4, 1, 6, 7, 5], [0, 4, 8], 6)
    """

    rows: NDArray[np.uint32]
    pointers: NDArray[np.int64]
    buckets: NDArray[np.int64]

    @classmethod
    def of(cls, vocabulary: Vocabulary, subwords: Subwords, runtime: Runtime) -> Pieces:
        """The rows of a vocabulary that has counts."""
        size = len(vocabulary)
        rows, pointers, lengths = subwords.table(vocabulary, runtime)
        inside = rows >= size
        buckets, places = np.unique(rows[inside] - size, return_inverse=True)
        weights = np.repeat(np.asarray(vocabulary.counts, np.float64), lengths)[inside]
        order = np.argsort(-np.bincount(places, weights, len(buckets)), kind="stable")
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.arange(len(order))
        rows[inside] = size + ranks[places]
        return cls(rows.astype(np.uint32), pointers, buckets[order])


class Network(WindowNetwork[FastText]):
    """A row of `inputs` for each word and each n-gram that is used; one of `outputs` for each word, or each node."""

    def __init__(self, recipe: FastText, vocabulary: Vocabulary, inputs: Floats, pieces: Pieces) -> None:
        super().__init__(recipe, vocabulary, inputs)
        self.pieces = pieces

    def go_on_from(self, start: WordVectors) -> None:
        """Takes up the rows of a model's words and n-grams, or of vectors without n-grams, and its outputs.

        A bucket that the model never trained keeps its fresh row. Vectors without n-grams become the means: a word's
        own row makes up for those of its n-grams.
        """
        size, dim = len(self.vocabulary), self.recipe.dim
        found = start.vocabulary.ids(self.vocabulary)
        known = np.flatnonzero(found >= 0)
        if has_ngrams(start, self.recipe.subwords):
            self.inputs[known, :dim] = start.rows.take(found[known])
            buckets = start.rows.take(len(start) + self.pieces.buckets)
            learned = np.flatnonzero(buckets.any(axis=1))
            self.inputs[size + learned, :dim] = buckets[learned]
        else:
            self.inputs[known] = 0
            means, lengths = np.empty_like(self.inputs[:size]), np.diff(self.pieces.pointers)
            subwords_kernel.mean_rows(self.inputs, self.pieces.rows, self.pieces.pointers[:-1], lengths, means)
            self.inputs[known, :dim] = own_rows(start.take(found[known]), means[known, :dim], lengths[known])
        self.outputs[known, :dim] = outputs_of(start, LOSSES[self.recipe.objective]).take(found[known])

    def negative_sampling(self, block: Block, laid: Laid) -> Found:
        recipe, state = self.recipe, np.array([stream(self.recipe.seed, block, 1)])
        sampling = self.noise, recipe.negatives, recipe.shared_negatives, state
        return self._run(block, laid, 1 + recipe.negatives, (sampling, NO_TREE, None))

    def hierarchical_softmax(self, block: Block, laid: Laid) -> Found:
        tree = self.tree.starts, self.tree.nodes, self.tree.turns
        return self._run(block, laid, self.tree.depth, (NO_SAMPLING, tree, None))

    def softmax(self, block: Block, laid: Laid) -> Found:
        return self._run(block, laid, 1, (NO_SAMPLING, NO_TREE, np.empty(len(self.outputs), np.float32)))

    def _run(self, block: Block, laid: Laid, targets: int, objective: tuple[Any, Any, Any]) -> Found:
        """Trains one block. The objective is (sampling, tree, probabilities), of which one is used."""
        recipe, subwords = self.recipe, (self.pieces.rows, self.pieces.pointers)
        scratch = kernel.make_scratch(recipe.window, recipe.negatives, targets, recipe.dim)
        train = kernel.cbow if recipe.architecture == "cbow" else kernel.skip_gram
        windows, rates = (*laid, recipe.window), (block.rate, block.last_rate)
        return train(windows, subwords, self.inputs, self.outputs, *objective, rates, scratch)

    def all_rows(self) -> Floats:
        """The rows of all words and all buckets, as fastText lays them; a bucket that no word uses is zero."""
        size, dim = len(self.vocabulary), self.recipe.dim
        rows = np.zeros((size + self.recipe.subwords.size, dim), np.float32)
        rows[:size] = self.inputs[:size, :dim]
        rows[size + self.pieces.buckets] = self.inputs[size:, :dim]
        return rows

    def output(self) -> Output:
        """The output layer. fastText's tree turns right where ours turns left, so its nodes have the other sign."""
        sign = np.float32(-1.0 if self.recipe.objective == "hierarchical-softmax" else 1.0)
        rows = np.ascontiguousarray(self.outputs[:, : self.recipe.dim]) * sign
        model: Literal["cbow", "skipgram"] = "cbow" if self.recipe.architecture == "cbow" else "skipgram"
        return Output(DenseRows(rows), None, model, LOSSES[self.recipe.objective])
