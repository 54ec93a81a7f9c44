"""word2vec: a word is known by the company it keeps, so its vector is trained to tell that company.

Skip-gram predicts a word from each word around it, CBOW from the mean of all words around it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from firth.errors import Diverged, OptionError
from firth.files import Name
from firth.kernels import full_softmax, hierarchical
from firth.kernels import random as random_kernel
from firth.kernels import word2vec as kernel
from firth.kernels.floats import matrix
from firth.models.huffman import Tree
from firth.models.training import Block, Schedule, Tally, train
from firth.options import Recipe, option
from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.vocabulary import Vocabulary
from firth.vectors import WordVectors

Floats = NDArray[np.float32]
Laid = tuple[NDArray[np.uint32], NDArray[np.int32], NDArray[np.int32]]
Found = tuple[float, int]  # the loss, summed, and the number of predictions
ALWAYS = 2**32 - 1  # a threshold that every 32 random bits pass
FIRST_ROWS = 2**32 - 1  # the epoch whose random numbers are the first rows


@dataclass(frozen=True)
class Word2Vec(Recipe):
    """Word vectors by prediction.

    >>> from firth.text.corpus import Corpus
    >>> corpus = Corpus.of(["the king rules the land", "the queen rules the land"] * 50)
    >>> vectors = Word2Vec(dim=8, min_count=1, epochs=3).fit(corpus)
    >>> len(vectors), vectors.dim, len(vectors.metadata["loss"])
    (5, 8, 3)
    """

    dim: int = option(100, "length of the vectors", minimum=1)
    architecture: Literal["skip-gram", "cbow"] = option(
        "skip-gram", "predict a word from each word around it, or from all of them together"
    )
    objective: Literal["negative-sampling", "hierarchical-softmax", "softmax"] = option(
        "negative-sampling", "how a word is predicted; softmax compares with every word: for small vocabularies"
    )
    negatives: int = option(5, "words drawn from the noise for each prediction", minimum=1)
    shared_negatives: int = option(
        2, "so many windows in a row share their negatives; 0: every pair draws its own, as word2vec.c", minimum=0
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
        """What a sentence teaches with a window of full reach: (word, neighbour), or for CBOW (neighbours, word).

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

    def fit(
        self,
        corpus: Corpus,
        *,
        runtime: Runtime | None = None,
        report: Report = silent,
        checkpoint: Name | None = None,
        resume: bool = True,
        start: WordVectors | None = None,
    ) -> WordVectors:
        """The vectors of a corpus's words.

        With `checkpoint`, a folder, an interrupted run goes on where it was. With `start`, training goes on from
        vectors that are there: their words keep their rows, new words get fresh ones, and the result has both.
        """
        tokens = corpus.tokens(report)
        vocabulary = trained_words(tokens.vocabulary, self.min_count)
        if start is not None and start.dim != self.dim:
            raise OptionError(f"Word2Vec: dim is {self.dim}, but the vectors to start from have {start.dim}")
        network = Network(self, vocabulary, first_rows(self, vocabulary, start))
        recipe = {"name": "word2vec", **self.as_dict()}
        identity = {"recipe": recipe, "corpus": tokens.fingerprint}
        if start is not None:
            identity["start"] = start.vocabulary.fingerprint
        schedule = Schedule(tokens.ids, tokens.sentences, self.epochs, self.first_rate)
        curve = train(
            network,
            schedule,
            runtime=runtime,
            report=report,
            checkpoint=checkpoint,
            resume=resume,
            identity=identity,
        )
        if not any(curve):
            raise OptionError(
                "Word2Vec: no word is left with a neighbour. Sentences of one word teach nothing; in a small text "
                f"subsample ({self.subsample}) may drop too much, and 0 keeps all"
            )
        if not np.isfinite(network.inputs).all():
            raise Diverged(schedule.words, self.first_rate, math.nan)
        metadata = {
            "recipe": recipe,
            "tokenizer": corpus.tokenizer.as_dict(),
            "corpus": {"fingerprint": tokens.fingerprint, "tokens": len(tokens)},
            "loss": curve,
            "versions": {name: version(name) for name in ("firth", "numpy", "numba")},
        }
        return grown(vocabulary, network.inputs[:, : self.dim], start, metadata)


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


def noise_table(counts: NDArray[np.int64], exponent: float) -> NDArray[np.uint32]:
    """The table from which negatives are drawn, by count to the power of the exponent."""
    return cast(NDArray[np.uint32], random_kernel.alias_table(counts.astype(np.float64) ** exponent))


def stream(seed: int, block: Block, purpose: int) -> np.uint64:
    """The random numbers of a block for one of two purposes: 0 for its windows, 1 for its negatives."""
    return np.uint64(random_kernel.key(seed, block.epoch, 2 * block.number + purpose))


def lay_windows(block: Block, keep: NDArray[np.uint32], window: int, dynamic: bool, seed: int) -> Laid:
    """The words of a block that are trained, and how many words of each side belong to each."""
    words = np.empty(len(block.ids), np.uint32)
    before, after = np.empty(len(words), np.int32), np.empty(len(words), np.int32)
    state = stream(seed, block, 0)
    count = kernel.lay_windows(block.ids, block.ends, keep, window, dynamic, state, words, before, after)
    return words[:count], before, after


def first_rows(recipe: Word2Vec, vocabulary: Vocabulary, start: WordVectors | None) -> Floats:
    """Rows uniform in ±1/2 divided by dim; words that `start` has keep its rows."""
    rows = matrix(len(vocabulary), recipe.dim)
    state = np.uint64(random_kernel.key(recipe.seed, FIRST_ROWS, 0))
    random_kernel.fill_uniform(rows, recipe.dim, 0, 0.5 / recipe.dim, state)
    if start is not None:
        found = start.vocabulary.ids(vocabulary)
        rows[found >= 0, : recipe.dim] = start.take(found[found >= 0])
    return rows


def grown(vocabulary: Vocabulary, rows: Floats, start: WordVectors | None, metadata: Mapping[str, Any]) -> WordVectors:
    """The trained words, followed by those that only `start` has, ranked by their counts in both texts together."""
    if start is None:
        return WordVectors(vocabulary, np.ascontiguousarray(rows), metadata=metadata)
    old = start.vocabulary
    counts = np.zeros(len(old), np.int64) if old.counts is None else old.counts
    merged = vocabulary.merge(Vocabulary.from_arrays(old.blob, old.starts, old.ends, counts))
    fresh, kept = vocabulary.ids(merged), old.ids(merged)
    result = np.empty((len(merged), rows.shape[1]), np.float32)
    result[fresh >= 0] = rows[fresh[fresh >= 0]]
    result[fresh < 0] = start.take(kept[fresh < 0])
    return WordVectors(merged, result, metadata=metadata)


class Network:
    """Two matrices and how a block of text changes them: `inputs` become the vectors, `outputs` make predictions."""

    def __init__(self, recipe: Word2Vec, vocabulary: Vocabulary, inputs: Floats) -> None:
        self.recipe = recipe
        self.counts = np.asarray(vocabulary.counts, np.int64)
        self.keep = keep_thresholds(self.counts, recipe.subsample)
        self.inputs, self.outputs = inputs, matrix(len(inputs), recipe.dim)

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

    def _negative_sampling(self, block: Block, laid: Laid) -> Found:
        recipe = self.recipe
        layers = self.inputs, self.outputs, self.noise, recipe.negatives
        steps = block.rate, block.last_rate, stream(recipe.seed, block, 1)
        desk = kernel.make_desk(recipe.window, recipe.negatives, recipe.dim)
        share = max(1, recipe.shared_negatives)
        if recipe.architecture == "cbow":
            loss, count = kernel.cbow(*laid, recipe.window, recipe.cbow_mean, *layers, share, *steps, desk)
        elif recipe.shared_negatives:
            loss, count = kernel.skip_gram(*laid, recipe.window, *layers, share, *steps, desk)
        else:
            loss, count = kernel.skip_gram_by_pair(*laid, recipe.window, *layers, *steps, desk)
        return float(loss), int(count)

    def _hierarchical_softmax(self, block: Block, laid: Laid) -> Found:
        recipe, tree = self.recipe, self.tree
        rest = self.inputs, self.outputs, tree.starts, tree.nodes, tree.turns, block.rate, block.last_rate
        desk = kernel.make_desk(recipe.window, 1, recipe.dim)
        if recipe.architecture == "cbow":
            loss, count = hierarchical.cbow(*laid, recipe.window, recipe.cbow_mean, *rest, desk)
        else:
            loss, count = hierarchical.skip_gram(*laid, recipe.window, *rest, desk)
        return float(loss), int(count)

    def _softmax(self, block: Block, laid: Laid) -> Found:
        recipe = self.recipe
        rest = self.inputs, self.outputs, block.rate, block.last_rate
        desk = kernel.make_desk(recipe.window, 1, recipe.dim)
        chances = np.empty(len(self.inputs), np.float32)
        if recipe.architecture == "cbow":
            loss, count = full_softmax.cbow(*laid, recipe.cbow_mean, *rest, desk, chances)
        else:
            loss, count = full_softmax.skip_gram(*laid, *rest, desk, chances)
        return float(loss), int(count)
