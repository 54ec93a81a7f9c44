"""fastText: a word is the sum of its parts, so its vector is trained together with those of its character n-grams.

Everything else is word2vec (see `word2vec.py`): the same text, windows, noise and loop. Only the n-grams that the words
of the text have are trained, and their rows lie by falling frequency; the rows of all other buckets stay zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from firth.errors import Diverged, OptionError
from firth.files import Name
from firth.kernels import fasttext as kernel
from firth.kernels import random as random_kernel
from firth.kernels.floats import matrix
from firth.models.huffman import Tree
from firth.models.training import Block, Schedule, Tally, train
from firth.models.word2vec import (
    FIRST_ROWS,
    Found,
    Laid,
    keep_thresholds,
    lay_windows,
    noise_table,
    stream,
    trained_words,
)
from firth.options import Recipe, option
from firth.progress import Report, silent
from firth.rows import DenseRows
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.subwords import Subwords
from firth.text.vocabulary import Vocabulary
from firth.vectors import Output, SubwordVectors

Floats = NDArray[np.float32]
LOSSES: dict[str, Literal["ns", "hs", "softmax"]] = {
    "negative-sampling": "ns",
    "hierarchical-softmax": "hs",
    "softmax": "softmax",
}


@dataclass(frozen=True)
class FastText(Recipe):
    """Vectors of words and of their character n-grams: also words that were never seen have one.

    >>> corpus = Corpus.of(["the king rules the land", "the queen rules the land"] * 50)
    >>> vectors = FastText(dim=8, min_count=1, epochs=3, buckets=1000).fit(corpus)
    >>> len(vectors), vectors["kings"].shape, len(vectors.metadata["loss"])
    (5, (8,), 3)
    """

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
        2, "so many centres in a row share their negatives; 0: every pair draws its own, as fastText", minimum=0
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

    def fit(
        self,
        corpus: Corpus,
        *,
        runtime: Runtime | None = None,
        report: Report = silent,
        checkpoint: Name | None = None,
        resume: bool = True,
    ) -> SubwordVectors:
        """The vectors of a corpus's words and n-grams. With `checkpoint`, a folder, an interrupted run goes on."""
        runtime = runtime or Runtime.from_env()
        tokens = corpus.tokens(report)
        vocabulary = trained_words(tokens.vocabulary, self.min_count)
        network = Network(self, vocabulary, Pieces.of(vocabulary, self.subwords, runtime))
        recipe = {"name": "fasttext", **self.as_dict()}
        schedule = Schedule(tokens.ids, tokens.sentences, self.epochs, self.learning_rate)
        curve = train(
            network,
            schedule,
            runtime=runtime,
            report=report,
            checkpoint=checkpoint,
            resume=resume,
            identity={"recipe": recipe, "corpus": tokens.fingerprint},
        )
        if not any(curve):
            raise OptionError("FastText: no word has a neighbour, because every sentence is one word long")
        if not (np.isfinite(network.inputs).all() and np.isfinite(network.outputs).all()):
            raise Diverged(schedule.words, self.learning_rate, math.nan)
        metadata = {
            "recipe": recipe,
            "tokenizer": corpus.tokenizer.as_dict(),
            "corpus": {"fingerprint": tokens.fingerprint, "tokens": len(tokens)},
            "loss": curve,
            "versions": {name: version(name) for name in ("firth", "numpy", "numba")},
            "fasttext": self._arguments(len(tokens)),
        }
        return SubwordVectors(vocabulary, network.all_rows(), self.subwords, output=network.output(), metadata=metadata)

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


class Network:
    """Two matrices and how a block of text changes them: a row of `inputs` for each word and each n-gram that is used,

    and a row of `outputs` for each word, or for each node of the tree.
    """

    def __init__(self, recipe: FastText, vocabulary: Vocabulary, pieces: Pieces) -> None:
        self.recipe, self.pieces = recipe, pieces
        self.counts = np.asarray(vocabulary.counts, np.int64)
        self.keep = keep_thresholds(self.counts, recipe.subsample)
        self.inputs = matrix(len(vocabulary) + len(pieces.buckets), recipe.dim)
        state = np.uint64(random_kernel.key(recipe.seed, FIRST_ROWS, 0))
        random_kernel.fill_uniform(self.inputs, recipe.dim, 0, 1.0 / recipe.dim, state)
        self.outputs = matrix(len(vocabulary), recipe.dim)

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
        return noise_table(self.counts, self.recipe.noise_exponent)

    @cached_property
    def tree(self) -> Tree:
        return Tree.of_counts(self.counts)

    def train(self, block: Block) -> Tally:
        """Trains one block."""
        recipe = self.recipe
        laid = lay_windows(block, self.keep, recipe.window, recipe.dynamic_window, recipe.seed)
        objectives = {
            "negative-sampling": self._negative_sampling,
            "hierarchical-softmax": self._hierarchical_softmax,
            "softmax": self._softmax,
        }
        return Tally(*objectives[recipe.objective](block, laid))

    @property
    def _layers(self) -> tuple[NDArray[np.uint32], NDArray[np.int64], Floats, Floats]:
        return self.pieces.rows, self.pieces.pointers, self.inputs, self.outputs

    def _negative_sampling(self, block: Block, laid: Laid) -> Found:
        recipe = self.recipe
        layers = *laid, *self._layers, self.noise, recipe.negatives
        steps = block.rate, block.last_rate, stream(recipe.seed, block, 1)
        desk = kernel.make_desk(recipe.window, recipe.negatives, recipe.dim)
        share = max(1, recipe.shared_negatives)
        if recipe.architecture == "cbow":
            loss, count = kernel.cbow(*layers, share, *steps, desk)
        elif recipe.shared_negatives:
            loss, count = kernel.skip_gram(*layers, share, *steps, desk)
        else:
            loss, count = kernel.skip_gram_by_pair(*layers, *steps, desk)
        return float(loss), int(count)

    def _hierarchical_softmax(self, block: Block, laid: Laid) -> Found:
        tree = self.tree
        rest = *laid, *self._layers, tree.starts, tree.nodes, tree.turns, block.rate, block.last_rate
        desk = kernel.make_desk(self.recipe.window, 1, self.recipe.dim)
        if self.recipe.architecture == "cbow":
            loss, count = kernel.cbow_by_path(*rest, desk)
        else:
            loss, count = kernel.skip_gram_by_path(*rest, desk)
        return float(loss), int(count)

    def _softmax(self, block: Block, laid: Laid) -> Found:
        rest = *laid, *self._layers, block.rate, block.last_rate
        desk = kernel.make_desk(self.recipe.window, 1, self.recipe.dim)
        chances = np.empty(len(self.outputs), np.float32)
        if self.recipe.architecture == "cbow":
            loss, count = kernel.cbow_softmax(*rest, desk, chances)
        else:
            loss, count = kernel.skip_gram_softmax(*rest, desk, chances)
        return float(loss), int(count)

    def all_rows(self) -> Floats:
        """The rows of all words and all buckets, as fastText lays them; a bucket that no word uses is zero."""
        size, dim = len(self.counts), self.recipe.dim
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
